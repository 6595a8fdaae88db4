# Makes children that end and that it never waits for, as many as it can. The limit of processes must stop it: a zombie
# counts until it is gone.
import os

made = 0
try:
    while True:
        if os.fork() == 0:
            os._exit(0)
        made += 1
except OSError as error:
    print("bounded" if error.errno == 11 and made <= 33 else (made, error))
