#!/usr/bin/env bash
# Runs the tests of the packages that the given cargo flags name, with nextest if it is installed.
set -euo pipefail
if cargo nextest --version >/dev/null 2>&1; then
    # nextest does not run documentation tests.
    cargo test --release --locked --doc "$@"
    cargo nextest run --release --locked --no-fail-fast "$@"
else
    cargo test --release --locked --no-fail-fast "$@"
fi
