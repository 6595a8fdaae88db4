# Fills the working directory. The size of the cell's file system must stop it.
written = 0
try:
    with open("/work/flood", "wb", 0) as file:
        while True:
            written += file.write(b"x" * 65536)
except OSError as error:
    print("bounded" if error.errno in (27, 28) and written < 17 << 20 else (error, written))
