#!/usr/bin/env bash
# Fuzzes every reader of schedulers' logs for a while: fuzz.sh [SECONDS each, 60]
set -euo pipefail
seconds=${1:-60}
if ! cargo fuzz --version >/dev/null 2>&1 || ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzzing needs cargo-fuzz and a nightly toolchain:" >&2
    echo "  rustup toolchain install nightly && cargo install cargo-fuzz" >&2
    echo "(make test changes bytes of every sample at random without them)" >&2
    exit 1
fi
cd "$(dirname "$0")/.."
declare -A seeds=(
    [slurm]=sacct.txt [slurm_events]=sacctmgr-events.txt [nodes]="scontrol-nodes.txt sinfo.txt"
    [pbs]=pbs.txt [cobalt]=cobalt.log [djc]="djc.csv djc-locations.csv" [swf]=workload.swf
    [hostlist]=
)
for target in "${!seeds[@]}"; do
    mkdir -p "fuzz/corpus/$target"
    for seed in ${seeds[$target]}; do
        cp "dataset/logs/$seed" "fuzz/corpus/$target/"
    done
    cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 -max_len=65536
done
