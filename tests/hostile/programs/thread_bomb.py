# Starts threads that wait, as many as it can. Threads must count as processes.
import os
import threading
import time

made = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        made += 1
except RuntimeError:
    os.write(1, b"bounded" if made <= 33 else b"%d" % made)
os._exit(0)
