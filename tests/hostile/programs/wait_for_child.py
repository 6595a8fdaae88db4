# Waits for a child that waits for it. The clock on the wall must end both.
import os

ends = os.pipe()
if os.fork() == 0:
    os.read(ends[0], 1)
os.wait()
