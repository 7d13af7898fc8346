"""Tests of data frames as inputs: with lists in cells, times in the index, or other column names."""

from __future__ import annotations

from pathlib import Path

import pandas
import polars
import pyarrow
import pytest

import gleaner
from gleaner import _gleaner
from test_replay import EVENTS, TASKS

LISTS = {
    "name": ["a", "b"],
    "min_nodes": [1, 2],
    "max_nodes": [4, 4],
    "rescale_up": [10.0, 20.5],
    "rescale_down": [5, 5],
    "work": [1e6, 2e6],
    "curve_nodes": [[0, 1, 2, 4], [0, 2, 4]],
    "curve_progress": [[0.0, 10.0, 19.5, 36.0], [0.0, 20.0, 38.0]],
}


def steps(events: object, tasks: object = TASKS) -> polars.DataFrame:
    return polars.DataFrame(gleaner.replay(events, tasks, t_fwd=60).steps)  # type: ignore[arg-type]


@pytest.mark.parametrize("library", ["polars", "polars-arrays", "pandas", "pyarrow-large", "pandas-index"])
def test_curves_may_be_lists(library: str) -> None:
    text = {**LISTS, **{name: [";".join(map(str, row)) for row in LISTS[name]] for name in ("curve_nodes", "curve_progress")}}  # type: ignore[union-attr]
    large = pyarrow.large_list(pyarrow.int64())
    table = {
        "polars": lambda: polars.DataFrame(LISTS),
        "polars-arrays": lambda: polars.DataFrame(LISTS).filter(name="a").with_columns(polars.col("curve_nodes").cast(polars.Array(polars.Int64, 4))),
        "pandas": lambda: pandas.DataFrame(LISTS),
        "pyarrow-large": lambda: pyarrow.table({**LISTS, "curve_nodes": pyarrow.array(LISTS["curve_nodes"], large)}),
        # The index is unnamed and numeric, as after filtering.
        "pandas-index": lambda: pandas.DataFrame({name: [values[0], *values] for name, values in LISTS.items()}).iloc[[1, 2]],
    }[library]()
    expected = polars.DataFrame(text)
    assert steps(EVENTS, table).equals(steps(EVENTS, expected.head(len(table))))


def wide() -> pandas.DataFrame:
    """The log with a column for each node, and the times as the index."""
    long = pandas.read_csv(EVENTS, parse_dates=["time"])
    frame = long.pivot_table(index="time", columns="node", values="state", aggfunc="last", sort=False)
    frame = frame[list(dict.fromkeys(long["node"].dropna()))]
    return frame.sort_index().ffill().fillna(0).astype("int8")


@pytest.mark.parametrize("index", ["time", "when", None])
def test_times_may_be_the_index_of_pandas(index: str | None, tmp_path: Path) -> None:
    frame = wide()
    frame.columns.name = None
    written = tmp_path / "wide.csv"
    frame.to_csv(written)
    expected = gleaner.EventLog.read(written)
    frame.index.name = index
    log = gleaner.EventLog.read(frame)
    assert isinstance(frame.index, pandas.DatetimeIndex)
    assert (log.nodes, log.span, len(log)) == (expected.nodes, expected.span, len(expected))
    assert log.idle_node_hours == expected.idle_node_hours > 0
    assert gleaner.EventLog.read(frame.astype(bool)).idle_node_hours == log.idle_node_hours


def test_states_may_be_called_idle(tmp_path: Path) -> None:
    expected = gleaner.EventLog.read(EVENTS)
    # The column needs a nullable type, because the last row has no state.
    frame = pandas.read_csv(EVENTS, dtype={"state": "Int64"}).rename(columns={"state": "idle"})
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    frame["idle"] = frame["idle"].astype("boolean")
    frame.to_csv(tmp_path / "truths.csv", index=False)
    polars.from_pandas(frame).write_parquet(tmp_path / "truths.parquet")
    filtered = pandas.concat([frame.iloc[:1], frame]).iloc[1:].set_axis([7, *range(len(frame) - 1)])
    for log in (tmp_path / "numbers.csv", tmp_path / "truths.csv", frame, filtered, polars.from_pandas(frame)):
        read = gleaner.EventLog.read(log)
        assert polars.DataFrame(read.changes).equals(polars.DataFrame(expected.changes)), log


