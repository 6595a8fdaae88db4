# Says on every descriptor that its syntax is wrong, as the language's start-up would. That the right one is closed by now
# must stop it.
import os

for descriptor in range(3, 64):
    try:
        os.write(descriptor, b"F")
    except OSError:
        pass
print("done")
