# Takes memory that belongs to no process in particular: shared and anonymous. It must count.
import mmap

kept = []
while True:
    kept.append(mmap.mmap(-1, 1 << 20))
    kept[-1].write(b"x" * (1 << 20))
