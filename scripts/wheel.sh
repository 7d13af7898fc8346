#!/usr/bin/env bash
# The Python package: builds the wheel into a virtual environment, and tests it there.
# scripts/wheel.sh FOLDER has the environment in FOLDER. FEATURES are cargo's, as in the Makefile.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
# Those of the tests in Rust, so that crates that are built for them serve here too.
features=gleaner/baselines
case "${FEATURES:-}" in
    *--no-default-features*) ;;
    *) features=$features,gleaner/default,gleaner-solvers/default ;;
esac

skip() {
    echo "note: $1; the Python package is not tested (or name another Python by PYTHON)" >&2
    exit 0
}
python=$(command -v "${PYTHON:-python3}") || skip "there is no Python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || skip "$python is older than 3.10, which the tests need"
if ! [ -x "$venv/bin/python" ] && ! "$python" -m venv "$venv"; then
    rm -rf "$venv"
    skip "$python makes no virtual environment"
fi
# Once in an environment, and again when they change.
wanted=python/tests/requirements.txt
if ! cmp -s "$wanted" "$venv/requirements.txt"; then
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted" || skip "pip cannot install $wanted"
    cp "$wanted" "$venv/requirements.txt"
fi

# Without isolation the environment's own maturin builds, so that crates are not built again for
# the interpreter of a new environment.
PATH="$venv/bin:$PATH" \
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall . \
    --config-settings "build-args=--locked --features $features"
"$venv/bin/python" -m pytest -q -p no:cacheprovider python/tests
