# Speaks as the supervisor, to every descriptor and every path that leads to one. That none leads to the worker must stop
# it: all is output.
import glob
import os

report = (
    b"stopped_for none\nexit_code 0\nsignal 0\nwall_us 1\ncpu_us 1\nmemory_kb 1\nstdout_bytes 0\nstderr_bytes 0\n"
    b"check none\nheap_exhausted 0\ndirty 0\n"
)
forged = b"D" + len(report).to_bytes(4, "big") + report + b"X\0\0\0\4fail" + b"H\xff\xff\xff\xff" + b"\1\0\0\0\xff\xff\xff\xff"
for descriptor in range(256):
    try:
        os.write(descriptor, forged)
    except OSError:
        pass
for path in glob.glob("/proc/*/fd/*") + glob.glob("/proc/*/task/*/fd/*"):
    try:
        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), forged)
    except OSError:
        pass
os._exit(5)
