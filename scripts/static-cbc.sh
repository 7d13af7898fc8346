#!/usr/bin/env bash
# Builds CBC and the libraries that it depends on, as static archives that programs and Python modules can link:
#   static-cbc.sh PREFIX
# The sources come from COIN-OR's repositories, at fixed commits. The libraries are built without BLAS, LAPACK, zlib
# and bzip2, so they depend only on the C and C++ libraries. If PREFIX already contains these releases, the script does
# nothing.
set -euo pipefail

[ $# -eq 1 ] || {
    echo "usage: static-cbc.sh PREFIX" >&2
    exit 2
}
mkdir -p "$1"
prefix=$(realpath "$1")
# Name, release and commit, in the order of their dependencies.
sources="
CoinUtils 2.11.13 1f3484e0578944a506452e1e35360c09e1490315
Osi 0.108.12 b3dbb7c910a9992717b1107542606262296a0e7e
Clp 1.17.11 9310c186d546e21d482be3455166ee6fb4cd6302
Cgl 0.60.10 1a63715dbb33997701b896f62afec7651a2b3cac
Cbc 2.10.13 8e898d0a4ab7bb5b202c2ebbf3f2d2c0823c1e9d
"
stamp=$prefix/sources.txt
if cmp --silent "$stamp" <(echo "$sources"); then
    exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# These are all the optional libraries that the configure scripts look for.
without=(blas lapack asl glpk mumps metis sample miplib3 netlib nauty cplex mosek xpress gurobi soplex)
while read -r name release commit; do
    [ -n "$name" ] || continue
    echo "building $name $release"
    git clone --quiet --depth 1 --branch "releases/$release" -c advice.detachedHead=false \
        "https://github.com/coin-or/$name" "$work/$name"
    found=$(git -C "$work/$name" rev-parse HEAD)
    if [ "$found" != "$commit" ]; then
        echo "static-cbc.sh: $name $release: found commit $found, expected $commit" >&2
        exit 1
    fi
    (
        cd "$work/$name/$name"
        ./configure --quiet --prefix="$prefix" --libdir="$prefix/lib" --enable-static --disable-shared --with-pic \
            --enable-cbc-parallel --disable-zlib --disable-bzlib "${without[@]/#/--without-}"
        make --silent -j "$(nproc)"
        make --silent install
        install -m 644 -D LICENSE "$prefix/licences/$name"
    ) >"$work/$name.log" 2>&1 || {
        tail -20 "$work/$name.log" >&2
        echo "static-cbc.sh: cannot build $name $release; the end of its log is above" >&2
        exit 1
    }
done <<<"$sources"
echo "$sources" >"$stamp"
