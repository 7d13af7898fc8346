"""Dicts of settings: the values of each setting, and the combinations of values."""

from __future__ import annotations

import datetime
import os
import shutil
from collections import Counter
from contextlib import ExitStack
from itertools import product
from typing import Any, Iterator, Mapping, NamedTuple, Optional, Sequence

from . import _gleaner
from ._gleaner import Task
from .commands import options, pairs, takes_place
from .errors import UsageError
from .functions import inner, name_of
from .identity import Identity, Unstable, canonical, of_file, of_value
from .groups import Group
from .inputs import Staged, Staging
from .logs import EventLog, Trace
from .policy import Policy
from .search import Search

INPUTS = {"replay": {"events", "tasks"}, "simulate": {"trace", "cluster", "data"}}
"""For each function that a sweep can call, the settings that identify it."""


class Value(NamedTuple):
    """One value of a setting."""

    given: Any
    """The value, as it appears in the dict of settings."""
    arguments: dict[str, Any]
    """The arguments, by name, that the value sets. A :class:`Trace` sets several."""
    label: Any
    """The value in tables: a number, a string, a Boolean or None."""
    identity: Identity
    unstable: Optional[str]
    """The reason why the value has no identity; None if it has one."""


class Axis(NamedTuple):
    """A setting and its values."""

    name: str
    values: list[Value]
    is_column: bool
    """Whether the setting was given as a list or a range, and is therefore a column of the tables."""


class Combination(NamedTuple):
    """The settings of one run."""

    settings: dict[str, Any]
    """The values, as they appear in the dict of settings."""
    labels: dict[str, Any]
    """The values in the columns of tables."""
    arguments: dict[str, Any]
    """The arguments of the function."""
    identity: str
    """The identity of the run, as JSON."""

    def __str__(self) -> str:
        return ", ".join(f"{name}={label}" for name, label in self.labels.items()) or "these settings"


def mode_of(plan: Mapping[str, Any], mode: Optional[str]) -> str:
    """The function that a sweep calls: ``replay`` or ``simulate``."""
    if mode is not None and mode not in INPUTS:
        raise UsageError(f"mode: found {mode!r}, expected replay or simulate")
    fitting = [mode] if mode else [name for name, inputs in INPUTS.items() if inputs & set(plan)]
    if len(fitting) != 1:
        expected = "events and tasks for replays, or trace, cluster or data for simulations"
        raise UsageError(f"the settings do not show what to run, expected {expected}; or pass mode")
    known = {*options(fitting[0]), *({"groups"} if fitting[0] == "replay" else ())}
    for name in plan:
        if name not in known:
            remedy = "; pass out to sweep itself" if name == "out" else f", expected one of {', '.join(sorted(known))}"
            raise TypeError(f"{fitting[0]}() has no option {name!r}{remedy}")
    missing = {"replay": INPUTS["replay"], "simulate": set()}[fitting[0]] - set(plan)
    if missing:
        raise UsageError(f"missing settings, expected {' and '.join(sorted(missing))}")
    if "cluster" in plan and any(isinstance(of, Trace) for of in _values(plan.get("trace"))):
        raise UsageError("a Trace includes its cluster: leave out the setting cluster")
    return fitting[0]


def axes(command: str, plan: Mapping[str, Any], stack: ExitStack) -> list[Axis]:
    """The settings and their values, in the order of the plan. Tables are written to temporary files, which ``stack``
    removes."""
    found = []
    for name, given in plan.items():
        values = [_value(command, name, of, stack) for of in _values(given)]
        if not values:
            raise UsageError(f"{name}: found an empty list, expected at least one value")
        for at, value in enumerate(values):
            if any(value.given is of.given or value.identity == of.identity for of in values[:at] if not value.unstable):
                raise UsageError(f"{name}: found {value.label} twice, expected every value once")
        found.append(Axis(name, _labelled(values), _is_axis(given)))
    return found


