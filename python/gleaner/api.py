"""The functions of the package."""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Optional, Sequence, Union, overload

from . import _gleaner
from ._gleaner import Answer, Page, Problem, Task
from .commands import words
from .errors import UsageError
from .folders import folder as new_folder
from .inputs import Events, Input, Staging, Tasks
from .logs import EventLog, Trace
from .policy import Policy
from .run import Run, StrPath, open_in, tell

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import CompareOptions, InspectOptions, ReplayOptions, SimulateOptions, SolveOptions, SweepOptions

Plan = Union[Answer, Sequence[int], Mapping[str, int], None]
"""A plan of a solver: an answer, counts in the order of the tasks, counts by task, or None for no plan."""
Solver = Callable[[Problem], Plan]
Objective = Callable[[Task, int], float]
PolicyClass = Union[type[Policy], Callable[[], Policy]]
"""A class of policies, or a function that makes one."""


def replay(
    events: Events,
    tasks: Tasks,
    *,
    solver: Union[str, Solver, None] = None,
    objective: Union[str, Objective, None] = None,
    out: Optional[StrPath] = None,
    **options: Unpack[ReplayOptions],
) -> Run:
    """Replays a log of idle nodes, and allocates the nodes to elastic training tasks.

    ``events`` and ``tasks`` are files, tables, an :class:`EventLog`, or a list of :class:`Task`. ``solver`` is a
    name, ``exec:COMMAND``, or a function of a :class:`Problem`; its plans are checked like those of any program.
    ``objective`` is a name, an expression, or a function of a task and a number of nodes, which is called once for
    each point of the task's curve. ``out`` is a directory for the results. The other options are those of
    ``gleaner replay``; ``help(gleaner.options)`` lists them.

    Ctrl-C ends the replay with what there is: ``run.complete`` is then False. An exception in a function of yours
    ends it too; it has what was computed as its attribute ``run``.

    >>> run = replay("dataset/idle.csv", "dataset/tasks.toml", t_fwd=120)
    >>> run.complete, len(run.tasks)
    (True, 20)
    """
    with Staging() as staging:
        given = {**options, **_unless_callable(solver=solver, objective=objective)}
        found = words("replay", given, staging)
        found += [f"--events={staging.file('events', events)}", f"--tasks={staging.file('tasks', tasks)}", "--quiet"]
        function = (_name(solver), solver) if callable(solver) else None
        value = objective if callable(objective) else None
        run = _finish(partial(_gleaner.replay, found, staging.names, out, function, value))
    return run


def simulate(
    trace: Union[Input, Trace, None] = None,
    cluster: Optional[Input] = None,
    *,
    policy: Union[str, PolicyClass, Sequence[Union[str, PolicyClass]], None] = None,
    out: Optional[StrPath] = None,
    **options: Unpack[SimulateOptions],
) -> Run:
    """Simulates scheduling policies on a job trace of a GPU cluster.

    ``trace`` and ``cluster`` are files or tables, or ``trace`` is a :class:`Trace`; ``data`` names a directory
    instead. ``policy`` has names of policies and classes of your own. ``out`` is a directory for the results. The
    other options are those of ``gleaner simulate``; ``help(gleaner.options)`` lists them.

    Ctrl-C ends the simulation with the policies that are done. An exception in a policy of yours ends it too; it
    has these as its attribute ``run``.

    >>> run = simulate(data="dataset/cluster", policy=["fifo", "srtf"])
    >>> run.policies.column("policy")
    ['fifo', 'srtf']
    """
    chosen = [policy] if policy is None or isinstance(policy, str) or callable(policy) else list(policy)
    own = [(_policy_name(of), str(getattr(_inner(of), "needs", "jobs")), of) for of in chosen if callable(of)]
    names = [_policy_name(of) if callable(of) else of for of in chosen]
    if len(set(names)) < len(names):
        raise UsageError(f"policies have the same name: {', '.join(map(str, names))}")
    with Staging() as staging:
        given: dict[str, Any] = {**options}
        if isinstance(trace, Trace):
            if cluster is not None:
                raise UsageError("a Trace has its cluster: leave out cluster")
            given = {**trace._inputs, **given}
        else:
            given.update(trace=trace, cluster=cluster)
        found = words("simulate", {**given, "policy": None if names == [None] else names}, staging)
        run = _finish(partial(_gleaner.simulate, [*found, "--quiet"], staging.names, out, own))
    return run


