# Leaves a daemon that holds its streams open and writes for ever. The end of the program must be the end of its streams.
import os
import time

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            os.write(2, b".")
            time.sleep(0.01)
    os._exit(0)
os.wait()
os.write(1, b"done")
os._exit(0)
