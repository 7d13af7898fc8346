"""Tests of replays whose trials are controlled by Optuna studies."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Callable

import polars
import pytest

import gleaner
from test_interrupts import interrupt
from test_replay import EVENTS

optuna = pytest.importorskip("optuna", reason="Optuna is not installed: pip install optuna")

from gleaner.optuna import Study  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
optuna.logging.set_verbosity(optuna.logging.WARNING)
COMPLETE, PRUNED, WAITING = (optuna.trial.TrialState[name] for name in ("COMPLETE", "PRUNED", "WAITING"))
MAX_RESOURCE = 9


def tasks() -> list[gleaner.Task]:
    return [
        gleaner.Task("small", {1: 100.0, 8: 640.0}, rescale_up=20, rescale_down=10, work=1e6),
        gleaner.Task("large", {2: 150.0, 16: 900.0}, rescale_up=30, rescale_down=15, work=2e6),
    ]


def steady() -> polars.DataFrame:
    """A log of 20 nodes that are idle from its beginning to its end."""
    ends = {"time": [0] * 20 + [10_000_000], "node": [f"n{node}" for node in range(20)] + ["n0"], "state": [1] * 20 + [0]}
    return polars.DataFrame(ends)


def curve(x: float) -> Callable[[float], float]:
    """A learning curve that is not monotonic, so that every kind of pruner has something to prune."""
    return lambda at: x + 2 / (1 + at) + 0.3 * math.sin(40 * x + at * at)


def suggest(trial: Any) -> Callable[[float], float]:
    trial.suggest_categorical("net", ["a", "b"])
    return curve(trial.suggest_float("x", 0, 1))


def replay(search: Any, events: Any = EVENTS, **options: Any) -> gleaner.Run:
    return gleaner.replay(events, tasks(), search=search, t_fwd=60, **options)


def suggested(study: Any) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


def states(study: Any) -> list[str]:
    return [trial.state.name for trial in study.trials]


def test_a_study_drives_the_trials_of_a_replay() -> None:
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1), pruner=optuna.pruners.MedianPruner())
    search = Study(study, suggest, max_resource=MAX_RESOURCE, n_trials=60)
    run = replay(search)
    assert set(states(study)) == {"COMPLETE", "PRUNED"} and len(study.trials) == 60
    for trial, state, resource, loss in zip(study.trials, *(run.trials.column(of) for of in ("state", "resource", "loss"))):
        values = {at: curve(trial.params["x"])(at) for at in range(1, int(resource) + 1)}
        assert trial.intermediate_values == values and trial.value == loss == values[resource]
        assert state == ("finished" if trial.state == COMPLETE else "stopped")
        assert (resource == MAX_RESOURCE) == (trial.state == COMPLETE)
    # Trials lost nodes during the replay, but no trial failed or was trained twice.
    assert run.summary["preemption_loss"] > 0
    assert search.numbers == list(range(60))
    assert [eval(text) for text in run.trials.column("parameters")] == suggested(study)


def samplers() -> dict[str, Callable[[], Any]]:
    grid = {"net": ["a", "b"], "x": [i / 15 for i in range(15)]}
    return {
        "random": lambda: optuna.samplers.RandomSampler(seed=3),
        "grid": lambda: optuna.samplers.GridSampler(grid, seed=3),
        "qmc": lambda: optuna.samplers.QMCSampler(seed=3),
        "tpe": lambda: optuna.samplers.TPESampler(seed=3),
    }


@pytest.mark.parametrize("name", samplers())
def test_suggestions_depend_on_the_log_only_through_results(name: str) -> None:
    def run(events: Any) -> tuple[gleaner.Run, list[dict[str, Any]]]:
        study = optuna.create_study(sampler=samplers()[name]())
        run = replay(Study(study, suggest, max_resource=MAX_RESOURCE, n_trials=30), events)
        assert set(states(study)) <= {"COMPLETE", "PRUNED"} and len(study.trials) == 30
        return run, suggested(study)

    (preempted, one), (again, other) = run(EVENTS), run(EVENTS)
    assert one == other
    assert polars.DataFrame(preempted.search).equals(polars.DataFrame(again.search))
    calm, calmly = run(steady())
    assert preempted.summary["preemption_loss"] > 0 == calm.summary["preemption_loss"]
    assert (one == calmly) == (name != "tpe")
    assert len({str(params) for params in one}) == 30


def pruners() -> dict[str, Callable[[], Any]]:
    from optuna import pruners

    return {
        "median": lambda: pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=1),
        "percentile": lambda: pruners.PercentilePruner(25.0, n_startup_trials=4, interval_steps=2),
        "successive-halving": lambda: pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3),
        "hyperband": lambda: pruners.HyperbandPruner(min_resource=1, max_resource=MAX_RESOURCE, reduction_factor=3),
        "threshold": lambda: pruners.ThresholdPruner(upper=1.6, lower=-1.6),
        "patient": lambda: pruners.PatientPruner(None, patience=2, min_delta=0.05),
    }


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("name", pruners())
def test_pruners_decide_as_in_optuna_alone(name: str, direction: str) -> None:
    """Optuna also runs without Gleaner. Only the order of the calls is then taken from the events of the replay."""
    sign = 1 if direction == "minimize" else -1

    def signed(trial: Any) -> Callable[[float], float]:
        loss = suggest(trial)
        return lambda at: sign * loss(at)

    def new() -> Any:
        sampler = optuna.samplers.RandomSampler(seed=5)
        return optuna.create_study(study_name="same", sampler=sampler, pruner=pruners()[name](), direction=direction)

    study, alone = new(), new()
    run = replay(Study(study, signed, max_resource=MAX_RESOURCE, n_trials=60))
    trials: list[Any] = []
    curves: list[Callable[[float], float]] = []
    pruned: list[int] = []
    events = polars.DataFrame(run.search).select("event", "trial", "resource").rows()
    for event, number, resource in events:
        if event == "started":
            trials.append(alone.ask())
            curves.append(signed(trials[-1]))
        elif event == "reached":
            trial, value = trials[number], curves[number](resource)
            trial.report(value, int(resource))
            if resource == MAX_RESOURCE:
                alone.tell(trial, value)
            elif trial.should_prune():
                alone.tell(trial, state=PRUNED)
                pruned.append(number)
    assert pruned == [number for event, number, _ in events if event == "stopped"]
    assert 3 < len(pruned) < 57
    facts = [[(of.params, of.state, of.values, of.intermediate_values) for of in each.trials] for each in (study, alone)]
    assert facts[0] == facts[1]
    if name == "threshold":
        for trial, loss in zip(study.trials, curves):
            outside = [at for at in range(1, MAX_RESOURCE) if abs(loss(at)) > 1.6]
            assert trial.last_step == (outside[0] if outside else MAX_RESOURCE)


def test_a_study_that_maximises() -> None:
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
    run = replay(Study(study, suggest, max_resource=MAX_RESOURCE, n_trials=20))
    for trial, loss in zip(study.trials, run.trials.column("loss")):
        assert trial.value == -loss == curve(trial.params["x"])(trial.last_step)
    assert run.summary["best_loss"] == -study.best_value


def test_a_study_with_several_objectives_reports_only_at_the_end() -> None:
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=optuna.samplers.NSGAIISampler(seed=1))

    def both(trial: Any) -> Callable[[float], tuple[float, float]]:
        x = trial.suggest_float("x", 0, 1)
        return lambda at: (curve(x)(at), x * at)

    run = replay(Study(study, both, max_resource=MAX_RESOURCE, n_trials=20))
    assert states(study) == ["COMPLETE"] * 20
    for trial, loss in zip(study.trials, run.trials.column("loss")):
        x = trial.params["x"]
        assert trial.values == [curve(x)(9), x * 9] and loss == trial.values[0] and not trial.intermediate_values
    one = Study(study, lambda trial: lambda at: (1.0,), max_resource=MAX_RESOURCE, n_trials=30)
    with pytest.raises(gleaner.UsageError, match=r"returned \[1.0\], expected a value for each of 2 objectives"):
        replay(one)


def test_steps_tasks_and_parameters_of_the_description() -> None:
    study = optuna.create_study(pruner=optuna.pruners.NopPruner())
    own = gleaner.Task("own", {1: 50.0, 4: 180.0}, work=9e5)

    def described(trial: Any) -> Any:
        loss = curve(trial.suggest_float("x", 0, 1))
        return loss if trial.number == 0 else gleaner.Trial(loss=loss, task=own, parameters={"width": 4})

    run = replay(Study(study, described, max_resource=10, n_trials=2, step=4, task="large"))
    assert [list(trial.intermediate_values) for trial in study.trials] == [[4, 8, 10]] * 2
    assert run.trials.column("task") == ["large", "own"]
    assert run.trials.column("work_done")[1] == pytest.approx(9e5)
    assert eval(run.trials.column("parameters")[1]) == {**study.trials[1].params, "width": 4}


@pytest.mark.parametrize("given", [{"max_resource": 0}, {"max_resource": 2.5}, {"max_resource": 9, "step": 0}])
def test_amounts_are_whole_numbers(given: dict[str, Any]) -> None:
    with pytest.raises(gleaner.UsageError, match="expected a whole number of at least 1: Optuna counts steps"):
        Study(optuna.create_study(), suggest, **given)


@pytest.mark.parametrize("sampler", ["GridSampler", "BruteForceSampler"])
def test_a_sampler_that_has_tried_everything_ends_the_search(sampler: str) -> None:
    grid = {"x": [0.0, 0.25, 0.5, 0.75, 1.0]}
    made = optuna.samplers.GridSampler(grid) if sampler == "GridSampler" else optuna.samplers.BruteForceSampler(seed=1)
    study = optuna.create_study(sampler=made, pruner=optuna.pruners.NopPruner())
    search = Study(study, lambda trial: curve(trial.suggest_float("x", 0, 1, step=0.25)), max_resource=3)
    run = replay(search, max_tasks=2)
    assert {trial.params["x"] for trial in study.trials} == set(grid["x"])
    assert set(states(study)) == {"COMPLETE"} and len(study.trials) <= 6
    assert "TasksFinished" in str(run.summary) or run.summary["trials_finished"] == len(study.trials)


def test_skipped_diverged_and_enqueued_trials() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=2), pruner=optuna.pruners.NopPruner())
    study.enqueue_trial({"x": 0.25})

    def partly(trial: Any) -> Callable[[float], float]:
        x = trial.suggest_float("x", 0, 1)
        if trial.number in (1, 2):
            raise optuna.TrialPruned
        return (lambda at: math.nan if at > 4 else 1.0) if trial.number == 3 else curve(x)

    search = Study(study, partly, max_resource=MAX_RESOURCE, n_trials=6)
    run = replay(search)
    assert states(study) == ["COMPLETE", "PRUNED", "PRUNED", "PRUNED", "COMPLETE", "COMPLETE"]
    assert study.trials[0].params == {"x": 0.25} and study.trials[3].last_step == MAX_RESOURCE
    assert search.numbers == [0, 3, 4, 5] and len(run.trials) == 4


def test_trials_that_train_when_the_log_ends_continue_in_the_next_replay() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=4))
    search = Study(study, suggest, max_resource=MAX_RESOURCE, n_trials=60)
    hours = ["2026-01-01 02:00", "2026-01-01 03:00", "2026-01-01 04:00", None]
    first: dict[int, dict[int, float]] = {}
    waited = 0
    for to in hours:
        run = replay(search, **({} if to is None else {"to": to}))
        assert run.complete and set(states(study)) <= {"COMPLETE", "PRUNED", "WAITING"}
        waited += states(study).count("WAITING")
        numbers = search.numbers
        assert len(run.trials) == len(numbers)
        # A trial's work counts from the last value reported before the replay.
        for number, task, resource, state, work in zip(
            numbers, *(run.trials.column(of) for of in ("task", "resource", "state", "work_done"))
        ):
            before = max(first.get(number, {0: 0.0}))
            if state in ("finished", "stopped"):
                whole = {"small": 1e6, "large": 2e6}[task]
                assert work == pytest.approx(whole * (resource - before) / MAX_RESOURCE)
        first = {trial.number: dict(trial.intermediate_values) for trial in study.trials if trial.intermediate_values}
    assert waited >= 10 and len(study.trials) == 60 and set(states(study)) == {"COMPLETE", "PRUNED"}
    for trial in study.trials:
        assert trial.intermediate_values == {at: curve(trial.params["x"])(at) for at in range(1, trial.last_step + 1)}


CHILD = """
import os, signal, sys
import optuna, gleaner
from test_optuna import Study, suggest, replay
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend

