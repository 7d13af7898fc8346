"""Tests that ``gleaner.simulate`` gives the same results as the command line. Also tests policies in Python."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import signal
import threading
from collections import deque
from functools import partial
from pathlib import Path
from typing import Optional

import polars
import pytest

import gleaner
from conftest import shared
from test_replay import command, same_files

DATA = "dataset/cluster"


class Fifo(gleaner.Policy):
    """First in, first out."""

    def __init__(self) -> None:
        self.queue: deque[gleaner.Job] = deque()

    def submitted(self, job: gleaner.Job, view: gleaner.View) -> None:
        self.queue.append(job)

    def next(self, view: gleaner.View) -> Optional[gleaner.Start]:
        if self.queue and view.fits(self.queue[0]):
            return gleaner.Start(self.queue.popleft())
        return None


class Srtf(gleaner.Policy):
    """Shortest job first. Uses only the view's list of waiting jobs."""

    def next(self, view: gleaner.View) -> "gleaner.Start | gleaner.Preempt | None":
        for job in sorted(view.waiting, key=lambda job: job.duration):
            if view.fits(job):
                return gleaner.Start(job)
        return None


def jobs(run: gleaner.Run, policy: str) -> polars.DataFrame:
    return polars.DataFrame(run.tables[f"{policy}_jobs"])


def test_files_are_those_of_the_command_line(tmp_path: Path) -> None:
    command("simulate", "--data", DATA, "--policy", "fifo,tiresias", "--out", tmp_path / "cli")
    run = gleaner.simulate(data=DATA, policy=["fifo", "tiresias"], out=tmp_path / "out")
    run.write(tmp_path / "written")
    assert "fifo_jobs.parquet" in same_files(tmp_path / "cli", tmp_path / "out")
    same_files(tmp_path / "out", tmp_path / "written")
    assert run.policies.column("policy") == ["fifo", "tiresias"]
    assert set(run.summary["policies"]) == {"fifo", "tiresias"}


def test_traces_may_be_tables(tmp_path: Path) -> None:
    trace = polars.read_csv(f"{DATA}/jobs.csv")
    cluster = polars.read_csv(f"{DATA}/vc_config.csv").to_pandas()
    run = gleaner.simulate(trace, cluster, policy="srtf")
    assert jobs(run, "srtf").equals(jobs(gleaner.simulate(data=DATA, policy="srtf"), "srtf"))
    read = gleaner.Trace(trace, cluster)
    assert len(read) == len(trace) and sum(read.vcs.values()) > 0
    assert jobs(gleaner.simulate(read, policy="srtf"), "srtf").equals(jobs(run, "srtf"))


def test_a_copy_of_fifo_gives_its_schedule() -> None:
    run = gleaner.simulate(data=DATA, policy=["fifo", Fifo, "sjf"], check=True)
    assert run.policies.column("policy") == ["fifo", "Fifo", "sjf"]
    assert jobs(run, "Fifo").equals(jobs(run, "fifo"))
    assert polars.DataFrame(run.Fifo_seq).equals(polars.DataFrame(run.fifo_seq))


def test_a_copy_of_fifo_gives_its_schedule_on_venus() -> None:
    data = shared("lucid", "venus_sept")
    run = gleaner.simulate(preset="venus-sept", data=data, policy=[Fifo, "fifo"])
    assert len(jobs(run, "Fifo")) > 10_000
    assert jobs(run, "Fifo").equals(jobs(run, "fifo"))


