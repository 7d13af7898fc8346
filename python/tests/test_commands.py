"""Tests that the functions other than replay and simulate give the same results as the command line."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import polars
import pytest

import gleaner
from test_replay import EVENTS, TASKS, command, exact, same_files

PROBLEMS = "dataset/problems.jsonl"


def output(*words: object) -> str:
    """The output of the command line."""
    program = [sys.executable, "-m", "gleaner", *map(str, words)]
    return subprocess.run(program, check=True, capture_output=True, text=True).stdout


def test_the_command_line_comes_with_the_package() -> None:
    script = Path(sys.executable).with_name("gleaner")
    told = subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout
    assert told == f"gleaner {gleaner.__version__}\n"
    failed = subprocess.run([script, "replay"], capture_output=True, text=True)
    assert failed.returncode == 2 and "a log of idle nodes and a set of training tasks are needed" in failed.stderr


def test_the_distribution_has_another_name_than_the_module() -> None:
    distribution = importlib.metadata.distribution("gleaner-hpc")
    assert distribution.version == gleaner.__version__
    assert Path("gleaner/__init__.py") in map(Path, distribution.files or [])


def test_answers_are_those_of_the_command_line() -> None:
    lines = [json.loads(line) for line in output("solve", PROBLEMS).splitlines()]
    answers = [json.loads(answer.to_json()) for answer in gleaner.solve(PROBLEMS)]
    for line, answer in zip(lines, answers):
        del line["microseconds"], answer["microseconds"]
    assert lines == answers and len(lines) > 1


def test_problems_are_read_and_checked() -> None:
    problem = gleaner.Problem.read(PROBLEMS)[0]
    again = gleaner.Problem.from_json(problem.to_json())
    answer = gleaner.solve(again, solver="exact", check=True)
    assert answer.status == "optimal" and answer.counts is not None and answer.gap == 0
    assert answer.objective == pytest.approx(problem.objective(answer.counts))
    with pytest.raises(ValueError, match="1 counts, expected one for each"):
        problem.objective([1])
    wrong = {**json.loads(problem.to_json()), "t_fwd": -1}
    with pytest.raises(gleaner.DataError, match="the problem"):
        gleaner.solve(wrong)
    with pytest.raises(gleaner.DataError):
        gleaner.Problem.from_json("{")


def test_comparisons_take_functions(tmp_path: Path) -> None:
    problems = gleaner.Problem.read(PROBLEMS)
    run = gleaner.compare(problems, solvers=["exact", "equal-share", exact], out=tmp_path)
    assert run.solvers.column("solver") == ["exact", "equal-share", "python:exact"]
    assert len(run.answers) == 3 * len(problems) and run.complete
    assert gleaner.open(tmp_path).tables.keys() == run.tables.keys()
    by_log = gleaner.compare(events=EVENTS, tasks=TASKS, every=50, solvers="exact")
    assert len(by_log.answers) > 3
    with pytest.raises(gleaner.UsageError):
        gleaner.compare(solvers="exact")
    assert "<table>" in run._repr_html_() and "python:exact" in run._repr_html_()
    assert "Answers" in run.report().tables()


def test_inspections_are_those_of_the_command_line() -> None:
    found = gleaner.inspect(EVENTS, tasks=TASKS)
    assert found.findings == json.loads(output("inspect", EVENTS, "--tasks", TASKS, "--json"))
    assert str(found) == output("inspect", EVENTS, "--tasks", TASKS)
    assert found.page.html().startswith("<!doctype html>") and "<svg" in found._repr_html_()


def test_pilots_are_those_of_the_command_line() -> None:
    given = gleaner.pilots(EVENTS, lengths=[2, 4, 8], delay=0)
    words = ("pilots", EVENTS, "--lengths", "2,4,8", "--delay", "0")
    assert given.results == json.loads(output(*words, "--json"))
    assert str(given) == output(*words)
    best = gleaner.pilots(EVENTS, best=2, grid=10)
    assert [len(ladder["lengths_min"]) for ladder in best.results["ladders"]] == [1, 2]
    assert "Ready share by number of wall times" in best._repr_html_()
    with pytest.raises(gleaner.UsageError, match="wall times"):
        gleaner.pilots(EVENTS)
    with pytest.raises(gleaner.UsageError, match="best"):
        gleaner.pilots(EVENTS, best=2, lengths=[2])


def test_sweeps_are_those_of_the_command_line(tmp_path: Path) -> None:
    command("sweep", "dataset/sweep.toml", "--out", tmp_path / "cli")
    run = gleaner.sweep("dataset/sweep.toml", out=tmp_path / "out")
    for name in ("sweep.csv", "settings.csv", "summary.json"):
        assert (tmp_path / "cli" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    frame = polars.DataFrame(run.tables["sweep"])
    assert len(frame) == run.summary["runs"] and run.complete
    assert polars.DataFrame(gleaner.sweep("dataset/sweep.toml").tables["sweep"]).equals(frame)


def test_windows_and_blocks_are_those_of_the_command_line(tmp_path: Path) -> None:
    for option, value in (("windows", 5), ("bootstrap", 200)):
        command("sweep", "dataset/sweep.toml", f"--{option}", str(value), "--out", tmp_path / option)
        run = gleaner.sweep("dataset/sweep.toml", **{option: value})
        written = json.loads((tmp_path / option / "summary.json").read_text())
        assert run.summary == written
        frame = polars.DataFrame(run.tables["sweep"])
        assert sorted(set(frame["window"])) == list(range(1, written["best"]["windows"] + 1))
    with pytest.raises(gleaner.UsageError, match="only one of them: --windows"):
        gleaner.sweep("dataset/sweep.toml", windows=5, bootstrap=200)


def test_logs_of_schedulers_are_read(tmp_path: Path) -> None:
    log = gleaner.ingest("slurm", "dataset/logs/sacct.txt", output=tmp_path / "python.csv")
    command("ingest", "slurm", "dataset/logs/sacct.txt", "-o", tmp_path / "cli.csv")
    assert (tmp_path / "python.csv").read_bytes() == (tmp_path / "cli.csv").read_bytes()
    assert isinstance(log, gleaner.EventLog) and log.idle_node_hours > 0
    assert gleaner.inspect(log).findings["nodes"] == len(log.nodes)
    with pytest.raises(gleaner.UsageError, match="unknown format 'lsf', expected one of slurm"):
        gleaner.ingest("lsf", "x")


def test_traces_of_clusters_are_read() -> None:
    trace = gleaner.ingest("philly", "dataset/logs/philly-jobs.json")
    assert isinstance(trace, gleaner.Trace) and len(trace) > 0
    run = gleaner.simulate(trace, policy="fifo", skip_invalid=True)
    assert len(run.fifo_jobs) > 0


def test_reports_and_figures_are_shown(tmp_path: Path) -> None:
    run = gleaner.replay(EVENTS, TASKS, t_fwd=60)
    page = run.report()
    page.write(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page.html()
    assert len(page.figures) > 2
    figure = next(iter(page.figures.values()))
    assert figure.svg().startswith("<svg") and figure.png().startswith(b"\x89PNG") and "<svg" in figure._repr_html_()
    assert "useful work" in run._repr_html_()
    run.write(tmp_path / "run")
    both = gleaner.report(run, tmp_path / "run")
    assert both.html() != page.html()
    with pytest.raises(gleaner.UsageError):
        gleaner.report()
    with pytest.raises(gleaner.UsageError, match="apply only to sweeps"):
        gleaner.report(run, metric="total_work")


def test_same_files_sees_differences(tmp_path: Path) -> None:
    for name, text in (("one", "a"), ("other", "b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.csv").write_text(text)
    with pytest.raises(AssertionError):
        same_files(tmp_path / "one", tmp_path / "other")
