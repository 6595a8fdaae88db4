# Writes to the switches of the kernel, and reads what they protect. That they are not there, or closed, must stop it. (Of /box
# only the empty folder is there that the supervisor's was mounted on.)
import glob
import os

reached = []
for path in (
    *("/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/overcommit_memory"),
    *("/proc/self/oom_score_adj", "/proc/self/loginuid", "/proc/timer_list", "/proc/keys", "/proc/kallsyms", "/proc/kcore"),
    *("/proc/kmsg", "/proc/bus/pci", "/sys/kernel/uevent_helper", "/sys/fs/cgroup/release_agent", "/etc/shadow"),
    *glob.glob("/sys/*"),
    *("/box", "/box/stage", "/run/secrets", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/.dockerenv"),
):
    for flags in (os.O_RDONLY, os.O_WRONLY):
        try:
            os.open(path, flags)
            reached.append((path, flags))
        except OSError:
            pass
harmless = {("/.dockerenv", 0), ("/proc/self/oom_score_adj", 0), ("/proc/self/oom_score_adj", 1)}
harmless |= {("/box", 0), ("/proc/sys/vm/overcommit_memory", 0), ("/proc/self/loginuid", 0), ("/proc/bus/pci", 0)}
print(sorted(set(reached) - harmless) or "nothing")
