"""An external solver: dynamic programming over nodes. It needs only the standard library."""
import json, queue, sys, threading, time

messages, cancelled = queue.Queue(), set()  # a cancel may arrive before its request is processed


def read():
    for message in map(json.loads, sys.stdin):
        cancelled.add(message["cancel"]["id"]) if "cancel" in message else messages.put(message)
    messages.put({"quit": {}})


def rate(task, count):
    nodes, rates = task["curve_nodes"], task["curve_objective"]
    i = max(i for i, n in enumerate(nodes) if n <= count)
    slope = 0 if i + 1 == len(nodes) else (rates[i + 1] - rates[i]) / (nodes[i + 1] - nodes[i])
    return task.get("weight", 1.0) * (rates[i] + slope * (count - nodes[i]))


def value(task, window, count):
    now = task["current"]
    cost = task["rescale_up"] if count > now else task["rescale_down"] if count < now else 0
    return window * rate(task, count) - cost * (rate(task, now) if now >= task["min_nodes"] else 0)


def solve(problem, deadline, request=None):
    best, choices = [0.0] * (problem["nodes"] + 1), []  # best totals of the tasks so far, by number of nodes
    for task in problem["tasks"]:
        if request in cancelled or time.monotonic() > deadline:
            break
        most = min(task["max_nodes"], task["curve_nodes"][-1], problem["nodes"])
        worth = [(n, value(task, problem["t_fwd"], n)) for n in [0, *range(task["min_nodes"], most + 1)]]
        chosen = [max((best[at - n] + v, n) for n, v in worth if n <= at) for at in range(len(best))]
        best, choices = [total for total, _ in chosen], [*choices, [n for _, n in chosen]]
    counts, left = [0] * len(problem["tasks"]), problem["nodes"]
    for i in reversed(range(len(choices))):
        counts[i] = choices[i][left]
        left -= counts[i]
    return {"status": "optimal" if len(choices) == len(counts) else "feasible", "counts": counts}


def main(name="dp.py", solve=solve, capabilities=()):
    threading.Thread(target=read, daemon=True).start()
    while "quit" not in (message := messages.get()):
        reply = {"hello": {"protocol": 1, "name": name, "version": "1", "capabilities": [*capabilities]}}
        if ask := message.get("solve"):
            answer = solve(ask["problem"], time.monotonic() + 0.8 * ask["time_limit"], ask["id"])
            reply = {"done": {"id": ask["id"], **answer}}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
