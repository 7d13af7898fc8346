"""Searches whose trials train the tasks of a replay: your own algorithms, and the built-in algorithms as objects."""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, Callable, Optional, Union

from . import _gleaner
from ._gleaner import Task
from .errors import UsageError

Loss = Callable[[float], Union[float, Sequence[float], Mapping[str, float]]]
"""A function that returns the loss of a trial after an amount of the resource. Several losses are returned as a
sequence, or as a mapping from names to losses."""


class Curve:
    """A learning curve: the loss of a trial as a function of the resource that it has consumed.

    ``points`` maps amounts of the resource to losses. Losses between two points are interpolated linearly. Before the
    first point and after the last point, the loss is constant.

    >>> curve = Curve({1: 2.0, 3: 1.0})
    >>> curve(0), curve(2), curve(9)
    (2.0, 1.5, 1.0)
    """

    def __init__(self, points: Mapping[float, float]) -> None:
        if not points:
            raise UsageError("the learning curve has no points, expected at least one")
        self._losses = dict(points)
        self._resources = sorted(self._losses)

    def __call__(self, resource: float) -> float:
        after = bisect_left(self._resources, resource)
        to = self._resources[min(after, len(self._resources) - 1)]
        end = float(self._losses[to])
        if after in (0, len(self._resources)) or to == resource:
            return end
        start = self._resources[after - 1]
        part = (resource - start) / (to - start)
        return self._losses[start] * (1 - part) + end * part

    @staticmethod
    def power_law(floor: float, amplitude: float, rate: float, scale: float = 1.0) -> Callable[[float], float]:
        """The curve ``floor + amplitude * (1 + resource / scale) ** -rate``.

        >>> Curve.power_law(0.5, 2.0, 1.0)(3)
        1.0
        """
        return lambda resource: floor + amplitude * (1 + resource / scale) ** -rate


class Trial:
    """A trial of a search: one choice of hyperparameters.

    ``target`` is the resource up to which the trial trains next. :class:`BuiltIn` sets the target. ``parameters`` are
    the trial's hyperparameters, which appear in the results. ``task`` is the task that the trial trains: the name or
    the index of a task of the replay, or a separate :class:`Task`. The ``work`` of such a :class:`Task` is the work up
    to the search's ``max_resource``. By default, one of the replay's tasks is drawn at random. ``loss`` returns the
    loss after an amount of the resource. By default, the search's method ``loss`` is called. If there are several
    losses, figures about a single loss refer to the first one.
    """

    def __init__(
        self,
        target: float = 0.0,
        *,
        parameters: Optional[Mapping[str, Any]] = None,
        task: Union[str, int, Task, None] = None,
        loss: Optional[Loss] = None,
    ) -> None:
        self.target = target
        self.parameters: dict[str, Any] = dict(parameters or {})
        self.task = task
        self.loss = loss
        self.number: Optional[int] = None
        """Number of the trial, from 0, in the order in which trials start; None before the trial starts."""
        self.resource = 0.0
        """The resource that the trial has consumed."""
        self.losses: list[tuple[float, Any]] = []
        """The losses measured so far, as pairs (resource, loss)."""
        self.state = "new"
        """``new``, ``training``, ``paused``, ``stopped`` or ``finished``."""
        self._rung = -1
        self._stopping: list[int] = []

    def stop(self) -> None:
        """Stops a paused trial for good. A paused trial that is not stopped counts as stopped when the search ends."""
        if self.state != "paused" or self.number is None:
            raise UsageError(f"{self} cannot be stopped, because it is not paused")
        self.state = "stopped"
        self._stopping.append(self.number)

    def _describe(self, function: str, name: Any, given: Any, task: Any, parameters: Mapping[str, Any]) -> Loss:
        """Sets the task and the parameters of this trial from ``given``, and returns the learning curve. ``given`` is
        the value that the user's function ``function`` returned for the trial ``name``: a learning curve, or a trial
        with a learning curve. ``task`` and ``parameters`` are the defaults."""
        own = given if isinstance(given, Trial) else Trial(loss=given)
        if own.loss is None or not callable(own.loss):
            expected = "a learning curve, or a gleaner.Trial with a function loss"
            raise UsageError(f"{function} returned {given!r} for trial {name}, expected {expected}")
        self.task = task if own.task is None else own.task
        self.parameters = {**parameters, **own.parameters}
        return own.loss

    def __repr__(self) -> str:
        number = "" if self.number is None else f" {self.number}"
        return f"<gleaner.Trial{number}: {self.state}, resource {self.resource:g}, target {self.target:g}>"


