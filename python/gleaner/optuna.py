"""Optuna studies as searches of a replay, and recorded studies as learning curves.

This module needs Optuna: ``pip install "gleaner-hpc[optuna]"``.
"""

from __future__ import annotations

import logging
import math
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any, Callable, Optional, Union

try:
    import optuna
    from optuna.trial import FrozenTrial, TrialState
except ImportError as error:
    raise ImportError('gleaner.optuna needs Optuna: pip install "gleaner-hpc[optuna]"') from error

from ._gleaner import Task
from .errors import UsageError
from .search import Curve, Loss, Search, Trial

LOGGER = logging.getLogger("gleaner")

Value = Union[float, Sequence[float]]
"""The value of a study's objective, or a sequence with the values of its objectives."""
Suggestion = Union[Callable[[float], Value], Trial]
"""The return value of ``suggest``: a learning curve, or a :class:`gleaner.Trial` with a learning curve and a task."""
AnyTask = Union[str, int, Task, None]
"""The task that a trial trains (see :class:`gleaner.Trial`)."""

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)


class StudyTrial(Trial):
    """A trial of an Optuna study in a replay."""

    def __init__(self, asked: optuna.trial.Trial) -> None:
        super().__init__()
        self.optuna = asked
        """The corresponding trial of the study."""

    def __repr__(self) -> str:
        state = f"{self.state}, resource {self.resource:g}"
        return f"<gleaner.optuna.StudyTrial {self.optuna.number} of study {self.optuna.study.study_name!r}: {state}>"


