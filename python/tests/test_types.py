"""Tests that a type checker accepts correct uses of the package and rejects wrong uses, and that the types match the
module."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import gleaner

PACKAGE = Path(gleaner.__file__).parent

RIGHT = """
import gleaner

run = gleaner.replay("idle.csv", "tasks.toml", t_fwd=60, solver=lambda problem: [0] * len(problem.tasks))
counts: list[int] | None = gleaner.solve(gleaner.Problem.read("problems.jsonl")[0]).counts
answers: list[gleaner.Answer] = gleaner.solve("problems.jsonl")
table: gleaner.Table = run.steps


class Mine(gleaner.Policy):
    def next(self, view: gleaner.View) -> gleaner.Start | None:
        return gleaner.Start(view.waiting[0]) if view.waiting else None


gleaner.simulate(data="trace", policy=[Mine, "fifo"], gpus_per_node=4)
gleaner.simulate(data="trace", policy=Mine())
swept: gleaner.SweepRuns = gleaner.sweep({"data": "trace", "policy": [Mine, "fifo"]}, workers=2)
table = swept.table("policies")
best: gleaner.Run = swept[{"policy": "fifo"}]
plan: gleaner.Run = gleaner.sweep("plan.toml", jobs=2)
"""

WRONG = """
import gleaner

gleaner.replay("idle.csv", "tasks.toml", t_forward=60)
gleaner.replay("idle.csv", "tasks.toml", check="yes")
gleaner.simulate(data="trace", policy=[3])
gleaner.solve(gleaner.Problem.read("problems.jsonl")[0]).count
gleaner.sweep({"data": "trace"}, workers="all")
"""


def mypy(*words: object) -> tuple[int, str]:
    environment = {**os.environ, "MYPY_CACHE_DIR": os.devnull}
    program = [sys.executable, "-m", *map(str, words)]
    found = subprocess.run(program, capture_output=True, text=True, env=environment)
    return found.returncode, found.stdout + found.stderr


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()
    code, told = mypy("mypy", "--strict", "-p", "gleaner")
    assert code == 0, told


def test_stubs_are_those_of_the_module() -> None:
    code, told = mypy("mypy.stubtest", "gleaner._gleaner", "--ignore-disjoint-bases")
    assert code == 0, told


def test_uses_are_checked(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(RIGHT)
    wrong.write_text(WRONG)
    code, told = mypy("mypy", "--strict", right)
    assert code == 0, told
    code, told = mypy("mypy", "--strict", wrong)
    faulty = {line.split(":")[1] for line in told.splitlines() if "error:" in line}
    assert faulty == {"4", "5", "6", "7", "8"}, told
