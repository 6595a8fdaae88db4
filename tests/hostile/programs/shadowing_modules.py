# Brings modules along with the names of those that the language's start-up uses, so that its code runs while descriptor 3 is
# still open. They must not be found there.
import os
import sys

print("done", [name for name in ("stat", "sitecustomize", "site") if "work" in str(getattr(sys.modules.get(name), "__file__", ""))])
