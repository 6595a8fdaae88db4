# Fills System V shared memory, detached, so that it is in nobody's address space. It must count, and go with the cell.
import ctypes

libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
while True:
    place = libc.shmat(libc.shmget(0, 4 << 20, 0o1600), None, 0)
    ctypes.memset(place, 1, 4 << 20)
    libc.shmdt(ctypes.c_void_p(place))
