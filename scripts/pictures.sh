#!/usr/bin/env bash
# Draws the pictures of README.md and docs/:
#   pictures.sh GLEANER [FOLDER]
# FOLDER contains the log of Summit and BFTrainer's tasks (docs/PROVIDERS.md). Without FOLDER, docs/summit.svg is not
# redrawn. The picture of the solvers shows measured times, so it differs from run to run.
set -euo pipefail
gleaner=$(realpath "$1")
data=${2:+$(realpath "$2")}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$root/dataset" .

# run WORD...: runs Gleaner, and shows its output only if it fails.
run() {
    "$gleaner" "$@" >output.txt 2>&1 || {
        cat output.txt >&2
        exit 1
    }
}

# picture NAME FIGURE RUN...: draws one figure of the runs' page as docs/NAME.svg.
picture() {
    run report "${@:3}" --svg figures
    cp "figures/$2.svg" "$root/docs/$1.svg"
    echo "docs/$1.svg"
}

run replay --events dataset/idle.csv --tasks dataset/tasks.toml --t-fwd 120 --out demo-out
picture demo nodes demo-out

for objective in throughput share-fair; do
    run replay --events dataset/idle.csv --tasks dataset/endless.toml --t-fwd 120 --objective $objective --out $objective
done
picture replays spent throughput share-fair

run sweep dataset/sweep.toml --out swept
picture sweep pareto-swept swept

run synth jobs --days 28 -o trace
run simulate --data trace --policy all,easy --profiler 200,2,4 --lend auto --out policies
picture policies jct-policies policies

run synth events --nodes 1000 --days 7 -o idle.gev
run synth tasks --count 200 -o tasks.toml
run compare --events idle.gev --tasks tasks.toml --every 100 --out compared
picture solvers gap-compared compared

if [ -n "$data" ]; then
    run replay --events "$data/ndstat-10sdn6-evt.tar.gz" --tasks "$data/hps-shufflenet-Jbnd-1000J.pkl" \
        --curves "$data/hps-shufflenet-JNPs-1000J.pkl" --max-tasks 100 --repeat-tasks --out summit
    python3 "$root/scripts/draw-idle.py" summit/steps.csv >"$root/docs/summit.svg"
    echo docs/summit.svg
fi
