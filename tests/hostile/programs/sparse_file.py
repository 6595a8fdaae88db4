# Makes files that claim to be far larger than the disk. The limit of file sizes must stop it.
import os

made = []
for size in (1 << 50, 1 << 40, 1 << 30, 17 << 20):
    for place in ("/work", "/tmp", "/dev/shm", "/run/report"):
        descriptor = os.open(f"{place}/sparse", os.O_CREAT | os.O_RDWR)
        for act in (
            lambda: os.ftruncate(descriptor, size),
            lambda: os.posix_fallocate(descriptor, 0, size),
            lambda: os.pwrite(descriptor, b"x", size),
        ):
            try:
                act()
                made.append((place, size))
            except OSError:
                pass
print(made or "bounded")
