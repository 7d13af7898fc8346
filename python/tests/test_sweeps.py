"""Tests that sweeps over dicts give the same results as single calls, in any number of processes, and continue where
they stopped."""

from __future__ import annotations

import functools
import itertools
import json
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import polars
import pytest

import gleaner
from test_replay import EVENTS, TASKS, same_files

BASE: dict[str, Any] = {"events": EVENTS, "tasks": TASKS, "to": "2026-01-01 04:00"}


def squared(task: gleaner.Task, nodes: int) -> float:
    return task.rate(nodes) ** 2


def scaled(task: gleaner.Task, nodes: int, power: float) -> float:
    return task.rate(nodes) ** power


def greedy(problem: gleaner.Problem) -> list[int]:
    counts, free = [], problem.nodes
    for task in problem.tasks:
        count = min(task.max_nodes, free)
        count = count if count >= task.min_nodes else 0
        counts.append(count)
        free -= count
    return counts


class SmallestFirst(gleaner.Policy):
    def next(self, view: gleaner.View) -> gleaner.Start | None:
        fitting = sorted((job for job in view.waiting if view.fits(job)), key=lambda job: job.gpus)
        return gleaner.Start(fitting[0]) if fitting else None


def seen(run: gleaner.Run) -> Any:
    """The results of a run, except wall times."""
    tables = {name: polars.DataFrame(run.tables[name]).fill_null("").rows() for name in run.tables if name != "timings"}
    return run.summary, tables


class Calls:
    """Records the calls of ``progress``."""

    def __init__(self) -> None:
        self.numbers: list[tuple[int, int]] = []
        self.settings: list[dict[str, Any]] = []

    def __call__(self, done: int, total: int, settings: dict[str, Any]) -> None:
        self.numbers.append((done, total))
        self.settings.append(settings)


@pytest.mark.parametrize("count", [1, 2])
def test_every_combination_has_the_results_of_a_single_call(count: int, tmp_path: Path) -> None:
    axes = {"objective": ["throughput", squared, functools.partial(scaled, power=0.5)], "solver": ["exact", greedy], "t_fwd": [60, 600]}
    calls = Calls()
    sweep = gleaner.sweep({**BASE, **axes}, workers=count, progress=calls, out=tmp_path / "swept")
    expected = [dict(zip(axes, values)) for values in itertools.product(*axes.values())]
    assert [settings for settings, _ in sweep.runs] == [{**BASE, **of} for of in expected]
    for at, (of, (_, run)) in enumerate(zip(expected, sweep.runs)):
        single = gleaner.replay(**{**BASE, **of}, out=tmp_path / f"single-{at}")
        assert seen(run) == seen(single) and run.complete and sweep[of].summary == run.summary
        same_files(tmp_path / f"single-{at}", run._path, {"timings.csv", "timings.parquet"})
        assert run.tallies == single.tallies and run.remarks == [of for of in single.remarks if "wrote" not in of]
    assert calls.numbers == [(done, 12) for done in range(1, 13)]
    assert sorted(map(repr, calls.settings)) == sorted(repr(settings) for settings, _ in sweep.runs)
    assert count == 2 or calls.settings == [settings for settings, _ in sweep.runs]
    index = json.loads((tmp_path / "swept" / "sweep.json").read_text())
    assert index["command"] == "replay" and [of["settings"]["t_fwd"] for of in index["runs"]] == [60, 600] * 6
    assert all((tmp_path / "swept" / of["directory"] / "run.json").is_file() for of in index["runs"])


def tasks() -> list[gleaner.Task]:
    return [gleaner.Task("a", {1: 100.0, 4: 340.0}, rescale_up=20), gleaner.Task("b", {2: 90.0, 8: 300.0}, work=1e6)]


@pytest.mark.parametrize("count", [1, 2])
def test_values_that_are_not_files(count: int) -> None:
    frame = polars.read_csv(EVENTS)
    logs = [EVENTS, frame, frame.head(300).to_pandas(), frame.to_arrow().slice(0, 500), gleaner.EventLog.read(frame.head(400))]
    sweep = gleaner.sweep({"events": logs, "tasks": [TASKS, tasks(), (tasks()[0],)], "t_fwd": 60}, workers=count)
    lists = [TASKS, tasks(), tasks()[:1]]
    for (settings, run), (log, given) in zip(sweep.runs, itertools.product(logs, lists)):
        assert settings["events"] is log
        assert seen(run) == seen(gleaner.replay(log, given, t_fwd=60))
    labels = dict.fromkeys(sweep.summary.column("events_setting"))
    assert list(labels) == [EVENTS, "<events> 1", "<events> 2", "<events> 3", "<events> 4"]
    assert sweep[{"events": frame, "tasks": TASKS}].summary == sweep.runs[3][1].summary
    info = json.loads((sweep.runs[3][1]._directory() / "run.json").read_text())
    assert [of["path"] for of in info["inputs"]] == ["<events>", TASKS]


