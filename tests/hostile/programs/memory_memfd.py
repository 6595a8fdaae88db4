# Fills files in memory that lie in no file system. The container's memory is the wall, and the kernel's refusal there
# must be told from a failure of ours.
import os

kept = []
while True:
    kept.append(os.memfd_create("kept"))
    os.write(kept[-1], b"x" * (8 << 20))
