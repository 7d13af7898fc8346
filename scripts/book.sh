#!/usr/bin/env bash
# Builds the book from docs/ in TARGET/book and checks its links: scripts/book.sh TARGET. If mdBook is missing from
# TARGET/tools, installs it there, which takes about two minutes of CPU time. Links to other sites are not checked.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
target=$(cd "$1" && pwd)
version=0.5.4
mdbook=$target/tools/bin/mdbook

if [ "$("$mdbook" --version 2>/dev/null)" != "mdbook v$version" ]; then
    # Without the default features, mdBook has no web server and does not watch files.
    CARGO_TARGET_DIR=$target/tools/build ${CARGO:-cargo} install mdbook --version "$version" --locked \
        --no-default-features --features search --root "$target/tools"
    rm -rf "$target/tools/build"
fi
rm -rf "$target/book"
# mdBook exits with 0 after warnings. Here, a warning is an error.
if ! "$mdbook" build docs --dest-dir "$target/book" 2>"$target/book.log" || grep -q WARN "$target/book.log"; then
    cat "$target/book.log" >&2
    exit 1
fi
python3 scripts/book.py check "$target/book"
echo "the book is $target/book/index.html"
