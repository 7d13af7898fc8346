"""Restores pickled objects, such as those that ``multiprocessing`` passes to another process."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from . import _gleaner
from ._gleaner import ClassProblem, Problem
from .folders import folder
from .logs import EventLog
from .run import Run, open_in


def problem(text: str) -> Problem:
    """Restores a problem from its JSON."""
    return Problem.from_json(text)


def class_problem(text: str) -> ClassProblem:
    """Restores a problem with node classes from its JSON."""
    return ClassProblem.from_json(text)


def event_log(content: bytes) -> EventLog:
    """Restores a log from the bytes of a .gev file."""
    with folder() as name:
        path = Path(name, "log.gev")
        path.write_bytes(content)
        return EventLog(_gleaner._EventLog.read(path))


def packed(run: Run) -> bytes:
    """Packs the files of a run directory."""
    directory = run._directory()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(directory.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(directory))
    return out.getvalue()


def run(command: str, content: bytes, told: dict[str, Any]) -> Run:
    """Restores a run from its files, and adds the values that are not stored in the files."""
    place = folder()
    directory = Path(place.name, command)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(directory)
    restored = open_in(directory, place)
    restored._told = told
    return restored
