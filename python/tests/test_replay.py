"""Tests that ``gleaner.replay`` gives the same results as the command line. Also tests solvers and objectives in
Python."""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy
import polars
import pyarrow
import pytest

import gleaner
from conftest import shared

EVENTS, TASKS = "dataset/idle.csv", "dataset/tasks.toml"


def command(*words: object) -> None:
    """Runs the command line that the package installs."""
    subprocess.run([sys.executable, "-m", "gleaner", *map(str, words)], check=True, capture_output=True)


def same_files(one: Path, other: Path, different: set[str] = frozenset()) -> list[str]:
    """Asserts that two run directories contain the same files with the same bytes, except run.json and the files in
    ``different``. Returns the names of the files."""
    names = sorted(str(path.relative_to(one)) for path in one.rglob("*") if path.is_file())
    assert names == sorted(str(path.relative_to(other)) for path in other.rglob("*") if path.is_file())
    for name in set(names) - {"run.json"} - set(different):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    return names


TIMED = {"timings.csv", "timings.parquet"}


def test_files_are_those_of_the_command_line(tmp_path: Path) -> None:
    command("replay", "--events", EVENTS, "--tasks", TASKS, "--t-fwd", 60, "--max-tasks", 5, "--out", tmp_path / "cli")
    run = gleaner.replay(EVENTS, TASKS, t_fwd=60, max_tasks=5, out=tmp_path / "out")
    run.write(tmp_path / "written")
    names = same_files(tmp_path / "cli", tmp_path / "out", TIMED)
    assert "steps.parquet" in names and "summary.json" in names
    same_files(tmp_path / "out", tmp_path / "written")
    assert run.complete and run.command == "replay"
    assert gleaner.open(tmp_path / "out").summary == run.summary


def test_a_directory_that_cannot_be_used_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(gleaner.UsageError) as raised:
        gleaner.replay(EVENTS, TASKS, out=tmp_path)
    assert raised.value.run is None and raised.value.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def addresses(table: gleaner.Table) -> list[int]:
    """Passes a table to pyarrow, and returns the addresses of its values."""
    crossed = pyarrow.table(table)
    chunks = [chunk for column in crossed.columns for chunk in column.chunks]
    return [buffer.address for chunk in chunks for buffer in chunk.buffers() if buffer]


def test_tables_cross_to_data_frames() -> None:
    run = gleaner.replay(EVENTS, TASKS, t_fwd=60)
    assert addresses(run.steps) == addresses(run.steps)
    frame = polars.DataFrame(run.steps)
    assert frame["nNd"].to_list() == run.steps.column("nNd")
    assert frame["evtTime"].dtype == polars.Datetime("ns")


def test_a_stored_run_has_the_same_tables(tmp_path: Path) -> None:
    run = gleaner.replay(EVENTS, TASKS, t_fwd=60, out=tmp_path)
    stored = gleaner.open(tmp_path)
    assert sorted(stored.tables) == sorted(run.tables)
    for name, table in run.tables.items():
        kept = polars.DataFrame(stored.tables[name])
        made = polars.DataFrame(table)
        assert kept.columns == made.columns and len(kept) == len(made)
        casted = made.cast({column: kind for column, kind in kept.schema.items()})
        assert kept.equals(casted.with_columns(polars.col(polars.String).fill_null(""))), name
    with pytest.raises(gleaner.UsageError, match="read from a directory"):
        stored.write(tmp_path / "again")


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow"])
def test_inputs_may_be_tables(library: str, tmp_path: Path) -> None:
    frame = polars.read_csv(EVENTS)
    table = {"polars": lambda: frame, "pandas": lambda: frame.to_pandas(), "pyarrow": lambda: frame.to_arrow()}[library]()
    run = gleaner.replay(table, TASKS, t_fwd=60, out=tmp_path / "frame")
    gleaner.replay(EVENTS, TASKS, t_fwd=60, out=tmp_path / "file")
    same_files(tmp_path / "frame", tmp_path / "file", TIMED)
    text = (tmp_path / "frame" / "run.json").read_text()
    assert '"events": "<events>"' in text and '"path": "<events>"' in text
    log = gleaner.EventLog.read(table)
    assert polars.DataFrame(gleaner.replay(log, TASKS, t_fwd=60).steps).equals(polars.DataFrame(run.steps))
    assert log.nodes == gleaner.EventLog.read(EVENTS).nodes and len(log) > 100


