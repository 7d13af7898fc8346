"""Tests that tasks, problems, logs and runs can be passed to other processes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import polars

import gleaner
from test_replay import EVENTS, TASKS


def seen(value: Any) -> Any:
    """The public values of an object."""
    if isinstance(value, gleaner.Task):
        names = ("name", "min_nodes", "max_nodes", "rescale_up", "rescale_down", "work", "priority", "submit", "deadline", "curve", "curves", "bounds", "move", "counts")
        return [getattr(value, name) for name in names]
    if isinstance(value, gleaner.Problem):
        return value.to_json()
    if isinstance(value, gleaner.EventLog):
        return value.nodes, value.span, polars.DataFrame(value.changes).rows()
    tables = {name: polars.DataFrame(table).fill_null("").rows() for name, table in value.tables.items()}
    return value.command, value.complete, value.summary, tables, value.remarks, value.skipped, value.tallies


def objects() -> list[Any]:
    tasks = [
        *gleaner.Task.read(TASKS),
        gleaner.Task("classes", {"v100": {1: 0.1, 8: 1 / 3}, "a100": {1: 1}}, min_nodes={"v100": 2, "a100": 1}, move=5, counts="points"),
        gleaner.Task("factors", {1: 1, 8: 4}, objective={1: 2, 8: 3}, speed={"v100": 1, "a100": 2.4}, max_nodes=4),
        gleaner.Task("own", {1: 0.1, 8: 1 / 3}, objective={1: 2, 8: 3}, submit="2026-01-01 08:00:00.25", deadline="2026-02-01", priority=2),
    ]
    run = gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=lambda problem: gleaner.solve(problem), to="2026-01-01 06:00")
    return [*tasks, *gleaner.Problem.read("dataset/problems.jsonl")[:5], gleaner.EventLog.read(EVENTS), run]


def test_pickles_and_copies_are_the_same() -> None:
    for value in objects():
        for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert type(again) is type(value) and seen(again) == seen(value)


def test_pickled_tasks_have_their_objective() -> None:
    own = objects()[-8]
    assert own.name == "own"
    one, other = (gleaner.replay(EVENTS, [task], t_fwd=60, objective="file") for task in (own, pickle.loads(pickle.dumps(own))))
    assert one.summary == other.summary


def work(value: Any) -> Any:
    return seen(value), value


def test_other_processes_take_and_return_them() -> None:
    values = objects()[-3:]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for value, (there, back) in zip(values, pool.map(work, values)):
            assert there == seen(value) == seen(back)
