# Writes every byte there is, NUL first. All must arrive, none may be taken for an end.
import os

os.write(1, bytes(range(256)))
