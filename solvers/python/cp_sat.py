"""An external solver: CP-SAT from OR-Tools (pip install ortools). It supports groups and reports improved plans."""
import json, queue, sys, threading, time

from ortools import __version__
from ortools.sat.python import cp_model

from dp import value

SCALE = 10**9  # CP-SAT works with integers: the largest absolute value of any task is scaled to this number
messages, cancelled, running = queue.Queue(), set(), {}


def read():
    for message in map(json.loads, sys.stdin):
        cancelled.add(message["cancel"]["id"]) if "cancel" in message else messages.put(message)
    messages.put({"quit": {}})


def stop():
    # A search that has not started yet cannot be stopped, so keep trying.
    while True:
        for request, solver in list(running.items()):
            if request in cancelled:
                solver.stop_search()
        time.sleep(0.02)


def say(kind, **fields):
    print(json.dumps({kind: fields}), flush=True)


class Report(cp_model.CpSolverSolutionCallback):
    def __init__(self, ask, counts):
        super().__init__()
        self.ask, self.counts = ask, counts

    def on_solution_callback(self):
        say("incumbent", id=self.ask["id"], counts=[self.value(count) for count in self.counts])


def solve(ask):
    problem, model = ask["problem"], cp_model.CpModel()
    tables = []
    for task in problem["tasks"]:
        most = min(task["max_nodes"], task["curve_nodes"][-1], problem["nodes"])
        tables.append({n: value(task, problem["t_fwd"], n) for n in [0, *range(task["min_nodes"], most + 1)]})
    scale = SCALE / (max((abs(v) for table in tables for v in table.values()), default=0) or 1)
    counts, gains = [], []
    for table in tables:
        chosen = {n: model.new_bool_var("") for n in table}
        model.add_exactly_one(chosen.values())
        counts.append(sum(n * var for n, var in chosen.items()))
        gains.append(sum(round(scale * table[n]) * var for n, var in chosen.items()))
    model.add(sum(counts) <= problem["nodes"])
    place = {task["name"]: i for i, task in enumerate(problem["tasks"])}
    for group in problem.get("groups", []):
        total = sum(counts[place[name]] for name in group["tasks"])
        model.add(total >= group.get("min_total", 0))
        model.add(total <= group.get("max_total", problem["nodes"]))
    model.maximize(sum(gains))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = 0.8 * ask["time_limit"]
    solver.parameters.relative_gap_limit = ask["gap"]
    solver.parameters.random_seed = ask["seed"]
    solver.parameters.num_workers = ask["threads"]
    running[ask["id"]] = solver
    status = solver.solve(model, Report(ask, counts))
    names = {cp_model.OPTIMAL: "optimal", cp_model.FEASIBLE: "feasible", cp_model.INFEASIBLE: "infeasible"}
    answer = {"id": ask["id"], "status": names.get(status, "unknown")}
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        answer["counts"] = [solver.value(count) for count in counts]
    return answer


for work in (read, stop):
    threading.Thread(target=work, daemon=True).start()
while "quit" not in (message := messages.get()):
    if "hello" in message:
        say("hello", protocol=1, name="CP-SAT", version=__version__, capabilities=["groups", "incumbents"])
    elif ask := message.get("solve"):
        say("done", **solve(ask))
        running.clear()
