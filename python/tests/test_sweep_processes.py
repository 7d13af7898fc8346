"""Tests that sweeps whose processes are killed or interrupted lose no results and leave no process behind."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

import gleaner
from test_sweeps import BASE, Calls, seen

PLAN: dict[str, Any] = {**BASE, "t_fwd": list(range(60, 240, 30)), "max_tasks": [5]}

HEAD = """
import os, sys, time, gleaner
PLAN = {"events": "dataset/idle.csv", "tasks": "dataset/tasks.toml", "to": "2026-01-01 04:00"}
def progress(done, total, settings):
    print("done", settings["t_fwd"], flush=True)
"""

SLOW = """
def slow(problem):
    if not os.path.exists(f"FOLDER/{os.getpid()}"):
        open(f"FOLDER/{os.getpid()}", "w").close()
    time.sleep(0.01)
    return gleaner.solve(problem)
gleaner.sweep({**PLAN, "t_fwd": list(range(60, 240, 30)), "solver": slow}, workers=WORKERS, out="OUT", progress=progress)
"""


def start(script: str, tmp_path: Path, count: int = 2) -> subprocess.Popen[str]:
    """Starts a script in a process group of its own. Each worker creates a file in ``tmp_path/pids``, named after its
    process id."""
    (tmp_path / "pids").mkdir(exist_ok=True)
    script = script.replace("FOLDER", str(tmp_path / "pids")).replace("OUT", str(tmp_path / "out"))
    path = tmp_path / "script.py"
    path.write_text(HEAD + textwrap.dedent(script).replace("WORKERS", str(count)))
    program = [sys.executable, str(path)]
    return subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def finished(process: subprocess.Popen[str]) -> tuple[int, list[str], str]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out.splitlines(), err


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def no_worker_is_left(tmp_path: Path) -> bool:
    pids = [int(path.name) for path in (tmp_path / "pids").iterdir()]
    assert pids
    for _ in range(100):
        if not any(map(is_running, pids)):
            return True
        time.sleep(0.05)
    return False


def complete(out: Path) -> set[float]:
    """The values of t_fwd in the complete runs of a sweep's directory."""
    infos = [json.loads(path.read_text()) for path in out.glob("*/run.json")]
    return {info["arguments"]["t_fwd"] for info in infos if info["complete"]}


