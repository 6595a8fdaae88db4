# Makes links with the longest names and the longest targets: kilobytes of memory each. They must
# count as space of the file system.
import itertools
import os

try:
    for number in itertools.count():
        os.symlink("/" * 4095, f"/tmp/{number:0255d}")
except OSError as error:
    print("bounded" if error.errno == 28 and number < 5_000 else (number, error))
