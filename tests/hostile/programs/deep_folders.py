# Goes down into folders without end, deeper than any path can say. Time must stop it, and clearing up must not go down
# one call for each folder.
import os

while True:
    os.mkdir("d")
    os.chdir("d")