class Search:
    """A search algorithm of your own. Pass an instance to ``replay(search=...)``.

    Whenever another task can become active, :meth:`next_trial` is called. The replay trains the returned trial up to
    its ``target``. Then the loss is measured, and :meth:`report` decides how the trial continues. All methods are
    called on the thread that called ``replay``.

    >>> class Impatient(Search):
    ...     max_resource = 9
    ...     def __init__(self):
    ...         self.started = 0
    ...     def next_trial(self):
    ...         self.started += 1
    ...         return Trial(1, loss=Curve.power_law(self.started, 1, 1)) if self.started <= 3 else None
    ...     def report(self, trial, resource, loss):
    ...         return 9 if loss < 3 else False
    >>> run = replay("dataset/idle.csv", "dataset/tasks.toml", search=Impatient(), t_fwd=120)
    >>> run.trials.column("state")
    ['finished', 'finished', 'stopped']
    """

    name: Optional[str] = None
    """The name of the search in results; by default, the name of the class."""
    max_resource: float
    """The resource at which a trial is finished. The work of a task is the work that a trial needs to reach this
    resource."""

    def next_trial(self) -> Optional[Trial]:
        """Returns a new trial, or a paused trial whose ``target`` has been raised. Returns None if there is nothing to
        train before another loss is reported. If no trial is training, None ends the search."""
        raise NotImplementedError(f"{type(self).__name__} has no method next_trial()")

    def report(self, trial: Trial, resource: float, loss: Any) -> Union[float, bool, None]:
        """Called when a trial has consumed ``resource`` and its loss has been measured. To continue the trial
        immediately on the nodes that it holds, return the resource up to which it trains next. Return None to pause the
        trial, or False to stop it. Called for the last time at ``max_resource``, where the returned value has no
        effect."""
        return None

    def finished(self, trial: Trial) -> None:
        """Called when a trial has been stopped or has reached ``max_resource`` (see ``trial.state``)."""

    def loss(self, trial: Trial, resource: float) -> Any:
        """Returns the loss of a trial that has no function ``loss`` of its own. NaN means that training diverged."""
        raise NotImplementedError(f"{type(self).__name__} has no method loss(), and {trial} has no function loss")

    def close(self) -> None:
        """Called when the replay has ended, even if the log ended first, a method raised an exception, or Ctrl-C was
        pressed. In these cases, some trials may still be training."""


class BuiltIn(Search):
    """A built-in algorithm as an object: ``random``, ``successive-halving``, ``asha``, ``hyperband`` or ``median``
    (docs/SEARCHES.md). ``propose`` is called with the number of each new trial and returns the trial. The algorithm
    sets the trial's target. A search can be copied and pickled until its first trial starts. If trials have several
    losses, ``successive-halving``, ``asha`` and ``hyperband`` promote them by non-dominated fronts, and ``median`` uses
    the first loss.

    >>> search = BuiltIn("asha", lambda number: Trial(loss=lambda resource: number / resource), trials=9, max_resource=9)
    >>> first = search.next_trial()
    >>> first.target
    1.0
    >>> search.report(first, 1.0, 0.5), search.next_trial() is first
    (None, False)
    """

    def __init__(
        self,
        algorithm: str,
        propose: Callable[[int], Trial],
        *,
        max_resource: float,
        trials: Optional[int] = None,
        eta: int = 3,
        min_resource: float = 1.0,
    ) -> None:
        self.max_resource = max_resource
        self.name = algorithm
        """The name of the search in results."""
        self._arguments = (algorithm, trials, eta, min_resource, max_resource)
        self._schedule: Optional[_gleaner.Schedule] = None
        """The algorithm; None until the first trial starts, so that sweeps can copy and identify the search."""
        self._propose = propose
        self._trials: list[Trial] = []
        # Invalid arguments are reported here rather than when the replay begins.
        try:
            _gleaner.Schedule(*self._arguments)
        except ValueError as error:
            raise UsageError(f"{algorithm}: {error}") from None

    def next_trial(self) -> Optional[Trial]:
        if self._schedule is None:
            self._schedule = _gleaner.Schedule(*self._arguments)
        job = self._schedule.next()
        if job is None:
            return None
        number, target = job
        if number == len(self._trials):
            self._trials.append(self._propose(number))
        trial = self._trials[number]
        trial.target = target
        return trial

    def report(self, trial: Trial, resource: float, loss: Any) -> Union[float, bool, None]:
        assert self._schedule is not None, "report follows next_trial"
        number = self._trials.index(trial) if trial.number is None else trial.number
        target, stopped = self._schedule.report(number, list(_named(loss).values()))
        # This loop also stops `trial`, so that all trials are stopped in the order of their ranks.
        for other in stopped:
            if self._trials[other].state == "paused":
                self._trials[other].stop()
        return False if number in stopped else target


