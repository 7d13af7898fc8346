"""The user's functions and classes that take part in runs: solvers, objectives, searches and policies."""

from __future__ import annotations

from functools import partial
from types import CodeType
from typing import Any, NamedTuple, Optional


class Function(NamedTuple):
    """A function or class, in the form that the engines accept."""

    role: str
    """The option whose value is the function, or the function's own name if the option accepts several functions."""
    name: str
    """The name of the function or class. In results, it has the prefix ``python:``."""
    sha256: Optional[str]
    """SHA-256 of the source, or of the compiled code if there is no source; None if neither is available."""
    value: Any
    """The callable itself."""


def function(role: Optional[str], value: Any, name: Optional[str] = None, source: Any = None) -> Function:
    """Describes a user's function. ``source`` is the object whose source is hashed, if it differs from ``value``."""
    name = name_of(value) if name is None else name
    return Function(name if role is None else role, name, digest(value if source is None else source), value)


def inner(value: Any) -> Any:
    """The function inside nested ``functools.partial`` objects; any other value is returned as it is."""
    while isinstance(value, partial):
        value = value.func
    return value


def name_of(value: Any) -> str:
    """The name of a function or class; for any other object, the name of its class."""
    found = inner(value)
    return str(getattr(found, "__name__", type(found).__name__))


_KNOWN: dict[int, tuple[Any, Optional[str]]] = {}
"""Functions and classes by ``id``, with the digests that another process has computed for them."""


def remember(value: Any, sha256: Optional[str]) -> None:
    """Records the digest of a function that another process has passed to this one. The source may be unavailable in
    this process."""
    found = _source_of(value)
    _KNOWN[id(found)] = (found, sha256)


def _source_of(value: Any) -> Any:
    """The function or class whose source is hashed."""
    import inspect

    found = inner(value)
    return found if inspect.isclass(found) or inspect.isroutine(found) else type(found)


def digest(value: Any) -> Optional[str]:
    """SHA-256 of the source of a function or class; for any other object, of the source of its class."""
    # These modules are imported here, because importing them takes longer than importing most of
    # the package.
    import hashlib
    import inspect

    found = _source_of(value)
    if id(found) in _KNOWN:
        return _KNOWN[id(found)][1]
    try:
        content = inspect.getsource(found).encode()
    except (OSError, TypeError):
        # There is no source, for example for functions typed into a plain interpreter.
        parts = [of for _, of in sorted(vars(found).items())] if inspect.isclass(found) else [found]
        content = b"".join(_content(of.__code__) for of in parts if hasattr(of, "__code__"))
    return hashlib.sha256(content).hexdigest() if content else None


def _content(code: CodeType) -> bytes:
    """The instructions of a function, with the constants and names that they use."""
    plain = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    inside = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return code.co_code + repr((plain, code.co_names)).encode() + b"".join(map(_content, inside))
