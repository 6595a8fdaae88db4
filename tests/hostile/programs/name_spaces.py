# Makes name spaces in which it would have every right: by unshare, clone, clone3 and setns. The filter of system calls
# and the lack of capabilities must stop it.
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
USER, FLAGS = 0x10000000, (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x20000000, 0x40000000)
made = []
for flag in (0, *FLAGS):
    for name, call in (
        ("unshare", lambda: libc.unshare(flag | USER)),
        ("unshare alone", lambda: libc.unshare(flag) if flag else -1),
        ("clone", lambda: libc.syscall(56, flag | USER | 17, 0, 0, 0, 0)),
        ("clone alone", lambda: libc.syscall(56, flag | 17, 0, 0, 0, 0) if flag else -1),
        ("clone3", lambda: libc.syscall(435, (ctypes.c_uint64 * 11)(flag | USER, 0, 0, 0, 17), 88)),
    ):
        if (got := call()) != -1:
            made.append((name, hex(flag)))
        if got == 0 and "clone" in name:
            os._exit(0)
for name in ("ipc", "mnt", "net", "pid", "uts", "cgroup"):
    try:
        if libc.setns(os.open("/proc/1/ns/" + name, os.O_RDONLY), 0) == 0:
            made.append(name)
    except OSError:
        pass
print(made or "refused")
