#!/usr/bin/env bash
# Measures sweeps that run in one process, sweeps that are split into parts, and the assignment of a million runs to
# parts: bench-parts.sh GLEANER. Prints the CPU time, wall time and peak memory of each command.
set -euo pipefail
gleaner=$(realpath "$1")
dataset=$(realpath "$(dirname "$0")/../dataset")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$dataset/idle.csv" "$dataset/tasks.toml" "$work"
cd "$work"

python3 - <<'PYTHON'
head = '[replay]\nevents = "idle.csv"\ntasks = "tasks.toml"\n'
for name, seeds in (("short", 250), ("million", 125_000)):
    axes = "t_fwd = [60, 120, 240, 480]\nmax_tasks = [5, 10]\n"
    open(f"{name}.toml", "w").write(f"{head}{axes}seed = {list(range(seeds))}\n")
PYTHON

# measured NAME COMMAND...: runs a command and prints a row of the table.
measured() {
    /usr/bin/env python3 - "$@" <<'PYTHON'
import resource, subprocess, sys, time

name, command = sys.argv[1], sys.argv[2:]
begun = time.monotonic()
subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wall = time.monotonic() - begun
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"| {name} | {used.ru_utime + used.ru_stime:.2f} s | {wall:.2f} s | {used.ru_maxrss / 1024:.0f} MB |")
PYTHON
}

echo "| command | CPU time | wall time | peak memory |"
echo "|---|---|---|---|"
for round in 1 2 3; do
    measured "2,000 runs in one process" "$gleaner" sweep short.toml --out "one$round" --quiet
    measured "2,000 runs in 8 parts, one after the other, and collecting" sh -c "
        for part in 1 2 3 4 5 6 7 8; do '$gleaner' sweep short.toml --out 'parts$round' --part \$part/8 --quiet; done
        '$gleaner' sweep short.toml --out 'parts$round' --collect --quiet"
    cmp "one$round/sweep.csv" "parts$round/sweep.csv"
done
measured "a million runs assigned to 1,000 parts" "$gleaner" sweep million.toml --out million --deal 1000
measured "status of these runs" "$gleaner" sweep million.toml --out million --status
