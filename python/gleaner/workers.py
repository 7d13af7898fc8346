"""Worker processes that execute the runs of a sweep.

Each worker is a new process (``spawn``), which receives runs one by one through a pipe. Workers return results as run
directories. A worker ends when its pipe closes or its parent ends, so no process outlives the sweep."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections import deque
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.pool import ExceptionWithTraceback  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, Generator, Iterator, NamedTuple, Optional, Sequence

from .errors import RunError, UsageError
from .functions import digest, remember
from .policy import Policy
from .run import LOGGER, Run

REMEDY = "install cloudpickle (pip install cloudpickle), or pass workers=1"


class Job(NamedTuple):
    """A run that a worker is to execute."""

    command: str
    """The function of ``gleaner.api`` to call."""
    arguments: dict[str, bytes]
    """The pickled arguments."""
    digests: dict[str, list[Optional[str]]]
    """For each argument, the digests of the functions in its value."""
    out: str
    """The directory of the run."""


class Done(NamedTuple):
    """A run that reached its end."""

    told: dict[str, Any]
    """The values of the run that are not in its directory."""


class Failed(NamedTuple):
    """A run that ended with an exception."""

    error: bytes
    """The pickled exception."""
    told: Optional[dict[str, Any]]
    """The values of the partial run that are not in its directory; None if there is no partial run."""


class Unloadable(NamedTuple):
    """An argument that could not be unpickled in the worker."""

    argument: str
    reason: str


class Died(NamedTuple):
    """A worker process that ended during a run, for example because it was killed."""

    code: Optional[int]
    """The exit code, or the negated number of the signal that ended the process; None if it has not ended."""

    def __str__(self) -> str:
        if self.code is not None and self.code < 0:
            return f"its worker process was ended by signal {-self.code} ({signal.Signals(-self.code).name})"
        return f"its worker process ended with exit code {self.code}"


Outcome = Any
"""Done, Failed, Unloadable or Died."""


def dumps(name: str, value: Any) -> bytes:
    """Pickles an argument, with cloudpickle if it is installed."""
    try:
        return bytes(_pickler().dumps(value))
    except Exception as error:
        reason = f"cannot be passed to a worker process ({type(error).__name__}: {error})"
        remedy = "pass workers=1" if _pickler() is not pickle else REMEDY
        raise UsageError(f"{name} {reason}: {remedy}") from error


def digests(value: Any) -> list[Optional[str]]:
    """The digests of the functions, classes and policies in the value of an argument. Workers use these digests,
    because the source may be unavailable in a worker."""
    return [digest(of) for of in _functions(value)]


def _functions(value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    return [of for of in values if callable(of) or isinstance(of, Policy)]


def _pickler() -> Any:
    try:
        import cloudpickle  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        return pickle
    return cloudpickle


def outcomes(jobs: Sequence[Job], count: int) -> Generator[tuple[int, Outcome], None, None]:
    """Executes the jobs in at most ``count`` processes. Yields the index and the outcome of each job as soon as the
    outcome is known. Closing the iterator ends all processes."""
    todo = deque(enumerate(jobs))
    # Plain pickles refer to functions by name, so workers must import the user's script to find them.
    needs_main = _pickler() is pickle and any(b"__main__" in of for job in jobs for of in job.arguments.values())
    crew: list[_Worker] = []
    try:
        for _ in range(min(count, len(jobs))):
            crew.append(_Worker(needs_main))
        while crew:
            for worker in _ready(crew):
                message = worker.receive()
                if worker.job is not None:
                    yield worker.job, message
                elif isinstance(message, Died):
                    raise _not_started(message, needs_main)
                if isinstance(message, Died):
                    crew.remove(worker)
                    worker.kill()
                    if todo:
                        crew.append(_Worker(needs_main))
                elif todo:
                    worker.give(*todo.popleft())
                else:
                    crew.remove(worker)
                    worker.finish()
    finally:
        for worker in crew:
            worker.kill()


def _not_started(died: Died, needs_main: bool) -> Exception:
    if needs_main:
        guard = 'put the call to gleaner.sweep under `if __name__ == "__main__":`'
        return UsageError(f"a worker process could not import your script (see its message above): {guard}, or {REMEDY}")
    return RunError(f"a worker process could not start: {died}")


def _ready(crew: Sequence[_Worker]) -> list[_Worker]:
    """Waits until at least one worker has sent a message or ended. Returns these workers."""
    ready = set(wait([of for worker in crew for of in (worker.pipe, worker.process.sentinel)]))
    return [worker for worker in crew if ready & {worker.pipe, worker.process.sentinel}]


class _Worker:
    """The handle through which the sweep controls a worker process."""

    def __init__(self, needs_main: bool) -> None:
        spawn = get_context("spawn")
        self.pipe, other = spawn.Pipe()
        self.process = spawn.Process(target=_serve, args=(other,))
        self.job: Optional[int] = None
        """The index of the current job."""
        with _start(needs_main):
            self.process.start()
        other.close()

    def give(self, index: int, job: Job) -> None:
        self.job = index
        try:
            self.pipe.send(job)
        except OSError:
            # The worker has just ended. The next call of `receive` reports this.
            pass

    def receive(self) -> Outcome:
        try:
            if self.pipe.poll():
                return self.pipe.recv()
        except (EOFError, OSError):
            pass
        self.process.join(5)
        self.kill()
        return Died(self.process.exitcode)

    def finish(self) -> None:
        """Ends the process after its last job."""
        self.pipe.close()
        self.process.join(5)
        self.kill()

    def kill(self) -> None:
        self.pipe.close()
        if self.process.is_alive():
            self.process.kill()
        self.process.join()


@contextmanager
def _start(needs_main: bool) -> Iterator[None]:
    """Prepares the start of a process. Ctrl-C sends SIGINT to all processes of the terminal. Only the sweep handles the
    signal, so workers block it. If workers do not need the user's script, the script is hidden from them. The workers
    then do not execute the script, and the script needs no ``if __name__ == "__main__"``."""
    main = sys.modules["__main__"]
    can_block = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if can_block else None
    try:
        if not needs_main:
            sys.modules["__main__"] = ModuleType("__main__")
        yield
    finally:
        sys.modules["__main__"] = main
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection) -> None:
    """Executes jobs until the pipe is closed. This function runs in the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The sweep itself logs the remarks of all runs.
    LOGGER.disabled = True
    pipe.send("ready")
    while True:
        try:
            job: Job = pipe.recv()
        except EOFError:
            return
        pipe.send(_execute(job))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
    os._exit(1)