def test_times_of_tables_are_read(tmp_path: Path) -> None:
    frame = polars.read_csv(EVENTS).with_columns(polars.col("time").str.to_datetime(time_unit="ns"))
    assert frame["time"].dtype == polars.DataFrame(gleaner.EventLog.read(EVENTS).changes)["time"].dtype
    gleaner.replay(frame, TASKS, t_fwd=60, out=tmp_path / "frame")
    gleaner.replay(EVENTS, TASKS, t_fwd=60, out=tmp_path / "file")
    same_files(tmp_path / "frame", tmp_path / "file", TIMED)


def test_faults_of_tables_name_them() -> None:
    frame = polars.DataFrame({"time": ["2026-01-01 00:00:00", "soon"], "node": ["a", "a"], "state": [1, 0]})
    with pytest.raises(gleaner.DataError) as raised:
        gleaner.replay(frame, TASKS)
    error = raised.value
    assert str(error).startswith("<events>, line 3") and error.exit_code == 3
    assert [(fault.file, fault.place) for fault in error.faults] == [("<events>", "line 3")]
    assert "soon" in error.faults[0].found


def test_tasks_may_be_made_in_python(tmp_path: Path) -> None:
    tasks = gleaner.Task.read(TASKS)
    run = gleaner.replay(EVENTS, tasks, t_fwd=60, out=tmp_path / "tasks")
    gleaner.replay(EVENTS, TASKS, t_fwd=60, out=tmp_path / "file")
    same_files(tmp_path / "tasks", tmp_path / "file", TIMED)
    own = gleaner.Task("own", {1: 10.0, 8: 70.0}, rescale_up=20, rescale_down=10, priority=2)
    assert own.curve == {0: 0.0, 1: 10.0, 8: 70.0} and own.work == float("inf") and own.submit is None
    assert gleaner.replay(EVENTS, [own], t_fwd=60).tasks.column("task") == ["own"]
    assert run.complete


def test_arguments_may_be_of_numpy_and_datetime() -> None:
    start = datetime.datetime(2026, 1, 1, 12)
    run = gleaner.replay(EVENTS, TASKS, t_fwd=numpy.float64(60), max_tasks=numpy.int64(3), from_=start)
    same = gleaner.replay(EVENTS, TASKS, t_fwd=60, max_tasks=3, from_="2026-01-01 12:00:00")
    assert run.summary == same.summary


def test_truth_values_and_floats_of_tables_are_read() -> None:
    frame = polars.read_csv(EVENTS)
    for kind in (polars.Boolean, polars.Float64):
        log = gleaner.EventLog.read(frame.with_columns(polars.col("state").cast(kind)))
        assert len(log) == len(gleaner.EventLog.read(EVENTS))


