# Looks for the host in what /proc says of itself: mounts, cgroups, the command line of the kernel. There must be no
# path, no name and no address of the host in it.
for name in ("self/mountinfo", "self/mounts", "self/cgroup", "cmdline", "version", "self/environ", "sys/kernel/hostname"):
    try:
        print(open("/proc/" + name).read())
    except OSError:
        pass
