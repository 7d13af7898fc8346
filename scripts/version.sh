#!/usr/bin/env bash
# Checks that all files that contain Gleaner's version agree with the workspace's version in Cargo.toml:
#   version.sh           checks the files
#   version.sh vX.Y.Z    also checks that the tag has this version, and that the changelog contains its date
#   version.sh --print   prints the version
set -euo pipefail
cd "$(dirname "$0")/.."

# value FILE EXPRESSION: prints the first match of the extended regular expression's group.
value() {
    sed -nE "s/$2/\1/p" "$1" | head -1
}

version=$(value Cargo.toml '^version = "(.*)"')
if [ "${1:-}" = --print ]; then
    echo "$version"
    exit
fi
faults=0
# expect FILE WHAT FOUND: reports a fault unless FOUND is the workspace's version.
expect() {
    [ "$3" = "$version" ] && return
    echo "$1: $2: found \"$3\", expected \"$version\", the version in Cargo.toml" >&2
    faults=$((faults + 1))
}

# Each crate of the workspace requires exactly this version of the other crates.
while read -r name found; do
    expect Cargo.toml "$name in [workspace.dependencies]" "$found"
done < <(sed -nE 's/^(gleaner-[a-z-]+) = \{ version = "=([^"]*)".*/\1 \2/p' Cargo.toml)
for manifest in Cargo.toml crates/*/Cargo.toml solvers/Cargo.toml python/Cargo.toml; do
    grep -q '^version.workspace = true' "$manifest" ||
        expect "$manifest" "version" "$(value "$manifest" '^version = "(.*)"')"
done
# The wheel gets its version from python/Cargo.toml.
grep -q '^dynamic = \["version"\]' pyproject.toml ||
    expect pyproject.toml version "$(value pyproject.toml '^version = "(.*)"')"
expect Cargo.lock "version of gleaner" "$(sed -n '/^name = "gleaner"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)"
expect CHANGELOG.md "newest heading" "$(value CHANGELOG.md '^## ([^ ]+).*')"
expect CITATION.cff version "$(value CITATION.cff '^version: "?([^"]*)"?')"
expect packaging/gleaner.def "Version" "$(value packaging/gleaner.def '^ *Version (.*)')"
expect packaging/conda-forge/recipe.yaml version "$(value packaging/conda-forge/recipe.yaml '^ *version: "(.*)"')"
expect packaging/spack/package.py "newest version" "$(value packaging/spack/package.py '^ *version\("([0-9][^"]*)".*')"
if [ $# -gt 0 ]; then
    expect "$1" "version of the tag" "${1#v}"
    if ! grep -qE "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md; then
        echo "CHANGELOG.md: newest heading: expected the date of the release: ## $version (YYYY-MM-DD)" >&2
        faults=$((faults + 1))
    fi
fi
[ $faults -eq 0 ] || exit 1
echo "All files have version $version."