def test_changes_are_the_whole_log() -> None:
    """The log has a node that is never idle, and a last row in which nothing changes."""
    rows = {"time": [0, 0, 100, 86400], "node": ["a", "b", "a", None], "state": [1, 0, 0, None]}
    log = gleaner.EventLog.read(polars.DataFrame(rows))
    assert log.span == ("1970-01-01 00:00:00", "1970-01-02 00:00:00") and log.nodes == ["a", "b"]
    assert log.changes.column("time")[-1] == 86_400 * 10**9
    assert log.changes.column("node") == ["a", "b", "a", None] and log.changes.column("state") == [1, 0, 0, None]
    for table in (log.changes, polars.DataFrame(log.changes), pyarrow.table(log).to_pandas()):
        again = gleaner.EventLog.read(table)
        assert (again.span, again.nodes, len(again)) == (log.span, log.nodes, len(log))


def test_tasks_may_have_a_curve_for_each_class() -> None:
    curves = {"v100": {1: 400.0, 8: 2800.0}, "a100": {1: 1000.0, 4: 3700.0}}
    task = gleaner.Task("a", curves, min_nodes={"v100": 2, "a100": 1}, rescale_up=20, rescale_down=10, counts="points")
    assert task.curves == {name: {0: 0.0, **curve} for name, curve in curves.items()}
    assert task.bounds == {"v100": (2, 8), "a100": (1, 4)}
    # The slowest class is v100: at the minimum number of nodes, a v100 node does 371 units of work per second, and an
    # a100 node does 1000.
    assert (task.min_nodes, task.max_nodes, task.curve) == (2, 8, task.curves["v100"])
    assert (task.move, task.counts) == (30, "points")
    assert (task.rate(4), task.rate(4, "a100"), task.rate(4, "h100")) == (task.rate(4, "v100"), 3700, 0)

    fast = gleaner.Task("b", {1: 10, 4: 20}, speed={"v100": 1, "a100": 2.5}, objective={1: 1, 4: 2}, move=45)
    assert fast.curves == {"v100": {0: 0, 1: 10, 4: 20}, "a100": {0: 0, 1: 25, 4: 50}}
    assert (fast.move, fast.counts, fast.bounds["a100"]) == (45, "all", (1, 4))
    plain = gleaner.Task("c", {1: 10})
    assert (plain.curves, plain.bounds, plain.move, plain.rate(1, "a100")) == ({}, {}, 0, 10)


def test_tasks_with_classes_are_written_and_read(tmp_path: Path) -> None:
    curves = {"v100": {1: 400.0, 8: 2800.0}, "a100": {1: 1000.0, 4: 3700.0}}
    objective = {"a100": {1: 2.0, 4: 3.0}}
    task = gleaner.Task("a", curves, objective=objective, min_nodes={"v100": 2, "a100": 1}, move=3, counts="points")
    _gleaner.write_tasks([task], tmp_path / "tasks.json")
    (again,) = gleaner.Task.read(tmp_path / "tasks.json")
    assert again.__getnewargs_ex__() == task.__getnewargs_ex__()


