"""Starts a child, and an orphaned process in another session. Writes their process ids."""

import os
import subprocess
import sys
import time

child = subprocess.Popen(["sleep", "600"])
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
    with open(sys.argv[1], "w") as file:
        print(os.getppid(), child.pid, os.getpid(), file=file)
    time.sleep(600)
    os._exit(0)
os.wait()
while not (os.path.exists(sys.argv[1]) and os.path.getsize(sys.argv[1])):
    time.sleep(0.01)
print("gleaner warm", flush=True)
for count in range(10_000):
    print("gleaner samples", count, flush=True)
    time.sleep(0.02)
