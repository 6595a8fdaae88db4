# Raises every limit that it has, and makes itself more urgent. The kernel must refuse. (A nice value of -20 it may have:
# gVisor remembers it and does nothing with it.)
import os
import resource

raised = []
for name in ("NPROC", "NOFILE", "FSIZE", "MEMLOCK", "CORE", "STACK"):
    kind = getattr(resource, "RLIMIT_" + name)
    _, hard = resource.getrlimit(kind)
    for wanted in (hard + 1, resource.RLIM_INFINITY):
        try:
            if hard != resource.RLIM_INFINITY:
                resource.setrlimit(kind, (wanted, wanted))
                raised.append(name)
        except (OSError, ValueError):
            pass
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
    raised.append("real time")
except OSError:
    pass
print(raised or "refused")
