# Makes devices and opens all that are there, in search of hardware or of the host's memory. Only those that every program
# may have must be there, and no more can be made.
import os
import stat

reached = []
for kind, numbers in ((stat.S_IFCHR, ((1, 1), (1, 2), (10, 200), (10, 229), (5, 1))), (stat.S_IFBLK, ((8, 0), (7, 0), (254, 0)))):
    for major, minor in numbers:
        try:
            os.mknod("/work/device", kind | 0o666, os.makedev(major, minor))
            os.open("/work/device", os.O_RDWR)
            reached.append((major, minor))
        except OSError:
            pass
        if os.path.exists("/work/device"):
            os.unlink("/work/device")
for folder, _, names in os.walk("/dev"):
    for name in names:
        path = os.path.join(folder, name)
        seen = os.stat(path, follow_symlinks=False)
        if stat.S_ISCHR(seen.st_mode) or stat.S_ISBLK(seen.st_mode):
            try:
                os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY)
                reached.append(path)
            except OSError:
                pass
print(" ".join(sorted(map(str, reached))))
