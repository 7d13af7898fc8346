"""Tests of searches in Python: the built-in algorithms as objects, and user-defined algorithms."""

from __future__ import annotations

import json
import math
import random
import subprocess
import time
from bisect import bisect_left, insort
from pathlib import Path
from typing import Any, Callable, Optional

import numpy
import polars
import pytest

import gleaner
from test_interrupts import interrupt
from test_replay import EVENTS, command

RESOURCES = range(1, 28)
ALGORITHMS = ["random", "successive-halving", "asha", "hyperband", "median"]


def losses(trials: int, seed: int = 0) -> list[dict[float, float]]:
    """Learning curves with a measured loss at each resource. The curves cross."""
    draw = random.Random(seed)
    curves = []
    for _ in range(trials):
        floor, rate = draw.uniform(0.1, 1), draw.uniform(0.2, 1.5)
        curves.append({float(at): floor + 2 * (1 + at) ** -rate + draw.gauss(0, 0.02) for at in RESOURCES})
    return curves


def declared(folder: Path, algorithm: str, curves: list[dict[float, float]]) -> Path:
    """Writes a task file with a search, and a file with its measured curves. Returns the path of the task file."""
    rows = [f"{trial},{at},{loss!r}" for trial, curve in enumerate(curves) for at, loss in curve.items()]
    (folder / "losses.csv").write_text("trial,resource,loss\n" + "\n".join(rows) + "\n")
    text = Path("dataset/search.toml").read_text()
    tasks = text[text.index("[curve.resnet18]") :].replace("3.4e7", "2e6")
    trials = "" if algorithm == "hyperband" else f"trials = {len(curves)}\n"
    head = f'[search]\nalgorithm = "{algorithm}"\n{trials}max_resource = 27\ncurves = "losses.csv"\n'
    path = folder / f"{algorithm}.toml"
    path.write_text(head + tasks)
    return path


def rows(table: gleaner.Table, *left_out: str) -> list[tuple[Any, ...]]:
    return polars.DataFrame(table).drop(left_out).rows()


class Asha(gleaner.Search):
    """ASHA (Algorithm 2 of Li et al., 2020), implemented with sorted lists."""

    max_resource = 27.0

    def __init__(self, curves: list[dict[float, float]], eta: int = 3) -> None:
        self.curves = curves
        self.eta = eta
        self.rungs = [1.0, 3.0, 9.0, 27.0]
        self.measured: list[list[tuple[float, int]]] = [[] for _ in self.rungs]
        self.waiting: list[list[tuple[float, int]]] = [[] for _ in self.rungs]
        self.trials: list[gleaner.Trial] = []

    def next_trial(self) -> Optional[gleaner.Trial]:
        for rung in reversed(range(len(self.rungs) - 1)):
            measured, waiting = self.measured[rung], self.waiting[rung]
            # If any unpromoted trial is among the best third, then the best unpromoted trial is too.
            if waiting and bisect_left(measured, waiting[0]) < len(measured) // self.eta:
                _, number = waiting.pop(0)
                self.trials[number].target = self.rungs[rung + 1]
                return self.trials[number]
        if len(self.trials) == len(self.curves):
            return None
        self.trials.append(gleaner.Trial(self.rungs[0], loss=gleaner.Curve(self.curves[len(self.trials)])))
        return self.trials[-1]

    def report(self, trial: gleaner.Trial, resource: float, loss: float) -> None:
        assert trial.number is not None
        rung = self.rungs.index(resource)
        insort(self.measured[rung], (loss, trial.number))
        insort(self.waiting[rung], (loss, trial.number))


class AskAndTell:
    """The algorithm of ``Asha`` with the methods ``ask`` and ``tell``, and without the base class."""

    max_resource = 27

    def __init__(self, curves: list[dict[float, float]]) -> None:
        self._asha = Asha(curves)

    def ask(self) -> Optional[gleaner.Trial]:
        return self._asha.next_trial()

    def tell(self, trial: gleaner.Trial, resource: float, loss: float) -> None:
        self._asha.report(trial, resource, loss)


