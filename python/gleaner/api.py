"""The implementation of the package's functions. ``calls.py`` declares them with all of their options, which are
``**options`` here."""

from __future__ import annotations

import json
import os
import re
from copy import deepcopy
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Callable, Iterable, Literal, Mapping, Optional, Sequence, Union, overload

from . import _gleaner
from ._gleaner import Answer, ClassProblem, Page, Problem, Task
from .commands import Pairs, pairs
from .errors import UsageError
from .folders import folder as new_folder
from .functions import Function, function, inner, name_of
from .groups import Group, with_groups
from .inputs import Events, Input, Staging, Tasks
from .logs import EventLog, Trace
from .policy import Policy
from .run import Run, StrPath, open_in, tell
from .search import Loop, Search
from .sweeps import Progress, SweepRuns

Plan = Union[Answer, Sequence[int], Mapping[str, int], None]
"""A solver's plan: an answer, node counts in the order of the tasks, node counts by task, or None for no plan."""
Solver = Callable[[Problem], Plan]
Objective = Callable[[Task, int], float]
OwnPolicy = Union[type[Policy], Policy, Callable[[], Policy]]
"""A policy, a policy class, or a function that creates a policy."""


def replay(
    events: Events,
    tasks: Tasks,
    *,
    solver: Union[str, Solver, None] = None,
    objective: Union[str, Objective, None] = None,
    search: Union[str, Search, None] = None,
    groups: Optional[Sequence[Group]] = None,
    out: Optional[StrPath] = None,
    **options: Any,
) -> Run:
    """Replays a log of idle nodes, and allocates the nodes to elastic training tasks.

    ``events`` is a file, a table or an :class:`EventLog`, and ``tasks`` is a file, a table or a list of :class:`Task`.
    ``solver`` is a name, ``exec:COMMAND``, or a function of a :class:`Problem`. The plans of programs and functions are
    checked. ``objective`` is a name, an expression, or a function of a task and a number of nodes. The function is
    called once for each point of a task's curve that is needed between the task's bounds, except the point at 0.
    ``search`` is the name of an algorithm for the search in the task file, or a :class:`Search` whose trials train the
    tasks. ``groups`` lists groups of tasks with limits on the total number of nodes of each group. With ``groups``,
    ``tasks`` must be a list. ``out`` is a directory for the results. In the list of options, "the original" is
    BFTrainer's replayer.

    An exception in one of your functions ends the replay, as Ctrl-C does. In both cases, the exception's attribute
    ``run`` contains the partial results.

    >>> run = replay("dataset/idle.csv", "dataset/tasks.toml", t_fwd=120)
    >>> run.complete, len(run.tasks)
    (True, 20)
    """
    with Staging() as staging:
        searches = search is None or isinstance(search, str)
        given = {**options, **_unless_callable(solver=solver, objective=objective)}
        given["search"] = search if searches else None
        found = pairs("replay", given, staging)
        task_file = staging.file("tasks", tasks)
        if groups:
            task_file = with_groups(staging, tasks, task_file, groups)
        found += [("events", [staging.file("events", events)]), ("tasks", [task_file])]
        own = function("solver", solver) if callable(solver) else None
        value = function("objective", objective) if callable(objective) else None
        loop = None if searches else Loop(search)
        trials = None if loop is None else function("search", loop, loop.name, source=type(search))
        try:
            return _finish(partial(_gleaner.replay, found, staging.names, out, own, value, trials))
        finally:
            if loop is not None:
                loop.close()


def simulate(
    trace: Union[Input, Trace, None] = None,
    cluster: Optional[Input] = None,
    *,
    policy: Union[str, OwnPolicy, Sequence[Union[str, OwnPolicy]], None] = None,
    out: Optional[StrPath] = None,
    **options: Any,
) -> Run:
    """Simulates scheduling policies on a job trace of a GPU cluster.

    ``trace`` and ``cluster`` are files or tables. Alternatively, pass a :class:`Trace` as ``trace``, or set ``data`` to
    the directory that contains both files. ``policy`` accepts names of policies, and your own policies, as classes or
    instances. Each virtual cluster gets a new instance of the class, or a copy of the instance. ``out`` is a directory
    for the results. In the list of options, "the original" is Lucid's simulator.

    An exception in one of your policies ends the simulation, as Ctrl-C does. The exception's attribute ``run`` contains
    the results of the policies that had finished.

    >>> run = simulate(data="dataset/cluster", policy=["fifo", "srtf"])
    >>> run.policies.column("policy")
    ['fifo', 'srtf']
    """
    is_single = policy is None or isinstance(policy, (str, Policy)) or callable(policy)
    chosen: list[Any] = [policy] if is_single else list(policy)  # type: ignore[arg-type]
    own = [_own_policy(of) for of in chosen if _is_own(of)]
    names = [_policy_name(of) if _is_own(of) else of for of in chosen]
    if len(set(names)) < len(names):
        raise UsageError(f"each policy needs its own name, found {', '.join(map(str, names))}")
    with Staging() as staging:
        given: dict[str, Any] = {**options}
        if isinstance(trace, Trace):
            if cluster is not None:
                raise UsageError("a Trace includes its cluster: leave out the argument cluster")
            given = {**trace._inputs, **given}
        else:
            given.update(trace=trace, cluster=cluster)
        found = pairs("simulate", {**given, "policy": None if names == [None] else names}, staging)
        run = _finish(partial(_gleaner.simulate, found, staging.names, out, own))
    return run


