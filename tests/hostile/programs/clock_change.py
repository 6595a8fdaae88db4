# Sets the clocks back, so that its time never runs out. The kernel must refuse, and ours must be other clocks.
import ctypes
import time

libc = ctypes.CDLL(None, use_errno=True)
changed = []
for clock in (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME):
    try:
        time.clock_settime(clock, 0)
        changed.append(clock)
    except OSError:
        pass
before = time.time()
if libc.settimeofday((ctypes.c_long * 2)(0, 0), None) == 0 or time.time() < before:
    changed.append("settimeofday")
if libc.adjtimex((ctypes.c_long * 64)(0x8002, 10_000_000)) >= 0:
    changed.append("adjtimex")
print(changed or "refused")
