# Many children write a little each, all together too much. The limit of a stream must hold for all who hold it.
import os

for _ in range(8):
    if os.fork() == 0:
        while True:
            os.write(1, b"x" * 512)
os.wait()