def compare(
    problems: Union[StrPath, Sequence[Union[Problem, ClassProblem]], None] = None,
    *,
    events: Optional[Events] = None,
    tasks: Optional[Tasks] = None,
    solvers: Union[str, Solver, Sequence[Union[str, Solver]], None] = None,
    out: Optional[StrPath] = None,
    **options: Any,
) -> Run:
    """Compares solvers on the same problems: the problems in a file or a list, or those that arise in a replay of
    ``events`` and ``tasks``. ``solvers`` accepts solver names and your own functions. In the list of options, "the
    original" is BFTrainer's replayer.

    >>> run = compare("dataset/problems.jsonl", solvers=["exact", "equal-share"])
    >>> run.solvers.column("solver")
    ['exact', 'equal-share']
    """
    chosen = [solvers] if solvers is None or isinstance(solvers, str) or callable(solvers) else list(solvers)
    own = [function(None, of) for of in chosen if callable(of)]
    names = [of for of in chosen if isinstance(of, str)]
    with Staging() as staging:
        given: dict[str, Any] = {**options, "events": events, "tasks": tasks, "solvers": names or None}
        if problems is not None and not isinstance(problems, (str, os.PathLike)):
            problems = staging.text("problems", ".jsonl", "".join(f"{of.to_json()}\n" for of in problems))
        found = pairs("compare", {**given, "problems": problems}, staging)
        run = _finish(partial(_gleaner.compare, found, staging.names, out, own))
    return run


@lru_cache(maxsize=64)
def _solve_options(found: tuple[tuple[str, tuple[str, ...]], ...]) -> _gleaner.SolveOptions:
    return _gleaner.SolveOptions([(name, list(texts)) for name, texts in found])


AnyProblem = Union[Problem, ClassProblem, Mapping[str, Any]]


@overload
def solve(problems: AnyProblem, *, solver: Optional[str] = None, **options: Any) -> Answer: ...
@overload
def solve(
    problems: Union[StrPath, Iterable[AnyProblem]], *, solver: Optional[str] = None, **options: Any
) -> list[Answer]: ...
def solve(problems: Any, *, solver: Optional[str] = None, **options: Any) -> Any:
    """Solves allocation problems. Returns an :class:`Answer` for a single problem, and a list of answers for several
    problems or a file.

    A problem is a :class:`Problem`, a :class:`ClassProblem`, or a dict in the format of ``gleaner solve``.

    >>> task = {"name": "a", "min_nodes": 1, "max_nodes": 4, "rescale_up": 1, "rescale_down": 1,
    ...         "curve_nodes": [0, 4], "curve_objective": [0, 40], "current": 1}
    >>> answer = solve({"nodes": 4, "t_fwd": 10, "tasks": [task]})
    >>> answer.status, answer.counts, answer.objective
    ('optimal', [4], 390.0)
    """
    is_single = isinstance(problems, (Problem, ClassProblem, Mapping))
    if isinstance(problems, (str, os.PathLike)):
        all_problems = _gleaner.read_problems(problems)
    else:
        all_problems = [_problem(of) for of in ([problems] if is_single else problems)]
    found: Pairs = []
    if options or solver is not None:
        with Staging() as staging:
            found = pairs("solve", {**options, "solver": solver}, staging)
    hashable = tuple((name, tuple(texts)) for name, texts in found)
    answers, remarks = _solve_options(hashable).solve(all_problems)
    tell(remarks)
    return answers[0] if is_single else answers


def _problem(problem: AnyProblem) -> Union[Problem, ClassProblem]:
    if isinstance(problem, (Problem, ClassProblem)):
        return problem
    return _gleaner.read_problem(json.dumps(problem))