left, where = int(sys.argv[1]), sys.argv[2]
storage = RDBStorage("sqlite:///" + where) if where.endswith(".db") else JournalStorage(JournalFileBackend(where))

def counted(name):
    # Kills this process after `left` writes to the storage.
    write = getattr(storage, name)
    def counts(*arguments, **options):
        global left
        found = write(*arguments, **options)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found
    return counts

for name in ("create_new_trial", "set_trial_param", "set_trial_intermediate_value", "set_trial_state_values"):
    setattr(storage, name, counted(name))
study = optuna.create_study(storage=storage, study_name="s", load_if_exists=True,
                            sampler=optuna.samplers.RandomSampler(), pruner=optuna.pruners.MedianPruner())


def noted(trial):
    loss = suggest(trial)
    def notes(at):
        with open(where + ".trained", "a") as file:
            file.write(f"{trial.number} {at:g}\\n")
        return loss(at)
    return notes

replay(Study(study, noted, max_resource=9, n_trials=14))
"""


def ended(study: Any) -> dict[int, Any]:
    return {of.number: (of.state, of.params, of.values, of.intermediate_values) for of in study.trials if of.state.is_finished()}


@pytest.mark.parametrize("name", ["study.db", "study.log"], ids=["sqlite", "journal"])
def test_a_study_that_is_killed_again_and_again_loses_nothing(name: str, tmp_path: Path) -> None:
    where = tmp_path / name
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    finished: dict[int, Any] = {}
    kills = 0
    for kill_after in (3, 31, 41, 52, 67, 10_000):
        child = [sys.executable, "-W", "ignore", "-c", CHILD, str(kill_after), str(where)]
        done = subprocess.run(child, env=environment, capture_output=True, text=True)
        kills += done.returncode == -signal.SIGKILL
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        study = optuna.load_study(study_name="s", storage=stored(where))
        now = ended(study)
        assert finished.items() <= now.items() or all(now[number] == finished[number] for number in finished)
        finished = now
    assert kills >= 4 and len(finished) == 14 == len(study.trials)
    assert set(states(study)) == {"COMPLETE", "PRUNED"}
    for trial in study.trials:
        assert trial.intermediate_values == {at: curve(trial.params["x"])(at) for at in range(1, trial.last_step + 1)}
        assert (trial.last_step == 9) == (trial.state == COMPLETE)
    # No part of the training was repeated, except the last value if the kill came before the trial's end was recorded.
    trained = [line.split() for line in Path(f"{where}.trained").read_text().splitlines()]
    before_the_end = [(number, at) for number, at in trained if at != "9"]
    assert len(before_the_end) == len(set(before_the_end)) > 50


def stored(where: Path) -> Any:
    if where.suffix == ".db":
        return f"sqlite:///{where}"
    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(where)))


def test_running_trials_of_other_processes_can_be_left_alone() -> None:
    study = optuna.create_study()
    other = study.ask()
    replay(Study(study, suggest, max_resource=3, n_trials=4, retry_running=False))
    assert states(study) == ["RUNNING", *["COMPLETE"] * 4] and other.params == {}


@pytest.mark.parametrize("where", ["suggest", "curve"])
def test_an_exception_names_the_trial_and_keeps_the_partial_run(where: str) -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=4))

    def fails(trial: Any) -> Callable[[float], float]:
        loss = suggest(trial)
        if trial.number == 14 and where == "suggest":
            raise ZeroDivisionError
        return (lambda at: 1 / 0) if trial.number == 14 else loss

    with pytest.raises(ZeroDivisionError) as raised:
        replay(Study(study, fails, max_resource=MAX_RESOURCE, n_trials=60))
    error: Any = raised.value
    assert error.trial.optuna.number == 14 and "StudyTrial 14 of study" in repr(error.trial)
    assert not error.run.complete and len(error.run.trials) >= 14
    if hasattr(error, "__notes__"):
        assert any("trial 14" in note for note in error.__notes__)
    assert study.trials[14].state == WAITING and "RUNNING" not in states(study)
    replay(Study(study, suggest, max_resource=MAX_RESOURCE, n_trials=60))
    assert set(states(study)) == {"COMPLETE", "PRUNED"} and len(study.trials) == 60


def test_suggest_must_return_a_curve() -> None:
    with pytest.raises(gleaner.UsageError, match="suggest returned 3 for trial 0, expected a learning curve"):
        replay(Study(optuna.create_study(), lambda trial: 3, max_resource=9))  # type: ignore[arg-type, return-value]


NEVER = """
import optuna
from gleaner.optuna import Study
optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study()
def suggest(trial):
    trial.suggest_float("x", 0, 1)
    if trial.number == 12:
        ready()
        while True:
            pass
    return lambda at: 1.0
try:
    gleaner.replay(EVENTS, TASKS, t_fwd=60, search=Study(study, suggest, max_resource=9))
except KeyboardInterrupt as error:
    print(error.run.complete, len(error.run.trials), error.trial.optuna.number, error.trial.optuna.params)
    print({trial.state.name for trial in study.trials[10:]})
"""


def test_ctrl_c_ends_a_suggestion_that_never_returns() -> None:
    code, lines, err = interrupt(NEVER)
    assert code == 0, err
    assert lines[0].startswith("False 12 12 {'x': ") and lines[1] == "{'WAITING'}"


def test_optuna_is_optional() -> None:
    script = """
    import sys, gleaner
    assert "optuna" not in sys.modules
    sys.modules["optuna"] = None
    try:
        import gleaner.optuna
    except ImportError as error:
        print(error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert done.stdout == 'gleaner.optuna needs Optuna: pip install "gleaner-hpc[optuna]"\n', done.stderr