def lines_until(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline() for _ in range(count)]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("count", [1, 2])
def test_a_killed_sweep_continues(count: int, tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    process = start(SLOW, tmp_path, count)
    first = lines_until(process, 2)
    process.kill()
    first += finished(process)[1]
    assert no_worker_is_left(tmp_path)
    kept = complete(tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*/summary.json")}
    code, then, err = finished(start(SLOW, tmp_path, count))
    assert code == 0, err
    executed = [float(line.split()[1]) for line in then]
    assert {float(line.split()[1]) for line in first} <= kept and 2 <= len(kept) < 6
    assert sorted([*executed, *kept]) == list(range(60, 240, 30))
    assert len([path for path, changed in before.items() if path.stat().st_mtime_ns == changed]) >= len(kept)
    for path in (tmp_path / "out").glob("*/run.json"):
        run = gleaner.open(path.parent)
        single = gleaner.replay(**BASE, t_fwd=run.summary["t_fwd"], solver=solve)
        assert all(seen(run)[1][name] == seen(single)[1][name] for name in ("allocations", "tasks", "fragments"))


STUCK = """
def stuck(problem):
    open(f"FOLDER/{os.getpid()}", "w").close()
    while True:
        time.sleep(0.01)
gleaner.sweep({**PLAN, "t_fwd": [60, 120], "solver": stuck}, workers=WORKERS)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_that_never_return_end_with_the_sweep(number: signal.Signals, tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    process = start(STUCK, tmp_path)
    while len(list((tmp_path / "pids").iterdir())) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    assert finished(process)[0] == -number and no_worker_is_left(tmp_path)


def solve(problem: gleaner.Problem) -> gleaner.Answer:
    return gleaner.solve(problem)


@pytest.mark.parametrize("count", [1, 2])
def test_ctrl_c_keeps_the_finished_runs(count: int, tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle")
    caught = "try:\n    " + SLOW.strip().replace("\n", "\n    ") + """
except KeyboardInterrupt as error:
    print("sweep", len(error.sweep), error.sweep.complete, hasattr(error, "run"), flush=True)
    raise
"""
    process = start(caught, tmp_path, count)
    lines_until(process, 2)
    time.sleep(0.2)
    # A terminal sends the signal to all processes of the group.
    os.killpg(process.pid, signal.SIGINT)
    code, lines, err = finished(process)
    assert code == -signal.SIGINT and no_worker_is_left(tmp_path)
    assert err.count("Traceback") == 1 and err.rstrip().endswith("KeyboardInterrupt"), err
    words = lines[-1].split()
    assert words[0] == "sweep" and 2 <= int(words[1]) < 6 and words[2:] == ["False", str(count == 1)]
    assert len(complete(tmp_path / "out")) >= int(words[1])


def dies(problem: gleaner.Problem) -> gleaner.Answer:
    if problem.t_fwd in (90, 150):
        os.kill(os.getpid(), signal.SIGKILL)
    return gleaner.solve(problem)


def test_the_death_of_a_worker_costs_one_run(tmp_path: Path) -> None:
    calls = Calls()
    with pytest.raises(gleaner.RunError) as raised:
        gleaner.sweep({**PLAN, "solver": dies}, workers=2, out=tmp_path, progress=calls)
    error = raised.value
    assert error.sweep is not None and [of["t_fwd"] for of, _ in error.sweep.runs] == [60, 120, 180, 210]
    for value in (90, 150):
        assert f"the run with t_fwd={value}, max_tasks=5 failed: its worker process was ended by signal 9 (SIGKILL)" in str(error)
    assert str(error).count("failed") == 2 and calls.numbers == [(done, 6) for done in range(1, 5)]
    assert not error.sweep.complete and all(run.complete for _, run in error.sweep.runs)


class Mine(Exception):
    """An exception that needs two arguments, so it cannot be unpickled."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(one + other)


def fails(problem: gleaner.Problem) -> gleaner.Answer:
    if problem.t_fwd == 150:
        raise ZeroDivisionError("mine")
    return gleaner.solve(problem)


def fails_oddly(problem: gleaner.Problem) -> None:
    raise Mine("a", "b")


@pytest.mark.parametrize("count", [1, 2])
def test_an_exception_ends_the_sweep(count: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ZeroDivisionError, match="^mine") as raised:
        gleaner.sweep({**PLAN, "solver": fails}, workers=count, out=tmp_path)
    error: Any = raised.value
    assert error.settings["t_fwd"] == 150 and "the run with t_fwd=150, max_tasks=5 raised ZeroDivisionError" in caplog.text
    assert not error.run.complete and len(error.run.steps) > 0
    # The failed run is the fourth, so at most one of the first three was still in progress.
    assert len({of["t_fwd"] for of, _ in error.sweep.runs} & {60, 90, 120}) >= 4 - count and not error.sweep.complete
    assert sys.version_info < (3, 11) or error.__notes__ == ["This error ended the run with t_fwd=150, max_tasks=5."]
    told = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    assert 'raise ZeroDivisionError("mine")' in told


def test_an_exception_that_cannot_be_passed_is_described() -> None:
    with pytest.raises(gleaner.RunError, match="the run with t_fwd=(60|120), max_tasks=5: Mine: ab"):
        gleaner.sweep({**PLAN, "t_fwd": [60, 120], "solver": fails_oddly}, workers=2)


def test_an_exception_in_progress_ends_the_sweep() -> None:
    def progress(done: int, total: int, settings: dict[str, Any]) -> None:
        if done == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as raised:
        gleaner.sweep(PLAN, workers=2, progress=progress)
    assert len(raised.value.sweep) == 2  # type: ignore[attr-defined]


PLAIN = "gleaner.sweep({**PLAN, 't_fwd': [60, 120]}, workers=2, progress=progress)"
OWN = """
class Odd(Exception):
    def __init__(self, one, other): super().__init__(one, other)
def own(task, nodes):
    return task.rate(nodes)
def fails(task, nodes):
    raise Odd(1, 2)
""" + PLAIN.replace("}", ", 'objective': own}")


def test_scripts_need_no_guard(tmp_path: Path) -> None:
    """A worker does not execute the script."""
    pytest.importorskip("cloudpickle")
    for script in (PLAIN, OWN):
        code, lines, err = finished(start("print('begin')\n" + script, tmp_path))
        assert (code, lines[0], sorted(lines[1:])) == (0, "begin", ["done 120", "done 60"]), err
    own = OWN.replace("': own}", "': fails}")
    code, _, err = finished(start(f"{own.rpartition('gleaner.sweep')[0]}\ntry:\n    gleaner.sweep{own.rpartition('gleaner.sweep')[2]}\nexcept Odd as error:\n    print(error.args)\n    sys.exit(7)", tmp_path))
    assert code == 7, err


def test_digests_are_those_of_the_script(tmp_path: Path) -> None:
    """Workers cannot read the source of functions that the script defines, so the script computes their digests."""
    pytest.importorskip("cloudpickle")
    head = OWN.rpartition("gleaner.sweep")[0]
    call = "print(*{run.summary['objective_sha256'] for _, run in gleaner.sweep({**PLAN, 't_fwd': [60, 120], 'objective': own}, workers=COUNT)})\n"
    code, lines, err = finished(start(head + call.replace("COUNT", "1") + call.replace("COUNT", "2"), tmp_path))
    source = "def own(task, nodes):\n    return task.rate(nodes)\n"
    assert (code, lines) == (0, [hashlib.sha256(source.encode()).hexdigest()] * 2), err


def test_without_cloudpickle_functions_of_a_script_need_a_guard(tmp_path: Path) -> None:
    without = "sys.modules['cloudpickle'] = None\n"
    code, lines, err = finished(start(without + PLAIN, tmp_path))
    assert (code, sorted(lines)) == (0, ["done 120", "done 60"]), err
    code, lines, err = finished(start(without + OWN, tmp_path))
    assert code == 1 and 'under `if __name__ == "__main__":`, or install cloudpickle' in err, err
    head, _, call = OWN.rpartition("gleaner.sweep")
    guarded = f"{without}{head}if __name__ == '__main__':\n    gleaner.sweep{call}"
    code, lines, err = finished(start(guarded, tmp_path))
    assert (code, sorted(lines)) == (0, ["done 120", "done 60"]), err
