# Leaves links, pipes and folders where the supervisor looks after the run, in the hope that it follows or waits. It must
# look at names only.
import os

os.chdir("/run/report")
os.symlink("/box/stage", ".stage")
os.mkfifo(".pipe")
os.mkdir(".folder", 0)
os.chmod("/run/report", 0)
os.chmod("/work", 0)
print("done")
