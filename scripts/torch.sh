#!/usr/bin/env bash
# If PyTorch is missing, installs it on Debian, as root, for the tests of workloads/ and of docs/harvest/train.py.
# Elsewhere, these tests are then skipped. Debian's package has no GPU support and is a download of only 150 MB. The pip
# package includes CUDA and takes 5 GB on disk.
set -euo pipefail

# The interpreters that the tests try (see crates/testing/src/python.rs).
for python in ${GLEANER_TEST_PYTHON:-python3 /usr/bin/python3}; do
    "$python" -c 'import torch' 2>/dev/null && exit 0
done
skip() {
    echo "note: $1; the tests that need PyTorch are skipped (to use another Python, set GLEANER_TEST_PYTHON)" >&2
    exit 0
}
command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ] || skip "PyTorch is missing"
[ -z "${GLEANER_TEST_PYTHON:-}" ] || skip "$GLEANER_TEST_PYTHON has no PyTorch"
echo "installing python3-torch"
export DEBIAN_FRONTEND=noninteractive
# If this fails, only the tests that need PyTorch are skipped.
{
    apt-get update -qq &&
        apt-get install -y -qq --no-install-recommends python3-torch python3-torchvision >/dev/null
} || skip "PyTorch cannot be installed"