@pytest.mark.parametrize("make", [Asha, AskAndTell])
def test_own_asha_decides_like_the_built_in_asha(make: Callable[..., Any], tmp_path: Path) -> None:
    curves = losses(200)
    tasks = declared(tmp_path, "asha", curves)
    expected = gleaner.replay(EVENTS, tasks, t_fwd=60, seed=3)
    run = gleaner.replay(EVENTS, tasks, t_fwd=60, seed=3, search=make(curves))
    assert rows(run.search) == rows(expected.search)
    assert rows(run.trials, "final_loss") == rows(expected.trials, "final_loss")
    assert rows(run.tasks) == rows(expected.tasks) and rows(run.rungs) == rows(expected.rungs)
    states = run.trials.column("state")
    assert states.count("finished") >= 3 and states.count("stopped") > 100
    assert (run.summary["search"], expected.summary["search"]) == (f"python:{make.__name__}", "asha")


def test_the_times_of_an_asha_of_1000_trials_are_printed(tmp_path: Path) -> None:
    """Prints the CPU times of ASHA in Python and of the built-in ASHA (shown by ``pytest -s``)."""
    curves = losses(1000)
    tasks = declared(tmp_path, "asha", curves)

    def seconds(search: Any) -> float:
        start = time.process_time()
        run = gleaner.replay(EVENTS, tasks, t_fwd=60, search=search)
        assert len(run.trials) == 1000
        return time.process_time() - start

    built_in, own = seconds(None), seconds(Asha(curves))
    print(f"ASHA of 1000 trials: {built_in:.3f} s built in, {own:.3f} s in Python")



@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_built_in_algorithms_decide_like_those_of_task_files(algorithm: str, tmp_path: Path) -> None:
    """Successive halving in a task file records a promotion when the rung closes. In Python, a promotion is recorded
    when the trial continues. All other rows are the same."""
    curves = losses(60)
    tasks = declared(tmp_path, algorithm, curves)
    expected = gleaner.replay(EVENTS, tasks, t_fwd=60, seed=1)
    of = {} if algorithm == "hyperband" else {"trials": len(curves)}
    search = gleaner.BuiltIn(
        algorithm, lambda number: gleaner.Trial(loss=gleaner.Curve(curves[number])), max_resource=27, **of
    )
    run = gleaner.replay(EVENTS, tasks, t_fwd=60, seed=1, search=search)
    assert rows(run.trials, "final_loss", "bracket") == rows(expected.trials, "final_loss", "bracket")
    assert rows(run.tasks) == rows(expected.tasks)
    (found, wanted) = (polars.DataFrame(of.search) for of in (run, expected))
    if algorithm in ("successive-halving", "hyperband"):
        is_promotion = polars.col("event") == "promoted"
        promotions = [frame.filter(is_promotion).select("trial", "rung").sort("trial", "rung") for frame in (found, wanted)]
        assert promotions[0].rows() == promotions[1].rows() and len(promotions[0]) > 5
        found, wanted = found.filter(~is_promotion), wanted.filter(~is_promotion)
    assert found.rows() == wanted.rows()


class Scripted(gleaner.Search):
    """Trains trial i to the targets in ``script[i]``. Records the calls."""

    max_resource = 9

    def __init__(self, script: list[list[float]], **options: Any) -> None:
        self.script = [list(targets) for targets in script]
        self.options = options
        self.trials: list[gleaner.Trial] = []
        self.calls: list[tuple[Any, ...]] = []

    def next_trial(self) -> Optional[gleaner.Trial]:
        for trial in self.trials:
            if trial.state == "paused" and self.script[self.trials.index(trial)]:
                trial.target = self.script[self.trials.index(trial)].pop(0)
                return trial
        if len(self.trials) == len(self.script):
            return None
        options = {name: of(len(self.trials)) for name, of in self.options.items()}
        self.trials.append(gleaner.Trial(self.script[len(self.trials)].pop(0), **options))
        return self.trials[-1]

    def report(self, trial: gleaner.Trial, resource: float, loss: Any) -> Any:
        self.calls.append(("report", trial.number, resource, loss, trial.state))

    def finished(self, trial: gleaner.Trial) -> None:
        self.calls.append(("finished", trial.number, trial.state))

    def loss(self, trial: gleaner.Trial, resource: float) -> Any:
        return 10 - resource

    def close(self) -> None:
        self.calls.append(("close",))


