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
    """Options of ``replay``."""

    big_m: Literal['corrected', 'paper']
    """Big-M of the bounds on how far a task may grow or shrink; exact obeys it too [default: corrected]"""

    bound: bool
    """Compute an upper bound of the work that any allocator could have done that knew the whole log, with these
    tasks and their costs (docs/BOUND.md)"""

    cache: bool
    """Keep a fast copy LOG.gev beside the log. It is made again when the log changes"""

    check: bool
    """Check every decision with a checker that shares no code with the solvers"""

    completion_events: bool
    """Reallocate the nodes of a finished task as soon as it finishes, not at the next event of the log"""

    curves: Input
    """Scaling curves: the original's second pickle (-scfn)"""

    first_node: Number
    """First node (column) of the log to use (-nis) [default: 0]"""

    formulation: Literal['counts', 'paper']
    """How highs and cbc formulate the problem [default: counts]"""

    from_: When
    """First time of the log to use, such as "2026-01-31 08:00": in the local time of the log, or with an offset from
    UTC. Earlier rows only say which nodes are idle at that time"""

    gap: Number
    """Relative gap at which highs and cbc call a plan optimal [default: 1e-9]"""

    initial: Literal['random', 'solve', 'empty']
    """How the first idle nodes are dealt [default: random]"""

    max_tasks: Number
    """Most tasks that are active at once (-maxJ) [default: 10]"""

    node_choice: Literal['arrival', 'blocks', 'learned']
    """Which free nodes a growing task gets [default: blocks]"""

    nodes: Number
    """Number of nodes to use (-nN) [default: all]"""

    repeat_tasks: bool
    """Submit the tasks again whenever all of them are done, until the log ends. In the second round task `a` is
    called `a#2`"""

    scripted: Input
    """Apply the allocations of this alloc.jsonl instead of solving. The replay ends where the file ends"""

    search: Literal['random', 'successive-halving', 'asha', 'hyperband']
    """How the search of the tasks takes up and stops trials, in place of the algorithm that their file names
    (docs/SEARCHES.md)"""

    seed: Number
    """Seed of the random initial deal [default: 0]"""

    skip_invalid: bool
    """Leave out faulty tasks, and list them in skipped.csv"""

    skip_rows: Number
    """Rows to drop at the start of the log; the original always drops 1000 [default: 0]"""

    strict: bool
    """Exit with 1 if a solver that is a program was wrong, late or died. Its faults are told anyway"""

    t_fwd: Number
    """Forward window in seconds over which a reallocation must pay (-Tfwd). `auto` takes the window that `gleaner
    inspect` suggests for the log and the tasks [default: auto]"""

    time_limit: Number
    """Seconds that highs and cbc may take for one decision (-optTL) [default: 10]"""

    timezone: str
    """Time zone of the log, such as America/Chicago or +01:00 [default: what the log says]"""

    to: When
    """Last time of the log to use"""

    topology: Input
    """Network of the log's nodes, for --node-choice: Slurm's topology.conf, or the output of `scontrol show
    topology`. Its order takes the place of that of names"""


