# Python with packages, in an environment of its own in the user's cache; to be sourced.

# python_with NAME MODULES PACKAGE...: sets `python` to one that can import MODULES, made with pip
# where it is not there; fails where it cannot be had.
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
