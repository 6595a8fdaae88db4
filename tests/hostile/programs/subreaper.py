# Makes itself the one that inherits all orphans, which is the init's part, and leaves a daemon that nobody reaps. The
# end of the program must be the end of the daemon all the same.
import ctypes
import os
import time

ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
    os._exit(0)
os.wait()
print("done", flush=True)
os._exit(0)
