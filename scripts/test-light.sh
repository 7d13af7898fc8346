#!/usr/bin/env bash
# Tests the library as a dependency without its default features, in a crate outside the workspace.
# `scripts/test-light.sh TARGET` builds in the folder TARGET, with the dependency versions of the workspace.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "$1")
cp Cargo.lock tests/light/Cargo.lock
light() {
    "${CARGO:-cargo}" "$@" --offline --manifest-path tests/light/Cargo.toml
}
# Without its default features, the library must not depend on these crates.
if light tree --edges normal,build --prefix none | grep -E '^(clap|highs|highs-sys|indicatif|gleaner-report) '; then
    echo "the library without its default features depends on the crates above" >&2
    exit 1
fi
CARGO_TARGET_DIR=$target light test
