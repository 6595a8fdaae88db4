# Opens all that /proc shows of the process that started it: environment, memory, files, the pipe that it reports over.
# Its uid, its not being dumpable, and that it keeps nothing there must stop it.
import os

seen = []
for name in ("environ", "mem", "maps", "auxv", "stack", "syscall", "io", "root/box", "root/etc/shadow", "cwd/box"):
    for flags in (os.O_RDONLY, os.O_WRONLY):
        try:
            descriptor = os.open("/proc/1/" + name, flags | os.O_NONBLOCK)
            content = b"writable" if flags == os.O_WRONLY else os.read(descriptor, 64).strip(b"\0")
            if content and name not in ("io", "maps", "auxv"):
                seen.append((name, content))
        except OSError:
            pass
for descriptor in range(64):
    for flags in (os.O_RDONLY, os.O_WRONLY):
        try:
            os.open(f"/proc/1/fd/{descriptor}", flags | os.O_NONBLOCK)
            seen.append(descriptor)
        except OSError:
            pass
print(seen or "nothing")
