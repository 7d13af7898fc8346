#!/usr/bin/env bash
# Writes the samples of dataset/: make-dataset.sh GLEANER DIRECTORY
set -euo pipefail
gleaner=$1
directory=$2
"$gleaner" synth events --nodes 100 --days 2 --seed 1 -o "$directory/idle.csv"
"$gleaner" synth tasks --count 20 --seed 1 -o "$directory/tasks.toml"
"$gleaner" synth tasks --count 10 --seed 1 -o "$directory/endless.toml"
sed -i 's/^work = .*/work = "endless"/' "$directory/endless.toml"
"$gleaner" synth tasks --count 8 --classes v100=1,a100=2.4 --seed 4 -o "$directory/class-tasks.toml"
"$gleaner" synth problems --count 12 --tasks 6 --nodes 40 --seed 1 -o "$directory/problems.jsonl"
{
    "$gleaner" synth problems --classes curves --count 2 --tasks 5 --nodes 40 --seed 1 -o -
    "$gleaner" synth problems --classes options --count 1 --tasks 8 --nodes 32 --seed 1 -o -
} >"$directory/class-problems.jsonl"
"$gleaner" synth jobs --vcs 3 --nodes 9 --days 2 --jobs 400 --seed 1 -o "$directory/cluster"
"$gleaner" synth search --algorithm asha --trials 60 --networks 4 --hours 6 --seed 1 \
    --losses "$directory/nas-losses.csv" -o "$directory/nas.toml"
