"""Tests of replays whose trials are controlled by searchers and schedulers of Ray Tune. The tests are skipped if Ray is
missing. Ray is not among the requirements, because it takes up 600 MB."""

from __future__ import annotations

import random
from collections import Counter
from types import SimpleNamespace
from typing import Any, Callable, Optional

import polars
import pytest

import gleaner
from test_replay import EVENTS

pytest.importorskip("ray.tune", reason='Ray Tune is not installed: pip install "ray[tune]"')

from ray.tune import schedulers  # noqa: E402
from ray.tune.search import Searcher  # noqa: E402

from gleaner.ray import Tuner  # noqa: E402


class Draws(Searcher):  # type: ignore[misc, unused-ignore]
    """Draws configurations, and records the calls."""

    def __init__(self, most: int = 1000) -> None:
        super().__init__(metric="score", mode="max")
        self.draw = random.Random(7)
        self.most = most
        self.results: dict[str, list[tuple[float, float]]] = {}
        self.completed: dict[str, Any] = {}

    def suggest(self, trial_id: str) -> Any:
        if len(self.results) == self.most:
            return Searcher.FINISHED
        self.results[trial_id] = []
        return {"x": self.draw.random()}

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        self.results[trial_id].append((result["training_iteration"], result["score"]))

    def on_trial_complete(self, trial_id: str, result: Optional[dict[str, Any]] = None, error: bool = False) -> None:
        assert trial_id not in self.completed and not error
        self.completed[trial_id] = result


def score(x: float) -> Callable[[float], float]:
    return lambda at: x - 2 / (1 + at) ** (0.2 + (7 * x) % 1)


def replay(searcher: Searcher, scheduler: Any = None, **options: Any) -> gleaner.Run:
    tuner = Tuner(
        searcher, lambda config: score(config["x"]), scheduler=scheduler, metric="score", mode="max", max_resource=27, **options
    )
    return gleaner.replay(EVENTS, "dataset/search.toml", search=tuner, t_fwd=60)


def test_a_searcher_without_a_scheduler() -> None:
    searcher = Draws(most=20)
    run = replay(searcher, step=9)
    assert run.trials.column("state") == ["finished"] * 20 and run.summary["preemption_loss"] > 0
    configs = [eval(text)["x"] for text in run.trials.column("parameters")]
    for x, loss, (trial_id, results) in zip(configs, run.trials.column("loss"), searcher.results.items()):
        assert results == [(at, score(x)(at)) for at in (9, 18)]
        last = searcher.completed[trial_id]
        assert (last["training_iteration"], last["score"], last["done"]) == (27, -loss, True) and loss == -score(x)(27)
    assert len(searcher.completed) == 20


def test_asha_decides_as_in_ray_alone() -> None:
    def new() -> Any:
        return schedulers.ASHAScheduler(metric="score", mode="max", max_t=27, grace_period=1, reduction_factor=3)

    searcher, alone = Draws(), new()
    run = replay(searcher, new(), n_trials=60)
    trials = [SimpleNamespace(trial_id=str(number)) for number in range(60)]
    configs = [eval(text)["x"] for text in run.trials.column("parameters")]
    stopped = []
    events = polars.DataFrame(run.search).select("event", "trial", "resource").rows()
    for event, number, resource in events:
        result = {"training_iteration": resource, "score": score(configs[number])(resource)}
        if event == "started":
            alone.on_trial_add(None, trials[number])
        elif event == "reached" and alone.on_trial_result(None, trials[number], result) == "STOP":
            alone.on_trial_complete(None, trials[number], result)
            stopped.append((number, resource))
    ends = list(zip(range(60), run.trials.column("resource")))
    assert sorted(stopped) == ends and 1 < sum(resource == 27 for _, resource in ends) < 30
    assert len(searcher.completed) == 60


def test_hyperband_has_the_brackets_of_its_paper() -> None:
    """With R = 27 and eta = 3 (Li et al. 2018), 4, 6, 12 and 27 trials begin with a resource of 27, 9, 3 and 1,
    respectively. Ray keeps ceil(n / 3) of the trials at each rung: 6 → 2, 12 → 4 → 2, 27 → 9 → 3 → 1."""
    searcher = Draws()
    run = replay(searcher, schedulers.HyperBandScheduler(max_t=27, reduction_factor=3), n_trials=49)
    assert Counter(run.trials.column("resource")) == {27: 4 + 2 + 2 + 1, 9: 4 + 2 + 2, 3: 8 + 6, 1: 18}
    assert len(searcher.completed) == 49


@pytest.mark.parametrize("hard", [True, False])
def test_median_stopping(hard: bool) -> None:
    of = {"time_attr": "training_iteration", "grace_period": 2, "min_samples_required": 3, "hard_stop": hard}
    searcher = Draws(most=40)
    run = replay(searcher, schedulers.MedianStoppingRule(**of))
    states = Counter(run.trials.column("state"))
    # Without a hard stop, trials below the median pause, and continue when no other trial is pending.
    assert states == {"finished": 40} if not hard else states["stopped"] > 5 and states["finished"] > 1
    assert len(searcher.completed) == 40


def test_schedulers_need_the_resource_as_their_time() -> None:
    with pytest.raises(gleaner.UsageError, match="time_attr is 'time_total_s', expected 'training_iteration'"):
        replay(Draws(), schedulers.MedianStoppingRule())
    with pytest.raises(gleaner.UsageError, match="mode is 'least', expected 'min' or 'max'"):
        Tuner(Draws(), lambda config: score(0), metric="score", mode="least", max_resource=9)


def test_an_exception_of_the_searcher_ends_the_replay() -> None:
    searcher = Draws()
    searcher.on_trial_result = lambda trial_id, result: 1 / 0  # type: ignore[method-assign, assignment, return-value]
    with pytest.raises(ZeroDivisionError) as raised:
        replay(searcher)
    error: Any = raised.value
    assert error.trial.trial_id in searcher.results and not error.run.complete
