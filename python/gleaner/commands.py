"""Converts keyword arguments to options: pairs of a name and the values as strings. The library declares the types,
ranges and defaults of the options."""

from __future__ import annotations

import datetime
import os
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, Mapping

from . import _gleaner
from .errors import UsageError
from .inputs import Staging

LEFT_OUT: dict[str, set[str]] = {
    "replay": {"events", "tasks", "solver", "objective", "search"},
    "simulate": {"trace", "cluster", "policy"},
    "ingest": {"output", "jobs", "list"},
    "solve": {"solver"},
    "compare": {"problems", "events", "tasks", "solvers"},
    "inspect": {"tasks"},
    "pilots": set(),
    "sweep": set(),
}
"""The options that ``**options`` does not accept, because the Python function has a separate parameter for each of
them."""

Pairs = list[tuple[str, list[str]]]
"""Names of options, each with its values as strings."""


@lru_cache(maxsize=None)
def options(command: str) -> dict[str, dict[str, Any]]:
    """The options of a command, by the names of their keyword arguments in Python."""
    return {_keyword(option["name"]): option for option in _gleaner.options(command)}


def _keyword(name: str) -> str:
    return "from_" if name == "from" else name


def pairs(command: str, given: Mapping[str, Any], staging: Staging) -> Pairs:
    """Converts keyword arguments to options. Skips arguments that are None."""
    known = options(command)
    found: Pairs = []
    for keyword, value in given.items():
        option = known.get(keyword)
        if option is None:
            raise TypeError(f"{command}() has no option {keyword!r}, expected one of {', '.join(sorted(known))}")
        if value is not None:
            found.append((option["name"], _texts(keyword, option, value, staging)))
    return found


def _is_truth(value: Any) -> bool:
    # Also accepts numpy's Booleans.
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool") and hasattr(value, "dtype")


def _truth(keyword: str, option: Mapping[str, Any], value: bool) -> str:
    """The string for True or False."""
    word = "yes" if value else "no"
    if option["is_flag"]:
        return "true" if value else "false"
    if word in option["choices"]:
        return word
    if value and option["alone"] is not None:
        return str(option["alone"])
    raise UsageError(f"{keyword} is {value}, expected a value other than True or False, or None for the default")


def _texts(keyword: str, option: Mapping[str, Any], value: Any, staging: Staging) -> list[str]:
    if _is_truth(value):
        return [_truth(keyword, option, bool(value))]
    if option["is_list"] and isinstance(value, (list, tuple, set, frozenset)):
        return [_text(keyword, option, item, staging) for item in value]
    text = _text(keyword, option, value, staging)
    return text.split(option["separator"]) if option["is_list"] and option["separator"] else [text]


def _text(keyword: str, option: Mapping[str, Any], value: Any, staging: Staging) -> str:
    if isinstance(value, str):
        return value
    # Also covers numpy's numbers, whose `repr` may not be a plain number.
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        return repr(float(value))
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, os.PathLike) or takes_file(option):
        return staging.file(keyword, value)
    return str(value)


def takes_file(option: Mapping[str, Any]) -> bool:
    """Whether the option's value can be a file."""
    return any(part in ("FILE", "LOG") for part in option["value"].split("|"))


def takes_place(option: Mapping[str, Any]) -> bool:
    """Whether the option's value can be a file or a directory."""
    return takes_file(option) or "DIR" in option["value"].split("|")
