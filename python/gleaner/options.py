"""The options of the functions, with their types and meanings. Written by tests/test_options.py from those of the
command line: ``WRITE_DOCS=1 pytest python/tests/test_options.py``."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict, Union

if TYPE_CHECKING:
    from .inputs import Input

Number = Union[int, float, str]
When = Union[str, datetime.datetime]


class ReplayOptions(TypedDict, total=False):
    """Options of ``replay``.

    big_m
        Big-M of the bounds on how far a task may grow or shrink; exact obeys it too [default: corrected]
    bound
        Compute an upper bound of the work that any allocator could have done that knew the whole log, with these
        tasks and their costs (docs/BOUND.md)
    cache
        Keep a fast copy LOG.gev beside the log. It is made again when the log changes
    check
        Check every decision with a checker that shares no code with the solvers
    completion_events
        Reallocate the nodes of a finished task as soon as it finishes, not at the next event of the log
    curves
        Scaling curves: the original's second pickle (-scfn)
    first_node
        First node (column) of the log to use (-nis) [default: 0]
    formulation
        How highs and cbc formulate the problem [default: counts]
    from_
        First time of the log to use, such as "2026-01-31 08:00": in the local time of the log, or with an offset from
        UTC. Earlier rows only say which nodes are idle at that time
    gap
        Relative gap at which highs and cbc call a plan optimal [default: 1e-9]
    initial
        How the first idle nodes are dealt [default: random]
    max_tasks
        Most tasks that are active at once (-maxJ) [default: 10]
    node_choice
        Which free nodes a growing task gets [default: blocks]
    nodes
        Number of nodes to use (-nN) [default: all]
    repeat_tasks
        Submit the tasks again whenever all of them are done, until the log ends. In the second round task `a` is
        called `a#2`
    scripted
        Apply the allocations of this alloc.jsonl instead of solving. The replay ends where the file ends
    search
        How the search of the tasks takes up and stops trials, in place of the algorithm that their file names
        (docs/SEARCHES.md)
    seed
        Seed of the random initial deal [default: 0]
    skip_invalid
        Leave out faulty tasks, and list them in skipped.csv
    skip_rows
        Rows to drop at the start of the log; the original always drops 1000 [default: 0]
    strict
        Exit with 1 if a solver that is a program was wrong, late or died. Its faults are told anyway
    t_fwd
        Forward window in seconds over which a reallocation must pay (-Tfwd). `auto` takes the window that `gleaner
        inspect` suggests for the log and the tasks [default: auto]
    time_limit
        Seconds that highs and cbc may take for one decision (-optTL) [default: 10]
    timezone
        Time zone of the log, such as America/Chicago or +01:00 [default: what the log says]
    to
        Last time of the log to use
    topology
        Network of the log's nodes, for --node-choice: Slurm's topology.conf, or the output of `scontrol show
        topology`. Its order takes the place of that of names
    """

    big_m: Literal['corrected', 'paper']
    bound: bool
    cache: bool
    check: bool
    completion_events: bool
    curves: Input
    first_node: Number
    formulation: Literal['counts', 'paper']
    from_: When
    gap: Number
    initial: Literal['random', 'solve', 'empty']
    max_tasks: Number
    node_choice: Literal['arrival', 'blocks', 'learned']
    nodes: Number
    repeat_tasks: bool
    scripted: Input
    search: Literal['random', 'successive-halving', 'asha', 'hyperband']
    seed: Number
    skip_invalid: bool
    skip_rows: Number
    strict: bool
    t_fwd: Number
    time_limit: Number
    timezone: str
    to: When
    topology: Input


class SimulateOptions(TypedDict, total=False):
    """Options of ``simulate``.

    check
        Check every schedule with a checker that shares no code with the policies
    colocate
        For lucid: workloads measured in pairs
    corrected
        When one job of a pair ends, let the other run at full speed again; in the original it stays slow. `=both`
        simulates Lucid twice, as the original and corrected
    data
        Directory that holds all files under their usual names: jobs.csv, vc_config.csv, single_data.csv,
        colocate_info.csv, throughput_pred.csv, duration_estimate.csv. Options that name a single file take precedence
    elastic
        Virtual cluster that lends one more node while many jobs wait. Needs --forecast
    epoch
        Date of second 0 of the trace, such as 2020-04-01 [default: that of the trace, that of the experiment, or
        1970-01-01]. It sets the dates of --idle-events, and the hours and weekdays that models learn from
    estimates
        Estimated durations, for qssf, lucid and easy: a file with the columns job_id and priority (in seconds);
        `oracle`, the true durations; one number of seconds for all jobs; or an estimator: `history` (the earlier jobs
        of the user), `median`, `mean`, `ebm`, `ebm-seconds`, or `best`. With --models DIR, estimators are read from
        there. Otherwise they are learnt in the simulation as with --models train; `best` then chooses again each week
        among all but ebm-seconds
    experiment
        An experiment of the original, such as Venus_Sept, Venus_July or Philly. Needs -t
    first_estimate
        Estimate for every job of the first week, if estimates are learnt [default: 3600]
    forecast
        For lucid: forecast of submissions, a file with the columns time, pred_gpu_job and pred_gpu_num, or one number
        for both. Without a forecast lucid always shares GPUs
    from_
        Time of the first submission to simulate, if the trace has dates
    gpus_per_node
        GPUs of each node [default: 8]
    idle_events
        Write when each node is fully idle, as an event log for `gleaner replay`: .csv, .parquet or .gev. This takes a
        single policy. If the trace has no dates, --epoch sets them
    jobs
        Number of threads [default: the number of cores]. The results do not depend on it
    lend
        Virtual clusters that give nodes to the profiler for the whole simulation: `auto` (all clusters, starting with
        those that keep the most nodes), or VC=NODES, separated by commas [default: as published with `--profiler
        auto`; otherwise none, and the nodes of the profiler are extra nodes, which other policies do not have]
    model_seed
        Seed of the models that are learnt [default: 0]
    models
        Models that take the place of the files of estimates, forecast and sharing scores. Options that name a single
        file take precedence. DIR holds models of `gleaner train`; estimates come from the estimator that ranked
        held-out jobs best, unless --estimates names another. `train` learns the models from the data itself, and
        never from the future: the forecast from what was submitted before the start (or, with less than a week of
        that, again each week), and the estimates again each week from the jobs that have ended by then
    no_profile
        Learn estimates without the profiles of jobs. In published traces the profiles were made up from the
        durations, and so reveal them
    placer
        How jobs are placed: consolidate, consolidate-first or random [default: consolidate]
    preset
        A published experiment, whose files are in the directory of --data
    profiler
        `auto`: as published for the clusters Venus and Philly, off for others. `off`: no profiler. TIME,NODES,FACTOR:
        TIME seconds for each job that asks for at most NODES times FACTOR GPUs, on NODES nodes [default: auto]
    profiles
        For lucid: profiles of workloads that have their GPUs alone, with sharing scores; measured, or predicted by
        `gleaner driple profiles`
    series
        Submissions in intervals of ten minutes, before the trace and during it [default: cluster_throughput.csv in
        --data; without it, what the trace submits]
    skip_invalid
        Leave out faulty jobs, and list them in skipped.csv
    sweep
        Simulate the policies that --sweep of the original simulates: fifo, sjf, srtf, qssf and tiresias
    to
        Time of the last submission to simulate, if the trace has dates
    trace_dir
        Directory of the experiment's trace, as in the original
    without
        Parts of Lucid to leave out, separated by commas
    """

    check: bool
    colocate: Input
    corrected: Literal['only', 'both']
    data: str
    elastic: str
    epoch: When
    estimates: Union[Input, Number]
    experiment: str
    first_estimate: Number
    forecast: Union[Input, Number]
    from_: When
    gpus_per_node: Number
    idle_events: Input
    jobs: Number
    lend: Union[str, Sequence[str]]
    model_seed: Number
    models: str
    no_profile: bool
    placer: str
    preset: Literal['venus-sept']
    profiler: str
    profiles: Input
    series: Input
    skip_invalid: bool
    sweep: bool
    to: When
    trace_dir: str
    without: Union[Literal['packing', 'throughput', 'estimate'], Sequence[Literal['packing', 'throughput', 'estimate']]]


class SolveOptions(TypedDict, total=False):
    """Options of ``solve``.

    big_m
        Big-M of the bounds on how far a task may grow or shrink; exact obeys it too [default: corrected]
    check
        Check every answer with a checker that shares no code with the solvers
    formulation
        How highs and cbc formulate the problem [default: counts]
    gap
        Relative gap at which highs and cbc call a plan optimal [default: 1e-9]
    strict
        Exit with 1 if a solver that is a program was wrong, late or died. Its faults are told anyway
    time_limit
        Seconds that highs and cbc may take for one decision (-optTL) [default: 10]
    """

    big_m: Literal['corrected', 'paper']
    check: bool
    formulation: Literal['counts', 'paper']
    gap: Number
    strict: bool
    time_limit: Number


class CompareOptions(TypedDict, total=False):
    """Options of ``compare``.

    bound
        Compute an upper bound of the work that any allocator could have done that knew the whole log, with these
        tasks and their costs (docs/BOUND.md)
    cache
        Keep a fast copy LOG.gev beside the log. It is made again when the log changes
    completion_events
        Reallocate the nodes of a finished task as soon as it finishes, not at the next event of the log
    curves
        Scaling curves: the original's second pickle (-scfn)
    every
        Compare on the first and then on every K-th decision of the log [default: 100]
    first_node
        First node (column) of the log to use (-nis) [default: 0]
    from_
        First time of the log to use, such as "2026-01-31 08:00": in the local time of the log, or with an offset from
        UTC. Earlier rows only say which nodes are idle at that time
    gap
        Relative gap at which MILP solvers call a plan optimal [default: 1e-9]
    initial
        How the first idle nodes are dealt [default: random]
    max_tasks
        Most tasks that are active at once (-maxJ) [default: 10]
    node_choice
        Which free nodes a growing task gets [default: blocks]
    nodes
        Number of nodes to use (-nN) [default: all]
    objective
        What the solver maximises: a name, or an expression for each task such as "rate / left" (docs/OBJECTIVES.md)
        [default: file]
    program
        A program to compare too (docs/SOLVERS.md), such as "exec:python3 dp.py"; may be given more than once
    repeat_tasks
        Submit the tasks again whenever all of them are done, until the log ends. In the second round task `a` is
        called `a#2`
    search
        How the search of the tasks takes up and stops trials, in place of the algorithm that their file names
        (docs/SEARCHES.md)
    seed
        Seed of the random initial deal [default: 0]
    skip_rows
        Rows to drop at the start of the log; the original always drops 1000 [default: 0]
    strict
        Exit with 1 if a program was wrong, late or died
    t_fwd
        Forward window in seconds over which a reallocation must pay (-Tfwd). `auto` takes the window that `gleaner
        inspect` suggests for the log and the tasks [default: auto]
    time_limit
        Seconds that a solver may take for one problem [default: 10]
    timezone
        Time zone of the log, such as America/Chicago or +01:00 [default: what the log says]
    to
        Last time of the log to use
    topology
        Network of the log's nodes, for --node-choice: Slurm's topology.conf, or the output of `scontrol show
        topology`. Its order takes the place of that of names
    """

    bound: bool
    cache: bool
    completion_events: bool
    curves: Input
    every: Number
    first_node: Number
    from_: When
    gap: Number
    initial: Literal['random', 'solve', 'empty']
    max_tasks: Number
    node_choice: Literal['arrival', 'blocks', 'learned']
    nodes: Number
    objective: str
    program: Union[str, Sequence[str]]
    repeat_tasks: bool
    search: Literal['random', 'successive-halving', 'asha', 'hyperband']
    seed: Number
    skip_rows: Number
    strict: bool
    t_fwd: Number
    time_limit: Number
    timezone: str
    to: When
    topology: Input


class InspectOptions(TypedDict, total=False):
    """Options of ``inspect``.

    cache
        Keep a fast copy LOG.gev beside the log. It is made again when the log changes
    curves
        Scaling curves: the original's second pickle
    first_node
        First node (column) of the log to use (-nis) [default: 0]
    from_
        First time of the log to use, such as "2026-01-31 08:00": in the local time of the log, or with an offset from
        UTC. Earlier rows only say which nodes are idle at that time
    max_tasks
        Most tasks that are active at once, as in a replay [default: 10]
    nodes
        Number of nodes to use (-nN) [default: all]
    skip_rows
        Rows to drop at the start of the log; the original always drops 1000 [default: 0]
    timezone
        Time zone of the log, such as America/Chicago or +01:00 [default: what the log says]
    to
        Last time of the log to use
    """

    cache: bool
    curves: Input
    first_node: Number
    from_: When
    max_tasks: Number
    nodes: Number
    skip_rows: Number
    timezone: str
    to: When


class SweepOptions(TypedDict, total=False):
    """Options of ``sweep``.

    best
        Figure by which the best settings are chosen: its mean over their seeds [default: total_work; for simulations
        avg_jct_s]. Ties are broken by total_work, completion_mean_s and rescale_loss; for simulations by avg_jct_s,
        avg_queue_s and checkpoints
    jobs
        Number of runs at once [default: the number of cores]. The results do not depend on it
    strict
        Exit with 1 if a solver that is a program was wrong, late or died in any run. Its faults are told anyway
    """

    best: str
    jobs: Number
    strict: bool
