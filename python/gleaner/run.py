"""Runs, and their display in Python."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _gleaner
from ._gleaner import Page, Table
from .errors import Fault
from .folders import folder as new_folder

if TYPE_CHECKING:
    from .folders import Folder

LOGGER = logging.getLogger("gleaner")
"""Receives the messages that the command line would print to stderr."""

StrPath = Union[str, "os.PathLike[str]"]


def tell(remarks: Sequence[tuple[bool, str]]) -> None:
    """Logs remarks at the levels ``WARNING`` and ``INFO``."""
    for is_warning, remark in remarks:
        LOGGER.log(logging.WARNING if is_warning else logging.INFO, "%s", remark)


class Tables(Mapping[str, Table]):
    """The tables of a run by name. Each table is read or computed on first use."""

    def __init__(self, run: _gleaner._Run, folder: Optional[Folder]) -> None:
        self._run = run
        self._folder = folder
        """The temporary directory of the tables' files, if any. The directory is deleted when the tables are no longer
        in use."""
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
    """The results of a replay, a simulation, a comparison or a sweep.

    The tables are also attributes: ``run.steps`` is ``run.tables["steps"]``. docs/OUTPUTS.md describes them and the
    summary.
    """

    command: str
    """The command: ``replay``, ``simulate``, ``compare`` or ``sweep``."""
    tables: Tables
    """The tables by name."""

    def __init__(
        self,
        run: _gleaner._Run,
        path: Optional[Path] = None,
        folder: Optional[Folder] = None,
    ) -> None:
        self._run = run
        self._path = path
        self._folder = folder
        self.command = run.command
        self.tables = Tables(run, folder)
        self._told: dict[str, Any] = {}
        """For a run that was restored from a pickle: the values that the files of a run do not contain."""

    @property
    def complete(self) -> bool:
        """Whether the run reached its end; False after Ctrl-C."""
        return self._run.complete

    @property
    def summary(self) -> dict[str, Any]:
        """The metrics of the whole run, as in ``summary.json``."""
        found: dict[str, Any] = json.loads(self._run.summary()) or {}
        return found

    @property
    def remarks(self) -> list[str]:
        """The messages that the command line prints on stderr."""
        return [text for _, text in self._remarks()]

    def _remarks(self) -> list[tuple[bool, str]]:
        found: list[tuple[bool, str]] = self._told.get("remarks") or self._run.remarks()
        return found

    @property
    def skipped(self) -> list[Fault]:
        """Faults of the invalid inputs that ``skip_invalid`` left out."""
        return [Fault(*fault) for fault in self._told.get("skipped") or self._run.skipped()]

    @property
    def tallies(self) -> list[dict[str, Any]]:
        """A dict for each solver that is a program or a Python function, or whose library failed in a replay. It
        contains the numbers of answers that were wrong, late, claimed to be optimal, and confirmed as optimal."""
        found: list[dict[str, Any]] = self._told.get("tallies") or json.loads(self._run.tallies())
        return found

    def write(self, path: StrPath) -> None:
        """Writes the run directory: run.json, summary.json, and the tables as CSV and Parquet, byte for byte as the
        command line writes them."""
        LOGGER.info("%s", self._run.write(path))

    def report(self) -> Page:
        """Creates the page about the run."""
        return report(self)

    def __getattr__(self, name: str) -> Table:
        # An object that is being copied or unpickled has no tables yet.
        tables: Mapping[str, Table] = self.__dict__.get("tables", {})
        if name in tables:
            return tables[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def __reduce__(self) -> tuple[Callable[..., Run], tuple[str, bytes, dict[str, Any]]]:
        from . import pickles

        return pickles.run, (self.command, pickles.packed(self), self._said())

    def __repr__(self) -> str:
        state = "" if self.complete else ", interrupted"
        return f"<gleaner.Run of {self.command}{state}: {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        from .show import shown

        return shown(self)

    def _said(self) -> dict[str, Any]:
        """The values that the files of the run do not contain."""
        return {"remarks": self._remarks(), "skipped": self.skipped, "tallies": self.tallies}

    def _directory(self) -> Path:
        """The run directory. A run that has none yet is first written to a temporary directory."""
        if self._path is None:
            self._folder = new_folder()
            self._path = Path(self._folder.name, self.command)
            self._run.write(self._path)
        return self._path


def open_run(path: StrPath) -> Run:
    """Opens a run directory that ``gleaner`` wrote."""
    return open_in(path, None)


def open_in(path: StrPath, folder: Optional[Folder]) -> Run:
    """Opens a run directory. ``folder`` is the temporary folder that contains the directory, if any. The folder is
    deleted together with the run."""
    return Run(_gleaner.open_run(path), Path(path), folder)


def report(
    *runs: Union[Run, StrPath],
    heat: Optional[tuple[str, str]] = None,
    metric: Optional[str] = None,
    against: Optional[str] = None,
) -> Page:
    """Creates the page about runs or run directories. Several replays or simulations are shown side by side. For a
    sweep, ``heat`` names the two settings of the heat map. ``metric`` is the metric by which settings are compared, and
    ``against`` is the metric on the other axis of the Pareto front."""
    paths = [run._directory() if isinstance(run, Run) else run for run in runs]
    return _gleaner.report_runs(paths, heat, metric, against)
