"""Groups of tasks with limits on the total number of nodes that their tasks hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Optional, Union

from ._gleaner import Task
from .errors import UsageError
from .inputs import Staged, Staging


@dataclass(frozen=True)
class Group:
    """Limits on the total number of nodes that several tasks hold (docs/OBJECTIVES.md).

    >>> tasks = [Task(name, {1: 10.0, 4: 36.0}) for name in ("a", "b")]
    >>> run = replay("dataset/idle.csv", tasks, t_fwd=120, groups=[Group("team", ["a", "b"], max_nodes=4)])
    >>> max(run.steps["nNrun"])
    4
    """

    name: str
    """Name of the group, unique among all groups."""
    tasks: Sequence[str]
    """Names of the tasks in the group."""
    min_nodes: Optional[int] = None
    """Minimum total number of nodes that the tasks must hold, as far as the idle nodes and the tasks' bounds allow."""
    max_nodes: Union[int, Mapping[str, int], None] = None
    """Maximum total number of nodes that the tasks may hold, or a maximum for each class of nodes."""


def with_groups(staging: Staging, tasks: Any, path: str, groups: Sequence[Group]) -> str:
    """Adds groups to a copy of ``path``, the file written for the list ``tasks``. Returns the path of the copy."""
    is_list = isinstance(tasks, Staged) or isinstance(tasks, Sequence) and all(isinstance(of, Task) for of in tasks)
    if not is_list or not path.endswith(".json"):
        raise UsageError("groups: the tasks are not a list of Task; in a task file, use [[group]] tables")
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    document["group"] = [{key: value for key, value in asdict(group).items() if value is not None} for group in groups]
    return staging.text("tasks", ".json", json.dumps(document))
