#!/usr/bin/env bash
# Replays the whole Summit log with the 1,000-task set: bench-replay.sh GLEANER [DATA]. For each command, prints the
# wall time, CPU time and peak memory of the best of five runs.
set -euo pipefail
gleaner=$1
data=${2:-../shared/data/bftrainer}
log=$data/ndstat-10sdn6-evt.tar.gz
if [ ! -f "$log" ]; then
    echo "skipped: $log is missing" >&2
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# measure NAME COMMAND...: measures the best of five runs on one core.
measure() {
    local name=$1
    shift
    python3 - "$name" "$@" <<'PYTHON'
import os, subprocess, sys, time

name, command = sys.argv[1], sys.argv[2:]
os.sched_setaffinity(0, {0})
best = None
for _ in range(5):
    begun = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begun
    if status != 0:
        sys.exit(f"{name}: failed")
    run = (wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
    best = min(best or run, run)
print(f"| {name} | {best[0]:.2f} s | {best[1]:.2f} s | {best[2]:.0f} MB |")
PYTHON
}

echo "| run | wall time | CPU time | peak memory |"
echo "|---|---|---|---|"
measure "convert the pickle to .gev" "$gleaner" convert "$log" -o "$work/summit.gev"
common=(--tasks "$data/hps-shufflenet-Jbnd-1000J.pkl" --curves "$data/hps-shufflenet-JNPs-1000J.pkl" --skip-rows 1000)
for max_tasks in 10 100; do
    for t_fwd in 10 120; do
        measure "-maxJ $max_tasks -Tfwd $t_fwd, from .gev" "$gleaner" replay --events "$work/summit.gev" \
            "${common[@]}" --max-tasks "$max_tasks" --t-fwd "$t_fwd" --out "$work/run"
    done
    measure "-maxJ $max_tasks -Tfwd 120, from the pickle" "$gleaner" replay --events "$log" \
        "${common[@]}" --max-tasks "$max_tasks" --t-fwd 120 --out "$work/run"
done

# The published tasks finish within about the first fifth of the log. The tasks generated here have so much work that
# they last to the end of the log.
"$gleaner" synth tasks --count 1000 --models 10 --max-nodes 64 --hours 100000 -o "$work/long.toml" 2>/dev/null
for max_tasks in 10 100 1000; do
    measure "all 22,882 events, tasks that never end, -maxJ $max_tasks" "$gleaner" replay \
        --events "$work/summit.gev" --tasks "$work/long.toml" --skip-rows 1000 \
        --max-tasks "$max_tasks" --t-fwd 120 --out "$work/run"
done