def _execute(job: Job) -> Outcome:
    from . import api

    arguments = {}
    for name, pickled in job.arguments.items():
        try:
            arguments[name] = pickle.loads(pickled)
            for value, sha256 in zip(_functions(arguments[name]), job.digests[name]):
                remember(value, sha256)
        except Exception as error:
            return Unloadable(name, f"{type(error).__name__}: {error}")
    try:
        run: Run = getattr(api, job.command)(**arguments, out=job.out)
        return Done(run._said())
    except BaseException as error:
        partly = error.__dict__.pop("run", None)
        return Failed(_packed(error), partly._said() if isinstance(partly, Run) else None)


def _packed(error: BaseException) -> bytes:
    """Pickles an exception, with its traceback as text. An exception that cannot be pickled is replaced with a RunError
    that states its type and message."""
    try:
        packed = bytes(_pickler().dumps(ExceptionWithTraceback(error, error.__traceback__)))
        pickle.loads(packed)
    except Exception:
        plain = RunError(f"{type(error).__name__}: {error}")
        packed = pickle.dumps(ExceptionWithTraceback(plain, error.__traceback__))
    return packed


def unpacked(failed: Failed) -> BaseException:
    """The exception that ended a run in a worker. Its cause contains the traceback."""
    error: BaseException = pickle.loads(failed.error)
    return error
