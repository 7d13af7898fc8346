"""A program that answers problems with node classes in the way that its argument names."""
import json, sys

way = sys.argv[1]

for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        capabilities = [] if way == "none" else ["classes"]
        print(json.dumps({"hello": {"protocol": 1, "name": way, "capabilities": capabilities}}), flush=True)
    if "solve" not in message:
        continue
    ask = message["solve"]
    tasks = ask["problem"]["tasks"]
    nothing = [None] * len(tasks)
    done = {"status": "feasible", "plan": nothing}
    if way == "claims":
        done["status"] = "optimal"
    if way == "counts":
        done = {"status": "optimal", "counts": [0] * len(tasks)}
    if way == "no-list":
        done["plan"] = [[0], 1, "x"]
    if way == "no-option":
        done["plan"] = [[7, 1000]] * len(tasks)
    if way == "too-many":
        done["plan"] = [task["options"][-1][:2] for task in tasks]
    if way == "short":
        done["plan"] = nothing[1:]
    if way == "infeasible":
        done = {"status": "infeasible"}
    if way == "incumbent":
        print(json.dumps({"incumbent": {"id": ask["id"], "plan": nothing}}), flush=True)
        done = {"status": "unknown"}
    if way == "refuses":
        done = {"status": "refused"}
    print(json.dumps({"done": {"id": ask["id"], **done}}), flush=True)