class SimulateOptions(TypedDict, total=False):
    """Options of ``simulate``."""

    check: bool
    """Check every schedule with a checker that shares no code with the policies"""

    colocate: Input
    """For lucid: workloads measured in pairs"""

    corrected: Literal['only', 'both']
    """When one job of a pair ends, let the other run at full speed again; in the original it stays slow. `=both`
    simulates Lucid twice, as the original and corrected"""

    data: str
    """Directory that holds all files under their usual names: jobs.csv, vc_config.csv, single_data.csv,
    colocate_info.csv, throughput_pred.csv, duration_estimate.csv. Options that name a single file take precedence"""

    elastic: str
    """Virtual cluster that lends one more node while many jobs wait. Needs --forecast"""

    epoch: When
    """Date of second 0 of the trace, such as 2020-04-01 [default: that of the trace, that of the experiment, or
    1970-01-01]. It sets the dates of --idle-events, and the hours and weekdays that models learn from"""

    estimates: Union[Input, Number]
    """Estimated durations, for qssf, lucid and easy: a file with the columns job_id and priority (in seconds);
    `oracle`, the true durations; one number of seconds for all jobs; or an estimator: `history` (the earlier jobs
    of the user), `median`, `mean`, `ebm`, `ebm-seconds`, or `best`. With --models DIR, estimators are read from
    there. Otherwise they are learnt in the simulation as with --models train; `best` then chooses again each week
    among all but ebm-seconds"""

    experiment: str
    """An experiment of the original, such as Venus_Sept, Venus_July or Philly. Needs -t"""

    first_estimate: Number
    """Estimate for every job of the first week, if estimates are learnt [default: 3600]"""

    forecast: Union[Input, Number]
    """For lucid: forecast of submissions, a file with the columns time, pred_gpu_job and pred_gpu_num, or one number
    for both. Without a forecast lucid always shares GPUs"""

    from_: When
    """Time of the first submission to simulate, if the trace has dates"""

    gpus_per_node: Number
    """GPUs of each node [default: 8]"""

    idle_events: Input
    """Write when each node is fully idle, as an event log for `gleaner replay`: .csv, .parquet or .gev. This takes a
    single policy. If the trace has no dates, --epoch sets them"""

    jobs: Number
    """Number of threads [default: the number of cores]. The results do not depend on it"""

    lend: Union[str, Sequence[str]]
    """Virtual clusters that give nodes to the profiler for the whole simulation: `auto` (all clusters, starting with
    those that keep the most nodes), or VC=NODES, separated by commas [default: as published with `--profiler
    auto`; otherwise none, and the nodes of the profiler are extra nodes, which other policies do not have]"""

    model_seed: Number
    """Seed of the models that are learnt [default: 0]"""

    models: str
    """Models that take the place of the files of estimates, forecast and sharing scores. Options that name a single
    file take precedence. DIR holds models of `gleaner train`; estimates come from the estimator that ranked
    held-out jobs best, unless --estimates names another. `train` learns the models from the data itself, and
    never from the future: the forecast from what was submitted before the start (or, with less than a week of
    that, again each week), and the estimates again each week from the jobs that have ended by then"""

    no_profile: bool
    """Learn estimates without the profiles of jobs. In published traces the profiles were made up from the
    durations, and so reveal them"""

    placer: str
    """How jobs are placed: consolidate, consolidate-first or random [default: consolidate]"""

    preset: Literal['venus-sept']
    """A published experiment, whose files are in the directory of --data"""

    profiler: str
    """`auto`: as published for the clusters Venus and Philly, off for others. `off`: no profiler. TIME,NODES,FACTOR:
    TIME seconds for each job that asks for at most NODES times FACTOR GPUs, on NODES nodes [default: auto]"""

    profiles: Input
    """For lucid: profiles of workloads that have their GPUs alone, with sharing scores; measured, or predicted by
    `gleaner driple profiles`"""

    series: Input
    """Submissions in intervals of ten minutes, before the trace and during it [default: cluster_throughput.csv in
    --data; without it, what the trace submits]"""

    skip_invalid: bool
    """Leave out faulty jobs, and list them in skipped.csv"""

    sweep: bool
    """Simulate the policies that --sweep of the original simulates: fifo, sjf, srtf, qssf and tiresias"""

    to: When
    """Time of the last submission to simulate, if the trace has dates"""

    trace_dir: str
    """Directory of the experiment's trace, as in the original"""

    without: Union[Literal['packing', 'throughput', 'estimate'], Sequence[Literal['packing', 'throughput', 'estimate']]]
    """Parts of Lucid to leave out, separated by commas"""


class SolveOptions(TypedDict, total=False):
    """Options of ``solve``."""

    big_m: Literal['corrected', 'paper']
    """Big-M of the bounds on how far a task may grow or shrink; exact obeys it too [default: corrected]"""

    check: bool
    """Check every answer with a checker that shares no code with the solvers"""

    formulation: Literal['counts', 'paper']
    """How highs and cbc formulate the problem [default: counts]"""

    gap: Number
    """Relative gap at which highs and cbc call a plan optimal [default: 1e-9]"""

    strict: bool
    """Exit with 1 if a solver that is a program was wrong, late or died. Its faults are told anyway"""

    time_limit: Number
    """Seconds that highs and cbc may take for one decision (-optTL) [default: 10]"""


