#!/usr/bin/env bash
# Fuzzes the readers of logs, traces and messages: fuzz.sh [SECONDS per target, default: 60] [TARGET..., default: all]
# Installs cargo-fuzz and a nightly toolchain if they are missing.
set -euo pipefail
seconds=${1:-60}
version=0.13.1
cd "$(dirname "$0")/.."
if ! cargo +nightly --version >/dev/null 2>&1; then
    if ! command -v rustup >/dev/null; then
        echo "fuzzing needs a nightly toolchain, which rustup installs: https://rustup.rs" >&2
        echo "(without one, 'make test' still changes bytes of every sample at random)" >&2
        exit 1
    fi
    rustup toolchain install nightly --profile minimal
fi
cargo fuzz --version >/dev/null 2>&1 || cargo install --locked "cargo-fuzz@$version"

# The seed samples of each target.
declare -A seeds=(
    [slurm]=sacct.txt [slurm_events]=sacctmgr-events.txt [nodes]="scontrol-nodes.txt sinfo.txt"
    [pbs]=pbs.txt [cobalt]=cobalt.log [djc]="djc.csv djc-locations.csv" [swf]=workload.swf [table]=table.csv
    [polls]="sinfo-polls.txt whisk-polls.txt" [spot]="spot-named.csv spot-counts.csv spot-dated.txt"
    [philly]=philly-jobs.json [pai]="pai_job_table.csv pai_task_table.csv" [batsim]=batsim.json
    [helios]=helios.csv [gavel]=gavel.trace [slurm_gpus]=sacct-gpus.txt
)
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cargo +nightly fuzz list)
for target in "${targets[@]}"; do
    mkdir -p "fuzz/corpus/$target"
    if [ "$target" = torch ]; then
        cp crates/driple/tests/fixtures/torch_*.bin "fuzz/corpus/torch/"
    fi
    if [ "$target" = pickle ]; then
        cp crates/pickle/tests/fixtures/*.pkl crates/pandas/tests/fixtures/*.pkl "fuzz/corpus/pickle/"
    fi
    if [ "$target" = harvest_frames ]; then
        cp crates/harvest/tests/fixtures/*.jsonl "fuzz/corpus/harvest_frames/"
    fi
    for seed in ${seeds[$target]:-}; do
        cp "dataset/logs/$seed" "fuzz/corpus/$target/"
    done
    if [ "$target" = pai ]; then
        # The two tables of a PAI trace, separated by an empty line.
        (cd dataset/logs && cat pai_job_table.csv && echo && cat pai_task_table.csv) \
            >"fuzz/corpus/pai/both"
    fi
    cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 -max_len=65536
done
