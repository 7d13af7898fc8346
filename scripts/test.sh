#!/usr/bin/env bash
# Runs all tests of the workspace, except those of the frames (`make frames`), with the given cargo flags,
# by nextest where it is there, which then leaves out those that LEAVE_OUT names.
set -euo pipefail
if cargo nextest --version >/dev/null 2>&1; then
    # nextest runs no documentation tests.
    cargo test --release --locked --workspace --exclude gleaner-frames --doc "$@"
    cargo nextest run --release --locked --workspace --exclude gleaner-frames --no-fail-fast \
        --filterset "not (${LEAVE_OUT:-none()})" "$@"
else
    cargo test --release --locked --workspace --exclude gleaner-frames --no-fail-fast "$@"
fi
