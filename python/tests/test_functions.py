"""Tests that results record the user's functions: their names, and digests of their sources."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import logging
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import gleaner
from gleaner.functions import digest
from test_replay import EVENTS, TASKS, command, exact


def doubled(task: gleaner.Task, nodes: int) -> float:
    return 2 * task.rate(nodes)


def source(function: object) -> str:
    return hashlib.sha256(inspect.getsource(function).encode()).hexdigest()  # type: ignore[arg-type]


def test_objectives_and_solvers_are_named_with_their_digests(tmp_path: Path) -> None:
    run = gleaner.replay(EVENTS, TASKS, t_fwd=60, objective=doubled, solver=exact, out=tmp_path)
    assert run.summary["objective"] == run.summary["objective_expression"] == "python:doubled"
    assert run.summary["objective_sha256"] == source(doubled)
    assert (run.summary["solver"], run.summary["solver_sha256"]) == ("python:exact", source(exact))
    assert gleaner.open(tmp_path).summary == run.summary
    arguments = json.loads((tmp_path / "run.json").read_text())["arguments"]
    assert (arguments["objective"], arguments["solver"]) == ("python:doubled", "python:exact")
    assert arguments["functions"] == {
        "objective": {"name": "python:doubled", "sha256": source(doubled)},
        "solver": {"name": "python:exact", "sha256": source(exact)},
    }
    assert run.tallies[0]["identity"]["version"] == source(exact)
    assert "python:doubled" in run.report().html()
    command("check", tmp_path)
    for name in ("objective_sha256", "solver_sha256"):
        altered = {**run.summary, name: source(exact)[::-1]}
        text = json.dumps(altered, indent=2) + "\n"
        changed = tmp_path / "changed"
        shutil.copytree(tmp_path, changed, ignore=shutil.ignore_patterns("changed"))
        info = json.loads((changed / "run.json").read_text())
        (changed / "summary.json").write_text(text)
        listed = next(of for of in info["files"] if of["path"] == "summary.json")
        listed.update(bytes=len(text), sha256=hashlib.sha256(text.encode()).hexdigest())
        (changed / "run.json").write_text(json.dumps(info))
        with pytest.raises(subprocess.CalledProcessError) as raised:
            command("check", changed)
        assert name.encode() in raised.value.stdout + raised.value.stderr
        shutil.rmtree(changed)


def test_runs_without_functions_have_no_digests(tmp_path: Path) -> None:
    run = gleaner.replay(EVENTS, TASKS, t_fwd=60, objective="throughput", out=tmp_path)
    assert run.summary["objective_sha256"] is None and run.summary["solver_sha256"] is None
    assert "functions" not in json.loads((tmp_path / "run.json").read_text())["arguments"]


def test_the_digest_tells_functions_of_one_name_apart(tmp_path: Path) -> None:
    def own(task: gleaner.Task, nodes: int) -> float:
        return task.rate(nodes)

    first = digest(own)

    def own(task: gleaner.Task, nodes: int) -> float:  # type: ignore[no-redef]
        return 3 * task.rate(nodes)

    assert first == digest(functools.partial(own)) or first != digest(own)
    assert first != digest(own) and digest(functools.partial(own)) == digest(own)
    comparison = gleaner.compare("dataset/problems.jsonl", solvers=["exact", exact], out=tmp_path)
    functions = json.loads((tmp_path / "run.json").read_text())["arguments"]["functions"]
    assert functions == {"exact": {"name": "python:exact", "sha256": source(exact)}} and comparison.complete


def test_functions_without_a_source_have_the_digest_of_their_code() -> None:
    found = []
    for factor in (2, 2, 3):
        scope: dict[str, object] = {}
        exec(f"def own(task, nodes):\n    return {factor} * max(task.rate(n) for n in range(nodes + 1))", scope)
        found.append(digest(scope["own"]))
    assert found[0] == found[1] != found[2] and all(found)
    assert digest(len) is None


def test_the_name_of_a_function_is_no_objective_of_the_command_line() -> None:
    with pytest.raises(gleaner.UsageError, match="objective"):
        gleaner.replay(EVENTS, TASKS, objective="python:doubled")


def test_completion_events_can_be_turned_off() -> None:
    runs = [gleaner.replay(EVENTS, TASKS, t_fwd=60, completion_events=chosen) for chosen in (True, False)]
    kinds = ["completion" in run.steps.column("kind") for run in runs]
    assert kinds == [True, False]
    assert "completion" in gleaner.replay(EVENTS, TASKS, t_fwd=60).steps.column("kind")


def test_late_answers_are_late() -> None:
    def slow(problem: gleaner.Problem) -> gleaner.Answer:
        time.sleep(0.02)
        return gleaner.solve(problem)

    run = gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=slow, time_limit=0.001, to="2026-01-01 03:00")
    tally = run.tallies[0]
    assert tally["late"] == tally["problems"] > 0 and "no answer in 0.001 s" in tally["first_fault"]
    with pytest.raises(gleaner.RunError, match="late"):
        gleaner.replay(EVENTS, TASKS, t_fwd=60, solver=slow, time_limit=0.001, to="2026-01-01 01:00", strict=True)


def test_information_is_not_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="gleaner"):
        gleaner.replay(EVENTS, TASKS)
        gleaner.compare("dataset/problems.jsonl", solvers="exact")
        gleaner.ingest("slurm", "dataset/logs/sacct.txt")
    levels = {record.levelno for record in caplog.records}
    texts = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert logging.INFO in levels
    assert any("t-fwd" in text or "window" in text for text in texts), texts
    assert any(text.startswith("comparing on") for text in texts) and any(text.startswith("wrote") for text in texts)
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="gleaner"):
        run = gleaner.replay(EVENTS, TASKS, t_fwd=60, max_tasks=3, to="2027-01-01")
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert any("beyond the log" in text for text in warnings) and set(warnings) <= set(run.remarks)
