"""The functions of the package with all of their options. Written by tests/test_options.py from ``api.py`` and the
declarations of options: ``WRITE_DOCS=1 pytest python/tests/test_options.py``."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Optional, Union, overload

from . import api
from ._gleaner import Answer, ClassProblem, Problem
from .api import AnyProblem, Inspection, Objective, OwnPolicy, Pilots, Solver
from .groups import Group
from .inputs import Events, Input, Tasks
from .logs import EventLog, Trace
from .run import Run, StrPath
from .search import Search
from .sweeps import Progress, SweepRuns

Number = Union[int, float, str]
When = Union[str, datetime.datetime]


def replay(
    events: Events,
    tasks: Tasks,
    *,
    solver: Union[str, Solver, None] = None,
    objective: Union[str, Objective, None] = None,
    search: Union[str, Search, None] = None,
    groups: Optional[Sequence[Group]] = None,
    out: Optional[StrPath] = None,
    all_rows: Optional[bool] = None,
    big_m: Optional[Literal['corrected', 'paper']] = None,
    bound: Optional[bool] = None,
    cache: Optional[bool] = None,
    check: Optional[bool] = None,
    class_feature: Optional[Union[str, Sequence[str]]] = None,
    class_resource: Optional[str] = None,
    classes: Optional[Input] = None,
    completion_events: Optional[bool] = None,
    currency: Optional[str] = None,
    curves: Optional[Input] = None,
    drop_end_row: Optional[bool] = None,
    first_node: Optional[Number] = None,
    formulation: Optional[Literal['counts', 'paper']] = None,
    from_: Optional[When] = None,
    gap: Optional[Number] = None,
    gpus_per_node: Optional[Number] = None,
    hand_back: Optional[Number] = None,
    initial: Optional[Literal['random', 'solve', 'empty']] = None,
    max_tasks: Optional[Number] = None,
    min_fragment: Optional[Number] = None,
    node_choice: Optional[Literal['arrival', 'blocks', 'learned']] = None,
    node_power: Optional[str] = None,
    nodes: Optional[Number] = None,
    price: Optional[str] = None,
    repeat_tasks: Optional[bool] = None,
    scripted: Optional[Input] = None,
    seed: Optional[Number] = None,
    skip_invalid: Optional[bool] = None,
    skip_rows: Optional[Number] = None,
    strict: Optional[bool] = None,
    t_fwd: Optional[Number] = None,
    time_limit: Optional[Number] = None,
    timezone: Optional[str] = None,
    to: Optional[When] = None,
    topology: Optional[Input] = None,
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

    Options:

    all_rows
        Keep the rows in which no selected node changes. In scripts of `gleaner harvest`, allocations can also change
        at these rows
    big_m
        Big-M constant, which limits by how many nodes a task can grow or shrink in one decision. The exact solver
        also applies these limits [default: corrected]
    bound
        Compute an upper bound on the work of any allocator, even one that knew the whole log, with the same tasks and
        rescaling costs (docs/BOUND.md)
    cache
        Keep a copy that loads faster, LOG.gev, next to the log. The copy is rebuilt when the log changes
    check
        Check every decision with a checker that shares no code with the solvers
    class_feature
        Slurm features, separated by commas, that serve as classes for nodes without GPUs of a known type. If a node
        has several of these features, the one that comes first in the option is used
    class_resource
        PBS resource whose value is the class, such as gputype
    classes
        Classes of the nodes, such as types of GPUs: TOML, CSV with the columns node and class, or the output of
        `scontrol show nodes`, `sinfo -N -o "%N %G %f"` or `pbsnodes -av` (dataset/README.md). They replace the
        classes in the event log
    completion_events
        Reallocate the nodes of a finished task as soon as it finishes (default, except with the original's flags)
    currency
        Currency of the price, such as EUR
    curves
        Scaling curves: the original's pickle of curves (-scfn)
    drop_end_row
        Drop the last row if it changes no nodes, as the original does. By default, it is kept as the end of the log.
        Implied by the original's flags
    first_node
        Index of the first node (column) of the log to use, from 0 (-nis) [default: 0]
    formulation
        Formulation of the problem for highs and cbc [default: counts]
    from_
        Start of the part of the log to use, such as "2026-01-31 08:00": in the local time of the log, or with an
        offset from UTC. Earlier rows only determine which nodes are idle at that time
    gap
        Relative gap at which highs and cbc consider a plan optimal [default: 1e-9]
    gpus_per_node
        Number of GPUs per node, from which the GPU-hours of tasks are computed
    hand_back
        Count the batch jobs that would start late if a task took this many seconds to hand back a node
    initial
        Initial assignment of the idle nodes [default: random]
    max_tasks
        Maximum number of concurrently active tasks (-maxJ) [default: 10]
    min_fragment
        Ignore idle fragments shorter than this many seconds. No scheduler knows how long a node will stay idle, so
        the result relies on hindsight [default: use all fragments]
    node_choice
        Rule that chooses the free nodes for a growing task [default: blocks]
    node_power
        Power of a used node in watts, from which the energy use of tasks is computed
    nodes
        Number of nodes to use (-nN) [default: all]
    price
        Price of a kilowatt-hour, from which the energy costs of tasks are computed
    repeat_tasks
        Submit the set of tasks repeatedly until the log ends. A round begins when all tasks of the previous round
        have been admitted and the number of active tasks is below both --max-tasks and the size of the set. In the
        second round, task `a` is called `a#2`
    scripted
        Apply the allocations in this alloc.jsonl file instead of calling a solver. The replay ends after the last
        allocation
    seed
        Seed of the random initial assignment [default: 0]
    skip_invalid
        Leave out faulty tasks, and list them in skipped.csv
    skip_rows
        Number of rows to drop at the start of the log; the original always drops 1000 [default: 0]
    strict
        Exit with 1 if a solver program gave an invalid answer, timed out or crashed. Faults are always reported
    t_fwd
        Forward window in seconds, within which a reallocation must pay off (-Tfwd). `auto` uses the window that
        `gleaner inspect` suggests for the log and the tasks [default: auto]
    time_limit
        Time limit for one decision of highs, cbc, a program, or the exact solver for node classes, in seconds
        (-optTL) [default: 10]
    timezone
        Time zone of the log, such as America/Chicago or +01:00 [default: the zone that the log states]
    to
        End of the part of the log to use
    topology
        Network of the log's nodes, for --node-choice: Slurm's topology.conf, or the output of `scontrol show
        topology`. The order of nodes in the topology replaces the order of names

    >>> run = replay("dataset/idle.csv", "dataset/tasks.toml", t_fwd=120)
    >>> run.complete, len(run.tasks)
    (True, 20)
    """
    return api.replay(
        events,
        tasks,
        solver=solver,
        objective=objective,
        search=search,
        groups=groups,
        out=out,
        **api.given(
            all_rows=all_rows,
            big_m=big_m,
            bound=bound,
            cache=cache,
            check=check,
            class_feature=class_feature,
            class_resource=class_resource,
            classes=classes,
            completion_events=completion_events,
            currency=currency,
            curves=curves,
            drop_end_row=drop_end_row,
            first_node=first_node,
            formulation=formulation,
            from_=from_,
            gap=gap,
            gpus_per_node=gpus_per_node,
            hand_back=hand_back,
            initial=initial,
            max_tasks=max_tasks,
            min_fragment=min_fragment,
            node_choice=node_choice,
            node_power=node_power,
            nodes=nodes,
            price=price,
            repeat_tasks=repeat_tasks,
            scripted=scripted,
            seed=seed,
            skip_invalid=skip_invalid,
            skip_rows=skip_rows,
            strict=strict,
            t_fwd=t_fwd,
            time_limit=time_limit,
            timezone=timezone,
            to=to,
            topology=topology,
        ),
    )


