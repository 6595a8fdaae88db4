# Fills as many pipes as it can open, in as many processes as it can have: memory of the kernel that no
# process owns. It must count, or the wall around the container hold.
import fcntl
import os
import time

for _ in range(28):
    if os.fork() == 0:
        break
kept = []
try:
    while True:
        kept.append(os.pipe())
        os.set_blocking(kept[-1][1], False)
        fcntl.fcntl(kept[-1][1], 1031, 1 << 20)
        os.write(kept[-1][1], b"x" * (1 << 20))
except OSError:
    time.sleep(60)
