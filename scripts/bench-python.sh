#!/usr/bin/env bash
# Compares the Python package with the program: bench-python.sh GLEANER PYTHON. GLEANER is the program, and PYTHON is an
# interpreter with the package (target/python/bin/python after `make python`). Prints wall times of whole processes and
# of calls within one process. Each time is that of the fastest of five runs. Runs that are compared with each other
# alternate.
set -euo pipefail
gleaner=$(realpath "$1")
# The symbolic link to the interpreter must not be resolved, because its path identifies the virtual environment.
python=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
data=$(realpath "$(dirname "$0")/../../shared/data")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$gleaner" synth tasks --count 10 --max-nodes 32 -o tasks.toml 2>/dev/null
sed -i 's/^work = .*/work = "endless"/' tasks.toml

exec "$python" - "$gleaner" "$data" <<'PYTHON'
import subprocess
import sys
import time
from collections import deque

import gleaner

program, data = sys.argv[1:]
summit = f"{data}/bftrainer/ndstat-10sdn6-evt.tar.gz"
replay = ["replay", "--events", summit, "--tasks", "tasks.toml", "--t-fwd", "60", "--skip-rows", "1000", "--quiet"]
script = f"import gleaner; gleaner.replay({summit!r}, 'tasks.toml', t_fwd=60, skip_rows=1000, out='python')"


def wall(run):
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def best(runs, rounds=5):
    """The best time of each run. The runs take turns."""
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(wall(run))
    return {name: min(found) for name, found in times.items()}


def process(*words):
    return lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Fifo(gleaner.Policy):
    def __init__(self):
        self.queue = deque()

    def submitted(self, job, view):
        self.queue.append(job)

    def next(self, view):
        if self.queue and view.fits(self.queue[0]):
            return gleaner.Start(self.queue.popleft())


venus = f"{data}/lucid/venus_sept"
calls = {
    "`replay`, results written": lambda: gleaner.replay(summit, "tasks.toml", t_fwd=60, skip_rows=1000, out="called"),
    "`replay`, the exact solver": lambda: gleaner.replay(summit, "tasks.toml", t_fwd=60, skip_rows=1000),
    "`replay`, a function that calls `gleaner.solve`": lambda: gleaner.replay(
        summit, "tasks.toml", t_fwd=60, skip_rows=1000, solver=lambda problem: gleaner.solve(problem)
    ),
    "`simulate`, FIFO of the program": lambda: gleaner.simulate(preset="venus-sept", data=venus, policy="fifo"),
    "`simulate`, FIFO as a class of Python": lambda: gleaner.simulate(preset="venus-sept", data=venus, policy=Fifo),
}
whole = {
    "Summit, the program, a process": process(program, *replay, "--out", "cli"),
    "Summit, Python, a process": process(sys.executable, "-c", script),
}
print("| what | wall |\n|---|---|")
for name, seconds in {**best(whole), **best(calls)}.items():
    print(f"| {name} | {seconds:.2f} s |")
PYTHON
