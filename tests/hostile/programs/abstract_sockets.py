# Connects to the sockets without a file that services of a host listen on. Its network name space must be its own.
import socket

reached = []
names = [line.split()[-1] for line in open("/proc/net/unix").read().splitlines()[1:]]
for name in (*names, "@/containerd-shim", "@/tmp/.X11-unix/X0", "@docker", "@/org/kernel/linux/storage/multipathd", "@dbus"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        try:
            with socket.socket(socket.AF_UNIX, kind) as client:
                client.connect("\0" + name[1:] if name.startswith("@") else name)
                reached.append(name)
        except OSError:
            pass
print(reached or "nothing")
