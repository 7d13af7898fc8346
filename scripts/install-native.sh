#!/usr/bin/env bash
# On Debian, as root, installs the packages that the builds of HiGHS and CBC need. Elsewhere, lists the missing
# packages. With WITHOUT_CBC=1, CBC's package is not needed.
set -euo pipefail

if ! command -v cargo >/dev/null; then
    echo "gleaner needs a Rust toolchain (1.89 or newer): https://rustup.rs" >&2
    exit 1
fi
for component in rustfmt clippy; do
    cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1 ||
        echo "note: $component is missing; 'make test' needs it: rustup component add $component" >&2
done
case "${FEATURES:-}" in *--no-default-features*) exit 0 ;; esac

# The packages that provide the missing programs and libraries.
missing=()
command -v cmake >/dev/null || missing+=(cmake)
command -v c++ >/dev/null || missing+=(g++)
command -v pkg-config >/dev/null || missing+=(pkg-config)
has_library() {
    local folder
    for folder in '/usr/lib/*' /usr/lib /usr/lib64 /usr/local/lib; do
        compgen -G "$folder/$1" >/dev/null && return 0
    done
    return 1
}
[ -n "${WITHOUT_CBC:-}" ] || has_library 'libCbcSolver.so' || missing+=(coinor-libcbc-dev)
# Finds libclang under either of its names. libclang-cpp is a different library.
has_libclang() {
    has_library 'libclang.so*' || has_library 'libclang-[0-9]*.so*' ||
        compgen -G '/usr/lib/llvm-*/lib/libclang.so*' >/dev/null
}
[ -n "${LIBCLANG_PATH:-}" ] || has_libclang || missing+=(libclang-dev)
[ ${#missing[@]} -eq 0 ] && exit 0

if command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
    echo "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    exit 0
fi
cat >&2 <<MESSAGE
The HiGHS and CBC backends need: ${missing[*]} (Debian's names).
Install them, for example
    sudo apt-get install ${missing[*]}
or build without these backends (the exact solver needs no packages):
    make ${MAKECMDGOALS:-demo} FEATURES=--no-default-features
MESSAGE
exit 1
