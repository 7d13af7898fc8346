"""Executes sweeps over dicts of settings: a run for every combination. This module is imported on demand, because
importing it takes longer than importing most of the package."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import ExitStack, closing
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, NoReturn, Optional, Sequence

from . import workers as pool
from .errors import GleanerError, RunError, UsageError
from .folders import folder as new_folder
from .identity import sha256
from .plans import Axis, Combination, axes, combinations, mode_of
from .run import LOGGER, Run, StrPath, open_in, tell
from .search import Search
from .sweeps import Progress, SweepRuns

if TYPE_CHECKING:
    from .folders import Folder

INDEX = "sweep.json"
"""The file that lists the runs of a sweep."""


class _Task(NamedTuple):
    """A run and its directory."""

    of: Combination
    directory: Path


class _Sweep:
    """A sweep in progress."""

    def __init__(self, command: str, directory: Path, folder: Optional[Folder], progress: Optional[Progress]) -> None:
        self.command = command
        self.directory = directory
        self.folder = folder
        self.progress = progress
        self.tasks: list[_Task] = []
        self.done: dict[int, Run] = {}
        self.died: list[str] = []

    def plan(self, found: Sequence[Axis]) -> None:
        """Lists all runs, and opens those that are already complete."""
        for of in combinations(found, self.command):
            key = hashlib.sha256(of.identity.encode()).hexdigest()[:20]
            self.tasks.append(_Task(of, self.directory / key))
        _claim(self.directory, self.command, found, self.tasks)
        for at, task in enumerate(self.tasks):
            if _is_complete(task):
                self.done[at] = open_in(task.directory, self.folder)

    def execute(self, count: int) -> None:
        """Executes the missing runs in ``count`` processes."""
        missing = [at for at in range(len(self.tasks)) if at not in self.done]
        count = min(count, len(missing))
        try:
            if count > 1:
                self._share(missing, count)
            else:
                for at in missing:
                    self._run_here(at)
        except BaseException as error:
            self._end(error)
        if self.died:
            self._end(RunError(f"{'; '.join(self.died)}. The attribute `sweep` of this error holds the other results"))

    def results(self) -> SweepRuns:
        done = [(self.tasks[at].of, run) for at, run in sorted(self.done.items())]
        return SweepRuns(self.command, done, len(done) == len(self.tasks))

    def _run_here(self, at: int) -> None:
        from . import api

        task = self.tasks[at]
        # A search changes while it runs, so each run gets its own copy.
        arguments = {name: deepcopy(of) if isinstance(of, Search) else of for name, of in task.of.arguments.items()}
        try:
            made: Run = getattr(api, self.command)(**arguments, out=task.directory)
        except BaseException as error:
            raise _named(error, task.of)
        self._add(at, made._said())

    def _share(self, missing: Sequence[int], count: int) -> None:
        packed: dict[int, tuple[bytes, list[Optional[str]]]] = {}
        jobs = []
        for task in (self.tasks[at] for at in missing):
            for name, value in task.of.arguments.items():
                # A value shared by several runs is pickled only once.
                if id(value) not in packed:
                    packed[id(value)] = pool.dumps(name, value), pool.digests(value)
            found = {name: packed[id(value)] for name, value in task.of.arguments.items()}
            pickled = {name: of for name, (of, _) in found.items()}
            digests = {name: of for name, (_, of) in found.items()}
            jobs.append(pool.Job(self.command, pickled, digests, str(task.directory)))
        with closing(pool.outcomes(jobs, count)) as outcomes:
            for index, outcome in outcomes:
                at = missing[index]
                of = self.tasks[at].of
                if isinstance(outcome, pool.Done):
                    tell(outcome.told["remarks"])
                    self._add(at, outcome.told)
                elif isinstance(outcome, pool.Died):
                    self.died.append(f"the run with {of} failed: {outcome}")
                elif isinstance(outcome, pool.Failed):
                    raise _named(self._unpacked(outcome, at), of)
                else:
                    reason = f"cannot be loaded in a worker process ({outcome.reason})"
                    raise UsageError(f"{outcome.argument} {reason}: {pool.REMEDY}")

    def _add(self, at: int, told: dict[str, Any]) -> None:
        self.done[at] = self._open(at, told)
        if self.progress is not None:
            self.progress(len(self.done), len(self.tasks), self.tasks[at].of.settings)

    def _unpacked(self, failed: pool.Failed, at: int) -> BaseException:
        """The exception of a run in a worker, with the partial results that the worker has written."""
        error = pool.unpacked(failed)
        if failed.told is not None:
            run = self._open(at, failed.told)
            error.run = run  # type: ignore[attr-defined]
            tell(run._remarks())
        return error

    def _open(self, at: int, told: dict[str, Any]) -> Run:
        run = open_in(self.tasks[at].directory, self.folder)
        run._told = told
        return run

    def _end(self, error: BaseException) -> NoReturn:
        """Adds the results so far to an error, and raises the error."""
        error.sweep = self.results()  # type: ignore[attr-defined]
        raise error


def _named(error: BaseException, of: Combination) -> BaseException:
    """Adds the settings of a run to an error."""
    error.settings = of.settings  # type: ignore[attr-defined]
    if isinstance(error, GleanerError):
        error.args = (f"the run with {of}: {error}", *error.args[1:])
    elif isinstance(error, Exception):
        LOGGER.error("the run with %s raised %s", of, type(error).__name__)
        if hasattr(error, "add_note"):
            error.add_note(f"This error ended the run with {of}.")
    return error


def _claim(directory: Path, command: str, axes: Sequence[Axis], tasks: Sequence[_Task]) -> None:
    """Creates the directory of a sweep, or checks that the sweep in it can continue. Writes the list of runs to the
    directory."""
    if (directory / INDEX).is_file():
        for axis in axes:
            for value in axis.values:
                if value.unstable:
                    raise UsageError(
                        f"{axis.name}: {value.label} cannot be recognised in a later call ({value.unstable}), so the "
                        f"sweep in {directory} cannot continue. Pass another directory as out"
                    )
    elif directory.is_dir() and any(directory.iterdir()):
        raise UsageError(f"{directory} contains other files, expected a new directory or that of an earlier sweep")
    directory.mkdir(parents=True, exist_ok=True)
    listed = [{"directory": task.directory.name, "settings": task.of.labels} for task in tasks]
    text = json.dumps({"command": command, "runs": listed}, indent=2, default=str) + "\n"
    # The list is replaced atomically, so a killed sweep leaves either the old list or the new one.
    new = directory / f"{INDEX}.{os.getpid()}"
    new.write_text(text, encoding="utf-8")
    new.replace(directory / INDEX)


def _is_complete(task: _Task) -> bool:
    """Whether a run is complete and its inputs are unchanged."""
    try:
        info = json.loads((task.directory / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not info["complete"] or not all((task.directory / of["path"]).is_file() for of in info["files"]):
        return False
    for source in info["inputs"]:
        # The identity covers the files in the settings and all tables, but not the files to which these files refer.
        if source["path"].startswith("<") or source["sha256"] in task.of.identity:
            continue
        if not os.path.isfile(source["path"]) or sha256(source["path"]) != source["sha256"]:
            return False
    return True


def sweep(
    plan: Mapping[str, Any],
    mode: Optional[str],
    out: Optional[StrPath],
    workers: Optional[int],
    progress: Optional[Progress],
) -> SweepRuns:
    """Executes a sweep over a dict of settings."""
    command = mode_of(plan, mode)
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise UsageError(f"workers: found {workers!r}, expected a number of at least 1")
    folder = new_folder() if out is None else None
    directory = Path(folder.name, "sweep") if folder else Path(os.fspath(out or ""))
    with ExitStack() as stack:
        found = axes(command, plan, stack)
        running = _Sweep(command, directory, folder, progress)
        running.plan(found)
        running.execute(workers or _cores())
    return running.results()


def _cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