def test_tables_without_types_or_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="have no type, because they have no values: time, node; give them a type"):
        gleaner.EventLog.read(polars.DataFrame({"time": [], "node": [], "state": [1, 2][:0]}, schema_overrides={"state": polars.Int64}))
    with pytest.raises(ValueError, match="expected a table with named columns"):
        gleaner.EventLog.read(polars.Series([1]))
    with pytest.raises(gleaner.DataError, match="found no rows"):
        gleaner.EventLog.read(polars.DataFrame())


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(TypeError, match="at least one Task"):
        gleaner.replay(EVENTS, [])
    with pytest.raises(gleaner.UsageError, match="--scripted defines the allocations"):
        gleaner.replay(EVENTS, TASKS, scripted="x", solver=exact)
    with pytest.raises(TypeError, match="unexpected keyword argument 'tfwd'"):
        gleaner.replay(EVENTS, TASKS, tfwd=60)  # type: ignore[call-arg]
    with pytest.raises(gleaner.UsageError, match="max_tasks is False, expected a value"):
        gleaner.replay(EVENTS, TASKS, max_tasks=False)
    with pytest.raises(gleaner.UsageError, match="big_m is True"):
        gleaner.replay(EVENTS, TASKS, big_m=True)  # type: ignore[arg-type]
    with pytest.raises(gleaner.UsageError, match="t_fwd is \"long\": expected a number of seconds"):
        gleaner.replay(EVENTS, TASKS, t_fwd="long")
    with pytest.raises(gleaner.UsageError, match="solver"):
        gleaner.replay(EVENTS, TASKS, solver="gurobi")
    with pytest.raises(TypeError, match="expected a path, or a table"):
        gleaner.replay(7, TASKS)  # type: ignore[arg-type]
    with pytest.raises(gleaner.GleanerError, match="nowhere.csv"):
        gleaner.replay("nowhere.csv", TASKS)


def test_an_objective_in_python_is_asked_once_for_each_point() -> None:
    asked: list[tuple[str, int]] = []

    def twice(task: gleaner.Task, nodes: int) -> float:
        asked.append((task.name, nodes))
        return 2 * task.rate(nodes)

    run = gleaner.replay(EVENTS, TASKS, t_fwd=60, objective=twice)
    same = gleaner.replay(EVENTS, TASKS, t_fwd=60, objective="2 * rate")
    assert polars.DataFrame(run.steps).equals(polars.DataFrame(same.steps))
    assert len(asked) == len(set(asked)) > 20


def exact(problem: gleaner.Problem) -> gleaner.Answer:
    return gleaner.solve(problem)


def test_a_solver_that_asks_ours_gives_the_same_run() -> None:
    run = gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=exact)
    ours = gleaner.replay(EVENTS, TASKS, t_fwd=60, solver="exact")
    differing = ["solver"]
    assert polars.DataFrame(run.steps).drop(differing).equals(polars.DataFrame(ours.steps).drop(differing))
    assert set(run.steps.column("solver")) == {"python:exact"}
    assert run.tallies[0]["wrong"] == 0 and run.tallies[0]["confirmed"] == run.tallies[0]["problems"] > 100


def test_plans_may_be_lists_or_dicts() -> None:
    def as_list(problem: gleaner.Problem) -> list[int]:
        counts = gleaner.solve(problem).counts
        assert counts is not None
        return counts

    def as_dict(problem: gleaner.Problem) -> dict[str, int]:
        return {task.name: count for task, count in zip(problem.tasks, as_list(problem)) if count}

    one, other = (gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=solver) for solver in (as_list, as_dict))
    drop = ["solver"]
    assert polars.DataFrame(one.steps).drop(drop).equals(polars.DataFrame(other.steps).drop(drop))


def test_wrong_plans_are_counted_and_strict_raises(caplog: pytest.LogCaptureFixture) -> None:
    def greedy(problem: gleaner.Problem) -> list[int]:
        return [problem.nodes + 1] * len(problem.tasks)

    run = gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=greedy)
    tally = run.tallies[0]
    assert tally["wrong"] == tally["problems"] > 0 and run.complete
    assert any("wrong" in record.getMessage() for record in caplog.records)
    with pytest.raises(gleaner.RunError, match="wrong") as raised:
        gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=greedy, strict=True)
    assert raised.value.run is not None and raised.value.run.complete


