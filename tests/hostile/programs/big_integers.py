# Computes a number with too many digits, inside one call. The CPU limit must end it.
print(len(str((1 << 80_000_000) ** 3)))