def simulate(
    trace: Union[Input, Trace, None] = None,
    cluster: Optional[Input] = None,
    *,
    policy: Union[str, OwnPolicy, Sequence[Union[str, OwnPolicy]], None] = None,
    out: Optional[StrPath] = None,
    check: Optional[bool] = None,
    colocate: Optional[Input] = None,
    corrected: Optional[Literal['no', 'only', 'both']] = None,
    data: Optional[str] = None,
    elastic: Optional[str] = None,
    epoch: Optional[When] = None,
    estimates: Optional[Union[Input, Number]] = None,
    experiment: Optional[str] = None,
    first_estimate: Optional[Number] = None,
    forecast: Optional[Union[Input, Number]] = None,
    from_: Optional[When] = None,
    gpus_per_node: Optional[Number] = None,
    idle_events: Optional[Input] = None,
    jobs: Optional[Number] = None,
    lend: Optional[Union[str, Sequence[str]]] = None,
    model_seed: Optional[Number] = None,
    models: Optional[str] = None,
    no_profile: Optional[bool] = None,
    placer: Optional[str] = None,
    preset: Optional[Literal['venus-sept']] = None,
    profiler: Optional[str] = None,
    profiles: Optional[Input] = None,
    series: Optional[Input] = None,
    skip_invalid: Optional[bool] = None,
    sweep: Optional[bool] = None,
    to: Optional[When] = None,
    trace_dir: Optional[str] = None,
    with_drain: Optional[bool] = None,
    without: Optional[Union[Literal['packing', 'throughput', 'estimate'], Sequence[Literal['packing', 'throughput', 'estimate']]]] = None,
) -> Run:
    """Simulates scheduling policies on a job trace of a GPU cluster.

    ``trace`` and ``cluster`` are files or tables. Alternatively, pass a :class:`Trace` as ``trace``, or set ``data`` to
    the directory that contains both files. ``policy`` accepts names of policies, and your own policies, as classes or
    instances. Each virtual cluster gets a new instance of the class, or a copy of the instance. ``out`` is a directory
    for the results. In the list of options, "the original" is Lucid's simulator.

    An exception in one of your policies ends the simulation, as Ctrl-C does. The exception's attribute ``run`` contains
    the results of the policies that had finished.

    Options:

    check
        Check every schedule with a checker that shares no code with the policies
    colocate
        For lucid: measurements of pairs of workloads on the same GPUs
    corrected
        Correct two faults of Lucid in the original simulator. When one job of a pair ends, the other returns to full
        speed. A profiled job joins its virtual cluster when its profiling ends, not at its submission. Without a
        value, the option means `only`. `=no` simulates the original Lucid, which is the default with --preset, -e and
        --sweep. `=both` simulates Lucid twice, once as in the original and once corrected
    data
        Directory that holds all files under their usual names: jobs.csv, vc_config.csv, single_data.csv,
        colocate_info.csv, throughput_pred.csv, duration_estimate.csv. Options that name a single file take precedence
    elastic
        Virtual cluster that lends an additional node while many jobs are waiting. Needs --forecast
    epoch
        Date of second 0 of the trace, such as 2020-04-01 [default: the date of the trace, the date of the experiment,
        or 1970-01-01]. It sets the dates in the --idle-events log, and the hours and weekdays from which models learn
    estimates
        Estimated durations, for qssf, lucid and easy: a file with the columns job_id and priority (in seconds),
        `oracle` (the true durations), one number of seconds for all jobs, or an estimator. The estimators are
        `history` (the earlier jobs of the user), `median`, `mean`, `ebm`, `ebm-seconds` and `best`. If --models DIR
        is given, the estimator is read from this directory. Otherwise it is learnt during the simulation, as with
        --models train. In that case, `best` chooses again each week among all estimators except ebm-seconds
    experiment
        An experiment of the original, such as Venus_Sept, Venus_July or Philly. Needs -t
    first_estimate
        Estimate for every job of the first week, if estimates are learnt [default: 3600]
    forecast
        For lucid: forecast of submissions, a file with the columns time, pred_gpu_job and pred_gpu_num, or one number
        for both. Without a forecast, lucid always shares GPUs
    from_
        Time of the first submission to simulate, if the trace has dates
    gpus_per_node
        Number of GPUs per node [default: 8]
    idle_events
        Write the times at which each node is fully idle, as an event log for `gleaner replay`: .csv, .parquet or
        .gev. This requires a single policy. If the trace has no dates, --epoch sets them
    jobs
        Number of threads [default: the number of cores]. The results do not depend on this number
    lend
        Virtual clusters that lend nodes to the profiler for the whole simulation: `auto` (each node comes from the
        virtual cluster with the most remaining nodes), or VC=NODES, separated by commas. Without loans, the
        profiler's nodes are extra nodes, which other policies do not have [default: as published with `--profiler
        auto`, otherwise no loans]
    model_seed
        Seed of the models that are learnt [default: 0]
    models
        Models that provide estimates, the forecast and sharing scores in place of files. Options that name a single
        file take precedence. DIR contains models written by `gleaner train`. Estimates come from the estimator that
        ranked held-out jobs best, unless --estimates names another estimator. With `train`, the models are trained on
        the experiment's own inputs (trace, submission counts, profiles). Predictions never use submissions or jobs
        from later than the time of the prediction. The forecast is learnt from the submissions before the start of
        the simulation. If these submissions cover less than a week, the forecast is learnt again each week. The
        estimates are learnt again each week from the jobs that have ended by then
    no_profile
        Learn estimates without the profiles of jobs. In published traces, profiles were derived from the durations
        and so reveal them
    placer
        Placement of jobs: consolidate, consolidate-first or random [default: consolidate]
    preset
        A published experiment, whose files are in the --data directory
    profiler
        `auto`: as published for the clusters Venus and Philly, off for other clusters. `off`: no profiler.
        TIME,NODES,FACTOR: TIME seconds of profiling, on NODES nodes, for each job that requests at most NODES times
        FACTOR GPUs [default: auto]
    profiles
        For lucid: profiles of workloads that run alone on their GPUs, with sharing scores. Profiles are measured, or
        predicted by `gleaner driple profiles`
    series
        Submission counts: a file with the number of submissions per ten-minute interval, before and during the trace
        [default: cluster_throughput.csv in --data if present, otherwise counts from the trace]
    skip_invalid
        Leave out faulty jobs, and list them in skipped.csv
    sweep
        Simulate the policies that the original's --sweep simulates: fifo, sjf, srtf, qssf and tiresias
    to
        Time of the last submission to simulate, if the trace has dates
    trace_dir
        Directory of the experiment's trace, as in the original
    with_drain
        Extend the --idle-events log to the end of the last job. By default, the log ends at the last submission.
        After the last submission, the simulated cluster gradually empties, unlike a real cluster
    without
        Parts of Lucid to leave out, separated by commas

    >>> run = simulate(data="dataset/cluster", policy=["fifo", "srtf"])
    >>> run.policies.column("policy")
    ['fifo', 'srtf']
    """
    return api.simulate(
        trace,
        cluster,
        policy=policy,
        out=out,
        **api.given(
            check=check,
            colocate=colocate,
            corrected=corrected,
            data=data,
            elastic=elastic,
            epoch=epoch,
            estimates=estimates,
            experiment=experiment,
            first_estimate=first_estimate,
            forecast=forecast,
            from_=from_,
            gpus_per_node=gpus_per_node,
            idle_events=idle_events,
            jobs=jobs,
            lend=lend,
            model_seed=model_seed,
            models=models,
            no_profile=no_profile,
            placer=placer,
            preset=preset,
            profiler=profiler,
            profiles=profiles,
            series=series,
            skip_invalid=skip_invalid,
            sweep=sweep,
            to=to,
            trace_dir=trace_dir,
            with_drain=with_drain,
            without=without,
        ),
    )


