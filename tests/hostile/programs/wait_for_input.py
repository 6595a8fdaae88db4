# Keeps the writing end of its own stdin open and reads: end of file never comes. The clock on the wall must end it.
import os

kept = os.open("/proc/self/fd/0", os.O_RDWR | os.O_NONBLOCK)
os.set_blocking(0, True)
os.read(os.open("/proc/self/fd/0", os.O_RDWR), 1)