@overload
def sweep(plan: StrPath, *, out: Optional[StrPath] = None, **options: Any) -> Run: ...
@overload
def sweep(
    plan: Mapping[str, Any],
    *,
    mode: Optional[Literal["replay", "simulate"]] = None,
    out: Optional[StrPath] = None,
    workers: Optional[int] = None,
    progress: Optional[Progress] = None,
    **options: Any,
) -> SweepRuns: ...
def sweep(
    plan: Union[StrPath, Mapping[str, Any]],
    *,
    mode: Optional[Literal["replay", "simulate"]] = None,
    out: Optional[StrPath] = None,
    workers: Optional[int] = None,
    progress: Optional[Progress] = None,
    **options: Any,
) -> Union[Run, SweepRuns]:
    """Executes a run for every combination of the settings in a plan. ``plan`` is a plan file, or a dict of arguments
    of :func:`replay` or :func:`simulate`. ``out`` is the directory of the sweep. Runs that it already contains are not
    repeated. Without ``out``, the results are deleted together with the returned object.

    In a dict, a range, or a list other than one of tasks or groups, contains the values of a setting, and the values of
    the last setting vary fastest. Any other value, such as a tuple, is the same in all runs. A value may also be a
    table, a function or a policy. ``mode`` selects ``replay`` or ``simulate`` if the arguments do not show which
    function to call. ``workers`` is the number of processes (default: the number of cores). With ``workers=1``,
    everything runs in this process. ``progress`` is called after each run. Its arguments are the number of completed
    runs, the total number of runs, and the settings of the run that has just finished. The options listed below apply
    only to plan files.

    Ctrl-C stops the sweep. Finished runs are kept in ``out``, and the next call continues from them. If Ctrl-C or a
    failed run ends a sweep over a dict, the attribute ``sweep`` of the exception contains the finished runs.

    >>> found = sweep({"events": "dataset/idle.csv", "tasks": "dataset/tasks.toml", "t_fwd": [60, 120]}, workers=1)
    >>> [settings["t_fwd"] for settings, run in found.runs if run.complete]
    [60, 120]
    """
    if isinstance(plan, Mapping):
        if options:
            raise UsageError(f"{next(iter(options))} is an option for plan files: leave it out for a dict")
        from .sweeper import sweep as sweep_settings

        return sweep_settings(plan, mode, out, workers, progress)
    given = {"mode": mode, "workers": workers, "progress": progress}
    for name in (name for name, value in given.items() if value is not None):
        remedy = "; pass jobs for the number of threads" if name == "workers" else ""
        raise UsageError(f"{name} is an option for sweeps over a dict: leave it out for a plan file{remedy}")
    return _sweep_file(plan, out, options)


def _sweep_file(plan: StrPath, out: Optional[StrPath], options: Mapping[str, Any]) -> Run:
    folder = new_folder() if out is None else None
    directory = Path(folder.name, "sweep") if folder else Path(os.fspath(out or ""))
    with Staging() as staging:
        found = pairs("sweep", options, staging)
    try:
        remarks = _gleaner.sweep_plan(os.fspath(plan), directory, found)
    except KeyboardInterrupt as error:
        error.run = open_in(directory, folder)  # type: ignore[attr-defined]
        raise
    tell(remarks)
    return open_in(directory, folder)


class Inspection:
    """The findings of :func:`inspect` about an event log."""

    def __init__(self, found: str, text: str, page: Page) -> None:
        self.findings: dict[str, Any] = json.loads(found)
        """The findings, as docs/OUTPUTS.md describes them."""
        self.page = page
        """The page about the log."""
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "<gleaner.Inspection>"

    def _repr_html_(self) -> str:
        return self.page._repr_html_()


def inspect(events: Events, *, tasks: Optional[Tasks] = None, **options: Any) -> Inspection:
    """Describes an event log: its idle time, idle fragments, and idle nodes over time. In the list of options, "the
    original" is BFTrainer's replayer.

    >>> inspect("dataset/idle.csv").findings["nodes"]
    100
    """
    with Staging() as staging:
        found = pairs("inspect", {**options, "tasks": tasks}, staging)
        findings, text, page, remarks = _gleaner.inspect_log(staging.file("events", events), found)
    tell(remarks)
    return Inspection(findings, text, page)


class Pilots:
    """The results of simulating pilot jobs on the idle nodes of an event log."""

    def __init__(self, found: str, text: str, page: Page) -> None:
        self.results: dict[str, Any] = json.loads(found)
        """The results under all three models, as docs/OUTPUTS.md describes them."""
        self.page = page
        """The page that shows the results."""
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "<gleaner.Pilots>"

    def _repr_html_(self) -> str:
        return self.page._repr_html_()


