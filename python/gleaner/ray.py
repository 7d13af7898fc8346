"""Searchers and schedulers of Ray Tune as searches of a replay.

This module does not import Ray. It calls the methods of the objects that it receives.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Optional, Union, cast

from ._gleaner import Task
from .errors import UsageError
from .search import Loss, Search, Trial

AnyTask = Union[str, int, Task, None]
"""The task that a trial trains (see :class:`gleaner.Trial`)."""


class TunedTrial(Trial):
    """A trial of a replay, with the attributes of a ``ray.tune.experiment.Trial`` that searchers and schedulers use."""

    is_saving = False

    def __init__(self, trial_id: str, config: dict[str, Any]) -> None:
        super().__init__(parameters=config)
        self.trial_id = trial_id
        self.config = config
        self.status = "PENDING"
        """``PENDING``, ``RUNNING``, ``PAUSED`` or ``TERMINATED``."""
        self.last_result: dict[str, Any] = {}


class Tuner(Search):
    """Drives the trials of a replay with a searcher and a scheduler of Ray Tune.

    ``searcher`` is a ``ray.tune.search.Searcher`` whose search space, metric and mode are set. ``scheduler`` is a
    ``ray.tune.schedulers.TrialScheduler``. Without a scheduler, trials are never stopped early. ``train`` is called
    with the configuration of a new trial and returns the trial's learning curve: a function that returns the metric
    after an amount of the resource. To choose the task that the trial trains, return
    ``gleaner.Trial(task=..., loss=curve)``. All other trials train ``task``.

    A result is reported after every ``step`` units of the resource. The result maps the name given by ``metric`` to
    the value of the metric, and ``training_iteration`` to the amount of the resource. The scheduler then decides
    whether the trial continues immediately, pauses or stops. A trial ends at ``max_resource`` at the latest.
    ``n_trials`` is the maximum number of trials. By default, trials start until the searcher is finished or the log
    ends.

    Preempted trials keep their progress, and neither the searcher nor the scheduler notices a preemption. Schedulers
    that change the configurations or the resources of trials, such as population-based training, are not supported.
    """

    def __init__(
        self,
        searcher: Any,
        train: Callable[[dict[str, Any]], Union[Callable[[float], float], Trial]],
        *,
        scheduler: Any = None,
        metric: str,
        mode: str,
        max_resource: int,
        n_trials: Optional[int] = None,
        step: int = 1,
        task: AnyTask = None,
    ) -> None:
        if mode not in ("min", "max"):
            raise UsageError(f"mode is {mode!r}, expected 'min' or 'max'")
        time = getattr(scheduler, "_time_attr", "training_iteration")
        if time != "training_iteration":
            raise UsageError(f"the scheduler's time_attr is {time!r}, expected 'training_iteration'")
        if scheduler is not None:
            # Does nothing if the scheduler already has a metric and a mode.
            scheduler.set_search_properties(metric, mode)
        self.max_resource = int(max_resource)
        self._searcher = searcher
        self._scheduler = scheduler
        self._train = train
        self._metric = metric
        self._sign = -1 if mode == "max" else 1
        self._remaining = math.inf if n_trials is None else n_trials
        self._step = int(step)
        self._task = task
        self._controller = Controller(self)
        self._trials: list[TunedTrial] = []

    def next_trial(self) -> Optional[Trial]:
        while True:
            self._add()
            chosen = self._chosen()
            if chosen is None or chosen.resource < self.max_resource:
                break
            self._complete(chosen)
        if chosen is not None:
            chosen.status = "RUNNING"
            chosen.target = self._target(chosen.resource)
            self._add()
        return chosen

    def report(self, trial: Trial, resource: float, loss: Any) -> Union[float, bool, None]:
        assert isinstance(trial, TunedTrial)
        trial.last_result = {
            self._metric: self._sign * float(loss),
            "training_iteration": int(resource),
            "trial_id": trial.trial_id,
            "config": trial.config,
            "done": False,
        }
        decision = self._decision(trial)
        is_last = resource >= self.max_resource
        if decision == "STOP" or is_last and decision == "CONTINUE":
            self._complete(trial)
            return False
        self._searcher.on_trial_result(trial.trial_id, trial.last_result)
        if decision == "CONTINUE":
            return self._target(resource)
        # Hyperband pauses a trial even at `max_resource`, until the other trials of its bracket have caught up.
        trial.status = "PAUSED"
        return None

    def close(self) -> None:
        """Reports to the searcher that all paused trials at ``max_resource`` are complete."""
        for trial in self._trials:
            if trial.status == "PAUSED" and trial.resource >= self.max_resource:
                trial.status = "TERMINATED"
                self._searcher.on_trial_complete(trial.trial_id, {**trial.last_result, "done": True})

    def _chosen(self) -> Optional[TunedTrial]:
        """The pending or paused trial that runs next, if any."""
        if self._scheduler is None:
            return next((trial for trial in self._trials if trial.status == "PENDING"), None)
        chosen: Optional[TunedTrial] = self._scheduler.choose_trial_to_run(self._controller)
        return chosen

    def _complete(self, trial: TunedTrial) -> None:
        trial.last_result["done"] = True
        if self._scheduler is not None:
            self._scheduler.on_trial_complete(self._controller, trial, trial.last_result)
        self._searcher.on_trial_complete(trial.trial_id, trial.last_result)
        trial.status = "TERMINATED"

    def _decision(self, trial: TunedTrial) -> str:
        if self._scheduler is None:
            return "CONTINUE"
        decision = str(self._scheduler.on_trial_result(self._controller, trial, trial.last_result))
        if decision not in ("CONTINUE", "PAUSE", "STOP"):
            raise UsageError(f"the scheduler decided {decision!r}, expected CONTINUE, PAUSE or STOP")
        return decision

    def _add(self) -> None:
        """Adds a trial that the searcher suggests. Like Ray's controller, this method keeps one pending trial in the
        queue. Hyperband depends on this: a bracket is not complete while one of its trials is pending."""
        if self._remaining <= 0 or any(trial.status == "PENDING" for trial in reversed(self._trials)):
            return
        trial_id = f"trial_{len(self._trials):05}"
        config = self._searcher.suggest(trial_id)
        if config == "FINISHED":
            self._remaining = 0
        if not isinstance(config, dict):
            return
        self._remaining -= 1
        trial = TunedTrial(trial_id, config)
        curve = trial._describe("train", trial_id, self._train(config), self._task, config)
        trial.loss = self._signed(curve)
        self._trials.append(trial)
        if self._scheduler is not None:
            self._scheduler.on_trial_add(self._controller, trial)

    def _signed(self, curve: Loss) -> Loss:
        if self._sign == 1:
            return curve
        return lambda resource: -float(cast(float, curve(resource)))

    def _target(self, resource: float) -> float:
        """The resource at which the next result is reported."""
        return min(resource + self._step, self.max_resource)


class Controller:
    """The methods of Ray's ``TuneController`` that schedulers call."""

    def __init__(self, tuner: Tuner) -> None:
        self._tuner = tuner

    def get_trials(self) -> list[TunedTrial]:
        """All trials."""
        return self._tuner._trials

    def get_live_trials(self) -> list[TunedTrial]:
        """The trials that have not ended."""
        return [trial for trial in self.get_trials() if trial.status != "TERMINATED"]

    def stop_trial(self, trial: TunedTrial) -> None:
        """Ends a trial, and stops it in the replay if it is paused."""
        if trial.state == "paused":
            trial.stop()
        if self._tuner._scheduler is not None:
            self._tuner._scheduler.on_trial_remove(self, trial)
        trial.status = "TERMINATED"
        self._tuner._searcher.on_trial_complete(trial.trial_id, trial.last_result)
