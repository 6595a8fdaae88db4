# Kills everything that it may. That must be its own processes and nothing that watches over them.
import os
import signal
import time

if os.fork() == 0:
    time.sleep(60)
os.kill(-1, signal.SIGKILL)
os._exit(5)
