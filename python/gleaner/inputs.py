"""Inputs that are not files: tables of other libraries, event logs, traces and tasks. They are written to temporary
files, which the engines read and check like any other files."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Optional, Protocol, Sequence, Union

from . import _gleaner
from .errors import GleanerError
from .folders import folder
from .logs import EventLog

if TYPE_CHECKING:
    from .folders import Folder
from ._gleaner import Task


class ArrowTable(Protocol):
    """A table with Arrow's stream protocol, such as the tables of polars, pandas and pyarrow."""

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...


Input = Union[str, "os.PathLike[str]", ArrowTable]
"""A file or a table. A table is read like a CSV file with the same columns."""
Events = Union[Input, EventLog]
Tasks = Union[Input, Sequence[Task]]


class Staged(NamedTuple):
    """An input that has already been written to a file. Messages name the option instead of the file."""

    path: str
    """Path of the file."""


class Staging:
    """A directory for the inputs of one call. The directory is removed after the inputs are read. Error messages refer
    to the tables, not to the files in this directory."""

    def __init__(self) -> None:
        self._folder: Optional[Folder] = None
        self.names: list[tuple[str, str]] = []

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], at: Optional[TracebackType]
    ) -> None:
        if isinstance(error, GleanerError):
            error.rename(self._named)
        if self._folder is not None:
            self._folder.cleanup()

    def _named(self, text: str) -> str:
        for path, name in self.names:
            text = text.replace(path, name)
        return text

    def _path(self, option: str, extension: str) -> str:
        if self._folder is None:
            self._folder = folder()
        path = str(Path(self._folder.name, f"{option}{extension}"))
        self.names.append((path, f"<{option}>"))
        return path

    def text(self, option: str, extension: str, text: str) -> str:
        """Writes the text to a file. Returns the path of the file."""
        path = self._path(option, extension)
        Path(path).write_text(text, encoding="utf-8")
        return path

    def file(self, option: str, value: Any) -> str:
        """Returns the path of an input: the path of the given file, or of a file that is written from a table or from
        objects."""
        if isinstance(value, Staged):
            self.names.append((value.path, f"<{option}>"))
            return value.path
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        if isinstance(value, EventLog):
            path = self._path(option, ".gev")
            value.write(path)
        elif hasattr(value, "__arrow_c_stream__"):
            path = self._path(option, ".csv")
            _gleaner.write_frame(value, path, option == "events")
        elif isinstance(value, Iterable) and (tasks := list(value)) and all(isinstance(task, Task) for task in tasks):
            path = self._path(option, ".json")
            _gleaner.write_tasks(tasks, path)
        else:
            expected = "a path, or a table with __arrow_c_stream__"
            expected += ", or a list of at least one Task" if option == "tasks" else ""
            raise TypeError(f"{option} is of type {type(value).__name__}, expected {expected}")
        return path
