# Tries the networks that people forget: IPv6 in all its forms, the metadata service there, and translated addresses. None must be there.
import socket

reached = []
for address in ("2606:4700:4700::1111", "fd00:ec2::254", "::ffff:169.254.169.254", "64:ff9b::808:808", "ff02::1"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            *_, to = socket.getaddrinfo(address, 80, socket.AF_INET6, kind)[0]
            with socket.socket(socket.AF_INET6, kind) as client:
                client.settimeout(0.2)
                client.connect(to)
                client.send(b"x")
                reached.append(address)
        except OSError:
            pass
print(reached or "nothing")
