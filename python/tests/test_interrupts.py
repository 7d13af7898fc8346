"""Tests that Ctrl-C raises KeyboardInterrupt with the partial results, even in functions that never return."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

HEAD = """
import time, sys, gleaner
EVENTS, TASKS, DATA = "dataset/idle.csv", "dataset/tasks.toml", "dataset/cluster"
def ready():
    print("ready", flush=True)
def ended(run):
    print("ended", run.complete, *(f"{name}={len(table)}" for name, table in run.tables.items()), flush=True)
def interrupted(start):
    try:
        start()
    except KeyboardInterrupt as error:
        ended(error.run)
"""

LOOPS = """
calls = 0
def loops(problem):
    global calls
    calls += 1
    if calls == 30:
        ready()
        while True:
            pass
    return gleaner.solve(problem)
interrupted(lambda: gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=loops))
"""

SLEEPS = LOOPS.replace("while True:\n            pass", "time.sleep(1000)")

LOOP = """
def busy(problem):
    if runs == 2:
        ready()
        time.sleep(0.1)
    return gleaner.solve(problem)
for runs in range(6):
    try:
        gleaner.replay(EVENTS, TASKS, t_fwd=60, to="2026-01-01 12:00", solver=busy)
    finally:
        if runs >= 2:
            print("end of run", runs, flush=True)
"""

POLICY = """
class Waits(gleaner.Policy):
    def next(self, view):
        ready()
        while True:
            time.sleep(0.01)
interrupted(lambda: gleaner.simulate(data=DATA, policy=["fifo", Waits]))
"""

OBJECTIVE = """
def never(task, nodes):
    ready()
    while True:
        pass
gleaner.replay(EVENTS, TASKS, objective=never)
"""


def interrupt(script: str) -> tuple[int, list[str], str]:
    """Runs a script and sends it SIGINT once it is ready. Returns its exit code, the lines of its stdout, and its
    stderr."""
    program = [sys.executable, "-c", HEAD + textwrap.dedent(script)]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    if line != "ready\n":
        process.kill()
    assert line == "ready\n", (line, process.communicate())
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, [line for line in out.splitlines() if line != "ready"], err


# A solver program that never answers. It creates the file `asked` when it receives a problem.
HANGS = """
import sys, time
sys.stdin.readline()
print('{"hello": {"protocol": 1, "name": "hangs", "version": "1"}}', flush=True)
sys.stdin.readline()
open("asked", "w").close()
time.sleep(1000)
"""


@pytest.mark.parametrize(
    "call",
    [
        "gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=solver, time_limit=1000)",
        "gleaner.solve(gleaner.Problem.read('dataset/problems.jsonl')[0], solver=solver, time_limit=1000)",
        "gleaner.compare(problems='dataset/problems.jsonl', program=[solver], time_limit=1000)",
        "gleaner.sweep('PLAN', out='OUT')",
    ],
    ids=["replay", "solve", "compare", "sweep"],
)
def test_a_program_that_never_answers(call: str, tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(HANGS.replace('"asked"', repr(str(tmp_path / "asked"))))
    solver = f"exec:{sys.executable} {tmp_path / 'hangs.py'}"
    (tmp_path / "plan.toml").write_text(
        f"[replay]\nevents = {os.path.abspath('dataset/idle.csv')!r}\ntasks = {os.path.abspath('dataset/tasks.toml')!r}\n"
        f"solver = [{solver!r}]\nt_fwd = [60]\ntime_limit = 1000\n"
    )
    call = call.replace("PLAN", str(tmp_path / "plan.toml")).replace("OUT", str(tmp_path / "out"))
    script = f"""
    import os, threading
    solver = {solver!r}
    def wait():
        while not os.path.exists({str(tmp_path / "asked")!r}):
            time.sleep(0.01)
        ready()
    threading.Thread(target=wait, daemon=True).start()
    {call}
    """
    code, lines, err = interrupt(textwrap.dedent(script))
    assert (code, lines) == (-signal.SIGINT, []) and "KeyboardInterrupt" in err, (code, lines, err)


@pytest.mark.parametrize("script", [LOOPS, SLEEPS], ids=["loops", "sleeps"])
def test_a_solver_that_never_returns(script: str) -> None:
    code, lines, err = interrupt(script)
    assert code == 0, err
    assert lines[0].startswith("ended False steps=")
    assert int(lines[0].split("steps=")[1].split()[0]) >= 29


def test_a_policy_that_never_returns() -> None:
    code, lines, err = interrupt(POLICY)
    assert code == 0, err
    assert lines[0].startswith("ended False policies=1") and "fifo_jobs=" in lines[0]


def test_an_objective_that_never_returns_leaves_nothing() -> None:
    code, lines, err = interrupt(OBJECTIVE)
    assert (code, lines) == (-signal.SIGINT, []) and "KeyboardInterrupt" in err


def test_a_loop_of_runs_ends_with_the_run_that_was_interrupted() -> None:
    code, lines, err = interrupt(LOOP)
    assert (code, lines) == (-signal.SIGINT, ["end of run 2"]) and "KeyboardInterrupt" in err


@pytest.mark.parametrize(
    "script",
    [
        "gleaner.replay(EVENTS, TASKS, t_fwd=60, repeat_tasks=True, solver='exact')",
        "gleaner.simulate(data=DATA, policy='all')",
        "gleaner.solve([gleaner.Problem.read('dataset/problems.jsonl')[0]] * 3_000_000)",
        "gleaner.inspect(EVENTS)",
    ],
    ids=["replay", "simulate", "solve", "inspect"],
)
def test_runs_without_functions_end_soon(script: str) -> None:
    code, lines, err = interrupt("ready()\nwhile True:\n    " + script)
    assert (code, lines) == (-signal.SIGINT, []) and "KeyboardInterrupt" in err, (code, lines, err)