class CompareOptions(TypedDict, total=False):
    """Options of ``compare``."""

    bound: bool
    """Compute an upper bound of the work that any allocator could have done that knew the whole log, with these
    tasks and their costs (docs/BOUND.md)"""

    cache: bool
    """Keep a fast copy LOG.gev beside the log. It is made again when the log changes"""

    completion_events: bool
    """Reallocate the nodes of a finished task as soon as it finishes, not at the next event of the log"""

    curves: Input
    """Scaling curves: the original's second pickle (-scfn)"""

    every: Number
    """Compare on the first and then on every K-th decision of the log [default: 100]"""

    first_node: Number
    """First node (column) of the log to use (-nis) [default: 0]"""

    from_: When
    """First time of the log to use, such as "2026-01-31 08:00": in the local time of the log, or with an offset from
    UTC. Earlier rows only say which nodes are idle at that time"""

    gap: Number
    """Relative gap at which MILP solvers call a plan optimal [default: 1e-9]"""

    initial: Literal['random', 'solve', 'empty']
    """How the first idle nodes are dealt [default: random]"""

    max_tasks: Number
    """Most tasks that are active at once (-maxJ) [default: 10]"""

    node_choice: Literal['arrival', 'blocks', 'learned']
    """Which free nodes a growing task gets [default: blocks]"""

    nodes: Number
    """Number of nodes to use (-nN) [default: all]"""

    objective: str
    """What the solver maximises: a name, or an expression for each task such as "rate / left" (docs/OBJECTIVES.md)
    [default: file]"""

    program: Union[str, Sequence[str]]
    """A program to compare too (docs/SOLVERS.md), such as "exec:python3 dp.py"; may be given more than once"""

    repeat_tasks: bool
    """Submit the tasks again whenever all of them are done, until the log ends. In the second round task `a` is
    called `a#2`"""

    search: Literal['random', 'successive-halving', 'asha', 'hyperband']
    """How the search of the tasks takes up and stops trials, in place of the algorithm that their file names
    (docs/SEARCHES.md)"""

    seed: Number
    """Seed of the random initial deal [default: 0]"""

    skip_rows: Number
    """Rows to drop at the start of the log; the original always drops 1000 [default: 0]"""

    strict: bool
    """Exit with 1 if a program was wrong, late or died"""

    t_fwd: Number
    """Forward window in seconds over which a reallocation must pay (-Tfwd). `auto` takes the window that `gleaner
    inspect` suggests for the log and the tasks [default: auto]"""

    time_limit: Number
    """Seconds that a solver may take for one problem [default: 10]"""

    timezone: str
    """Time zone of the log, such as America/Chicago or +01:00 [default: what the log says]"""

    to: When
    """Last time of the log to use"""

    topology: Input
    """Network of the log's nodes, for --node-choice: Slurm's topology.conf, or the output of `scontrol show
    topology`. Its order takes the place of that of names"""


class InspectOptions(TypedDict, total=False):
    """Options of ``inspect``."""

    cache: bool
    """Keep a fast copy LOG.gev beside the log. It is made again when the log changes"""

    curves: Input
    """Scaling curves: the original's second pickle"""

    first_node: Number
    """First node (column) of the log to use (-nis) [default: 0]"""

    from_: When
    """First time of the log to use, such as "2026-01-31 08:00": in the local time of the log, or with an offset from
    UTC. Earlier rows only say which nodes are idle at that time"""

    max_tasks: Number
    """Most tasks that are active at once, as in a replay [default: 10]"""

    nodes: Number
    """Number of nodes to use (-nN) [default: all]"""

    skip_rows: Number
    """Rows to drop at the start of the log; the original always drops 1000 [default: 0]"""

    timezone: str
    """Time zone of the log, such as America/Chicago or +01:00 [default: what the log says]"""

    to: When
    """Last time of the log to use"""


class SweepOptions(TypedDict, total=False):
    """Options of ``sweep``."""

    best: str
    """Figure by which the best settings are chosen: its mean over their seeds [default: total_work; for simulations
    avg_jct_s]. Ties are broken by total_work, completion_mean_s and rescale_loss; for simulations by avg_jct_s,
    avg_queue_s and checkpoints"""

    jobs: Number
    """Number of runs at once [default: the number of cores]. The results do not depend on it"""

    strict: bool
    """Exit with 1 if a solver that is a program was wrong, late or died in any run. Its faults are told anyway"""