def compare(
    problems: Union[StrPath, Sequence[Problem], None] = None,
    *,
    events: Optional[Events] = None,
    tasks: Optional[Tasks] = None,
    solvers: Union[str, Solver, Sequence[Union[str, Solver]], None] = None,
    out: Optional[StrPath] = None,
    **options: Unpack[CompareOptions],
) -> Run:
    """Compares solvers on the same problems: those of a file or a list, or those of a replay of ``events`` and
    ``tasks``. ``solvers`` has names and functions of yours.

    >>> run = compare("dataset/problems.jsonl", solvers=["exact", "equal-share"])
    >>> run.solvers.column("solver")
    ['exact', 'equal-share']
    """
    chosen = [solvers] if solvers is None or isinstance(solvers, str) or callable(solvers) else list(solvers)
    own = [(_name(of), of) for of in chosen if callable(of)]
    names = [of for of in chosen if isinstance(of, str)]
    with Staging() as staging:
        given: dict[str, Any] = {**options, "events": events, "tasks": tasks, "solvers": names or None}
        if problems is not None and not isinstance(problems, (str, os.PathLike)):
            problems = staging.text("problems", ".jsonl", "".join(f"{of.to_json()}\n" for of in problems))
        found = words("compare", {**given, "problems": problems}, staging)
        run = _finish(partial(_gleaner.compare, [*found, "--quiet"], staging.names, out, own))
    return run


@lru_cache(maxsize=64)
def _solve_options(found: tuple[str, ...]) -> _gleaner.SolveOptions:
    return _gleaner.SolveOptions(list(found))


AnyProblem = Union[Problem, Mapping[str, Any]]


@overload
def solve(problems: AnyProblem, *, solver: Optional[str] = None, **options: Unpack[SolveOptions]) -> Answer: ...
@overload
def solve(
    problems: Union[StrPath, Iterable[AnyProblem]], *, solver: Optional[str] = None, **options: Unpack[SolveOptions]
) -> list[Answer]: ...
def solve(problems: Any, *, solver: Optional[str] = None, **options: Unpack[SolveOptions]) -> Any:
    """Solves allocation problems: one gives an :class:`Answer`, several or a file give a list.

    A problem is a :class:`Problem`, or a dict as ``gleaner solve`` takes it.

    >>> task = {"name": "a", "min_nodes": 1, "max_nodes": 4, "rescale_up": 1, "rescale_down": 1,
    ...         "curve_nodes": [0, 4], "curve_objective": [0, 40], "current": 1}
    >>> answer = solve({"nodes": 4, "t_fwd": 10, "tasks": [task]})
    >>> answer.status, answer.counts, answer.objective
    ('optimal', [4], 390.0)
    """
    is_single = isinstance(problems, (Problem, Mapping))
    if isinstance(problems, (str, os.PathLike)):
        all_problems = Problem.read(problems)
    else:
        all_problems = [_problem(of) for of in ([problems] if is_single else problems)]
    found: tuple[str, ...] = ()
    if options or solver is not None:
        with Staging() as staging:
            found = tuple(words("solve", {**options, "solver": solver}, staging))
    answers, remarks = _solve_options(found).solve(all_problems)
    tell(remarks)
    return answers[0] if is_single else answers


def _problem(problem: AnyProblem) -> Problem:
    return problem if isinstance(problem, Problem) else Problem.from_json(json.dumps(problem))


def sweep(plan: StrPath, *, out: Optional[StrPath] = None, **options: Unpack[SweepOptions]) -> Run:
    """Does a run for every combination of the settings of a plan. ``out`` is the directory of the sweep: what it
    holds already is not run again. Without it, the results last as long as what this returns.

    Ctrl-C ends it; what is done is kept in ``out``.
    """
    folder = new_folder() if out is None else None
    directory = Path(folder.name, "sweep") if folder else Path(os.fspath(out or ""))
    with Staging() as staging:
        found = [*words("sweep", options, staging), f"--out={directory}", "--quiet", "--", os.fspath(plan)]
    tell(_gleaner.sweep_plan(found))
    return open_in(directory, folder)