def replay(search: Any, **options: Any) -> gleaner.Run:
    return gleaner.replay(EVENTS, "dataset/tasks.toml", search=search, t_fwd=60, **options)


def test_trials_pause_and_continue() -> None:
    search = Scripted([[1, 3, 9], [2], [numpy.int64(9)]])
    run = replay(search)
    reports = [call for call in search.calls if call[0] == "report"]
    assert sorted(call[1:4] for call in reports) == [(0, 1, 9), (0, 3, 7), (0, 9, 1), (1, 2, 8), (2, 9, 1)]
    assert {call[4] for call in reports if call[2] < 9} == {"paused"}
    assert run.trials.column("state") == ["finished", "stopped", "finished"]
    assert run.trials.column("resource") == [9, 2, 9]
    ends = [call[1:] for call in search.calls if call[0] == "finished"]
    assert sorted(ends) == [(0, "finished"), (1, "stopped"), (2, "finished")]
    assert search.calls[-1] == ("close",) and search.calls.count(("close",)) == 1
    assert [trial.losses for trial in search.trials][0] == [(1, 9), (3, 7), (9, 1)]
    # Each continuation of a paused trial is a separate task, with the work between the two resources.
    tasks = dict(zip(run.tasks.column("task"), run.tasks.column("work_done")))
    done = [tasks[name] for name in tasks if "#0." in name]
    assert len(done) == 3 and done[1] / done[0] == pytest.approx(2) and done[2] / done[0] == pytest.approx(6)


def test_trials_continue_at_once_or_stop() -> None:
    class Decides(Scripted):
        def report(self, trial: gleaner.Trial, resource: float, loss: Any) -> Any:
            super().report(trial, resource, loss)
            return False if trial.number == 1 else resource + 4

    search = Decides([[1], [1], [5]])
    run = replay(search)
    assert run.trials.column("state") == ["finished", "stopped", "finished"]
    assert [trial.losses for trial in search.trials] == [[(1, 9), (5, 5), (9, 1)], [(1, 9)], [(5, 5), (9, 1)]]
    # A trial that continues at once remains the same task.
    assert len(run.tasks) == 3
    ends = [call[1:] for call in search.calls if call[0] == "finished"]
    assert sorted(ends) == [(0, "finished"), (1, "stopped"), (2, "finished")]


@pytest.mark.parametrize("when", ["report", "next_trial"])
def test_paused_trials_can_be_stopped(when: str) -> None:
    class Stops(Scripted):
        def _stop(self) -> None:
            for trial in self.trials:
                if trial.state == "paused":
                    trial.stop()

        def report(self, trial: gleaner.Trial, resource: float, loss: Any) -> Any:
            super().report(trial, resource, loss)
            if when == "report":
                self._stop()
                return numpy.bool_(False)
            return None

        def next_trial(self) -> Optional[gleaner.Trial]:
            if when == "next_trial":
                self._stop()
            return super().next_trial()

    search = Stops([[1, 9], [2, 9], [3, 9]])
    run = replay(search)
    assert run.trials.column("state") == ["stopped"] * 3
    ends = [call[1:] for call in search.calls if call[0] == "finished"]
    assert sorted(ends) == [(number, "stopped") for number in range(3)]
    with pytest.raises(gleaner.UsageError, match="cannot be stopped, because it is not paused"):
        search.trials[0].stop()


def test_results_list_the_parameters() -> None:
    parameters = [{"rate": 0.1, "layers": [3, 4]}, {}, {"when": Path("a")}]
    run = replay(Scripted([[9]] * 3, parameters=lambda number: parameters[number]))
    texts = run.trials.column("parameters")
    assert [json.loads(text) if text else {} for text in texts] == [parameters[0], {}, {"when": "a"}]


def test_trials_may_have_tasks_of_their_own(tmp_path: Path) -> None:
    own = [gleaner.Task(f"net{nodes}", {1: 100.0, nodes: 90.0 * nodes}, work=9e4 * nodes) for nodes in (2, 4, 8)]
    search = Scripted([[9], [3], [9]], task=lambda number: own[number])
    run = replay(search, out=tmp_path / "run")
    assert run.trials.column("task") == ["net2", "net4", "net8"]
    assert run.trials.column("work_done") == pytest.approx([18e4, 36e4 / 3, 72e4])
    assert run.tasks.column("task") == ["net2#0.0", "net4#1.0", "net8#2.0"]
    assert max(run.tasks.column("max_nodes")) == 8 if "max_nodes" in run.tasks.columns else True
    assert rows(gleaner.open(tmp_path / "run").trials) == rows(run.trials)


