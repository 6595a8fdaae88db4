# Stops itself. A stopped process uses no CPU time and answers no signal but one: the clock on the wall must end it.
import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
