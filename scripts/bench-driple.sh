#!/usr/bin/env bash
# Trains Gleaner's inspectors, and Driple's network with PyTorch, on the same synthetic data set:
# bench-driple.sh [FOLDER of the reference data]. Prints a Markdown table with two results: the seconds per epoch on one
# thread, including validation, and the test error of the best epoch for each seed. Then prints the seconds per epoch on
# all cores, measured over a tenth of the epochs. SEEDS lists the seeds (default: 1 2 3), and EPOCHS sets the number of
# epochs (default: 150). PyTorch is installed in its own environment in the user's cache. If the installation fails,
# PyTorch is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-../shared/data/driple}
epochs=${EPOCHS:-150}
seeds=${SEEDS:-1 2 3}
data=$folder/synth_dataset.safetensors
if [ ! -f "$data" ]; then
    echo "skipped: $data is missing" >&2
    exit 0
fi
cargo build --release --locked -p gleaner-driple --example epochs
ours=${CARGO_TARGET_DIR:-target}/release/examples/epochs

. scripts/python.sh

# row NAME PROGRAM LINES: prints a row of the table. LINES contains a line of JSON for each seed.
row() {
    local seconds tests
    seconds=$(sed 's/.*"seconds": \([^,]*\),.*/\1/' <<<"$3" | sort -n | head -1)
    tests=$(sed 's/.*"test": \([^}]*\)}.*/\1/' <<<"$3" | paste -sd' ')
    printf '| %s | %s | %s | %s |\n' "$1" "$2" "$seconds" "${tests// /, }"
}

# each COMMAND…: runs the command once for every seed, with the seed in place of SEED. Each run prints a line of JSON.
each() {
    for seed in $seeds; do
        "${@//SEED/$seed}"
    done
}

threads=1
gleaner() { RAYON_NUM_THREADS=$threads "$ours" "$data" "$@"; }
torch() {
    OMP_NUM_THREADS=$threads "$python" scripts/train-torch.py "$data" "${@:1:3}" "$threads" "${@:4}"
}

torch=yes
python_with torch-2.15.0 "torch, safetensors" torch==2.15.0 safetensors numpy || torch=
[ -n "$torch" ] || echo "skipped: PyTorch cannot be installed" >&2

echo "| network | program | s/epoch | test errors |"
echo "|---|---|---|---|"
for depth in half 3; do
    name="original, depth $depth"
    row "$name" gleaner "$(each gleaner original "$depth" "$epochs" SEED)"
    [ -z "$torch" ] || row "$name" PyTorch "$(each torch "$depth" "$epochs" SEED)"
done
pretrained=$folder/pretrained_gcn.safetensors
name="original, from the published weights"
row "$name" gleaner "$(gleaner original half "$epochs" 0 "$pretrained")"
[ -z "$torch" ] || row "$name" PyTorch "$(torch half "$epochs" 0 "$pretrained")"
for depth in half 3; do
    row "default, depth $depth" gleaner "$(each gleaner deep "$depth" "$epochs" SEED)"
done

threads=$(nproc)
short=$(((epochs + 9) / 10))
# seconds LINE: prints the seconds per epoch from a line of JSON.
seconds() { sed 's/.*"seconds": \([^,]*\),.*/\1/' <<<"$1"; }
echo
echo "| network, $threads threads | gleaner, s/epoch | PyTorch, s/epoch |"
echo "|---|---|---|"
for depth in half 3; do
    theirs=-
    [ -z "$torch" ] || theirs=$(seconds "$(torch "$depth" "$short" 1)")
    printf '| original, depth %s | %s | %s |\n' \
        "$depth" "$(seconds "$(gleaner original "$depth" "$short" 1)")" "$theirs"
done
for depth in half 3; do
    printf '| default, depth %s | %s | - |\n' \
        "$depth" "$(seconds "$(gleaner deep "$depth" "$short" 1)")"
done
