"""Uses a share of a core, and reports the CPU time that it has used in microseconds."""

import sys
import time

load = float(sys.argv[1])
print("gleaner warm", flush=True)
begun, reported = time.monotonic(), 0.0
start = time.process_time()
while True:
    for _ in range(20_000):
        pass
    used, now = time.process_time() - start, time.monotonic()
    if now - reported > 0.02:
        print("gleaner samples", int(used * 1e6), flush=True)
        reported = now
    # A program that has used too little CPU time, as on a busy machine, catches up. A program that
    # has used too much waits.
    ahead = used - load * (now - begun)
    if load < 1 and ahead > 0:
        time.sleep(ahead / load)
