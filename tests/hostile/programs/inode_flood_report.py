# Makes files whose names begin with a dot where a runtime reports a full heap, so that the supervisor reads them all
# and finds none that counts. It must not be kept busy for longer than a moment.
import itertools
import os

os.chdir("/run/report")
for number in itertools.count():
    os.close(os.open(f".{number}", os.O_CREAT))
