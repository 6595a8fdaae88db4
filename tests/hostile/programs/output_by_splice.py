# Floods its stdout without a write: the kernel moves the bytes. They must be counted as they arrive.
import os

with open("/tmp/block", "wb") as file:
    file.write(b"x" * 65536)
block = os.open("/tmp/block", os.O_RDONLY)
while True:
    os.sendfile(1, block, 0, 65536)
