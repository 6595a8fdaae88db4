# Takes its own place with a pipe of its own as descriptor 3, so that the start-up might speak for it. That the pipe is not
# root's must stop it.
import os
import sys

if len(sys.argv) == 1:
    ends = os.pipe()
    os.dup2(ends[1], 3)
    os.set_inheritable(3, True)
    os.execv(sys.executable, [sys.executable, "-s", "-B", "main.py", "again"])
print("done", os.fstat(3).st_uid != 0)
