#!/usr/bin/env bash
# Builds the Python package, installs it in a virtual environment, and tests it there:
# scripts/wheel.sh FOLDER, where FOLDER contains the environment. FEATURES contains flags for cargo, as in the Makefile.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
# These are the features of the Rust tests, so the crates built for those tests are reused here.
features=gleaner/baselines
case "${FEATURES:-}" in
    *--no-default-features*) ;;
    *) features=$features,gleaner/default,gleaner-solvers/default ;;
esac

skip() {
    echo "note: $1; the Python package is not tested (to use another Python, set PYTHON)" >&2
    exit 0
}
python=$(command -v "${PYTHON:-python3}") || skip "there is no Python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || skip "$python is older than 3.10, which the tests need"
if ! [ -x "$venv/bin/python" ] && ! "$python" -m venv "$venv"; then
    rm -rf "$venv"
    skip "$python cannot create a virtual environment"
fi
# Installs the requirements in a new environment, and reinstalls them after they change.
wanted=python/tests/requirements.txt
if ! cmp -s "$wanted" "$venv/requirements.txt"; then
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$wanted" || skip "pip cannot install $wanted"
    cp "$wanted" "$venv/requirements.txt"
fi

# Without build isolation, the environment's own maturin builds the package. With isolation, crates would be rebuilt for
# the interpreter of each new environment.
PATH="$venv/bin:$PATH" \
    "$venv/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall . \
    --config-settings "build-args=--locked --features $features"
"$venv/bin/python" -m pytest -q -p no:cacheprovider python/tests
