"""Event logs of idle nodes, and traces of the jobs of GPU clusters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import _gleaner
from ._gleaner import Table
from .errors import UsageError
from .folders import folder as new_folder

if TYPE_CHECKING:
    from .folders import Folder
    from .inputs import Input


class EventLog:
    """A log of the times at which each node was idle."""

    def __init__(self, log: _gleaner._EventLog) -> None:
        self._log = log

    @classmethod
    def read(cls, events: Input) -> EventLog:
        """Reads a log from a file in any format that ``gleaner replay`` reads, or from a table. The table has the
        columns time, node and state (or idle), or a column for each node. In the latter case, the times are in the
        first column or in the index of a pandas frame."""
        from .inputs import Staging

        with Staging() as staging:
            return cls(_gleaner._EventLog.read(staging.file("events", events)))

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes."""
        return self._log.nodes()

    @property
    def span(self) -> Optional[tuple[str, str]]:
        """First and last time; ``None`` if the log is empty."""
        return self._log.span()

    @property
    def idle_node_hours(self) -> float:
        """Idle time in hours, summed over all nodes."""
        return self._log.idle_node_hours()

    @property
    def changes(self) -> Table:
        """The rows of the log: time, node, state (1 for idle). At the first time, every node has a row. At later times,
        only nodes whose state changes have rows. A time at which nothing changes, such as the end of many logs, has a
        row without a node or a state. ``EventLog.read`` creates the same log from these rows."""
        return self._log.changes()

    def windows(self, count: int) -> list[EventLog]:
        """Cuts the log into ``count`` parts of equal duration, each of which can be replayed separately. At the start
        of a part, the same nodes are idle as at that time in the log.

        >>> log = EventLog.read("dataset/idle.csv")
        >>> [window.span for window in log.windows(2)]
        [('2026-01-01 00:00:00', '2026-01-02 00:00:00'), ('2026-01-02 00:00:00', '2026-01-03 00:00:00')]
        """
        if count < 1:
            raise UsageError(f"windows: found {count!r}, expected a number of at least 1")
        return [EventLog(window) for window in self._log.windows(count)]

    def write(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the log to a file. The name of the file must end in .gev, .csv or .parquet."""
        self._log.write(path)

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self.changes.__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> tuple[Callable[[bytes], EventLog], tuple[bytes]]:
        from . import pickles

        with new_folder() as name:
            path = Path(name, "log.gev")
            self.write(path)
            return pickles.event_log, (path.read_bytes(),)

    def __len__(self) -> int:
        return len(self._log)

    def __repr__(self) -> str:
        return f"<gleaner.EventLog: {len(self)} events of {len(self.nodes)} nodes>"


class Trace:
    """The jobs of a GPU cluster, and the nodes of its virtual clusters."""

    def __init__(self, trace: Input, cluster: Input, gpus_per_node: int = 8) -> None:
        """Reads and checks a table of jobs (job_id, vc, gpu_num, submit_time, duration) and a table of virtual clusters
        (a column of names, and num, the number of nodes). Both may be files or tables."""
        from .inputs import Staging

        with Staging() as staging:
            files = staging.file("trace", trace), staging.file("cluster", cluster)
            self._trace = _gleaner._Trace.read(*files, gpus_per_node)
        self._folder: Optional[Folder] = None
        self._inputs: dict[str, Any] = {"trace": trace, "cluster": cluster, "gpus_per_node": gpus_per_node}

    @property
    def jobs(self) -> Table:
        """The jobs in the order of their submission."""
        return self._trace.jobs()

    @property
    def vcs(self) -> dict[str, int]:
        """Number of nodes of each virtual cluster."""
        return dict(self._trace.vcs())

    @property
    def gpus_per_node(self) -> int:
        """Number of GPUs of each node."""
        return int(self._inputs["gpus_per_node"])

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        return self.jobs.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._trace)

    def __repr__(self) -> str:
        return f"<gleaner.Trace: {len(self)} jobs, {len(self.vcs)} virtual clusters>"


