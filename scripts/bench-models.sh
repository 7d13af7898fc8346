#!/usr/bin/env bash
# Fits the explainable boosting machines of Gleaner and of Python's interpret to the same rows of throughput data:
# bench-models.sh [FEATURES.csv]. Both programs run on one thread and on all cores. Prints a Markdown table with the
# time of the fastest of RUNS fits (default: 3) in seconds, and the errors on the test rows. The package interpret is
# installed in its own environment in the user's cache. If the installation fails, interpret is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
features=${1:-../shared/data/lucid/models/throughput_features.csv}
runs=${RUNS:-3}
# Number of training rows, from April to August. The rows of September are the test rows.
train=22032
cores=$(nproc)
if [ ! -f "$features" ]; then
    echo "skipped: $features is missing" >&2
    exit 0
fi
cargo build --release --locked -p gleaner-learn --example fit
fit=${CARGO_TARGET_DIR:-target}/release/examples/fit

. scripts/python.sh

# rows NAME THREADS: prints a row of the table for each line of JSON.
rows() {
    sed -n 's/.*"label": "\([^"]*\)", "seconds": \([^,]*\), "mae": \([^,]*\), "r2": \([^}]*\)}/\1 \2 \3 \4/p' |
        while read -r label seconds error explained; do
            printf '| %s | %s | %s | %.2f | %.3f | %.3f |\n' \
                "$label" "$1" "$2" "$seconds" "$error" "$explained"
        done
}

echo "| label | program | threads | fit, s | mean absolute error | R² |"
echo "|---|---|---|---|---|---|"
interpret=yes
python_with interpret-0.7.8 "interpret, sklearn, pandas" interpret-core==0.7.8 \
    scikit-learn==1.9.1 pandas==3.1.1 numpy==2.4.6 || interpret=
[ -n "$interpret" ] || echo "skipped: interpret cannot be installed" >&2
for threads in $(printf '%s\n' 1 "$cores" | uniq); do
    RAYON_NUM_THREADS=$threads "$fit" "$features" "$train" "$runs" | rows gleaner "$threads"
    RAYON_NUM_THREADS=$threads "$fit" "$features" "$train" "$runs" 256 |
        rows "gleaner, 256 bins" "$threads"
    [ -z "$interpret" ] ||
        OMP_NUM_THREADS=$threads "$python" scripts/fit-interpret.py "$features" "$train" "$runs" \
            "$threads" | rows "interpret 0.7.8" "$threads"
done