@pytest.mark.parametrize("count", [1, 2])
def test_simulations_with_policies_of_ones_own(count: int) -> None:
    policies: list[Any] = ["fifo", SmallestFirst, SmallestFirst(), ("srtf", "sjf")]
    sweep = gleaner.sweep({"data": "dataset/cluster", "policy": policies, "placer": ["consolidate", "random"]}, workers=count)
    for (_, run), (policy, placer) in zip(sweep.runs, itertools.product(policies, ["consolidate", "random"])):
        given = list(policy) if isinstance(policy, tuple) else policy
        single = gleaner.simulate(data="dataset/cluster", policy=given, placer=placer)
        assert run.summary == single.summary
    names = ["fifo", "python:SmallestFirst 1", "python:SmallestFirst 2", "srtf, sjf"]
    assert list(dict.fromkeys(sweep.summary.column("policy"))) == names
    # The run directory of a simulation has no files for these tables, so a sweep derives them from the summary.
    ran = [gleaner.simulate(data="dataset/cluster", policy=policy, placer="consolidate") for policy in ("fifo", ["srtf", "sjf"])]
    found = gleaner.sweep({"data": "dataset/cluster", "policy": ["fifo", ("srtf", "sjf")]}, workers=1)
    for name in ("policies", "vcs"):
        expected = polars.concat([polars.DataFrame(run.tables[name]) for run in ran])
        table = polars.DataFrame(found.table(name))
        assert table.select(expected.columns).equals(expected)
        assert table["policy_setting"].unique(maintain_order=True).to_list() == ["fifo", "srtf, sjf"]


def test_traces_are_values() -> None:
    trace = gleaner.Trace("dataset/cluster/jobs.csv", polars.read_csv("dataset/cluster/vc_config.csv"), 4)
    sweep = gleaner.sweep({"trace": [trace], "policy": ["fifo", "srtf"]}, workers=2)
    for settings, run in sweep.runs:
        assert settings["trace"] is trace
        assert run.summary == gleaner.simulate(trace, policy=settings["policy"]).summary
    with pytest.raises(gleaner.UsageError, match="leave out the setting cluster"):
        gleaner.sweep({"trace": trace, "cluster": "x.csv", "policy": "fifo"})


def test_tables_are_those_of_all_runs() -> None:
    sweep = gleaner.sweep({**BASE, "t_fwd": [60, 600], "solver": ["exact", greedy], "check": [True]}, workers=1)
    parts = []
    for settings, run in sweep.runs:
        solver = "exact" if settings["solver"] == "exact" else "python:greedy"
        front = [polars.lit(settings["t_fwd"]).alias("t_fwd"), polars.lit(solver).alias("solver_setting"), polars.lit(True).alias("check")]
        parts.append(polars.DataFrame(run.steps).select(*front, polars.all()))
    assert polars.DataFrame(sweep.table("steps")).equals(polars.concat(parts, how="vertical_relaxed"))
    summary = polars.DataFrame(sweep.summary)
    assert summary.columns[:3] == ["t_fwd", "solver", "check"] and len(summary) == 4
    assert summary["total_work"].to_list() == [run.summary["total_work"] for _, run in sweep.runs]
    assert summary["solver"].to_list() == ["exact", "python:greedy"] * 2
    assert summary["bound_work"].null_count() == 4 and "hand_back_seconds" in summary.columns
    assert "<table" in sweep._repr_html_() and len(sweep) == 4 and len(list(sweep)) == 4
    with pytest.raises(KeyError, match="expected one of .*steps"):
        sweep.table("policies")
    with pytest.raises(KeyError, match="2 runs"):
        sweep[{"t_fwd": 60}]
    with pytest.raises(KeyError, match="expected one or more of events"):
        sweep[{"tfwd": 60}]


def test_a_setting_is_named_apart_from_a_different_figure() -> None:
    summary = gleaner.sweep({**BASE, "t_fwd": ["auto", 60], "max_tasks": [5]}, workers=1).summary
    assert summary.column("t_fwd_setting") == ["auto", "60"] and summary.column("t_fwd")[1] == 60.0
    assert summary.column("max_tasks") == [5, 5] and summary.columns[:2] == ["t_fwd_setting", "max_tasks"]


