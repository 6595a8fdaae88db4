# Gives itself an address, a route and an interface over netlink. That it has no rights, and no hardware, must stop it.
import socket
import struct

done = []
for kind, body in (
    (20, struct.pack("=BBBBI", 2, 24, 0, 0, 1) + struct.pack("=HH4s", 8, 2, bytes([10, 0, 0, 2]))),
    (24, struct.pack("=BBBBBBBBI", 2, 0, 0, 0, 254, 4, 0, 1, 0) + struct.pack("=HHI", 8, 4, 1)),
    (16, struct.pack("=BBHiII", 0, 0, 0, 0, 0, 0) + struct.pack("=HH8s", 12, 3, b"dummy0\0\0")),
):
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
            kernel.settimeout(1)
            kernel.send(struct.pack("=IHHII", 16 + len(body), kind, 0x605, 1, 0) + body)
            answer = kernel.recv(4096)
            if struct.unpack_from("=Hxxxxxxxxxxi", answer, 4)[0] != 2 or struct.unpack_from("=i", answer, 16)[0] == 0:
                done.append((kind, answer))
    except OSError:
        pass
print(done or "refused")
