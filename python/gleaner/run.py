"""Runs, and what is shown of them."""

from __future__ import annotations

import html
import json
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from . import _gleaner
from ._gleaner import Page, Table
from .errors import Fault

LOGGER = logging.getLogger("gleaner")
"""Hears what the command line would tell on stderr."""

StrPath = Union[str, "os.PathLike[str]"]


def tell(remarks: Sequence[str]) -> None:
    """Passes remarks to the logger."""
    for remark in remarks:
        LOGGER.warning("%s", remark)


class Tables(Mapping[str, Table]):
    """The tables of a run by name. Each is made when it is first asked for."""

    def __init__(self, run: _gleaner._Run, folder: Optional[tempfile.TemporaryDirectory[str]]) -> None:
        self._run = run
        self._folder = folder
        """The directory that they are read from, if it is not the user's: it lasts as long as they do."""
        self._made: dict[str, Table] = {}
        self._names = run.names()

    def __getitem__(self, name: str) -> Table:
        if name not in self._made:
            table = self._run.table(name)
            if table is None:
                raise KeyError(f"no table {name!r}, expected one of {', '.join(self._names)}")
            self._made[name] = table
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<gleaner tables: {', '.join(self._names)}>"


class Run:
    """What a replay, a simulation, a comparison or a sweep found.

    Its tables are attributes too: ``run.steps`` is ``run.tables["steps"]``. docs/OUTPUTS.md describes them and
    the summary.
    """

    command: str
    """The command: ``replay``, ``simulate``, ``compare``, ``sweep``."""
    tables: Tables
    """The tables by name."""

    def __init__(
        self,
        run: _gleaner._Run,
        command: Optional[str] = None,
        path: Optional[Path] = None,
        folder: Optional[tempfile.TemporaryDirectory[str]] = None,
    ) -> None:
        self._run = run
        self._path = path
        self._folder = folder
        self.command = command or run.command
        self.tables = Tables(run, folder)

    @property
    def complete(self) -> bool:
        """Whether it reached its end; False after Ctrl-C."""
        return self._run.complete

    @property
    def summary(self) -> dict[str, Any]:
        """The figures of the whole run: those of ``summary.json``."""
        found: dict[str, Any] = json.loads(self._run.summary()) or {}
        return found

    @property
    def remarks(self) -> list[str]:
        """What the command line would tell on stderr."""
        return self._run.remarks()

    @property
    def skipped(self) -> list[Fault]:
        """Faults of the inputs that were left out with ``skip_invalid``."""
        return [Fault(*fault) for fault in self._run.skipped()]

    @property
    def tallies(self) -> list[dict[str, Any]]:
        """What became of the answers of solvers that are programs or functions of yours: how many were wrong,
        late, claimed optimal and confirmed."""
        found: list[dict[str, Any]] = json.loads(self._run.tallies())
        return found

    def write(self, path: StrPath) -> None:
        """Writes the run directory: run.json, summary.json, and the tables as CSV and Parquet, with the bytes that
        the command line would write."""
        for line in self._run.write(path):
            LOGGER.info("%s", line)

    def report(self) -> Page:
        """The page about it."""
        return report(self)

    def __getattr__(self, name: str) -> Table:
        if not name.startswith("_") and name in self.tables:
            return self.tables[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def __repr__(self) -> str:
        state = "" if self.complete else ", interrupted"
        return f"<gleaner.Run of {self.command}{state}: {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        rows = [(name, value) for name, value in self.summary.items() if not isinstance(value, (dict, list))]
        cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{_shown(value)}</td></tr>" for name, value in rows)
        if self.command in ("simulate", "compare") and (first := "policies" if "policies" in self.tables else "solvers"):
            cells = _table_rows(self.tables[first]) if first in self.tables else cells
        state = "" if self.complete else " (interrupted)"
        tables = ", ".join(f"<code>{html.escape(name)}</code>" for name in self.tables)
        return f"<b>{html.escape(self.command)}</b>{state}<table>{cells}</table><p>Tables: {tables}</p>"

    def _directory(self) -> Path:
        """A directory that holds the run."""
        if self._path is None:
            self._folder = tempfile.TemporaryDirectory(prefix="gleaner-")
            self._path = Path(self._folder.name, self.command)
            self._run.write(self._path)
        return self._path


def _shown(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return html.escape(text)


def _table_rows(table: Table) -> str:
    heads = "".join(f"<th>{html.escape(name)}</th>" for name in table.columns)
    columns = [table.column(name) for name in table.columns]
    rows = ("".join(f"<td>{'' if value is None else _shown(value)}</td>" for value in row) for row in zip(*columns))
    return f"<tr>{heads}</tr>" + "".join(f"<tr>{row}</tr>" for row in rows)


def open_run(path: StrPath) -> Run:
    """Opens a run directory that ``gleaner`` wrote."""
    return open_in(path, None)


def open_in(path: StrPath, folder: Optional[tempfile.TemporaryDirectory[str]]) -> Run:
    """Opens a run directory, which may be in a temporary folder that is to last as long as the run."""
    command, run = _gleaner.open_run(path)
    return Run(run, command, Path(path), folder)


def report(
    *runs: Union[Run, StrPath],
    heat: Optional[tuple[str, str]] = None,
    metric: Optional[str] = None,
    against: Optional[str] = None,
) -> Page:
    """The page about runs or run directories: several replays or simulations side by side. For a sweep, ``heat``
    names the two settings of its heat map, ``metric`` the figure that settings are compared by, and ``against``
    the figure that it is drawn against."""
    paths = [run._directory() if isinstance(run, Run) else run for run in runs]
    return _gleaner.report_runs(paths, heat, metric, against)
