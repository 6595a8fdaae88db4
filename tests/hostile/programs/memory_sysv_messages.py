# Fills System V message queues: memory of the kernel that no process has. Its limits, those of the cell or the wall
# around the container must hold.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
message = ctypes.create_string_buffer(8 + 8000)
message[0] = 1
while True:
    queue = libc.msgget(0, 0o1600)
    if queue < 0:
        break
    while libc.msgsnd(queue, message, 8000, 0o4000) == 0:
        pass
print("bounded")
