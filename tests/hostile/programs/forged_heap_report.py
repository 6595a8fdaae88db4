# Leaves the mark by which a runtime with a heap of its own reports that it was full. This language has no such report: it
# must not be believed.
open("/run/report/heap-exhausted", "w").close()
raise SystemExit(3)