def compare(
    problems: Union[StrPath, Sequence[Union[Problem, ClassProblem]], None] = None,
    *,
    events: Optional[Events] = None,
    tasks: Optional[Tasks] = None,
    solvers: Union[str, Solver, Sequence[Union[str, Solver]], None] = None,
    out: Optional[StrPath] = None,
    all_rows: Optional[bool] = None,
    bound: Optional[bool] = None,
    cache: Optional[bool] = None,
    class_feature: Optional[Union[str, Sequence[str]]] = None,
    class_resource: Optional[str] = None,
    classes: Optional[Input] = None,
    completion_events: Optional[bool] = None,
    currency: Optional[str] = None,
    curves: Optional[Input] = None,
    drop_end_row: Optional[bool] = None,
    every: Optional[Number] = None,
    first_node: Optional[Number] = None,
    from_: Optional[When] = None,
    gap: Optional[Number] = None,
    gpus_per_node: Optional[Number] = None,
    hand_back: Optional[Number] = None,
    initial: Optional[Literal['random', 'solve', 'empty']] = None,
    max_tasks: Optional[Number] = None,
    min_fragment: Optional[Number] = None,
    node_choice: Optional[Literal['arrival', 'blocks', 'learned']] = None,
    node_power: Optional[str] = None,
    nodes: Optional[Number] = None,
    objective: Optional[str] = None,
    price: Optional[str] = None,
    program: Optional[Union[str, Sequence[str]]] = None,
    repeat_tasks: Optional[bool] = None,
    search: Optional[Literal['random', 'successive-halving', 'asha', 'hyperband', 'median', 'pbt', 'bohb']] = None,
    seed: Optional[Number] = None,
    skip_rows: Optional[Number] = None,
    strict: Optional[bool] = None,
    t_fwd: Optional[Number] = None,
    time_limit: Optional[Number] = None,
    timezone: Optional[str] = None,
    to: Optional[When] = None,
    topology: Optional[Input] = None,
) -> Run:
    """Compares solvers on the same problems: the problems in a file or a list, or those that arise in a replay of
    ``events`` and ``tasks``. ``solvers`` accepts solver names and your own functions. In the list of options, "the
    original" is BFTrainer's replayer.

    Options:

    all_rows
        Keep the rows in which no selected node changes. In scripts of `gleaner harvest`, allocations can also change
        at these rows
    bound
        Compute an upper bound on the work of any allocator, even one that knew the whole log, with the same tasks and
        rescaling costs (docs/BOUND.md)
    cache
        Keep a copy that loads faster, LOG.gev, next to the log. The copy is rebuilt when the log changes
    class_feature
        Slurm features, separated by commas, that serve as classes for nodes without GPUs of a known type. If a node
        has several of these features, the one that comes first in the option is used
    class_resource
        PBS resource whose value is the class, such as gputype
    classes
        Classes of the nodes, such as types of GPUs: TOML, CSV with the columns node and class, or the output of
        `scontrol show nodes`, `sinfo -N -o "%N %G %f"` or `pbsnodes -av` (dataset/README.md). They replace the
        classes in the event log
    completion_events
        Reallocate the nodes of a finished task as soon as it finishes (default, except with the original's flags)
    currency
        Currency of the price, such as EUR
    curves
        Scaling curves: the original's pickle of curves (-scfn)
    drop_end_row
        Drop the last row if it changes no nodes, as the original does. By default, it is kept as the end of the log.
        Implied by the original's flags
    every
        Compare on the first decision of the replay, and on every K-th decision after it [default: 100]
    first_node
        Index of the first node (column) of the log to use, from 0 (-nis) [default: 0]
    from_
        Start of the part of the log to use, such as "2026-01-31 08:00": in the local time of the log, or with an
        offset from UTC. Earlier rows only determine which nodes are idle at that time
    gap
        Relative gap at which MILP solvers consider a plan optimal [default: 1e-9]
    gpus_per_node
        Number of GPUs per node, from which the GPU-hours of tasks are computed
    hand_back
        Count the batch jobs that would start late if a task took this many seconds to hand back a node
    initial
        Initial assignment of the idle nodes [default: random]
    max_tasks
        Maximum number of concurrently active tasks (-maxJ) [default: 10]
    min_fragment
        Ignore idle fragments shorter than this many seconds. No scheduler knows how long a node will stay idle, so
        the result relies on hindsight [default: use all fragments]
    node_choice
        Rule that chooses the free nodes for a growing task [default: blocks]
    node_power
        Power of a used node in watts, from which the energy use of tasks is computed
    nodes
        Number of nodes to use (-nN) [default: all]
    objective
        Objective to maximise: a name, or an expression such as "rate / left", which is evaluated for each task
        (docs/OBJECTIVES.md) [default: file]
    price
        Price of a kilowatt-hour, from which the energy costs of tasks are computed
    program
        A solver program to include in the comparison (docs/SOLVERS.md), such as "exec:python3 dp.py"; may be given
        more than once
    repeat_tasks
        Submit the set of tasks repeatedly until the log ends. A round begins when all tasks of the previous round
        have been admitted and the number of active tasks is below both --max-tasks and the size of the set. In the
        second round, task `a` is called `a#2`
    search
        Algorithm that starts and stops the trials of a search, instead of the algorithm in the task file
        (docs/SEARCHES.md)
    seed
        Seed of the random initial assignment [default: 0]
    skip_rows
        Number of rows to drop at the start of the log; the original always drops 1000 [default: 0]
    strict
        Exit with 1 if a program gave an invalid answer, timed out or crashed
    t_fwd
        Forward window in seconds, within which a reallocation must pay off (-Tfwd). `auto` uses the window that
        `gleaner inspect` suggests for the log and the tasks [default: auto]
    time_limit
        Time limit of a solver for one problem, in seconds [default: 10]
    timezone
        Time zone of the log, such as America/Chicago or +01:00 [default: the zone that the log states]
    to
        End of the part of the log to use
    topology
        Network of the log's nodes, for --node-choice: Slurm's topology.conf, or the output of `scontrol show
        topology`. The order of nodes in the topology replaces the order of names

    >>> run = compare("dataset/problems.jsonl", solvers=["exact", "equal-share"])
    >>> run.solvers.column("solver")
    ['exact', 'equal-share']
    """
    return api.compare(
        problems,
        events=events,
        tasks=tasks,
        solvers=solvers,
        out=out,
        **api.given(
            all_rows=all_rows,
            bound=bound,
            cache=cache,
            class_feature=class_feature,
            class_resource=class_resource,
            classes=classes,
            completion_events=completion_events,
            currency=currency,
            curves=curves,
            drop_end_row=drop_end_row,
            every=every,
            first_node=first_node,
            from_=from_,
            gap=gap,
            gpus_per_node=gpus_per_node,
            hand_back=hand_back,
            initial=initial,
            max_tasks=max_tasks,
            min_fragment=min_fragment,
            node_choice=node_choice,
            node_power=node_power,
            nodes=nodes,
            objective=objective,
            price=price,
            program=program,
            repeat_tasks=repeat_tasks,
            search=search,
            seed=seed,
            skip_rows=skip_rows,
            strict=strict,
            t_fwd=t_fwd,
            time_limit=time_limit,
            timezone=timezone,
            to=to,
            topology=topology,
        ),
    )


