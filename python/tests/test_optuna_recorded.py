"""Tests of replays of recorded Optuna studies."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import polars
import pytest

import gleaner

optuna = pytest.importorskip("optuna", reason="Optuna is not installed: pip install optuna")

from gleaner.optuna import search_of  # noqa: E402
from test_optuna import COMPLETE, replay, stored, suggest, suggested  # noqa: E402


def recorded(**options: Any) -> Any:
    """A study that Optuna ran without Gleaner. Its steps begin at 0."""
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=6), pruner=optuna.pruners.MedianPruner(), **options)

    def objective(trial: Any) -> float:
        loss = suggest(trial)
        for at in range(1, 10):
            trial.report(loss(at), at - 1)
            if trial.should_prune():
                raise optuna.TrialPruned
        return loss(9)

    study.optimize(objective, n_trials=40)
    return study


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("name", [None, "study.db", "study.log"], ids=["memory", "sqlite", "journal"])
def test_a_recorded_study_is_replayed(name: Optional[str], direction: str, tmp_path: Path) -> None:
    storage = {} if name is None else {"storage": stored(tmp_path / name), "study_name": "s"}
    study = recorded(direction=direction, **storage)
    running = study.ask()
    running.suggest_float("x", 0, 1)
    running.report(0.5, 0)
    running.report(0.25, 1)
    study.enqueue_trial({"x": 0.5})
    search = search_of(study) if name is None else search_of(stored(tmp_path / name), "s")
    assert len(search) == 41 and search.max_resource == 9
    run = replay(search)
    sign = 1 if direction == "minimize" else -1
    table = polars.DataFrame(run.search).filter(polars.col("event") == "reached")
    for trial in study.trials[:41]:
        reached = table.filter(polars.col("trial") == trial.number).select("resource", "loss").rows()
        assert reached == [(step + 1, sign * value) for step, value in sorted(trial.intermediate_values.items())]
    expected = ["finished" if trial.state == COMPLETE else "stopped" for trial in study.trials[:41]]
    assert run.trials.column("state") == expected and {*expected} == {"finished", "stopped"}
    assert [eval(text) for text in run.trials.column("parameters")] == suggested(study)[:41]


def test_another_algorithm_decides_over_recorded_curves() -> None:
    study = recorded()
    search = search_of(study, task=lambda trial: "small" if trial.params["net"] == "a" else "large")
    halving = gleaner.BuiltIn("successive-halving", search.propose, trials=40, max_resource=search.max_resource)
    run = replay(halving)
    values = [trial.intermediate_values for trial in study.trials]
    # Beyond its last value, a curve is constant.
    first = sorted(range(40), key=lambda number: values[number][0])[:13]
    at_three = {number: values[number].get(2, values[number][max(values[number])]) for number in first}
    second = sorted(first, key=lambda number: at_three[number])[:4]
    assert [number for number, of in enumerate(run.trials.column("resource")) if of > 1] == sorted(first)
    assert [number for number, of in enumerate(run.trials.column("state")) if of == "finished"] == sorted(second)
    assert run.trials.column("task") == ["small" if trial.params["net"] == "a" else "large" for trial in study.trials]


def test_studies_without_intermediate_values() -> None:
    study = optuna.create_study()
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=5)
    with pytest.raises(gleaner.UsageError, match="has no intermediate values: specify max_resource"):
        search_of(study)
    run = replay(search_of(study, max_resource=4))
    assert run.trials.column("loss") == [trial.value for trial in study.trials]
    several = optuna.create_study(directions=["maximize", "minimize"])
    several.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 2.0), n_trials=5)
    run = replay(search_of(several, max_resource=4))
    assert run.trials.column("loss") == [-trial.values[0] for trial in several.trials]


def test_the_resource_of_a_step_can_be_given() -> None:
    study = recorded()
    run = replay(search_of(study, first_step=-1, max_resource=6))
    assert max(run.trials.column("resource")) == 6 and min(run.trials.column("resource")) == 2
