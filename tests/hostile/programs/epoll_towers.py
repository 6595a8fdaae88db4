# Watches watchers that watch watchers, and timers that are always due: work that the kernel does on each wake-up. Depth
# and descriptors must be bounded.
import os
import select

made = 0
try:
    below = os.eventfd(1)
    while True:
        above = select.epoll()
        for descriptor in (below, os.timerfd_create(1), os.eventfd(1)):
            if isinstance(descriptor, int) and descriptor != below:
                os.timerfd_settime_ns(descriptor, initial=1, interval=1) if made % 2 else None
            above.register(descriptor, select.EPOLLIN)
        below = os.dup(above.fileno())
        made += 1
        kept = globals().setdefault("kept", [])
        kept.append(above)
        above.poll(0)
except OSError:
    print("bounded", flush=True)
os._exit(0)