def combinations(axes: Sequence[Axis], command: str) -> Iterator[Combination]:
    """All combinations. The values of the last setting vary fastest."""
    for chosen in product(*(enumerate(axis.values) for axis in axes)):
        named = {axis.name: value for axis, (_, value) in zip(axes, chosen)}
        arguments: dict[str, Any] = {}
        # An argument that is set directly overrides the same argument of a Trace.
        for name, value in sorted(named.items(), key=lambda item: len(item[1].arguments), reverse=True):
            arguments.update(value.arguments)
        settled = {axis.name: at if of.unstable else of.identity for axis, (at, of) in zip(axes, chosen)}
        yield Combination(
            settings={name: value.given for name, value in named.items()},
            labels={axis.name: named[axis.name].label for axis in axes if axis.is_column},
            arguments=arguments,
            identity=canonical([_gleaner.__version__, command, settled]),
        )


def _is_axis(given: Any) -> bool:
    """Whether a setting has several values. A list of tasks or groups is one value, because no setting accepts a single
    task or group."""
    is_set = isinstance(given, list) and given and all(isinstance(of, (Task, Group)) for of in given)
    return isinstance(given, (list, range)) and not is_set


def _values(given: Any) -> list[Any]:
    return list(given) if _is_axis(given) else [given]


def _value(command: str, name: str, given: Any, stack: ExitStack) -> Value:
    parts = given._inputs if isinstance(given, Trace) else {name: given}
    arguments = {name: _passed(name, value, stack) for name, value in parts.items()}
    label = _label(name, given)
    try:
        identity = [[name, _identity(command, name, value)] for name, value in arguments.items()]
    except Unstable as reason:
        return Value(given, arguments, label, None, str(reason))
    return Value(given, arguments, label, identity, None)


def _passed(name: str, value: Any, stack: ExitStack) -> Any:
    """The value as it is passed to the function. Tables become files, which all processes can read."""
    is_tasks = name == "tasks" and isinstance(value, (list, tuple))
    if isinstance(value, EventLog) or hasattr(value, "__arrow_c_stream__") or is_tasks:
        return Staged(stack.enter_context(Staging()).file(name, value))
    return list(value) if isinstance(value, tuple) else value


def _identity(command: str, name: str, value: Any) -> Identity:
    if isinstance(value, Staged):
        # Results record the name of the input, so a table and a file with the same rows are different values.
        return ["table", of_file(value.path)]
    if callable(value) or isinstance(value, (Policy, Search)) or name == "groups":
        return of_value(value)
    if isinstance(value, list):
        return [_identity(command, name, item) for item in value]
    option = options(command)[name]
    if isinstance(value, (str, os.PathLike)) and takes_place(option) and os.path.exists(value):
        return of_file(os.fspath(value))
    if isinstance(value, str) and value.startswith("exec:"):
        # The command may be the program, or an interpreter and a script.
        words = value[len("exec:") :].split()
        places = [shutil.which(word) if at == 0 else word for at, word in enumerate(words)]
        return ["program", value, [of_file(place) for place in places if place and os.path.isfile(place)]]
    with Staging() as staging:
        return pairs(command, {name: value}, staging)


def _label(name: str, given: Any) -> Any:
    """The form in which a value is shown in tables and messages."""
    if given is None or isinstance(given, (bool, int, float, str)):
        return given
    if isinstance(given, os.PathLike):
        return os.fspath(given)
    if isinstance(given, (datetime.datetime, datetime.date)):
        return str(given)
    if hasattr(given, "item") and hasattr(given, "dtype") and getattr(given, "shape", None) == ():
        # A NumPy scalar.
        return given.item()
    if isinstance(given, (Trace, EventLog)) or hasattr(given, "__arrow_c_stream__") or name == "tasks":
        return f"<{name}>"
    if isinstance(given, (list, tuple)):
        return ", ".join(str(_label(name, item)) for item in given)
    if callable(given) or isinstance(given, (Policy, Search)):
        own = getattr(inner(given), "name", None)
        return f"python:{own if isinstance(own, str) else name_of(given)}"
    return str(given)


def _labelled(values: list[Value]) -> list[Value]:
    """Appends a number to labels that occur more than once, such as those of several tables: ``<events> 1``."""
    count = Counter((type(value.label), value.label) for value in values)
    seen: Counter[Any] = Counter()
    found = []
    for value in values:
        key = (type(value.label), value.label)
        if count[key] > 1:
            seen[key] += 1
            value = value._replace(label=f"{value.label} {seen[key]}")
        found.append(value)
    return found
