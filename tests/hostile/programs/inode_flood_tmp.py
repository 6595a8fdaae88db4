# Makes empty files for ever: no space of the file system, but memory of the kernel, and work at the end. Time must stop
# it.
import itertools
import os

for number in itertools.count():
    os.close(os.open(f"/tmp/{number}", os.O_CREAT))