@overload
def solve(
    problems: AnyProblem,
    *,
    solver: Optional[str] = None,
    big_m: Optional[Literal['corrected', 'paper']] = None,
    check: Optional[bool] = None,
    formulation: Optional[Literal['counts', 'paper']] = None,
    gap: Optional[Number] = None,
    strict: Optional[bool] = None,
    time_limit: Optional[Number] = None,
) -> Answer: ...


@overload
def solve(
    problems: Union[StrPath, Iterable[AnyProblem]],
    *,
    solver: Optional[str] = None,
    big_m: Optional[Literal['corrected', 'paper']] = None,
    check: Optional[bool] = None,
    formulation: Optional[Literal['counts', 'paper']] = None,
    gap: Optional[Number] = None,
    strict: Optional[bool] = None,
    time_limit: Optional[Number] = None,
) -> list[Answer]: ...


def solve(
    problems: Any,
    *,
    solver: Optional[str] = None,
    big_m: Optional[Literal['corrected', 'paper']] = None,
    check: Optional[bool] = None,
    formulation: Optional[Literal['counts', 'paper']] = None,
    gap: Optional[Number] = None,
    strict: Optional[bool] = None,
    time_limit: Optional[Number] = None,
) -> Any:
    """Solves allocation problems. Returns an :class:`Answer` for a single problem, and a list of answers for several
    problems or a file.

    A problem is a :class:`Problem`, a :class:`ClassProblem`, or a dict in the format of ``gleaner solve``.

    Options:

    big_m
        Big-M constant, which limits by how many nodes a task can grow or shrink in one decision. The exact solver
        also applies these limits [default: corrected]
    check
        Check every answer with a checker that shares no code with the solvers
    formulation
        Formulation of the problem for highs and cbc [default: counts]
    gap
        Relative gap at which highs and cbc consider a plan optimal [default: 1e-9]
    strict
        Exit with 1 if a solver program gave an invalid answer, timed out or crashed. Faults are always reported
    time_limit
        Time limit for one decision of highs, cbc, a program, or the exact solver for node classes, in seconds
        (-optTL) [default: 10]

    >>> task = {"name": "a", "min_nodes": 1, "max_nodes": 4, "rescale_up": 1, "rescale_down": 1,
    ...         "curve_nodes": [0, 4], "curve_objective": [0, 40], "current": 1}
    >>> answer = solve({"nodes": 4, "t_fwd": 10, "tasks": [task]})
    >>> answer.status, answer.counts, answer.objective
    ('optimal', [4], 390.0)
    """
    return api.solve(
        problems,
        solver=solver,
        **api.given(
            big_m=big_m,
            check=check,
            formulation=formulation,
            gap=gap,
            strict=strict,
            time_limit=time_limit,
        ),
    )


