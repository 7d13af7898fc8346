"""Tests that one wheel works with every Python version from 3.9."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import gleaner

SCRIPT = """
import sys, gleaner
class Fifo(gleaner.Policy):
    def next(self, view):
        return gleaner.Start(view.waiting[0]) if view.waiting and view.fits(view.waiting[0]) else None
run = gleaner.replay("dataset/idle.csv", "dataset/tasks.toml", solver=lambda problem: gleaner.solve(problem))
simulated = gleaner.simulate(data="dataset/cluster", policy=[Fifo, "fifo"])
assert simulated.Fifo_jobs.column("end_time") == simulated.fifo_jobs.column("end_time")
try:
    gleaner.replay("nowhere", "dataset/tasks.toml")
except gleaner.GleanerError as error:
    print(sys.version_info[:2], run.complete, len(run.steps), error.exit_code)
"""


def interpreters() -> dict[str, str]:
    """The Python interpreters of this machine by version, from PATH and pyenv."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    folders += sorted((Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions").glob("*/bin"))
    found: dict[str, str] = {}
    for folder in folders:
        for program in folder.glob("python3.[0-9]*"):
            version = program.name.removeprefix("python3.")
            if version.isdigit() and int(version) >= 9:
                ran = subprocess.run([program, "--version"], capture_output=True)
                if ran.returncode == 0:
                    found.setdefault(version, str(program))
    return found


@pytest.mark.parametrize("version", sorted(interpreters(), key=int))
def test_the_wheel_works_on(version: str, tmp_path: Path) -> None:
    shutil.copytree(Path(gleaner.__file__).parent, tmp_path / "gleaner", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    program = [interpreters()[version], "-c", SCRIPT]
    ran = subprocess.run(program, capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(f"(3, {version}) True ") and ran.stdout.endswith(" 1\n")
