"""Uses a share of a core, and reports its CPU time so far, in microseconds."""

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
    # Sleep only if this program has used too much CPU time. If it has used too little, as on a busy
    # machine, it catches up.
    ahead = used - load * (now - begun)
    if load < 1 and ahead > 0:
        time.sleep(ahead / load)
