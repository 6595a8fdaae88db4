# Makes its stdout as small as it can, without blocking, and with signals and owners set: settings of a pipe that another
# process reads. The supervisor must read on as before.
import fcntl
import os

for command, value in ((fcntl.F_SETPIPE_SZ, 4096), (fcntl.F_SETOWN, 1), (fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC), (10, 9)):
    try:
        fcntl.fcntl(1, command, value)
    except OSError:
        pass
os.set_blocking(1, True)
os.write(1, b"x" * 60_000)
