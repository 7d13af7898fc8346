"""Works in child processes that live for a few milliseconds. Each child counts as a sample."""

import os

print("gleaner warm", flush=True)
count = 0
while True:
    if os.fork() == 0:
        for _ in range(300_000):
            pass
        os._exit(0)
    os.wait()
    count += 1
    print("gleaner samples", count, flush=True)