def _is_false(decision: Any) -> bool:
    """Whether a decision is False or numpy's False. The number 0 does not count as False."""
    return decision is False or type(decision).__name__ in ("bool_", "bool") and not decision


def _named(loss: Any) -> dict[str, float]:
    """The losses by name. Losses without names are numbered from 0."""
    if isinstance(loss, Mapping):
        return {str(name): float(value) for name, value in loss.items()}
    values = loss if isinstance(loss, Iterable) else (loss,)
    return {str(place): float(value) for place, value in enumerate(values)}


class Loop:
    """Connects a search to the engine, which calls the methods of this class. Trials are identified by numbers."""

    def __init__(self, search: Any) -> None:
        own = getattr(search, "name", None)
        self.name = own if isinstance(own, str) else type(search).__name__
        self._search = search
        self._next = _method(search, "next_trial", "ask")
        self._report = _method(search, "report", "tell")
        self._finished = getattr(search, "finished", None)
        self._close = getattr(search, "close", None)
        self._trials: list[Trial] = []
        self.loss_names: list[str] = []
        """The names of the losses; empty before the first measurement."""
        self._stopping: list[int] = []
        """The numbers of the trials stopped since this list was last returned."""
        found = getattr(search, "max_resource", None)
        if not isinstance(found, Real) or not 0 < float(found) < math.inf:
            raise UsageError(f"search: {self.name}.max_resource is {found!r}, expected a finite number above 0")
        self.max_resource = float(found)

    def next(self) -> Optional[tuple[int, int, float, float]]:
        """The next training: the number of the trial, its rung, and the resource before and after. Returns None if
        there is nothing to train."""
        trial = self._call(None, "next_trial", self._next)
        if trial is None:
            return None
        if not isinstance(trial, Trial):
            raise self._error(None, "next_trial", f"returned {trial!r}, expected a gleaner.Trial or None")
        if trial.state not in ("new", "paused"):
            raise self._error(trial, "next_trial", f"returned {trial}, expected a trial that is new or paused")
        target = self._target(trial, "next_trial", trial.target)
        if trial.state == "new":
            trial.number = len(self._trials)
            trial._stopping = self._stopping
            self._trials.append(trial)
        return self._start(trial, target)

    def _start(self, trial: Trial, target: float) -> tuple[int, int, float, float]:
        trial.state = "training"
        trial.target = target
        trial._rung += 1
        assert trial.number is not None
        return trial.number, trial._rung, trial.resource, target

    def describe(self, number: int) -> tuple[Union[str, int, Task, None], str]:
        """The task that a new trial trains, and the hyperparameters of the trial as JSON."""
        trial = self._trials[number]
        text = json.dumps(trial.parameters, default=str) if trial.parameters else ""
        return trial.task, text

    def losses(self, number: int, resource: float) -> list[float]:
        """Measures the losses of a trial that has consumed ``resource``."""
        trial = self._trials[number]
        own = trial.loss
        if own is not None:
            loss = self._call(trial, "loss", own, resource)
        else:
            loss = self._call(trial, "loss", self._search.loss, trial, resource)
        try:
            found = _named(loss)
        except (TypeError, ValueError) as error:
            raise self._error(trial, "loss", f"returned {loss!r}, expected a number or several numbers") from error
        if len(found) == 1 and math.isnan(*found.values()):
            # Training diverged. A single NaN stands for all losses.
            found = dict.fromkeys(self.loss_names or found, math.nan)
        else:
            self.loss_names = self.loss_names or list(found)
        if not found:
            raise self._error(trial, "loss", f"returned {loss!r}, expected a number")
        if self.loss_names and list(found) != self.loss_names:
            expected = f"the losses {', '.join(self.loss_names)}, which were measured before"
            raise self._error(trial, "loss", f"returned {loss!r}, expected {expected}")
        trial.resource = resource
        trial.losses.append((resource, loss))
        return list(found.values())

    def report(self, number: int) -> tuple[bool, Optional[tuple[int, int, float, float]], list[int]]:
        """Passes the last loss of a trial to the search. Returns whether the trial is finished, its next training if it
        continues immediately, and the trials that are now stopped."""
        trial = self._trials[number]
        resource, loss = trial.losses[-1]
        is_last = resource >= self.max_resource
        trial.state = "finished" if is_last else "paused"
        decision = self._call(trial, "report", self._report, trial, resource, loss)
        next_training = None
        if is_last:
            self._end(trial)
        elif _is_false(decision):
            # The method may have stopped the trial itself.
            if trial.state == "paused":
                trial.stop()
        elif decision is not None:
            next_training = self._start(trial, self._target(trial, "report", decision))
        return is_last, next_training, self._stopped()

    def end(self) -> list[int]:
        """Stops the paused trials, because the search is over. Returns the numbers of the trials that have been
        stopped since the last report."""
        for trial in self._trials:
            if trial.state == "paused":
                trial.stop()
        return self._stopped()

    def close(self) -> None:
        """Notifies the search that the replay has ended."""
        if self._close is not None:
            self._call(None, "close", self._close)

    def _stopped(self) -> list[int]:
        """Calls ``finished`` for the trials that have been stopped since the last report. Returns their numbers."""
        stopped = self._stopping[:]
        self._stopping.clear()
        for number in stopped:
            self._end(self._trials[number])
        return stopped

    def _end(self, trial: Trial) -> None:
        if self._finished is not None:
            self._call(trial, "finished", self._finished, trial)

    def _target(self, trial: Trial, method: str, target: Any) -> float:
        """Checks the resource up to which a trial trains next."""
        is_number = isinstance(target, Real) and not isinstance(target, bool)
        if trial.state == "stopped":
            raise self._error(trial, method, f"returned {target!r} for a trial that it had stopped, expected False")
        if not is_number or not trial.resource < target <= self.max_resource:
            expected = f"above {trial.resource:g} and at most max_resource, which is {self.max_resource:g}"
            raise self._error(trial, method, f"the target of the trial is {target!r}, expected a number {expected}")
        return float(target)

    def _call(self, trial: Optional[Trial], name: str, method: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return method(*arguments)
        except BaseException as error:  # Ctrl-C included
            raise self._noted(trial, name, error)

    def _error(self, trial: Optional[Trial], name: str, text: str) -> BaseException:
        return self._noted(trial, name, UsageError(f"search: {self.name}.{name}: {text}"))

    def _noted(self, trial: Optional[Trial], name: str, error: BaseException) -> BaseException:
        """Adds the trial to an exception as its attribute ``trial``, and in a note where Python supports notes."""
        if getattr(error, "trial", None) is None:
            error.trial = trial  # type: ignore[attr-defined]
        if trial is not None and trial.number is not None and hasattr(error, "add_note"):
            error.add_note(f"raised by {self.name}.{name} for trial {trial.number}")
        return error


def _method(search: Any, *names: str) -> Callable[..., Any]:
    """Returns the first of the methods ``names`` that the search has."""
    found = next((getattr(search, name) for name in names if hasattr(search, name)), None)
    if found is None:
        kind = type(search).__name__
        raise UsageError(f"search: {kind} has no method {' or '.join(names)}, expected a gleaner.Search")
    return found  # type: ignore[no-any-return]
