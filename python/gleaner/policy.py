"""Custom scheduling policies."""

from __future__ import annotations

from typing import ClassVar, Optional, Union

from ._gleaner import Job, Preempt, Share, Start, View

Decision = Union[Start, Preempt, Share]


class Policy:
    """A scheduling policy for one virtual cluster. ``simulate(policy=[MyPolicy, "fifo"])`` creates an instance of
    ``MyPolicy``, without arguments, for each virtual cluster. With ``simulate(policy=MyPolicy(3))``, each virtual
    cluster gets a copy of the instance.

    In every second in which an event occurs, the policy is first notified of the jobs that ended or arrived. Then
    :meth:`open` begins a round. :meth:`next` is then called for one decision at a time, until it returns ``None``.
    Methods that you do not define are not called.

    >>> from collections import deque
    >>> class FirstInFirstOut(Policy):
    ...     def __init__(self):
    ...         self.queue = deque()
    ...     def submitted(self, job, view):
    ...         self.queue.append(job)
    ...     def next(self, view):
    ...         if self.queue and view.fits(self.queue[0]):
    ...             return Start(self.queue.popleft())
    """

    needs: ClassVar[str] = "jobs"
    """Inputs that the policy requires: ``"jobs"``, ``"estimates"`` (of durations), or ``"packing"`` (estimates, and
    workloads measured in pairs). Jobs can share GPUs only with ``"packing"``."""

    def submitted(self, job: Job, view: View) -> None:
        """Called when a job has joined the queue."""

    def started(self, job: Job, view: View) -> None:
        """Called when a job has started because of a decision of this policy."""

    def preempted(self, job: Job, view: View) -> None:
        """Called when a job has been preempted because of a decision of this policy and is back in the queue."""

    def ended(self, job: Job, view: View) -> None:
        """Called when a job has ended."""

    def restored(self, job: Job, view: View) -> None:
        """Called when a job that shared its GPUs is back at full speed and no longer counts as sharing."""

    def open(self, view: View) -> None:
        """Called when a round of decisions begins."""

    def next(self, view: View) -> Optional[Decision]:
        """Returns the next decision of the round, or ``None`` to end the round. The view shows the state after all
        earlier decisions of the round."""
        raise NotImplementedError(f"{type(self).__name__} has no method next(view)")

    def wake(self, view: View) -> Optional[int]:
        """Returns the next second in which the policy may make a decision even if no job arrives or ends. The second
        must be later than the current second of the view. Returns ``None`` if there is no such second."""
        return None

    def priority(self, job: Job) -> Optional[float]:
        """Returns the number by which the policy ranks a job. The result tables contain this number."""
        return None
