"""Gleaner computes how much elastic deep-learning training a supercomputer's idle nodes could do, and compares
scheduling policies on a GPU cluster.

The package uses the engines of the command-line program ``gleaner``, and gives the same results, byte for byte. It also
installs this program. docs/PYTHON.md is a tour of the package.
"""

from ._gleaner import (
    Answer,
    ClassProblem,
    Figure,
    Job,
    Page,
    Preempt,
    Problem,
    ProblemTask,
    Share,
    Start,
    Table,
    Task,
    View,
    __version__,
)
from .api import Inspection, Pilots
from .calls import compare, ingest, inspect, pilots, replay, simulate, solve, sweep
from .errors import DataError, Fault, FileError, GleanerError, RunError, UsageError
from .groups import Group
from .logs import EventLog, Trace
from .policy import Policy
from .run import Run, report
from .run import open_run as open
from .search import BuiltIn, Curve, Search, Trial
from .sweeps import SweepRuns

__all__ = [
    "Answer",
    "BuiltIn",
    "ClassProblem",
    "Curve",
    "DataError",
    "EventLog",
    "Fault",
    "Figure",
    "FileError",
    "GleanerError",
    "Group",
    "Inspection",
    "Job",
    "Page",
    "Pilots",
    "Policy",
    "Preempt",
    "Problem",
    "ProblemTask",
    "Run",
    "RunError",
    "Search",
    "Share",
    "Start",
    "SweepRuns",
    "Table",
    "Task",
    "Trace",
    "Trial",
    "UsageError",
    "View",
    "__version__",
    "compare",
    "ingest",
    "inspect",
    "open",
    "pilots",
    "replay",
    "report",
    "simulate",
    "solve",
    "sweep",
]
