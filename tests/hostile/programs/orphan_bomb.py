# Forks for ever, parents end and children leave the session, so that nobody knows them. They must be counted and ended
# as members of the cell, whoever their parents were.
import os

while True:
    try:
        if os.fork() and os.getpid() != 2:
            os._exit(0)
        if os.getpid() != 2:
            os.setsid()
    except OSError:
        pass