def test_tasks_are_checked_when_they_are_made() -> None:
    import datetime

    wrong = [
        (("a", {1: -5}), {}, "curve: found -5"),
        (("a", {1: float("nan")}), {}, "curve: found NaN"),
        (("a", {-1: 5}), {}, "curve"),
        (("a", {1.5: 5}), {}, "curve: found 1.5"),
        (("a", {}), {}, "max_nodes: found 0"),
        (("", {1: 5}), {}, "name: found nothing"),
        (("a", {1: 5}), {"min_nodes": 2}, "min_nodes: found 2, expected at most 1"),
        (("a", {1: 5}), {"min_nodes": 0}, "a whole number of nodes, at least 1"),
        (("a", {1: 5}), {"max_nodes": 2}, "max_nodes: found 2"),
        (("a", {1: 5}), {"work": -1}, "work: found -1"),
        (("a", {1: 5}), {"work": float("nan")}, "work: found NaN"),
        (("a", {1: 5}), {"rescale_up": -1}, "rescale_up: found -1"),
        (("a", {1: 5}), {"priority": 0}, "priority: found 0"),
        (("a", {1: 5}), {"objective": {1: -1}}, "objective: found -1"),
        (("a", {"v": {1: -5}}), {}, "curve.v: found -5"),
        (("a", {"v": {1: 5}}), {"objective": {"v": {1: -1}}}, "objective.v: found -1"),
        (("a", {"v": {1: 5}}), {"objective": {1: 1}}, "objective: expected a dictionary for each class"),
        (("a", {"v": {1: 5}}), {"objective": {"w": {1: 1}}}, "objective: found class \"w\""),
        (("a", {"v": {1: 5}}), {"max_nodes": 2}, "max_nodes: found 2, expected at most 1"),
        (("a", {"v": {1: 5}}), {"min_nodes": {"w": 1}}, "min_nodes.w: found a class without a curve"),
        (("a", {"nodes": {1: 5}}), {}, "curve: found \"nodes\" as the name of a class"),
        (("a", {1: 5}), {"speed": {"v": 0}}, "speed.v: found 0"),
        (("a", {1: 5}), {"move": -1}, "move: found -1"),
        (("a", {1: 5}), {"counts": "some"}, "counts: found \"some\""),
        (("a", {1: 5}), {"submit": "2026-01-02", "deadline": "2026-01-01"}, "deadline"),
    ]
    for args, named, told in wrong:
        with pytest.raises(ValueError, match=told):
            gleaner.Task(*args, **named)  # type: ignore[arg-type]
    submit = datetime.datetime(2026, 1, 31, 8, 30)
    for time in (submit, pandas.Timestamp(submit), "2026-01-31 08:30:00", "2026-01-31T08:30:00"):
        task = gleaner.Task("a", {1: 5.0}, submit=time, deadline=submit + datetime.timedelta(days=1))
        assert (task.submit, task.deadline) == ("2026-01-31 08:30:00", "2026-02-01 08:30:00")
    with pytest.raises(ValueError, match="without an offset"):
        gleaner.Task("a", {1: 5}, submit=submit.replace(tzinfo=datetime.timezone.utc))


def test_infeasible_plans_have_no_objective() -> None:
    problem = gleaner.Problem.read("dataset/problems.jsonl")[0]
    best = gleaner.solve(problem).counts
    assert best is not None and problem.check(best) == [] and problem.objective(best) > 0
    for plan in ([problem.nodes + 1] * len(best), best[:-1], [task.max_nodes + 1 for task in problem.tasks]):
        found = problem.check(plan)
        assert found
        with pytest.raises(ValueError, match="the plan is not feasible"):
            problem.objective(plan)


SEARCH = """
[search]
algorithm = "random"
trials = 3
max_resource = 4
curves = "losses.csv"

[[task]]
name = "a"
min_nodes = 1
max_nodes = 4
rescale_up = 1
rescale_down = 1
work = 1e4
curve = { nodes = [0, 4], progress = [0, 40] }
"""


@pytest.mark.parametrize(("losses", "best"), [(["nan", "0.5", "inf"], 0.5), (["nan", "", "-inf"], None)])
def test_losses_that_are_no_numbers_are_those_of_diverged_trials(tmp_path: Path, losses: list[str], best: float | None) -> None:
    (tmp_path / "tasks.toml").write_text(SEARCH)
    rows = [f"{trial},4,{loss}\n" for trial, loss in enumerate(losses)]
    (tmp_path / "losses.csv").write_text("trial,resource,loss\n" + "".join(rows))
    run = gleaner.replay(EVENTS, tmp_path / "tasks.toml", t_fwd=60, out=tmp_path / "out")
    assert run.summary["trials_finished"] == 3 and run.summary["best_loss"] == best
    assert run.summary["regret"] == (None if best is None else 0)
    assert gleaner.open(tmp_path / "out").tables["trials"].column("loss") == run.trials.column("loss")
    assert run.report().html() and not any("curve" in remark for remark in run.remarks)


def test_curves_that_start_late_are_a_remark(tmp_path: Path) -> None:
    (tmp_path / "tasks.toml").write_text(SEARCH)
    (tmp_path / "losses.csv").write_text("trial,resource,loss\n0,4,1\n1,5,1\n2,6,1\n")
    run = gleaner.replay(EVENTS, tmp_path / "tasks.toml", t_fwd=60)
    assert any("before the start of 2 learning curves" in remark for remark in run.remarks)