def test_trials_may_name_a_task_of_the_replay() -> None:
    run = replay(Scripted([[9]] * 2, task=lambda number: ["task0003", 4][number]))
    assert run.trials.column("task") == ["task0003", "task0004"]


def test_losses_may_be_nan_or_vectors() -> None:
    search = Scripted([[9], [9]], loss=lambda number: lambda resource: math.nan if number else (2.5, 7))
    run = replay(search)
    assert run.trials.column("loss") == [2.5, None]
    assert search.trials[0].losses == [(9, (2.5, 7))] and run.summary["best_loss"] == 2.5
    assert run.trials.column("losses") == ['{"0":2.5,"1":7.0}', '{"0":null,"1":null}']
    # A trial with an infinite loss has diverged, so it cannot be the best.
    partly = replay(Scripted([[9], [9]], loss=lambda number: lambda resource: [(1.0, math.inf), (2.0, 1.0)][number]))
    assert partly.trials.column("loss") == [None, 2.0] and partly.summary["best_loss"] == 2.0
    assert partly.trials.column("front") == [1, 0]


@pytest.mark.parametrize("algorithm", ["successive-halving", "asha", "hyperband"])
def test_built_in_algorithms_rank_by_fronts_as_in_task_files(algorithm: str, tmp_path: Path) -> None:
    curves = {"error": losses(60), "latency": losses(60, seed=1)}
    tasks = declared(tmp_path, algorithm, curves["error"])
    (tmp_path / "losses.csv").rename(tmp_path / "error.csv")
    declared(tmp_path, algorithm, curves["latency"])
    (tmp_path / "losses.csv").rename(tmp_path / "latency.csv")
    several = 'losses = ["error", "latency"]\ncurves = { error = "error.csv", latency = "latency.csv" }'
    tasks.write_text(tasks.read_text().replace('curves = "losses.csv"', several))
    expected = gleaner.replay(EVENTS, tasks, t_fwd=60, seed=1)

    def propose(number: int) -> gleaner.Trial:
        return gleaner.Trial(loss=lambda resource: {name: of[number][resource] for name, of in curves.items()})

    of = {} if algorithm == "hyperband" else {"trials": 60}
    search = gleaner.BuiltIn(algorithm, propose, max_resource=27, **of)
    run = gleaner.replay(EVENTS, tasks, t_fwd=60, seed=1, search=search)
    assert rows(run.trials, "final_loss", "bracket") == rows(expected.trials, "final_loss", "bracket")
    assert run.summary["front_trials"] == expected.summary["front_trials"] > 0


