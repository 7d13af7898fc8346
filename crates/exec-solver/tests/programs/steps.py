"""A solver that reports two intermediate plans: no nodes for any task, then the best plan without its last task."""
import json, os, sys, time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../solvers/python"))
from dp import solve

PAUSE = 0.02  # seconds between the plans


def say(document):
    print(json.dumps(document), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        say({"hello": {"protocol": 1, "name": "steps.py", "capabilities": ["incumbents"]}})
    if "solve" not in message:
        continue
    ask = message["solve"]
    best = solve(ask["problem"], time.monotonic() + ask["time_limit"])["counts"]
    last = max((i for i, count in enumerate(best) if count), default=0)
    for counts in [[0] * len(best), [0 if i == last else count for i, count in enumerate(best)]]:
        say({"incumbent": {"id": ask["id"], "counts": counts}})
        time.sleep(PAUSE)
    say({"done": {"id": ask["id"], "status": "optimal", "counts": best}})
