#!/usr/bin/env bash
# Installs the built program, its completion scripts, its manual pages and the workloads for `gleaner
# profile` in the directory PREFIX, or uninstalls them:
#   install.sh install PREFIX GLEANER
#   install.sh uninstall PREFIX
set -euo pipefail

usage() {
    echo "usage: install.sh install PREFIX GLEANER | uninstall PREFIX" >&2
    exit 2
}

[ $# -ge 2 ] && [ -n "$2" ] || usage
prefix=${2%/}
bin=$prefix/bin/gleaner
man=$prefix/share/man/man1
# The completion scripts, in the folders where each shell looks for them.
bash=$prefix/share/bash-completion/completions/gleaner
zsh=$prefix/share/zsh/site-functions/_gleaner
fish=$prefix/share/fish/vendor_completions.d/gleaner.fish
# The program looks for the workloads in this folder: crates/profile/src/plan/shipped.rs.
workloads=$prefix/share/gleaner/workloads

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

case "$1 $#" in
"install 3")
    gleaner=$3
    "$gleaner" man "$work/man" 2>/dev/null
    for shell in bash zsh fish; do
        "$gleaner" completions "$shell" >"$work/$shell"
    done
    mkdir -p "${bin%/*}" "$man" "${bash%/*}" "${zsh%/*}" "${fish%/*}" "$workloads/models"
    install -m 755 "$gleaner" "$bin"
    install -m 644 "$work/man"/*.1 "$man"
    install -m 644 "$work/bash" "$bash"
    install -m 644 "$work/zsh" "$zsh"
    install -m 644 "$work/fish" "$fish"
    source=$(dirname "$0")/../workloads
    install -m 644 "$source"/*.{md,py,toml} "$workloads"
    install -m 644 "$source"/models/*.py "$workloads/models"
    echo "installed $bin, its completion scripts, its manual pages and $workloads"
    ;;
"uninstall 2")
    if [ ! -x "$bin" ]; then
        echo "$bin is missing: nothing is installed under $prefix" >&2
        exit 1
    fi
    # The installed program provides the names of its manual pages.
    "$bin" man "$work/man" 2>/dev/null
    for page in "$work/man"/*.1; do
        rm -f "$man/${page##*/}"
    done
    rm -f "$bash" "$zsh" "$fish" "$bin"
    rm -rf "$workloads"
    rmdir --ignore-fail-on-non-empty "${workloads%/*}"
    echo "removed $bin, its completion scripts, its manual pages and $workloads"
    ;;
*) usage ;;
esac
