# Says that it was killed for its memory, with the words and the exit code of a shell. Words and exit codes must not count.
import os
import sys

print("Killed", flush=True)
print("MemoryError\nKilled: out of memory\nfatal error: CALL_AND_RETRY_LAST Allocation failed", file=sys.stderr, flush=True)
os._exit(137)
