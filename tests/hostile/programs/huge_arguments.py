# Starts programs with arguments and environments of many megabytes: memory that is taken while nobody has it yet. It must
# count.
import os

refused = 0
for arguments, environment in ((["x" * 100_000] * 2_000, {}), ([], {f"v{n}": "x" * 100_000 for n in range(2_000)})):
    try:
        os.posix_spawn("/bin/true", ["true", *arguments], environment)
    except OSError as error:
        refused += error.errno == 7
print("refused" if refused == 2 else "started")
