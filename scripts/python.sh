# Provides a Python interpreter with packages, in its own environment in the user's cache. Source this file.

# python_with NAME MODULES PACKAGE...: sets `python` to an interpreter that can import MODULES. Installs the packages
# with pip if they are missing. Fails if the installation fails.
python_with() {
    local environment=${XDG_CACHE_HOME:-$HOME/.cache}/gleaner/$1 modules=$2
    python=$environment/bin/python
    "$python" -c "import $modules" 2>/dev/null && return
    rm -rf "$environment"
    mkdir -p "$(dirname "$environment")"
    python3 -m venv "$environment" >&2 &&
        "$python" -m pip install --quiet "${@:3}" >&2 && return
    rm -rf "$environment"
    return 1
}