class Limited(Fifo):
    """First in, first out, but jobs with few GPUs come first. The policy has a setting and a state."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def next(self, view: gleaner.View) -> Optional[gleaner.Start]:
        for job in [job for job in self.queue if job.gpus <= self.most] or list(self.queue):
            if view.fits(job):
                self.queue.remove(job)
                return gleaner.Start(job)
        return None


def test_an_instance_is_copied_for_each_virtual_cluster() -> None:
    given = Limited(4)
    run = gleaner.simulate(data=DATA, policy=given, check=True)
    made = gleaner.simulate(data=DATA, policy=[partial(Limited, 4)])
    assert run.policies.column("policy") == ["Limited"] and jobs(run, "Limited").equals(jobs(made, "Limited"))
    assert len(set(run.vcs.column("vc"))) > 1 and not given.queue
    both = gleaner.simulate(data=DATA, policy=["fifo", Limited(4)])
    assert both.policies.column("policy") == ["fifo", "Limited"]


def test_a_policy_leaves_the_digest_of_its_source(tmp_path: Path) -> None:
    expected = hashlib.sha256(inspect.getsource(Fifo).encode()).hexdigest()
    for policy in (Fifo, Fifo(), partial(Fifo)):
        run = gleaner.simulate(data=DATA, policy=["fifo", policy], out=tmp_path)
        assert run.summary["policies"]["Fifo"]["sha256"] == expected
        assert "sha256" not in run.summary["policies"]["fifo"]
        assert gleaner.open(tmp_path).summary == run.summary
        arguments = json.loads((tmp_path / "run.json").read_text())["arguments"]
        assert arguments["functions"] == {"Fifo": {"name": "python:Fifo", "sha256": expected}}
        assert arguments["policy"] == ["fifo", "Fifo"]


def test_a_policy_may_live_by_its_view_alone() -> None:
    run = gleaner.simulate(data=DATA, policy=[Srtf, "fifo"], check=True)
    delay = dict(zip(run.policies.column("policy"), run.policies.column("avg_jct_s")))
    assert delay["Srtf"] < delay["fifo"]


def test_views_and_jobs_say_what_is() -> None:
    seen = set()

    class Looks(Fifo):
        def next(self, view: gleaner.View) -> Optional[gleaner.Start]:
            assert list(self.queue) == view.waiting
            assert view.free_gpus == sum(view.free_by_node)
            for job in view.running:
                assert sum(gpus for _, gpus in view.nodes(job)) == job.gpus and view.is_alone(job)
                assert 0 <= view.left(job) <= job.duration and view.since(job) <= view.now
            for job in view.waiting:
                assert job.submit <= view.now and job.estimate == job.duration
                assert view.left(job) == job.duration
                with pytest.raises(ValueError, match="not running"):
                    view.since(job)
            seen.add(bool(view.running))
            return super().next(view)

    assert gleaner.simulate(data=DATA, policy=Looks).complete and seen == {True, False}


def test_hooks_are_called() -> None:
    counts = {"started": 0, "ended": 0, "preempted": 0, "open": 0, "wake": 0}

    class Hooked(Fifo):
        preempted_once = False
        left = 0.0

        def started(self, job: gleaner.Job, view: gleaner.View) -> None:
            counts["started"] += 1

        def ended(self, job: gleaner.Job, view: gleaner.View) -> None:
            counts["ended"] += 1

        def preempted(self, job: gleaner.Job, view: gleaner.View) -> None:
            counts["preempted"] += 1
            self.queue.append(job)
            # The remaining work includes the cost of the checkpoint, 40 or 60 seconds.
            assert view.left(job) == self.left + (40 if job.gpus <= 8 else 60)

        def open(self, view: gleaner.View) -> None:
            counts["open"] += 1

        def wake(self, view: gleaner.View) -> Optional[int]:
            counts["wake"] += 1
            return None

        def priority(self, job: gleaner.Job) -> Optional[float]:
            return float(job.gpus)

        def next(self, view: gleaner.View) -> "gleaner.Start | gleaner.Preempt | None":
            if not self.preempted_once and len(view.running) > 2 and view.since(view.running[0]) < view.now:
                self.preempted_once = True
                self.left = view.left(view.running[0])
                return gleaner.Preempt(view.running[0])
            return super().next(view)

    run = gleaner.simulate(data=DATA, policy=Hooked, check=True)
    ended = len(jobs(run, "Hooked"))
    assert counts["ended"] == ended and counts["preempted"] >= 1
    assert counts["started"] == ended + counts["preempted"] and counts["open"] > 0 and counts["wake"] > 0
    assert sum(jobs(run, "Hooked")["ckpt_times"]) == counts["preempted"]


class Bad(gleaner.Policy):
    def __init__(self, decide: object) -> None:
        self.decide = decide

    def next(self, view: gleaner.View) -> object:  # type: ignore[override]
        return self.decide(self, view)  # type: ignore[operator]


def first_waiting(policy: Bad, view: gleaner.View) -> object:
    return gleaner.Start(view.waiting[0]) if view.waiting else None


def preempt_waiting(policy: Bad, view: gleaner.View) -> object:
    return gleaner.Preempt(view.waiting[0]) if view.waiting else None


def preempt_at_once(policy: Bad, view: gleaner.View) -> object:
    return gleaner.Preempt(view.running[0]) if view.running else first_waiting(policy, view)


def share_without_pairs(policy: Bad, view: gleaner.View) -> object:
    if view.waiting and view.running:
        return gleaner.Share(view.waiting[0], view.running[0])
    return first_waiting(policy, view)


def text(policy: Bad, view: gleaner.View) -> object:
    return "start"


@pytest.mark.parametrize(
    ("decide", "told"),
    [
        (first_waiting, "does not fit"),
        (preempt_waiting, "is not running"),
        (preempt_at_once, "started in this second"),
        (share_without_pairs, "does not run alone|needs is|a different number of GPUs"),
        (text, "next returned"),
        (None, "not callable"),
    ],
)
def test_nonsense_is_an_exception_and_other_policies_are_kept(decide: object, told: str) -> None:
    with pytest.raises((TypeError, ValueError), match=told) as raised:
        gleaner.simulate(data=DATA, policy=["fifo", partial(Bad, decide), "sjf"])
    run = raised.value.run  # type: ignore[union-attr]
    assert run.policies.column("policy") == ["fifo", "sjf"] and not run.complete


def test_jobs_of_other_clusters_are_refused() -> None:
    kept: list[gleaner.Job] = []

    class Mixes(gleaner.Policy):
        def submitted(self, job: gleaner.Job, view: gleaner.View) -> None:
            kept.append(job)

        def next(self, view: gleaner.View) -> Optional[gleaner.Start]:
            return gleaner.Start(kept[0]) if kept and view.fits(kept[0]) else None

    with pytest.raises(ValueError, match="another virtual cluster|is not waiting"):
        gleaner.simulate(data=DATA, policy=Mixes)


def test_classes_that_raise_and_names_that_are_taken() -> None:
    class Never(gleaner.Policy):
        def __init__(self) -> None:
            raise KeyError("never")

    with pytest.raises(KeyError, match="never"):
        gleaner.simulate(data=DATA, policy=Never)

    class Stranger:
        pass

    with pytest.raises(TypeError, match="not a subclass of gleaner.Policy"):
        gleaner.simulate(data=DATA, policy=Stranger)  # type: ignore

    class Named(Fifo):
        name = "fifo"

    with pytest.raises(ValueError, match="already"):
        gleaner.simulate(data=DATA, policy=Named)
    with pytest.raises(gleaner.UsageError, match="needs its own name"):
        gleaner.simulate(data=DATA, policy=[Fifo, Fifo])
    with pytest.raises(NotImplementedError, match="no method next"):
        gleaner.simulate(data=DATA, policy=gleaner.Policy)


def test_a_policy_may_simulate_itself() -> None:
    depth = 0

    class Nested(Fifo):
        def open(self, view: gleaner.View) -> None:
            nonlocal depth
            if depth < 2:
                depth += 1
                gleaner.simulate(data=DATA, policy=["fifo", "tiresias"])
                gleaner.simulate(data=DATA, policy=Fifo)

    run = gleaner.simulate(data=DATA, policy=["fifo", Nested])
    assert jobs(run, "Nested").equals(jobs(run, "fifo")) and depth == 2


def test_policies_may_use_estimates_and_share() -> None:
    class Pairs(gleaner.Policy):
        needs = "packing"

        def next(self, view: gleaner.View) -> "gleaner.Start | gleaner.Share | None":
            for job in view.waiting:
                for partner in view.running:
                    if partner.gpus == job.gpus and view.is_alone(partner):
                        return gleaner.Share(job, partner)
                if view.fits(job):
                    return gleaner.Start(job)
            return None

    run = gleaner.simulate(data=DATA, policy=Pairs, estimates="oracle", check=True)
    assert run.complete and len(jobs(run, "Pairs")) == len(jobs(gleaner.simulate(data=DATA, policy="fifo"), "fifo"))

    class Estimates(Fifo):
        needs = "estimates"

        def submitted(self, job: gleaner.Job, view: gleaner.View) -> None:
            assert job.estimate == 500
            super().submitted(job, view)

    gleaner.simulate(data=DATA, policy=Estimates, estimates=500)
    with pytest.raises(gleaner.UsageError, match="learnt by simulating it"):
        gleaner.simulate(data=DATA, policy=Estimates, models="train", epoch="2020-04-01")


def test_other_threads_go_on_meanwhile() -> None:
    counted, inside, is_over = 0, 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not is_over.is_set():
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    for _ in range(5):
        before = counted
        gleaner.simulate(data=DATA, policy="all", estimates="oracle")
        inside += counted - before
    is_over.set()
    thread.join()
    # If the interpreter lock were held during the calls, the other thread would advance only between them.
    assert inside > 10_000


def test_forked_processes_may_simulate() -> None:
    run = gleaner.simulate(data=DATA, policy="all", estimates="oracle")
    child = os.fork()
    if child == 0:
        # Ends a child that hangs, because the parent would wait for it forever.
        signal.alarm(60)
        again = gleaner.simulate(data=DATA, policy=["fifo", Fifo, "srtf"])
        os._exit(0 if again.complete and jobs(again, "fifo").equals(jobs(run, "fifo")) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_log_of_idle_nodes_is_written(tmp_path: Path) -> None:
    path = tmp_path / "idle.gev"
    gleaner.simulate(data=DATA, policy="fifo", epoch="2026-01-05", idle_events=path)
    assert len(gleaner.EventLog.read(path)) > 10