@overload
def sweep(
    plan: StrPath,
    *,
    out: Optional[StrPath] = None,
    best: Optional[str] = None,
    bootstrap: Optional[Number] = None,
    jobs: Optional[Number] = None,
    strict: Optional[bool] = None,
    windows: Optional[Number] = None,
) -> Run: ...


@overload
def sweep(
    plan: Mapping[str, Any],
    *,
    mode: Optional[Literal["replay", "simulate"]] = None,
    out: Optional[StrPath] = None,
    workers: Optional[int] = None,
    progress: Optional[Progress] = None,
    best: Optional[str] = None,
    bootstrap: Optional[Number] = None,
    jobs: Optional[Number] = None,
    strict: Optional[bool] = None,
    windows: Optional[Number] = None,
) -> SweepRuns: ...


def sweep(
    plan: Union[StrPath, Mapping[str, Any]],
    *,
    mode: Optional[Literal["replay", "simulate"]] = None,
    out: Optional[StrPath] = None,
    workers: Optional[int] = None,
    progress: Optional[Progress] = None,
    best: Optional[str] = None,
    bootstrap: Optional[Number] = None,
    jobs: Optional[Number] = None,
    strict: Optional[bool] = None,
    windows: Optional[Number] = None,
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

    Options:

    best
        Metric whose mean over the seeds or windows determines the best settings [default: total_work; for simulations
        avg_jct_s]. Ties are broken by total_work, completion_mean_s and rescale_loss; for simulations by avg_jct_s,
        avg_queue_s and checkpoints
    bootstrap
        Replay each week of the log from its own start, or each day if the log has fewer than eight weeks. Means are
        then computed over these blocks, with 95 % percentile intervals from COUNT bootstrap resamples of the blocks.
        Overrides windows and bootstrap in the plan
    jobs
        Number of concurrent runs [default: the number of cores]. The results do not depend on this number
    strict
        Exit with 1 if a solver program gave an invalid answer, timed out or crashed in any run. Faults are always
        reported
    windows
        Cut the log into COUNT parts of equal duration, and replay each part from its own start. Means and 95 %
        intervals are then computed over the parts. Intervals need at least 5 parts. Runs have a setting `window`,
        from 1 to COUNT. Overrides windows and bootstrap in the plan

    >>> found = sweep({"events": "dataset/idle.csv", "tasks": "dataset/tasks.toml", "t_fwd": [60, 120]}, workers=1)
    >>> [settings["t_fwd"] for settings, run in found.runs if run.complete]
    [60, 120]
    """
    return api.sweep(
        plan,
        mode=mode,
        out=out,
        workers=workers,
        progress=progress,
        **api.given(
            best=best,
            bootstrap=bootstrap,
            jobs=jobs,
            strict=strict,
            windows=windows,
        ),
    )


def inspect(
    events: Events,
    *,
    tasks: Optional[Tasks] = None,
    all_rows: Optional[bool] = None,
    cache: Optional[bool] = None,
    class_feature: Optional[Union[str, Sequence[str]]] = None,
    class_resource: Optional[str] = None,
    classes: Optional[Input] = None,
    curves: Optional[Input] = None,
    drop_end_row: Optional[bool] = None,
    first_node: Optional[Number] = None,
    from_: Optional[When] = None,
    max_tasks: Optional[Number] = None,
    nodes: Optional[Number] = None,
    skip_rows: Optional[Number] = None,
    timezone: Optional[str] = None,
    to: Optional[When] = None,
) -> Inspection:
    """Describes an event log: its idle time, idle fragments, and idle nodes over time. In the list of options, "the
    original" is BFTrainer's replayer.

    Options:

    all_rows
        Keep the rows in which no selected node changes. In scripts of `gleaner harvest`, allocations can also change
        at these rows
    cache
        Keep a copy that loads faster, LOG.gev, next to the log. The copy is rebuilt when the log changes
    class_feature
        Slurm features, separated by commas, that serve as classes for nodes without GPUs of a known type. If a node
        has several of these features, the one that comes first in the option is used
    class_resource
        PBS resource whose value is the class, such as gputype
    classes
        Classes of the nodes, such as types of GPUs: TOML, CSV with the columns node and class, or the output of
        `scontrol show nodes`, `sinfo -N -o "%N %G %f"` or `pbsnodes -av` (dataset/README.md). They replace the
        classes in the event log
    curves
        Scaling curves: the original's pickle of curves
    drop_end_row
        Drop the last row if it changes no nodes, as the original does. By default, it is kept as the end of the log.
        Implied by the original's flags
    first_node
        Index of the first node (column) of the log to use, from 0 (-nis) [default: 0]
    from_
        Start of the part of the log to use, such as "2026-01-31 08:00": in the local time of the log, or with an
        offset from UTC. Earlier rows only determine which nodes are idle at that time
    max_tasks
        Maximum number of concurrently active tasks, like the replay option of the same name [default: 10]
    nodes
        Number of nodes to use (-nN) [default: all]
    skip_rows
        Number of rows to drop at the start of the log; the original always drops 1000 [default: 0]
    timezone
        Time zone of the log, such as America/Chicago or +01:00 [default: the zone that the log states]
    to
        End of the part of the log to use

    >>> inspect("dataset/idle.csv").findings["nodes"]
    100
    """
    return api.inspect(
        events,
        tasks=tasks,
        **api.given(
            all_rows=all_rows,
            cache=cache,
            class_feature=class_feature,
            class_resource=class_resource,
            classes=classes,
            curves=curves,
            drop_end_row=drop_end_row,
            first_node=first_node,
            from_=from_,
            max_tasks=max_tasks,
            nodes=nodes,
            skip_rows=skip_rows,
            timezone=timezone,
            to=to,
        ),
    )


def pilots(
    events: Events,
    *,
    all_rows: Optional[bool] = None,
    best: Optional[Number] = None,
    cache: Optional[bool] = None,
    delay: Optional[Number] = None,
    drop_end_row: Optional[bool] = None,
    first_node: Optional[Number] = None,
    from_: Optional[When] = None,
    grid: Optional[Number] = None,
    lengths: Optional[Union[Number, Sequence[Number]]] = None,
    longest: Optional[Number] = None,
    nodes: Optional[Number] = None,
    plan: Optional[Union[Number, Sequence[Number]]] = None,
    skip_rows: Optional[Number] = None,
    startup: Optional[Number] = None,
    time_limit: Optional[Number] = None,
    timezone: Optional[str] = None,
    to: Optional[When] = None,
) -> Pilots:
    """Simulates pilot jobs on the idle nodes of an event log. ``lengths`` lists the wall times of the pilots, in
    minutes. Alternatively, ``best=K`` finds the best ladders (sets of wall times) of at most 1, 2, ..., K wall times,
    and simulates pilots with them.

    The results cover three models. The model ``fits`` is optimistic: the scheduler knows how long each node stays idle.
    Under ``kept`` and ``lost``, the scheduler does not know this, and preempted pilots keep or lose their work. In the
    list of options, "the original" is BFTrainer's replayer.

    Options:

    all_rows
        Keep the rows in which no selected node changes. In scripts of `gleaner harvest`, allocations can also change
        at these rows
    best
        Find the best wall times under the model `fits`: the best ladders of at most 1, 2, ..., K wall times
    cache
        Keep a copy that loads faster, LOG.gev, next to the log. The copy is rebuilt when the log changes
    delay
        Seconds that a node waits for the scheduler to start each pilot [default: 10]
    drop_end_row
        Drop the last row if it changes no nodes, as the original does. By default, it is kept as the end of the log.
        Implied by the original's flags
    first_node
        Index of the first node (column) of the log to use, from 0 (-nis) [default: 0]
    from_
        Start of the part of the log to use, such as "2026-01-31 08:00": in the local time of the log, or with an
        offset from UTC. Earlier rows only determine which nodes are idle at that time
    grid
        Choose the best wall times among multiples of this number of minutes [default: 1]
    lengths
        Wall times of the pilots in minutes, separated by commas, such as 2,4,8,16
    longest
        Longest wall time that the search may choose, in minutes [default: 120]
    nodes
        Number of nodes to use (-nN) [default: all]
    plan
        Evaluate this plan instead of the best plan. A plan lists the wall times, in minutes, of the pilots that a
        node starts one after another. 4x3 means 4,4,4. Usually, the plan is the `plan for lost` that `gleaner pilots`
        printed for another log. The model `fits` uses the plan's wall times as a ladder, and the model `kept` ignores
        the plan
    skip_rows
        Number of rows to drop at the start of the log; the original always drops 1000 [default: 0]
    startup
        Seconds from the start of a pilot until it is ready [default: 20]
    time_limit
        Seconds after which the search for each ladder ends with the best ladder found so far [default: 60]
    timezone
        Time zone of the log, such as America/Chicago or +01:00 [default: the zone that the log states]
    to
        End of the part of the log to use

    >>> found = pilots("dataset/idle.csv", lengths=[2, 4, 8, 16])
    >>> fits = found.results["ladders"][0]["fits"]
    >>> 0 < fits["ready_share"] < found.results["kept"]["ready_share"]
    True
    """
    return api.pilots(
        events,
        **api.given(
            all_rows=all_rows,
            best=best,
            cache=cache,
            delay=delay,
            drop_end_row=drop_end_row,
            first_node=first_node,
            from_=from_,
            grid=grid,
            lengths=lengths,
            longest=longest,
            nodes=nodes,
            plan=plan,
            skip_rows=skip_rows,
            startup=startup,
            time_limit=time_limit,
            timezone=timezone,
            to=to,
        ),
    )


def ingest(
    format: str,
    *files: StrPath,
    output: Optional[StrPath] = None,
    jobs: Optional[StrPath] = None,
    bounds: Optional[bool] = None,
    class_feature: Optional[Union[str, Sequence[str]]] = None,
    class_resource: Optional[str] = None,
    classes: Optional[Input] = None,
    cluster: Optional[Input] = None,
    columns: Optional[Union[str, Sequence[str]]] = None,
    cores_per_node: Optional[Number] = None,
    delimiter: Optional[str] = None,
    events: Optional[Input] = None,
    from_: Optional[When] = None,
    gpu: Optional[bool] = None,
    gpus_per_node: Optional[Number] = None,
    machine: Optional[Literal['kestrel', 'polaris', 'aurora', 'theta', 'mira', 'lassen', 'supercloud', 'marconi100', 'adastra', 'lisa', 'fugaku', 'eagle', 'cirrus', 'lingjun', 'acme', 'tacc', 'princeton']] = None,
    machines: Optional[Input] = None,
    max_gap: Optional[Number] = None,
    max_unknown: Optional[Number] = None,
    members: Optional[Input] = None,
    node_count: Optional[Number] = None,
    nodes: Optional[Union[Input, Number]] = None,
    nodes_field: Optional[Literal['last']] = None,
    outages: Optional[Input] = None,
    partition: Optional[Union[str, Sequence[str]]] = None,
    powered_down: Optional[Literal['busy', 'idle']] = None,
    seed: Optional[Number] = None,
    start: Optional[When] = None,
    state: Optional[Union[str, Sequence[str]]] = None,
    steps_per_second: Optional[Number] = None,
    strict: Optional[bool] = None,
    throughputs: Optional[Input] = None,
    times: Optional[Literal['polled', 'spread']] = None,
    timezone: Optional[str] = None,
    to: Optional[When] = None,
    unknown: Optional[Literal['busy', 'idle', 'deal']] = None,
    vc: Optional[Literal['partition', 'account']] = None,
    worker_type: Optional[str] = None,
) -> Union[EventLog, Trace]:
    """Reads logs of a batch scheduler (formats: ``gleaner.api.LOGS``) as an :class:`EventLog`, or a trace of a GPU
    cluster (formats: ``gleaner.api.TRACES``, or slurm with ``jobs``) as a :class:`Trace`. If ``output`` ends in .gev,
    philly gives an :class:`EventLog`.

    ``output`` is the file to which the log or the trace's table of jobs is written. For slurm, ``jobs`` is the file to
    which the table of jobs is written. Each format accepts only some of the options.

    Options:

    bounds
        Also write the logs of the lower and the upper bound on the idleness: NAME.lower.gev and NAME.upper.gev for
        NAME.gev
    class_feature
        Slurm features, separated by commas, that serve as classes for nodes without GPUs of a known type. If a node
        has several of these features, the one that comes first in the option is used
    class_resource
        PBS resource whose value is the class, such as gputype
    classes
        Classes of the nodes, such as types of GPUs: TOML, CSV with the columns node and class, or the output of
        `scontrol show nodes`, `sinfo -N -o "%N %G %f"` or `pbsnodes -av` (dataset/README.md). They replace the
        classes in the event log
    cluster
        File for the table of virtual clusters and their nodes [default: vc_config.csv next to jobs.csv, or
        NAME_vc_config.csv next to another NAME.csv]
    columns
        Columns of the table, such as start=begin_time,nodes=hosts. The roles are start, end, submit, nodes, count,
        cores, id, state and partition [default: columns with known names, in upper or lower case; the choice is
        printed]
    cores_per_node
        Processors per node [default: MaxProcs divided by MaxNodes, both from the header]
    delimiter
        Delimiter of the cells, as given to sacct with --delimiter [default: a vertical bar]
    events
        Periods during which nodes were down, drained or reserved: the output of `sacctmgr -P list events`
    from_
        Start of the event log, such as 2026-01-01T00:00:00 [default: the time from which the log is complete]
    gpu
        Use only the nodes with GPUs. --nodes must name the output of `scontrol show nodes`, in which Gres shows the
        GPUs
    gpus_per_node
        Number of GPUs per node [default: 8; 1 for Batsim]
    machine
        Machine that the data come from. The machine determines the time zone, the number of nodes and the columns.
        Known gaps in the data are printed
    machines
        Machines and their GPUs: cluster_machine_list [default: the machines that jobs name]
    max_gap
        Longest gap between two polls of a node, in seconds, during which the node is assumed to keep its state. In a
        longer gap, the state is assumed to last for one interval between polls, and is unknown for the rest of the
        gap [default: 5 times the median interval of the polls]
    max_unknown
        Maximum share of the idle time that falls on nodes in an unknown state; `any` accepts every log [default: 0.1]
    members
        Table of the nodes of each job, with one row for each job and node. At most 67,108,864 rows; each takes 16
        bytes of memory
    node_count
        Number of nodes of the machine, if jobs state only how many nodes they used [default: the number in the
        header, or the peak number of nodes in use]
    nodes
        Nodes of the machine: a list such as n[001-128], or a file. The file contains such lists, or the output of
        `scontrol show nodes` or `sinfo -N` [default: the nodes that the logs name]
    nodes_field
        Field that states a job's number of nodes. By default, the number of nodes is the number of processors divided
        by --cores-per-node
    outages
        Outages of the whole machine: a MACHINESTATUS file of ALCF. Only rows with IS_ALL_MACHINE_DOWN = 1 are used.
        An outage without an end lasts until the next job starts
    partition
        Use only jobs in these partitions or queues, separated by commas. Nodes that run other jobs count as idle, so
        limit --nodes to the nodes of the partitions. In SWF logs, partitions have numbers. If such a log does not
        state the partition of a job, the number of its queue is used
    powered_down
        Whether powered-down nodes count as idle [default: busy]
    seed
        Seed of the random times, with --times spread [default: 0]
    start
        Time at which a trace in milliseconds begins, such as 2026-01-01T00:00:00Z [default: 1970-01-01T00:00:00]
    state
        Use only jobs in these states, such as COMPLETED, separated by commas. Nodes that run other jobs count as idle
    steps_per_second
        Number of steps per second for every job. Replaces --throughputs
    strict
        Stop at the first line that cannot be read or that contradicts itself
    throughputs
        Steps per second of each kind of job: simulation_throughputs.json
    times
        Time at which the event log places a change of state between two polls [default: polled]
    timezone
        Time zone of the log, such as America/Chicago or -06:00 [default: the zone that the log states or implies;
        otherwise local times stay as they are, and seconds since 1970 are shown in UTC]
    to
        End of the event log [default: the time up to which the log is complete]
    unknown
        State that the event log shows for nodes whose state is unknown [default: deal]
    vc
        Column whose values are the virtual clusters of the jobs [default: partition]
    worker_type
        Type of GPU whose throughputs are used [default: v100]

    >>> ingest("slurm", "dataset/logs/sacct.txt")
    <gleaner.EventLog: ...
    """
    return api.ingest(
        format,
        *files,
        output=output,
        jobs=jobs,
        **api.given(
            bounds=bounds,
            class_feature=class_feature,
            class_resource=class_resource,
            classes=classes,
            cluster=cluster,
            columns=columns,
            cores_per_node=cores_per_node,
            delimiter=delimiter,
            events=events,
            from_=from_,
            gpu=gpu,
            gpus_per_node=gpus_per_node,
            machine=machine,
            machines=machines,
            max_gap=max_gap,
            max_unknown=max_unknown,
            members=members,
            node_count=node_count,
            nodes=nodes,
            nodes_field=nodes_field,
            outages=outages,
            partition=partition,
            powered_down=powered_down,
            seed=seed,
            start=start,
            state=state,
            steps_per_second=steps_per_second,
            strict=strict,
            throughputs=throughputs,
            times=times,
            timezone=timezone,
            to=to,
            unknown=unknown,
            vc=vc,
            worker_type=worker_type,
        ),
    )
