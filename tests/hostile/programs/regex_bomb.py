# Matches a pattern that takes exponential time, inside one call that no exception interrupts. The CPU limit must end it.
import re

re.match(r"(a+)+$", "a" * 60 + "b")
