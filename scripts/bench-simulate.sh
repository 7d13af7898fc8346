#!/usr/bin/env bash
# Builds the program, and measures each policy alone and the six published policies together, on one core:
# bench-simulate.sh [DATA]. The traces are the jobs of Venus in September 2020, and ten copies of these jobs on ten
# times as many nodes. If the folder DATA is missing, the jobs are generated. Prints a Markdown table of wall times,
# each that of the fastest of five runs.
set -euo pipefail
cd "$(dirname "$0")/.."
data=${1:-../shared/data/lucid/venus_sept}
# shellcheck disable=SC2086 # several words, or none
cargo build --release --locked --features cli ${FEATURES---no-default-features}
gleaner=${CARGO_TARGET_DIR:-target}/release/gleaner
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

once=(--profiler 200,2,4)
tenfold=(--profiler 200,20,0.4)
if [ -f "$data/jobs.csv" ]; then
    once+=(--lend vc8Gr=1,vcefl=1 --elastic vcYVn)
    tenfold+=(--lend vc8Gr=10,vcefl=10 --elastic vcYVn)
else
    echo "$data is missing: generating jobs instead" >&2
    data=$work/data
    "$gleaner" synth jobs --vcs 15 --nodes 135 --days 26 --seed 1 -o "$data" 2>/dev/null
fi
"$gleaner" synth jobs --from "$data/jobs.csv" --copies 10 -o "$work/tenfold" 2>/dev/null

pin=()
command -v taskset >/dev/null && pin=(taskset -c 0)

# best COMMAND...: prints the seconds of the fastest of five runs.
best() {
    if command -v hyperfine >/dev/null; then
        hyperfine --shell none --warmup 1 --runs 5 --style none \
            --export-json "$work/times.json" "${pin[*]} $*" >/dev/null
        sed -n 's/^ *"min": *\([0-9.]*\).*/\1/p' "$work/times.json"
        return
    fi
    local TIMEFORMAT=%R
    for _ in 1 2 3 4 5; do
        { time "${pin[@]}" "$@" >/dev/null 2>&1; } 2>&1
    done | sort -n | head -1
}

# simulate DATA POLICY ARGUMENTS...: prints the time of a simulation that writes all its results.
simulate() {
    local trace=$1 policy=$2
    shift 2
    best "$gleaner" simulate --data "$trace" --policy "$policy" --jobs 1 --quiet \
        --out "$work/run" "$@"
}

jobs=$(($(wc -l <"$data/jobs.csv") - 1))
echo "| policy | $jobs jobs | $((10 * jobs)) jobs, 10 times the nodes | ratio |"
echo "|---|---|---|---|"
for policy in fifo sjf srtf qssf tiresias lucid easy all; do
    one=$(simulate "$data" "$policy" "${once[@]}")
    ten=$(simulate "$work/tenfold" "$policy" "${tenfold[@]}")
    awk -v policy="$policy" -v one="$one" -v ten="$ten" 'BEGIN {
        name = policy == "all" ? "the first six together" : policy
        printf "| %s | %.2f s | %.2f s | %.1f |\n", name, one, ten, ten / one
    }'
done
