# Waits for a lock that it holds itself. The clock on the wall must end it.
import fcntl

first, second = open("/tmp/lock", "w"), open("/tmp/lock", "w")
fcntl.flock(first, fcntl.LOCK_EX)
fcntl.flock(second, fcntl.LOCK_EX)
