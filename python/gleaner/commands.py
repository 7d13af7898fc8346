"""From keyword arguments to the words of the command line, whose parser knows their types and defaults."""

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
    "replay": {"json", "quiet", "out", "events", "tasks", "solver", "objective"},
    "simulate": {"json", "quiet", "out", "trace", "cluster", "policy", "log_dir", "csv", "logs"},
    "ingest": {"output", "jobs"},
    "solve": {"input", "write_model", "solver"},
    "compare": {"quiet", "out", "problems", "events", "tasks", "solvers"},
    "inspect": {"log", "tasks", "json", "output", "svg", "png"},
    # Sweeps in parts and on batch systems are those of the command line.
    "sweep": {"plan", "out", "json", "quiet", "dry_run", "part", "parts", "deal", "dealt", "status", "collect"}
    | {"slurm", "account", "array_limit", "batch", "cpus", "detach", "interval", "mem", "partition", "retries"}
    | {"sbatch_options", "time", "partial"},
}
"""Options of the command line that have a parameter of their own in Python, or no meaning there."""



@lru_cache(maxsize=None)
def options(command: str) -> dict[str, dict[str, Any]]:
    """The options of a command, by their names in Python. A flag and its counterpart ``no_FLAG`` are one option,
    which stores the counterpart as ``off``."""
    found = {_keyword(option["name"]): option for option in _gleaner.options(command)}
    for name in [name for name in found if name.startswith("no_") and name[3:] in found]:
        found[name[3:]]["off"] = "--" + found.pop(name)["name"].replace("_", "-")
    return found


def _keyword(name: str) -> str:
    return "from_" if name == "from" else name.replace("-", "_")


def words(command: str, given: Mapping[str, Any], staging: Staging) -> list[str]:
    """Converts keyword arguments to words of the command line. Skips arguments that are None, and flags that are
    False and off by default."""
    known = options(command)
    found: list[str] = []
    for keyword, value in given.items():
        option = known.get(keyword)
        if option is None or option["is_positional"]:
            names = ", ".join(sorted(name for name, of in known.items() if not of["is_positional"]))
            raise TypeError(f"{command}() has no option {keyword!r}, expected some of {names}")
        if value is not None:
            found += _words(keyword, option, value, staging)
    return found


def _is_truth(value: Any) -> bool:
    # Accepts numpy's Booleans too.
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool") and hasattr(value, "dtype")


def _truth(keyword: str, option: Mapping[str, Any], value: bool) -> list[str]:
    """Converts True or False to words of the command line."""
    flag = "--" + option["name"].replace("_", "-")
    word = "yes" if value else "no"
    if option["is_flag"]:
        # Flags without a counterpart are off unless they are given.
        off = [option["off"]] if "off" in option else []
        return [flag] if value else off
    if word in option["choices"]:
        return [f"{flag}={word}"]
    if value and option["is_optional"]:
        return [flag]
    raise UsageError(f"{keyword} is {value}, expected a value, or None for the default")


def _words(keyword: str, option: Mapping[str, Any], value: Any, staging: Staging) -> list[str]:
    flag = "--" + option["name"].replace("_", "-")
    if _is_truth(value):
        return _truth(keyword, option, bool(value))
    if option["is_list"] and isinstance(value, (list, tuple, set, frozenset)):
        texts = [_text(keyword, option, item, staging) for item in value]
        delimiter = option["delimiter"]
        if delimiter is None:
            return [f"{flag}={text}" for text in texts]
        for text in texts:
            if delimiter in text:
                raise UsageError(f"{keyword}: {text!r} holds {delimiter!r}, which separates values")
        return [f"{flag}={delimiter.join(texts)}"]
    return [f"{flag}={_text(keyword, option, value, staging)}"]


def _text(keyword: str, option: Mapping[str, Any], value: Any, staging: Staging) -> str:
    if isinstance(value, str):
        return value
    # Those of numpy too, whose own texts are not plain.
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
    """Whether the option's value is a file."""
    return any(part in ("FILE", "LOG") for part in (option["value"] or "").split("|"))