def returning(**methods: Any) -> Any:
    """A search whose methods return the given values."""
    functions = {name: (lambda value: lambda self, *of: value)(value) for name, value in methods.items()}
    own = {name: value for name, value in methods.items() if name == "max_resource"}
    return type("Wrong", (Scripted,), {**functions, **own})([[1, 9], [9]])


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (returning(next_trial=3), "search: Wrong.next_trial: returned 3, expected a gleaner.Trial or None"),
        (returning(next_trial=gleaner.Trial(10)), "the target of the trial is 10, expected a number above 0 and at most"),
        (returning(next_trial=gleaner.Trial()), "the target of the trial is 0.0, expected a number above 0"),
        (returning(report="more"), "search: Wrong.report: the target of the trial is 'more', expected a number above 1"),
        (returning(report=1), "the target of the trial is 1, expected a number above 1 and at most max_resource, which is 9"),
        (returning(report=True), "the target of the trial is True"),
        (returning(loss="low"), "search: Wrong.loss: returned 'low', expected a number"),
        (returning(loss=()), r"search: Wrong.loss: returned \(\), expected a number"),
        (returning(loss=(1.0, "low")), r"search: Wrong.loss: returned \(1.0, 'low'\), expected a number or several"),
        (
            Scripted([[9]] * 2, loss=lambda number: lambda _: [1.0] * (1 + number)),
            r"returned \[1.0, 1.0\], expected the losses 0, which were measured before",
        ),
        (
            Scripted([[9]] * 2, loss=lambda number: lambda _: {"ab"[number]: 1.0}),
            "returned {'b': 1.0}, expected the losses a, which were measured before",
        ),
        (returning(max_resource=0), "search: Wrong.max_resource is 0, expected a finite number above 0"),
        (returning(max_resource="9"), "search: Wrong.max_resource is '9', expected a finite number above 0"),
        (Scripted([[9]], task=lambda _: "nothing"), "the task of trial 0 is nothing, expected a Task, or the name"),
        (Scripted([[9]], task=lambda _: 20), "the task of trial 0 is 20, expected a Task"),
        (
            Scripted([[9]], task=lambda _: gleaner.Task("a", {1: 1.0})),
            "the task of trial 0 is endless, expected a finite amount of work",
        ),
        (object(), "search: object has no method next_trial or ask, expected a gleaner.Search"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_returns_are_reported(search: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replay(search)


def test_a_trial_that_trains_cannot_be_returned_again() -> None:
    trial = gleaner.Trial(9)
    with pytest.raises(gleaner.UsageError, match="expected a trial that is new or paused"):
        replay(returning(next_trial=trial))


@pytest.mark.parametrize("method", ["next_trial", "loss", "report", "finished"])
def test_an_exception_ends_the_replay_with_the_trial_and_the_partial_run(method: str) -> None:
    class Raises(Scripted):
        pass

    def raises(self: Scripted, *arguments: Any) -> Any:
        if method == "next_trial" and len(self.trials) < 2:
            return super(Raises, self).next_trial()
        raise ZeroDivisionError(method)

    setattr(Raises, method, raises)
    search = Raises([[2, 9], [3, 9], [4, 9]])
    with pytest.raises(ZeroDivisionError, match=method) as raised:
        replay(search)
    error: Any = raised.value
    assert not error.run.complete and len(error.run.trials) >= 1
    assert search.calls[-1] == ("close",)
    if method == "next_trial":
        assert error.trial is None
    else:
        assert error.trial in search.trials
        number = error.trial.number
        if hasattr(error, "__notes__"):
            assert error.__notes__ == [f"raised by Raises.{method} for trial {number}"]


LOOPS = """
class Loops(gleaner.Search):
    max_resource = 9
    started = 0
    def next_trial(self):
        self.started += 1
        return gleaner.Trial(1)
    def loss(self, trial, resource):
        return 1.0
    def report(self, trial, resource, loss):
        return 9
    def close(self):
        print("closed", flush=True)
def loops(self, *arguments):
    if self.started == 12:
        ready()
        while True:
            pass
    return getattr(super(Never, self), "METHOD")(*arguments)
class Never(Loops):
    METHOD = loops
try:
    gleaner.replay(EVENTS, TASKS, t_fwd=60, search=Never())
except KeyboardInterrupt as error:
    print(error.run.complete, len(error.run.trials), error.trial, flush=True)
"""


@pytest.mark.parametrize("method", ["next_trial", "loss", "report"])
def test_ctrl_c_ends_a_method_that_never_returns(method: str) -> None:
    code, lines, err = interrupt(LOOPS.replace("METHOD", method))
    assert code == 0, err
    closed, (complete, trials, trial) = lines[0], lines[1].split(" ", 2)
    assert (closed, complete) == ("closed", "False") and int(trials) in (11, 12)
    assert trial == "None" if method == "next_trial" else trial.startswith("<gleaner.Trial ")


def test_run_directories_name_the_search_which_a_check_cannot_repeat(tmp_path: Path) -> None:
    curves = losses(30)
    run = replay(Asha(curves), out=tmp_path / "run")
    with pytest.raises(subprocess.CalledProcessError) as raised:
        command("check", tmp_path / "run")
    assert b"by a search in a Python program, whose decisions cannot be recomputed" in raised.value.stderr
    arguments = json.loads((tmp_path / "run" / "run.json").read_text())["arguments"]
    assert arguments["search"] == "python:Asha"
    assert run.summary["search_sha256"] == arguments["functions"]["search"]["sha256"]
    assert "python:Asha" in run.report().html()