class Inspection:
    """What an event log holds."""

    def __init__(self, found: str, text: str, page: Page) -> None:
        self.findings: dict[str, Any] = json.loads(found)
        """The findings, as docs/OUTPUTS.md describes them."""
        self.page = page
        """The page about it."""
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "<gleaner.Inspection>"

    def _repr_html_(self) -> str:
        return self.page._repr_html_()


def inspect(events: Events, *, tasks: Optional[Tasks] = None, **options: Unpack[InspectOptions]) -> Inspection:
    """Finds out what an event log holds: how much is idle, in what fragments, and when.

    >>> inspect("dataset/idle.csv").findings["nodes"]
    100
    """
    with Staging() as staging:
        found = words("inspect", {**options, "tasks": tasks}, staging)
        findings, text, page, remarks = _gleaner.inspect_log([*found, "--", staging.file("events", events)])
    tell(remarks)
    return Inspection(findings, text, page)


TRACES = ("philly", "pai", "batsim", "helios", "gavel")
"""Formats of traces of GPU clusters. The others are logs of batch schedulers."""


def ingest(
    format: str, *files: StrPath, output: Optional[StrPath] = None, jobs: Optional[StrPath] = None, **options: Any
) -> Union[EventLog, Trace]:
    """Reads logs of a batch scheduler (slurm, pbs, cobalt, djc, swf) as an :class:`EventLog`, or a trace of a GPU
    cluster (philly, pai, batsim, helios, gavel, or slurm with ``jobs``) as a :class:`Trace`.

    ``output`` keeps the log or the table of jobs; ``jobs`` that of slurm. The other options are those of
    ``gleaner ingest FORMAT``.

    >>> ingest("slurm", "dataset/logs/sacct.txt")
    <gleaner.EventLog: ...
    """
    if not re.fullmatch("[a-z]+", format):
        raise UsageError(f"there is no format {format!r}")
    is_trace = format in TRACES and not (output and os.fspath(output).endswith(".gev")) or jobs is not None
    folder = new_folder()
    made = Path(folder.name, "jobs.csv" if is_trace else "events.gev")
    kept = Path(os.fspath(jobs or output or made))
    name = "jobs" if jobs is not None else "output"
    given = {**options, name: kept}
    if jobs is not None and output is not None:
        given["output"] = output
    with Staging() as staging:
        found = [format, *words(f"ingest {format}", given, staging), "--", *(os.fspath(file) for file in files)]
    tell(_gleaner.ingest_logs(found))
    if not is_trace:
        with folder:
            return EventLog.read(kept)
    beside = kept.with_name("vc_config.csv" if kept.stem == "jobs" else f"{kept.stem}_vc_config.csv")
    cluster = options.get("cluster") or beside
    gpus = options.get("gpus_per_node") or (1 if format == "batsim" else 8)
    trace = Trace(kept, cluster, int(gpus))
    trace._folder = folder
    return trace


def _finish(start: Callable[[], _gleaner._Run]) -> Run:
    """Runs, and tells the remarks."""
    try:
        found = start()
    except BaseException as error:
        # What was computed before a function of the user raised.
        partly = getattr(error, "run", None)
        if isinstance(partly, _gleaner._Run):
            error.run = Run(partly)  # type: ignore[attr-defined]
        raise
    run = Run(found)
    tell(run.remarks)
    return run


def _unless_callable(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if not callable(value)}


def _inner(function: Any) -> Any:
    """The function behind partial applications."""
    while isinstance(function, partial):
        function = function.func
    return function


def _name(function: Any) -> str:
    """The name of a function in tables."""
    inner = _inner(function)
    return str(getattr(inner, "__name__", type(inner).__name__))


def _policy_name(policy: Any) -> str:
    name = getattr(_inner(policy), "name", None)
    name = name if isinstance(name, str) else _name(policy)
    if not re.fullmatch("[A-Za-z0-9_-]+", name):
        raise UsageError(f"a policy has the name {name!r}, expected letters, digits, _ and -: give it another `name`")
    return name


