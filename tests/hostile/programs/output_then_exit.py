# Writes one byte more than it may and ends at once with 0, before anybody can stop it. It must be noticed afterwards.
import os

os.write(1, b"x" * 65537)
os._exit(0)
