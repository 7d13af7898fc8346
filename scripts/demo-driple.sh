#!/usr/bin/env bash
# Demonstrates how Lucid schedules jobs whose profiles are predicted from computational graphs, without profiling runs:
# demo-driple.sh GLEANER DIRECTORY
set -euo pipefail
gleaner=$(realpath "$1")
directory=$2
rm -rf "$directory"
mkdir -p "$directory"
cd "$directory"

say() {
    printf '\n%s\n\n' "$*"
}

run() {
    printf '$ gleaner %s\n' "$*"
    "$gleaner" "$@"
}

say "200 training jobs on two V100 GPUs: convolutional networks and transformers, drawn at random."
run synth graphs --seed 1 -o jobs

say "Their graphs, with the operations in groups, and their measurements form a data set."
run driple build --graphs jobs/graphs --measured jobs/measured.csv -o graphs.safetensors

say "A graph neural network learns to predict the measurements from the graphs, in half a minute."
run driple train --data graphs.safetensors -o v100.safetensors

say "The predicted consumption of three jobs that the network has never seen, from their graphs alone:"
"$gleaner" synth graphs --count 4 --seed 99 -o unseen 2>/dev/null
rm unseen/*/*_job0001.*
run driple predict --model v100.safetensors unseen/graphs

say "The same for ONNX models. They lack the backward pass, so a separate model is trained for them."
run driple build --graphs jobs/onnx --measured jobs/measured.csv --fewer-groups -o onnx.safetensors
run driple train --data onnx.safetensors -o onnx-v100.safetensors >train-onnx.txt
run driple predict --model onnx-v100.safetensors unseen/onnx

say "The jobs of a cluster train 40 workloads. Each workload has a graph, and none is profiled."
run synth jobs --vcs 2 --nodes 8 --days 4 --load 1.2 --seed 1 -o trace
run synth graphs --for trace --seed 2 -o workloads
run driple profiles --model v100.safetensors --jobs workloads/workloads.csv -o predicted.csv

say "Which workloads share a GPU well? A tree that was trained on other profiles scores the predicted profiles."
run train packing --data trace --out models
run predict models/packing.json --profiles predicted.csv -o scored.csv
head -4 scored.csv

equal=$(awk -F, '
    FNR == 1 { split("", at); for (i = 1; i <= NF; i++) at[$i] = i; next }
    { key = $at["model"] FS $at["dataset"] FS $at["batchsize"] FS $at["amp"] }
    NR == FNR { score[key] = $at["label"]; next }
    score[key] == $at["label"] { equal++ }
    END { print equal + 0 }' trace/single_data.csv scored.csv)
printf '\nFor %s of 40 workloads, the score equals the one assigned by hand to the measured profile.\n' "$equal"

# Simulates Lucid and prints line `row` of the output table: line 1 is the header, line 2 the results.
lucid() {
    "$gleaner" simulate --data trace --policy lucid --profiler off --quiet "$@" | sed -n "${row}p"
}

say "Lucid with measured profiles, with predicted profiles, and without sharing GPUs:"
printf '%-11s' profiles
row=1 lucid
printf '%-11s' measured
row=2 lucid --out measured
printf '%-11s' predicted
row=2 lucid --profiles scored.csv --out predicted
printf '%-11s' 'no sharing'
row=2 lucid --without throughput --out alone
