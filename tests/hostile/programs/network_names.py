# Asks for names in every way: the C library, the name servers of the world, multicast. No network must be there, and
# nothing may hang.
import socket
import time

start, reached = time.monotonic(), []
for name in ("example.com", "localhost.localdomain", "metadata.google.internal", "host.docker.internal"):
    try:
        reached.append(socket.getaddrinfo(name, 80))
    except OSError:
        pass
query = bytes.fromhex("000101000001000000000000076578616d706c6503636f6d0000010001")
for address, port in (("8.8.8.8", 53), ("127.0.0.11", 53), ("224.0.0.251", 5353), ("255.255.255.255", 53)):
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            client.settimeout(0.1)
            client.sendto(query, (address, port))
            reached.append(client.recv(512))
    except OSError:
        pass
print(reached or "nothing", time.monotonic() - start < 3)
