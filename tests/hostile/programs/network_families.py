# Opens sockets of every family there is, in search of one that leads out: vsock to the hypervisor, packets, crypto, Bluetooth.
# Only the ones that stay inside may be there.
import socket

INSIDE = {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK}
made = set()
for family in range(64):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        for protocol in (0, 1, 3, 255):
            try:
                socket.socket(family, kind, protocol).close()
                if family not in INSIDE or (kind == socket.SOCK_RAW and family in (socket.AF_INET, socket.AF_INET6)):
                    made.add((family, kind, protocol))
            except OSError:
                pass
print(made or "none")