@pytest.mark.parametrize("nonsense", ["many", 3, [1.5], [-1], {"nobody": 1}, object()])
def test_nonsense_is_an_exception(nonsense: object) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)) as raised:
        gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=lambda problem: nonsense)  # type: ignore
    run = raised.value.run  # type: ignore[attr-defined]
    assert isinstance(run, gleaner.Run) and not run.complete


class Broken(Exception):
    pass


def test_an_exception_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    calls = 0

    def breaks(problem: gleaner.Problem) -> gleaner.Answer:
        nonlocal calls
        calls += 1
        if calls > 40:
            raise Broken("at the forty-first")
        return gleaner.solve(problem)

    with pytest.raises(Broken, match="forty-first") as raised:
        gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=breaks, out=tmp_path)
    assert raised.traceback[-1].name == "breaks"
    run = raised.value.run  # type: ignore[attr-defined]
    whole = polars.DataFrame(gleaner.replay(EVENTS, TASKS, t_fwd=60).steps)
    steps = polars.DataFrame(run.steps)
    before = len(steps) - 1
    assert not run.complete and before >= 39 and calls == 41
    assert steps.drop("solver").head(before).equals(whole.drop("solver").head(before))
    assert not gleaner.open(tmp_path).complete
    with pytest.raises(Broken):
        gleaner.replay(EVENTS, TASKS, objective=lambda task, nodes: (_ for _ in ()).throw(Broken()))


@pytest.mark.parametrize("value", [-1, float("nan"), "much", None])
def test_objectives_out_of_range_are_exceptions(value: object) -> None:
    with pytest.raises((gleaner.UsageError, TypeError)):
        gleaner.replay(EVENTS, TASKS, objective=lambda task, nodes: value)  # type: ignore


def test_a_solver_may_replay_itself() -> None:
    inner = 0

    def nested(problem: gleaner.Problem) -> gleaner.Answer:
        nonlocal inner
        if inner < 3:
            inner += 1
            gleaner.replay(EVENTS, TASKS, t_fwd=60, to="2026-01-01 06:00")
            gleaner.simulate(data="dataset/cluster", policy="fifo")
        return gleaner.solve(problem)

    assert gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=nested).complete and inner == 3


def test_runs_in_threads_do_not_mix() -> None:
    found: dict[int, polars.DataFrame] = {}

    def one(t_fwd: int) -> None:
        found[t_fwd] = polars.DataFrame(gleaner.replay(EVENTS, TASKS, t_fwd=t_fwd, solver=exact).steps)

    threads = [threading.Thread(target=one, args=(t_fwd,)) for t_fwd in (20, 60, 120, 600)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for t_fwd, steps in found.items():
        ours = polars.DataFrame(gleaner.replay(EVENTS, TASKS, t_fwd=t_fwd).steps)
        assert steps.drop("solver").equals(ours.drop("solver"))


def test_the_whole_log_of_summit_gives_the_same_tables(tmp_path: Path) -> None:
    log, tasks = shared("bftrainer", "ndstat-10sdn6-evt.tar.gz"), tmp_path / "tasks.toml"
    command("synth", "tasks", "--count", 10, "--max-nodes", 32, "-o", tasks)
    tasks.write_text(re.sub("(?m)^work = .*", 'work = "endless"', tasks.read_text()))
    run = gleaner.replay(log, tasks, t_fwd=60, skip_rows=1000, out=tmp_path / "python")
    words = ["--events", log, "--tasks", tasks, "--t-fwd", 60, "--skip-rows", 1000]
    command("replay", *words, "--out", tmp_path / "cli")
    same_files(tmp_path / "cli", tmp_path / "python", TIMED)
    # Both tables stay in memory, so two copies of the data would have different addresses.
    one, other = pyarrow.table(run.steps), pyarrow.table(run.steps)
    assert one.num_rows == other.num_rows == 22_882 and len(addresses(run.steps)) >= one.num_columns
    assert addresses(run.steps) == [
        buffer.address for column in one.columns for chunk in column.chunks for buffer in chunk.buffers() if buffer
    ]
