# Opens the reading end of its own stdout and takes back what it wrote, so that what is counted and what arrives differ. It
# must only deprive itself.
import os

reading = os.open("/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK)
for _ in range(2_000):
    os.write(1, b"lost")
    try:
        os.read(reading, 4)
    except BlockingIOError:
        pass
os._exit(3)