def pilots(events: Events, **options: Any) -> Pilots:
    """Simulates pilot jobs on the idle nodes of an event log. ``lengths`` lists the wall times of the pilots, in
    minutes. Alternatively, ``best=K`` finds the best ladders (sets of wall times) of at most 1, 2, ..., K wall times,
    and simulates pilots with them.

    The results cover three models. The model ``fits`` is optimistic: the scheduler knows how long each node stays idle.
    Under ``kept`` and ``lost``, the scheduler does not know this, and preempted pilots keep or lose their work. In the
    list of options, "the original" is BFTrainer's replayer.

    >>> found = pilots("dataset/idle.csv", lengths=[2, 4, 8, 16])
    >>> fits = found.results["ladders"][0]["fits"]
    >>> 0 < fits["ready_share"] < found.results["kept"]["ready_share"]
    True
    """
    with Staging() as staging:
        found = pairs("pilots", options, staging)
        results, text, page, remarks = _gleaner.pilots_of_log(staging.file("events", events), found)
    tell(remarks)
    return Pilots(results, text, page)


_FORMATS = _gleaner.log_formats()
LOGS = tuple(name for name, is_trace, _ in _FORMATS if not is_trace)
"""Names of the log formats of batch schedulers."""
TRACES = tuple(name for name, is_trace, _ in _FORMATS if is_trace)
"""Names of the trace formats of GPU clusters."""
_GPUS_PER_NODE = {name: gpus or 0 for name, _, gpus in _FORMATS}
"""Default number of GPUs per node in a table of jobs; 0 for formats without such tables."""


def ingest(
    format: str, *files: StrPath, output: Optional[StrPath] = None, jobs: Optional[StrPath] = None, **options: Any
) -> Union[EventLog, Trace]:
    """Reads logs of a batch scheduler (formats: ``gleaner.api.LOGS``) as an :class:`EventLog`, or a trace of a GPU
    cluster (formats: ``gleaner.api.TRACES``, or slurm with ``jobs``) as a :class:`Trace`. If ``output`` ends in .gev,
    philly gives an :class:`EventLog`.

    ``output`` is the file to which the log or the trace's table of jobs is written. For slurm, ``jobs`` is the file to
    which the table of jobs is written. Each format accepts only some of the options.

    >>> ingest("slurm", "dataset/logs/sacct.txt")
    <gleaner.EventLog: ...
    """
    if format not in _GPUS_PER_NODE:
        raise UsageError(f"unknown format {format!r}, expected one of {', '.join(_GPUS_PER_NODE)}")
    is_trace = format in TRACES and not (output and os.fspath(output).endswith(".gev")) or jobs is not None
    folder = new_folder()
    made = Path(folder.name, "jobs.csv" if is_trace else "events.gev")
    kept = Path(os.fspath(jobs or output or made))
    name = "jobs" if jobs is not None else "output"
    given = {**options, name: kept}
    if jobs is not None and output is not None:
        given["output"] = output
    with Staging() as staging:
        found = pairs(f"ingest {format}", given, staging)
    tell(_gleaner.ingest_logs(format, [os.fspath(file) for file in files], found))
    if not is_trace:
        with folder:
            return EventLog.read(kept)
    beside = kept.with_name("vc_config.csv" if kept.stem == "jobs" else f"{kept.stem}_vc_config.csv")
    cluster = options.get("cluster") or beside
    gpus = options.get("gpus_per_node") or _GPUS_PER_NODE[format]
    trace = Trace(kept, cluster, int(gpus))
    trace._folder = folder
    return trace


def _finish(start: Callable[[], _gleaner._Run]) -> Run:
    """Starts a run, and logs its remarks."""
    try:
        found = start()
    except BaseException as error:
        # If a user's function raised the exception, the exception's attribute `run` holds the partial results.
        partly = getattr(error, "run", None)
        if isinstance(partly, _gleaner._Run):
            run = Run(partly)
            error.run = run  # type: ignore[attr-defined]
            tell(run._remarks())
        raise
    run = Run(found)
    tell(run._remarks())
    return run


def given(**options: Any) -> dict[str, Any]:
    """Returns the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def _unless_callable(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if not callable(value)}


def _is_own(policy: Any) -> bool:
    return isinstance(policy, Policy) or callable(policy)


def _own_policy(policy: Any) -> tuple[Function, str]:
    """Returns a user's policy as a function that creates it, and the kind of input that it needs. A policy that is
    given as an instance is copied for each virtual cluster."""
    make = partial(deepcopy, policy) if isinstance(policy, Policy) else policy
    made = function(None, make, _policy_name(policy), source=policy)
    return made, str(getattr(inner(policy), "needs", "jobs"))


def _policy_name(policy: Any) -> str:
    name = getattr(inner(policy), "name", None)
    name = name if isinstance(name, str) else name_of(policy)
    if not re.fullmatch("[A-Za-z0-9_-]+", name):
        raise UsageError(f"invalid policy name {name!r}, expected letters, digits, _ and -: change the policy's `name`")
    return name
