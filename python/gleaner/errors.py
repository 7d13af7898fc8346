"""Exceptions. Each exception has the message and the exit code of the same error on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, ClassVar, NamedTuple, Optional, Sequence

if TYPE_CHECKING:
    from .run import Run
    from .sweeps import SweepRuns


class Fault(NamedTuple):
    """A fault in an input: its place, the value found, the value expected, and the remedy."""

    file: str
    """The name of the file, as it was passed."""
    place: str
    """Place in the file, such as ``line 3``; empty for the file as a whole."""
    field: str
    """The field or column; empty if none applies."""
    found: str
    """The value found."""
    expected: str
    """The value expected; empty if ``found`` implies it."""
    remedy: str
    """The remedy; empty if it is obvious."""


class GleanerError(Exception):
    """The base class of Gleaner's exceptions."""

    exit_code: ClassVar[int] = 1
    """Exit code of the command line for the same error."""
    run: Optional[Run] = None
    """The partial results computed before the error, if a run had begun."""
    sweep: Optional[SweepRuns] = None
    """The runs that a sweep over a dict had completed before the error."""
    settings: Optional[dict[str, Any]] = None
    """The settings of the sweep's run in which the error occurred."""

    def rename(self, name: Callable[[str], str]) -> None:
        """Replaces the names of temporary files with the names of the tables that were passed as inputs."""
        self.args = tuple(name(arg) if isinstance(arg, str) else arg for arg in self.args)


class UsageError(GleanerError, ValueError):
    """Arguments that are wrong or contradict each other."""

    exit_code = 2


class DataError(GleanerError, ValueError):
    """Invalid input data."""

    exit_code = 3
    faults: list[Fault]
    """All faults in the inputs."""

    def __init__(self, message: str, faults: Sequence[Sequence[str]] = ()) -> None:
        super().__init__(message)
        self.faults = [Fault(*fault) for fault in faults]

    def rename(self, name: Callable[[str], str]) -> None:
        super().rename(name)
        self.faults = [fault._replace(file=name(fault.file)) for fault in self.faults]


class FileError(GleanerError, OSError):
    """A file that cannot be read or written."""

    def __init__(self, message: str, code: Optional[int] = None, filename: Optional[str] = None) -> None:
        super().__init__(message)
        self.errno = code
        self.filename = filename

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        # OSError.__reduce__ would leave out the code and the name of the file.
        return type(self), (self.args[0], self.errno, self.filename), self.__dict__


class RunError(GleanerError, RuntimeError):
    """A run that failed."""