class Study(Search):
    """Drives the trials of an Optuna study in a replay, with the study's own sampler and pruner.

    ``suggest`` is called with a new :class:`optuna.trial.Trial` and calls its methods ``suggest_float``,
    ``suggest_categorical``, etc. It returns the learning curve of the training: a function that returns the value of
    the objective after an amount of the resource. To choose the task that the trial trains, return
    ``gleaner.Trial(task=..., loss=curve)``. All other trials train ``task``. By default, each replay draws one of its
    tasks at random for each trial. To skip a trial, raise ``optuna.TrialPruned``.

    The value of the objective is reported to the study after every ``step`` units of the resource. The study's pruner
    then decides whether the trial is pruned. A trial that is not pruned continues immediately on the nodes that it
    holds, until it is complete at ``max_resource``. If the value at ``max_resource`` is NaN, the trial counts as
    pruned. The steps reported to Optuna are amounts of the resource. They are therefore whole numbers, and the first
    one is ``step`` rather than 0. Optuna cannot prune trials of studies with several objectives. The values of such
    studies are reported only at ``max_resource``.

    ``n_trials`` is the total number of complete and pruned trials of the study, including those from before the replay.
    By default, new trials are started until the log ends.

    Preempted trials keep their progress. Trials that are still training when the replay ends, for any reason, return to
    the study's queue with the state ``WAITING``. A later replay continues them from their last reported value. A replay
    that is killed leaves behind trials in the state ``RUNNING``. With ``retry_running`` (the default), the next replay
    first returns them to the queue. Set ``retry_running`` to False if other processes train trials of the study at the
    same time.

    >>> import optuna
    >>> from gleaner.optuna import Study
    >>> def suggest(trial):
    ...     rate = trial.suggest_float("rate", 0.1, 1.0)
    ...     return Curve.power_law(floor=rate, amplitude=2.0, rate=1.0)
    >>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1), pruner=optuna.pruners.MedianPruner())
    >>> search = Study(study, suggest, max_resource=9, n_trials=20)
    >>> run = replay("dataset/idle.csv", "dataset/tasks.toml", search=search, t_fwd=120)
    >>> len(study.trials), len(run.trials)
    (20, 20)
    """

    def __init__(
        self,
        study: optuna.study.Study,
        suggest: Callable[[optuna.trial.Trial], Suggestion],
        *,
        max_resource: int,
        n_trials: Optional[int] = None,
        step: int = 1,
        task: AnyTask = None,
        retry_running: bool = True,
    ) -> None:
        for name, amount in (("max_resource", max_resource), ("step", step)):
            if amount != int(amount) or amount < 1:
                raise UsageError(f"{name} is {amount!r}, expected a whole number of at least 1: Optuna counts steps")
        self.study = study
        self.max_resource = int(max_resource)
        self.numbers: list[int] = []
        """The numbers that the trials of the last replay have in the study."""
        self._suggest = suggest
        self._step = int(step)
        self._n_trials = math.inf if n_trials is None else n_trials
        self._task = task
        self._retry_running = retry_running
        self._signs = _signs(study)
        self._remaining: Optional[float] = None
        """The number of trials that may still be started; None before the replay."""
        self._training: dict[int, optuna.trial.Trial] = {}
        """The trials that have not ended, by number."""
        self._queue: deque[FrozenTrial] = deque()
        """The trials that were waiting or running before the replay and have not been continued yet."""

    def next_trial(self) -> Optional[Trial]:
        if self._remaining is None:
            self._remaining = self._open()
        while self._remaining > 0:
            self._remaining -= 1
            trial = self._proposed(*self._ask())
            if trial is not None:
                return trial
        return None

    def report(self, trial: Trial, resource: float, loss: Any) -> Union[float, bool, None]:
        assert isinstance(trial, StudyTrial)
        is_last = resource >= self.max_resource
        values = self._values(loss)
        if len(values) == 1:
            trial.optuna.report(values[0], step=int(resource))
        if is_last:
            self._tell(trial.optuna, values)
        elif trial.optuna.should_prune():
            self._tell(trial.optuna, None)
            return False
        return self._target(resource)

    def close(self) -> None:
        """Puts the trials that were still training back into the study's queue."""
        for asked in self._training.values():
            self._put_back(asked._trial_id)
        self._training.clear()
        self._queue.clear()
        self._remaining = None

    def _open(self) -> float:
        """Puts the trials of a killed replay back into the queue. Returns the number of trials to start."""
        self.numbers = []
        trials = self.study.get_trials(deepcopy=False)
        for trial in trials:
            if trial.state == TrialState.RUNNING and self._retry_running:
                self._put_back(trial._trial_id)
                self._queue.append(trial)
            elif trial.state == TrialState.WAITING:
                self._queue.append(trial)
        return self._n_trials - sum(trial.state in FINISHED for trial in trials)

    def _ask(self) -> tuple[optuna.trial.Trial, int]:
        """The next trial of the study, and the last step at which it has reported a value (0 if there is none)."""
        while self._queue:
            # `study.ask` does the same, but with Optuna's in-memory storage it finds no trial that was running before.
            waiting = self._queue.popleft()
            if self.study._storage.set_trial_state_values(waiting._trial_id, TrialState.RUNNING):
                return optuna.trial.Trial(self.study, waiting._trial_id), waiting.last_step or 0
        return self.study.ask(), 0

    def _put_back(self, trial_id: int) -> None:
        """Puts a trial back into the queue, with its parameters and its reported values. Optuna has no public method
        for this. With ``study.enqueue_trial``, the study would contain a copy and, as a failed trial, the original."""
        self.study._storage.set_trial_state_values(trial_id, TrialState.WAITING)

    def _proposed(self, asked: optuna.trial.Trial, reached: int) -> Optional[Trial]:
        """Calls ``suggest`` for a trial that continues from the step ``reached``. Returns the trial, or None if it has
        already ended."""
        self._training[asked.number] = asked
        trial = StudyTrial(asked)
        try:
            suggestion = self._suggest(asked)
        except optuna.TrialPruned:
            self._tell(asked, None)
            return None
        except BaseException as error:
            error.trial = trial  # type: ignore[attr-defined]
            if hasattr(error, "add_note"):
                error.add_note(f"raised by suggest for trial {asked.number} of the study")
            raise
        curve = trial._describe("suggest", asked.number, suggestion, self._task, asked.params)
        trial.loss = curve if self._signs == [1] else lambda resource: _losses(curve(resource), self._signs)
        trial.resource = reached
        if trial.resource >= self.max_resource:
            # The replay was killed between the last report and the end of the trial.
            self._tell(asked, self._values(trial.loss(trial.resource)))
            return None
        trial.target = self._target(trial.resource)
        self.numbers.append(asked.number)
        return trial

    def _target(self, resource: float) -> float:
        """The resource at which the next value is reported."""
        return self.max_resource if len(self._signs) > 1 else min(resource + self._step, self.max_resource)

    def _values(self, loss: Any) -> list[float]:
        """Converts losses to values of the objectives. This is the inverse of :func:`_losses`."""
        losses = loss if len(self._signs) > 1 else [loss]
        return [sign * float(of) for sign, of in zip(self._signs, losses)]

    def _tell(self, asked: optuna.trial.Trial, values: Optional[list[float]]) -> None:
        """Ends a trial: as complete with these values, or as pruned if there are no values or one of them is NaN."""
        is_complete = values is not None and not any(map(math.isnan, values))
        try:
            if is_complete:
                self.study.tell(asked, values)
            else:
                self.study.tell(asked, state=TrialState.PRUNED)
        except RuntimeError as error:
            # Samplers that have tried all combinations call `Study.stop`, which raises this error outside of
            # `Study.optimize`. By then, the end of the trial has been recorded.
            if "Study.stop" not in str(error):
                raise
            self._remaining = 0
        del self._training[asked.number]


class Recorded(Search):
    """The trials of an Optuna study, as they were recorded. Create it with :func:`search_of`."""

    def __init__(self, trials: Sequence[Trial], steps: Sequence[Sequence[float]], max_resource: float) -> None:
        self.max_resource = max_resource
        self._trials = trials
        self._steps = steps
        """For each trial, the amounts of the resource at which a value was recorded."""
        self._started = 0

    def __len__(self) -> int:
        """Number of trials."""
        return len(self._trials)

    def propose(self, number: int) -> Trial:
        """A new trial with the parameters and the learning curve of a recorded trial, for a search of your own or for
        :class:`gleaner.BuiltIn`."""
        recorded = self._trials[number]
        return Trial(parameters=recorded.parameters, task=recorded.task, loss=recorded.loss)

    def next_trial(self) -> Optional[Trial]:
        if self._started == len(self):
            return None
        trial = self.propose(self._started)
        trial.target = self._steps[self._started][0]
        self._started += 1
        return trial

    def report(self, trial: Trial, resource: float, loss: Any) -> Union[float, bool, None]:
        assert trial.number is not None
        steps = self._steps[trial.number]
        following = bisect_right(steps, resource)
        return steps[following] if following < len(steps) else False

    def close(self) -> None:
        self._started = 0


