#!/usr/bin/env bash
# Compares the exact solver for node classes with HiGHS and CBC on the problems of Sia's scheduling rounds, side by side
# and on one thread. The problems are in ../shared/data/classes. If they are missing, only the exact solver runs, on
# generated problems. FEATURES contains flags for cargo, as in the Makefile.
set -euo pipefail
cd "$(dirname "$0")/.."
# HiGHS and CBC are features of gleaner-solvers, so cargo must select that crate too.
# shellcheck disable=SC2086 # several words, or none
cargo bench --locked -p gleaner-classes -p gleaner-solvers ${FEATURES:-} --bench classes
