#!/usr/bin/env bash
# Runs the property tests of gleaner-frames and of the packages that the given cargo flags name, with a random seed.
# SOAK_FACTOR (default: 20) multiplies the number of cases that each test runs under `make test`. The factor is lower
# for tests with slow cases (gleaner_testing::slow_cases). Set PROPTEST_RNG_SEED to repeat a run.
set -euo pipefail
export SOAK_FACTOR=${SOAK_FACTOR:-20}
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
# Time in milliseconds after which proptest stops shrinking a failing case.
export PROPTEST_MAX_SHRINK_TIME=${PROPTEST_MAX_SHRINK_TIME:-60000}

# The names of the tests in `proptest! { ... }` blocks.
names=$(git ls-files '*.rs' | grep -v '^fuzz/' | xargs awk '
    FNR == 1 { inside = 0 }
    match($0, /^ *proptest! \{$/) { inside = 1; end = substr($0, 1, index($0, "p") - 1) "}" }
    inside && /^ *fn [a-z0-9_]+\($/ || inside && /^ *fn [a-z0-9_]+\(.*\{$/ {
        if (test) { name = $2; sub(/\(.*/, "", name); print name; test = 0 }
    }
    inside && /^ *#\[test\]$/ { test = 1 }
    $0 == end { inside = 0 }')

tell() {
    echo "Seed $PROPTEST_RNG_SEED, up to $SOAK_FACTOR times the cases of $(wc -w <<<"$names") property tests."
    echo "To repeat this run: make soak PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED SOAK_FACTOR=$SOAK_FACTOR"
}

tell
status=0
# shellcheck disable=SC2086 # names are words
if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --release --locked --no-fail-fast "$@" $names || status=$?
else
    cargo test --release --locked --no-fail-fast "$@" -- $names || status=$?
fi
# shellcheck disable=SC2086
cargo test --locked -p gleaner-frames --test frames -- $names || status=$?
[ $status = 0 ] || tell
exit $status
