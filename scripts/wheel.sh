#!/usr/bin/env bash
# The Python package: lints its crate, builds the wheel into a virtual environment, and tests it there.
# scripts/wheel.sh FOLDER has the environment in FOLDER. FEATURES are cargo's, as in the Makefile.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
case "${FEATURES:-}" in
    *--no-default-features*) features= ;;
    *) features="--features highs,cbc" ;;
esac

python=$(command -v "${PYTHON:-python3}") || {
    echo "note: there is no Python; its package is not tested (or name one by PYTHON)" >&2
    exit 0
}
[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
# Once in an environment, and again when they change.
wanted=python/tests/requirements.txt
if ! cmp -s "$wanted" "$venv/requirements.txt"; then
    if ! "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"; then
        echo "note: pip cannot install $wanted; the Python package is not tested" >&2
        exit 0
    fi
    cp "$wanted" "$venv/requirements.txt"
fi

# shellcheck disable=SC2086 # Two words.
"${CARGO:-cargo}" clippy --release --locked -p gleaner-python $features -- -D warnings
# Without isolation the environment's own maturin builds, so that crates are not built again for
# the interpreter of a new environment.
PATH="$venv/bin:$PATH" \
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall . \
    --config-settings "build-args=--locked $features"
"$venv/bin/python" -m pytest -q -p no:cacheprovider python/tests