def test_the_results_are_deleted_with_the_last_object() -> None:
    run = gleaner.sweep({**BASE, "t_fwd": [60, 600]}, workers=1).runs[0][1]
    folder = run._directory().parent
    assert len(run.steps) > 0 and folder.exists()
    del run
    assert not folder.exists()


def swept(out: Path, **changed: Any) -> list[dict[str, Any]]:
    """Executes a sweep in this process. Returns the settings of the runs that were executed."""
    calls = Calls()
    sweep = gleaner.sweep({**BASE, **changed}, workers=1, out=out, progress=calls)
    assert sweep.complete and all(run.complete for _, run in sweep.runs)
    if calls.numbers:
        assert calls.numbers[-1] == (len(sweep), len(sweep))
    return calls.settings


def test_complete_runs_are_not_repeated(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert len(swept(out, t_fwd=[60, 600], objective=["throughput", squared])) == 4
    kept = {path: path.stat().st_mtime_ns for path in out.rglob("summary.json")}
    assert swept(out, t_fwd=[60, 600], objective=["throughput", squared]) == []
    assert kept == {path: path.stat().st_mtime_ns for path in out.rglob("summary.json")}
    assert [of["t_fwd"] for of in swept(out, t_fwd=[60, 120], objective=[squared])] == [120]
    # A run that lacks a file or was interrupted is executed again.
    first, second = sorted(kept)[:2]
    first.unlink()
    info = second.with_name("run.json")
    info.write_text(info.read_text().replace('"complete": true', '"complete": false'))
    assert len(swept(out, t_fwd=[60, 600], objective=["throughput", squared])) == 2


def test_runs_with_changed_inputs_are_repeated(tmp_path: Path) -> None:
    out, events = tmp_path / "out", tmp_path / "idle.csv"
    shutil.copy(EVENTS, events)
    assert len(swept(out, events=str(events), t_fwd=[60])) == 1
    copy = shutil.move(events, tmp_path / "moved.csv")
    assert swept(out, events=Path(copy), t_fwd=[60]) == []
    lines = Path(copy).read_text().splitlines(keepends=True)
    Path(copy).write_text("".join(lines[:500]))
    assert len(swept(out, events=copy, t_fwd=[60])) == 1
    frame = polars.read_csv(EVENTS)
    assert len(swept(out, events=[frame, frame.head(500)], t_fwd=60)) == 2
    assert swept(out, events=[frame.clone(), frame.head(500).to_pandas()], t_fwd=60) == []
    assert len(swept(out, events=frame.head(501), t_fwd=60)) == 1
    assert len(swept(out, tasks=tasks())) == len(swept(out, tasks=tasks()[:1])) == 1
    assert swept(out, tasks=[tasks()]) == []


def test_files_that_an_input_names_are_part_of_it(tmp_path: Path) -> None:
    for name in ("nas.toml", "nas-losses.csv"):
        shutil.copy(f"dataset/{name}", tmp_path)
    given = {"tasks": str(tmp_path / "nas.toml"), "t_fwd": [60]}
    assert [len(swept(tmp_path / "out", **given)) for _ in range(2)] == [1, 0]
    losses = tmp_path / "nas-losses.csv"
    lines = losses.read_text().splitlines()
    losses.write_text("\n".join([*lines[:-1], lines[-1].replace("59,27,", "59,27,0")]) + "\n")
    assert [len(swept(tmp_path / "out", **given)) for _ in range(2)] == [1, 0]


def test_functions_are_recognised_by_what_they_use(tmp_path: Path) -> None:
    def own(power: float) -> Any:
        return lambda task, nodes: task.rate(nodes) ** power

    out = tmp_path / "out"
    assert len(swept(out, objective=[own(1), own(2)])) == 2
    assert swept(out, objective=[own(2), own(1)]) == []
    assert len(swept(out, objective=own(3))) == 1
    assert len(swept(out, objective=[functools.partial(scaled, power=of) for of in (1, 2)])) == 2
    assert swept(out, objective=functools.partial(scaled, power=2)) == []


def test_what_cannot_be_recognised_does_not_continue(tmp_path: Path) -> None:
    values = iter([1.0] * 100_000)
    plan = {**BASE, "t_fwd": [60, 600], "objective": ["throughput", lambda task, nodes: next(values)]}
    assert len(gleaner.sweep(plan, workers=1, out=tmp_path / "out")) == 4
    with pytest.raises(gleaner.UsageError, match="objective: python:<lambda> cannot be recognised.*'values'.*another directory"):
        gleaner.sweep(plan, workers=1, out=tmp_path / "out")
    assert swept(tmp_path / "out", t_fwd=[60, 600], objective=["throughput"]) == []


def test_other_directories_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(gleaner.UsageError, match="contains other files"):
        gleaner.sweep({**BASE, "t_fwd": [60]}, out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("plan", "options", "message"),
    [
        ({**BASE, "t_fwd": []}, {}, "t_fwd: found an empty list"),
        ({**BASE, "t_fwd": [60, 120, 60]}, {}, "t_fwd: found 60 twice"),
        ({**BASE, "objective": [squared, squared]}, {}, "objective: found python:squared twice"),
        ({**BASE, "tfwd": [60]}, {}, "no option 'tfwd', expected one of"),
        ({**BASE, "out": "x"}, {}, "pass out to sweep itself"),
        ({"events": EVENTS}, {}, "expected tasks"),
        ({"t_fwd": [60]}, {}, "do not show what to run"),
        ({**BASE, "data": "dataset/cluster"}, {}, "or pass mode"),
        (BASE, {"mode": "compare"}, "expected replay or simulate"),
        (BASE, {"mode": "simulate"}, "simulate.. has no option"),
        (BASE, {"workers": 0}, "workers: found 0"),
        (BASE, {"best": "total_work"}, "best is an option for plan files"),
        ("dataset/sweep.toml", {"workers": 2}, "workers is an option for sweeps over a dict.*jobs"),
        ({**BASE, "check": ["yes", False], "t_fwd": True}, {}, "t_fwd is True"),
        ({**BASE, "events": object()}, {}, "events is of type object"),
    ],
)
def test_wrong_plans_are_refused(plan: Any, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises((gleaner.UsageError, TypeError), match=message):
        gleaner.sweep(plan, out=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_range_is_a_list_and_a_tuple_is_a_value() -> None:
    sweep = gleaner.sweep({**BASE, "t_fwd": range(60, 180, 60), "classes": "dataset/classes.toml", "class_feature": ("a", "b")}, workers=1)
    assert sweep.summary.column("t_fwd") == [60, 120] and sweep.summary.columns[0] == "t_fwd"
    assert [settings["class_feature"] for settings, _ in sweep.runs] == [("a", "b")] * 2
    assert len(gleaner.sweep({**BASE, "tasks": tasks()}, workers=1)) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_a_wrong_setting_is_named(count: int) -> None:
    with pytest.raises(gleaner.UsageError, match="the run with max_tasks=5, t_fwd=-1: .*t_fwd") as raised:
        gleaner.sweep({**BASE, "max_tasks": [5], "t_fwd": [60, 120, -1]}, workers=count)
    assert raised.value.settings == {**BASE, "max_tasks": 5, "t_fwd": -1}
    assert raised.value.sweep is not None and not raised.value.sweep.complete
    with pytest.raises(gleaner.FileError, match="t_fwd=(60|120): .*missing.csv") as missing:
        gleaner.sweep({**BASE, "events": "missing.csv", "t_fwd": [60, 120]}, workers=count)
    assert missing.value.errno == 2 and missing.value.filename == "missing.csv"
    with pytest.raises(gleaner.DataError) as wrong:
        gleaner.sweep({**BASE, "tasks": polars.DataFrame({"name": ["x"]}), "t_fwd": [60, 120]}, workers=count)
    assert {fault.file for fault in wrong.value.faults} == {"<tasks>"}


def test_objects_that_cannot_be_passed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = {**BASE, "t_fwd": [60, 120], "objective": lambda task, nodes: 1.0}
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "cloudpickle", None)
        with pytest.raises(gleaner.UsageError, match="objective cannot be passed.*install cloudpickle.*workers=1"):
            gleaner.sweep(plan, workers=2)
        assert len(gleaner.sweep(plan, workers=1)) == 2
        assert len(gleaner.sweep({**BASE, "t_fwd": [60, 120], "objective": squared}, workers=2)) == 2
    pytest.importorskip("cloudpickle")
    lock = threading.Lock()
    with pytest.raises(gleaner.UsageError, match="objective cannot be passed.*lock.*: pass workers=1"):
        gleaner.sweep({**plan, "objective": lambda task, nodes: float(lock.locked())}, workers=2)


def test_objects_that_cannot_be_loaded_are_named() -> None:
    with pytest.raises(gleaner.UsageError, match="objective cannot be loaded in a worker process .*ValueError: no.*workers=1"):
        gleaner.sweep({**BASE, "t_fwd": [60, 120], "objective": Broken()}, workers=2)


class Broken:
    """A function that can be pickled but not unpickled."""

    def __call__(self, task: gleaner.Task, nodes: int) -> float:
        return 1.0

    def __reduce__(self) -> tuple[Any, ...]:
        return refuse, ()


def refuse() -> None:
    raise ValueError("no")


class Short(gleaner.Search):
    """Trains ``trials`` trials, each to the end."""

    max_resource = 4

    def __init__(self, trials: int) -> None:
        self.trials = trials
        self.started = 0

    def next_trial(self) -> gleaner.Trial | None:
        if self.started == self.trials:
            return None
        self.started += 1
        return gleaner.Trial(4, loss=gleaner.Curve({1: 2.0, 4: 1.0}))


@pytest.mark.parametrize("workers", [1, 2])
def test_searches_are_an_axis_and_stay_as_they_were(workers: int) -> None:
    searches = [Short(2), Short(3)]
    found = gleaner.sweep({"events": EVENTS, "tasks": TASKS, "t_fwd": 60, "search": searches}, workers=workers)
    assert [len(run.trials) for _, run in found.runs] == [2, 3]
    assert [search.started for search in searches] == [0, 0]


def test_means_over_windows_are_those_of_a_plan_file(tmp_path: Path) -> None:
    plan = "[replay]\nevents = 'dataset/idle.csv'\ntasks = 'dataset/endless.toml'\nt_fwd = [60, 600]\nwindows = 5\n"
    path = tmp_path / "windows.toml"
    path.write_text(plan.replace("dataset/", f"{Path.cwd()}/dataset/"))
    expected = gleaner.sweep(path)
    windows = gleaner.EventLog.read("dataset/idle.csv").windows(5)
    found = gleaner.sweep({"events": windows, "tasks": "dataset/endless.toml", "t_fwd": [60, 600]})
    means = found.means("events")
    assert means.column("t_fwd") == [60, 600] and means.column("repetitions") == [5, 5]
    for name in ("total_work", "efficiency", "used_share"):
        assert means.column(name) == pytest.approx(expected.settings.column(name))
        assert means.column(f"{name}_low") == pytest.approx(expected.settings_low.column(name))
        assert means.column(f"{name}_high") == pytest.approx(expected.settings_high.column(name))


def test_means_need_repetitions() -> None:
    log = gleaner.EventLog.read("dataset/idle.csv")
    found = gleaner.sweep({"events": log.windows(4), "tasks": "dataset/endless.toml", "t_fwd": [60]})
    means = found.means("events")
    assert means.column("total_work_low") == [None] and means.column("total_work")[0] > 0
    assert found.means("t_fwd").column("repetitions") == [1] * 4
    with pytest.raises(gleaner.UsageError, match="over: found 'seed', expected one of events, t_fwd"):
        found.means("seed")
    with pytest.raises(gleaner.UsageError, match="windows: found 0, expected a number of at least 1"):
        log.windows(0)


def drawn(seed: int, number: int) -> gleaner.Trial:
    return gleaner.Trial(loss=gleaner.Curve.power_law(floor=(7 * number + seed) % 5 / 10, amplitude=2.0, rate=0.5))


@pytest.mark.parametrize("workers", [1, 2])
def test_built_in_searches_are_an_axis_and_are_recognised(workers: int, tmp_path: Path) -> None:
    def searches() -> list[gleaner.BuiltIn]:
        propose = functools.partial(drawn, 1)
        return [gleaner.BuiltIn(of, propose, trials=9, max_resource=9) for of in ("asha", "median")]

    calls = Calls()
    plan = {"events": EVENTS, "tasks": TASKS, "t_fwd": 60}
    found = gleaner.sweep({**plan, "search": searches()}, out=tmp_path / "sweep", workers=workers)
    for search, (_, run) in zip(searches(), found.runs):
        assert seen(run) == seen(gleaner.replay(EVENTS, TASKS, t_fwd=60, search=search))
    again = gleaner.sweep({**plan, "search": searches()}, out=tmp_path / "sweep", workers=workers, progress=calls)
    assert calls.numbers == [] and [seen(run) for _, run in again.runs] == [seen(run) for _, run in found.runs]
    other = [gleaner.BuiltIn("asha", functools.partial(drawn, 2), trials=9, max_resource=9)]
    gleaner.sweep({**plan, "search": other}, out=tmp_path / "sweep", workers=workers, progress=calls)
    assert calls.numbers == [(1, 1)]


def test_groups_limit_the_tasks_of_a_run() -> None:
    tasks = [gleaner.Task(name, {1: 10.0, 8: 70.0}) for name in ("a", "b")]
    groups = [gleaner.Group("both", ["a", "b"], max_nodes=5)]
    found = gleaner.sweep({"events": EVENTS, "tasks": tasks, "t_fwd": [60, 120], "groups": groups}, workers=1)
    assert [max(run.steps["nNrun"]) for _, run in found.runs] == [5, 5]
