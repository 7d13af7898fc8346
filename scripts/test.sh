#!/usr/bin/env bash
# Runs the tests of the packages that the given cargo flags name, by nextest where it is there. Then
# ONLY chooses among them, in nextest's language of filters.
set -euo pipefail
if cargo nextest --version >/dev/null 2>&1; then
    # nextest runs no documentation tests.
    [ -n "${ONLY:-}" ] || cargo test --release --locked --doc "$@"
    cargo nextest run --release --locked --no-fail-fast --filterset "${ONLY:-all()}" "$@"
else
    cargo test --release --locked --no-fail-fast "$@"
fi