def search_of(
    study: Union[optuna.study.Study, str, optuna.storages.BaseStorage],
    name: Optional[str] = None,
    *,
    max_resource: Optional[float] = None,
    first_step: Optional[int] = None,
    task: Union[AnyTask, Callable[[FrozenTrial], AnyTask]] = None,
) -> Recorded:
    """A search that repeats the trials of a recorded or running study, in the study's order.

    ``study`` is a study, or the storage that contains it. ``name`` is the name of the study in the storage. It may be
    omitted if the storage contains a single study. The intermediate values of a trial are its learning curve. The trial
    trains up to its last intermediate value and is stopped there, unless it has reached ``max_resource``. By default,
    ``max_resource`` is the largest amount of the resource in the study. A complete trial without intermediate values
    trains up to ``max_resource``. Other trials without intermediate values are left out.

    ``first_step`` is the step at which the study's trials report their values after one unit of the resource. By
    default, it is 0 if any trial has reported a value at step 0, and otherwise 1. ``task`` is the task that the trials
    train, or a function that returns the task of an :class:`optuna.trial.FrozenTrial`.

    To run another algorithm on the same curves, pass the method ``propose`` to :class:`gleaner.BuiltIn`. If a trial
    then trains longer than in the study, its curve stays at the last recorded value.

    >>> import optuna
    >>> from gleaner.optuna import search_of
    >>> study = optuna.create_study()
    >>> for number in range(9):
    ...     trial = study.ask()
    ...     for step in range(9):
    ...         trial.report(number / (step + 1), step)
    ...     _ = study.tell(trial, number / 9)
    >>> recorded = search_of(study)
    >>> len(recorded), recorded.max_resource
    (9, 9)
    >>> asha = BuiltIn("asha", recorded.propose, trials=len(recorded), max_resource=recorded.max_resource)
    >>> run = replay("dataset/idle.csv", "dataset/tasks.toml", search=asha, t_fwd=120)
    >>> len(run.trials)
    9
    """
    if not isinstance(study, optuna.study.Study):
        study = optuna.load_study(study_name=name, storage=study)
    signs = _signs(study)
    recorded = study.get_trials(deepcopy=False)
    if first_step is None:
        first_step = 1 - any(0 in trial.intermediate_values for trial in recorded)
    curves = [_curve(trial, 1 - first_step, signs) for trial in recorded]
    last = max_resource or max((end for curve in curves for end in curve), default=0)
    if not last > 0:
        raise UsageError(f"study {study.study_name!r} has no intermediate values: specify max_resource")
    trials: list[Trial] = []
    steps: list[list[float]] = []
    for trial, curve in zip(recorded, curves):
        loss: Loss = Curve(curve) if curve else partial(_constant, trial, signs)
        if curve or trial.state == TrialState.COMPLETE:
            trials.append(Trial(parameters=trial.params, task=task(trial) if callable(task) else task, loss=loss))
            steps.append([at for at in curve if at < last])
            if not curve or max(curve) >= last:
                steps[-1].append(last)
    if len(trials) < len(recorded):
        left_out = f"{len(recorded) - len(trials)} trials of study {study.study_name!r}"
        LOGGER.info("left out %s, which have no intermediate values", left_out)
    return Recorded(trials, steps, last)


def _curve(trial: FrozenTrial, offset: int, signs: Sequence[int]) -> dict[float, float]:
    """The losses of a recorded trial, in ascending order of the resource."""
    return {step + offset: signs[0] * value for step, value in sorted(trial.intermediate_values.items())}


def _constant(trial: FrozenTrial, signs: Sequence[int], resource: float) -> Any:
    """The final loss of a recorded trial, whatever the amount of the resource."""
    return _losses(trial.values if len(signs) > 1 else trial.value, signs)


def _signs(study: optuna.study.Study) -> list[int]:
    """For each objective of a study, the factor that turns its values into losses: -1 for an objective that is
    maximised, and otherwise 1."""
    return [-1 if way == optuna.study.StudyDirection.MAXIMIZE else 1 for way in study.directions]


def _losses(value: Any, signs: Sequence[int]) -> Any:
    """The values of the objectives as losses: lower is better."""
    if len(signs) == 1:
        return signs[0] * float(value)
    values = list(value)
    if len(values) != len(signs):
        raise UsageError(f"the learning curve returned {values!r}, expected a value for each of {len(signs)} objectives")
    return [sign * float(of) for sign, of in zip(signs, values)]
