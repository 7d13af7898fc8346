"""An external solver that supports node classes: dynamic programming over the nodes used in each class. It is meant for
small problems, because the number of states grows with the product of the capacities."""
import os, sys, time

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import dp


def solve(problem, deadline, request=None):
    if "classes" not in problem:
        return dp.solve(problem, deadline, request)
    capacity = tuple(kind["capacity"] for kind in problem["classes"])
    best = {(0,) * len(capacity): (0.0, None)}  # nodes used in each class: best total, and the plan as a linked list
    for task in problem["tasks"]:
        if request in dp.cancelled or time.monotonic() > deadline:
            return {"status": "unknown"}
        kept = task.get("current")
        options = [None, *task["options"]]
        if task.get("fixed"):
            options = [option for option in options if (option and option[:2]) == kept]
        after = {}
        for used, (total, plan) in best.items():
            for option in options:
                now = list(used)
                if option:
                    now[option[0]] += option[1]
                worth = total + (option[2] if option else task.get("none", 0.0))
                fits = all(nodes <= most for nodes, most in zip(now, capacity))
                if fits and worth > after.get(tuple(now), (float("-inf"),))[0]:
                    after[tuple(now)] = (worth, (option and option[:2], plan))
        best = after
    if not best:
        return {"status": "infeasible"}
    plan, chain = [], max(best.values(), key=lambda state: state[0])[1]
    while chain:
        plan, chain = [chain[0], *plan], chain[1]
    return {"status": "optimal", "plan": plan}


if __name__ == "__main__":
    dp.main("classes.py", solve, ["classes"])
