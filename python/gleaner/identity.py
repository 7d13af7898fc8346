"""Identities of the values of settings. Equal identities mean equal results, so a sweep can recognise complete runs.

Files and tables are identified by their content. Functions are identified by their source, their compiled code, and
the values of the variables that they use. Modules are identified by their files. Values whose changes cannot be
detected, such as open files, have no identity: :class:`Unstable` is raised for them."""

from __future__ import annotations

import datetime
import dis
import hashlib
import json
import os
import sys
import sysconfig
from abc import ABC
from enum import Enum
from functools import lru_cache, partial
from inspect import isclass
from numbers import Integral, Real
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Generic, Iterator, Protocol

from . import _gleaner
from .functions import digest
from .inputs import Staging
from .policy import Policy
from .search import BuiltIn, Search

Identity = Any
"""A value that can be written as JSON."""

PLAIN = (Real, complex, bytes, datetime.date, datetime.time, datetime.timedelta, type(Ellipsis))
"""Types whose ``repr`` states the whole value."""

STATELESS = (object, Policy, Search, BuiltIn, ABC, Generic, Protocol)
"""Library classes that add no hidden state to their objects or to the objects of their subclasses."""

BOOKKEEPING = {"__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__"}
"""Names of class attributes that do not affect the behaviour of the class."""


class Unstable(Exception):
    """A value without an identity. The message names the value."""


def canonical(identity: Identity) -> str:
    """The identity as JSON. Equal identities give the same text."""
    return json.dumps(identity, sort_keys=True, separators=(",", ":"))


def of_file(path: str) -> Identity:
    """The identity of a file: its digest, and the extension, which may select the format. The identity of a directory
    consists of the relative paths and the digests of its files."""
    place = Path(path)
    if place.is_dir():
        files = sorted(file for file in place.rglob("*") if file.is_file())
        return ["directory", [[str(file.relative_to(place)), sha256(str(file))] for file in files]]
    return ["file", place.suffix, sha256(path)]


def sha256(path: str) -> str:
    """SHA-256 of a file."""
    found = os.stat(path)
    return _sha256(os.path.abspath(path), found.st_size, found.st_mtime_ns, found.st_ino)


@lru_cache(maxsize=10_000)
def _sha256(path: str, size: int, changed: int, node: int) -> str:
    # A file whose size, modification time and inode are unchanged is not read again.
    hashed = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            hashed.update(block)
    return hashed.hexdigest()


def of_value(value: Any) -> Identity:
    """The identity of a Python value.

    >>> from gleaner.identity import of_value
    >>> of_value(60), of_value([None, 0.5])
    (60, ['list', [None, ['float', '0.5']]])
    """
    return _Identifier().of(value)


class _Identifier:
    """Identifies a value and everything that it refers to."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        """The number of each function, class and object, by ``id``, in the order in which they were first encountered.
        The numbers end recursion: a function that calls itself refers to its own number."""
        self.kept: list[Any] = []

    def of(self, value: Any) -> Identity:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, Enum):
            return ["member", type(value).__qualname__, value.name]
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, PLAIN):
            return [type(value).__name__, repr(value)]
        if isinstance(value, os.PathLike):
            return ["path", os.fspath(value)]
        if isinstance(value, (list, tuple)):
            return ["list", [self.of(item) for item in value]]
        if isinstance(value, (set, frozenset)):
            # The order in which a set is iterated can differ between processes.
            return ["set", sorted(canonical(self.of(item)) for item in value)]
        if isinstance(value, dict):
            return ["dict", [[self.of(key), self.of(item)] for key, item in value.items()]]
        return self._object(value)

    def _object(self, value: Any) -> Identity:
        if id(value) in self.seen:
            return ["again", self.seen[id(value)]]
        self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        if isinstance(value, ModuleType):
            return self._module(value)
        if _is_library_name(value):
            return ["library", value.__module__, _name(value)]
        if isinstance(value, partial):
            return ["partial", self.of(value.func), self.of(value.args), self.of(value.keywords)]
        if isinstance(value, MethodType):
            return ["method", self.of(value.__func__), self.of(value.__self__)]
        if isinstance(value, FunctionType):
            return self._function(value)
        if isclass(value):
            return self._class(value)
        if callable(getattr(value, "__wrapped__", None)):
            return ["wrapped", type(value).__qualname__, self.of(value.__wrapped__)]
        return self._instance(value)

    def _module(self, module: ModuleType) -> Identity:
        """The identity of a module: its files, and the identities of the user's modules that it imports."""
        path = getattr(module, "__file__", None)
        if path is None or _in_library(path):
            return ["module", module.__name__]
        place = Path(path)
        files = sorted(place.parent.rglob("*.py")) if place.name == "__init__.py" else [place]
        imported = {}
        for value in vars(module).values():
            other = value if isinstance(value, ModuleType) else sys.modules.get(str(getattr(value, "__module__", None)))
            if other is not None:
                imported[other.__name__] = other
        others = [self.of(imported[name]) for name in sorted(imported)]
        return ["module", module.__name__, [sha256(str(file)) for file in files], others]

    def _function(self, function: FunctionType) -> Identity:
        """The identity of a function: its source and code, its default arguments, and the values of the variables that
        it uses."""
        outer = zip(function.__code__.co_freevars, function.__closure__ or ())
        used = {name: cell.cell_contents for name, cell in outer if _is_full(cell)}
        for name in sorted(set(_globals(function.__code__))):
            if name in function.__globals__:
                used[name] = function.__globals__[name]
        found = {}
        for name, value in used.items():
            try:
                found[name] = self.of(value)
            except Unstable as reason:
                raise Unstable(f"the variable {name!r} of {function.__qualname__}: {reason}") from None
        defaults = self.of([function.__defaults__, function.__kwdefaults__])
        return ["function", digest(function), self._code(function.__code__), defaults, found]

    def _code(self, code: CodeType) -> Identity:
        """The identity of compiled code. It distinguishes lambdas on the same line, which have the same source."""
        constants = [self._code(of) if isinstance(of, CodeType) else self.of(of) for of in code.co_consts]
        hashed = hashlib.sha256(code.co_code).hexdigest()
        return ["code", hashed, code.co_names, constants]

    def _class(self, of: type) -> Identity:
        """The identity of a class: its own attributes, and the identities of its bases."""
        found = {}
        for name, value in sorted(vars(of).items()):
            if name in BOOKKEEPING or name.startswith(("_abc_", "__annot", "__dataclass_")):
                continue
            if isinstance(value, property):
                found[name] = self.of([value.fget, value.fset, value.fdel])
            else:
                # A static method or class method is identified by its function.
                found[name] = self.of(getattr(value, "__func__", value))
        return ["class", of.__qualname__, found, [self.of(base) for base in of.__bases__]]

    def _instance(self, value: Any) -> Identity:
        if hasattr(value, "__arrow_c_stream__"):
            try:
                return of_table(value)
            except ValueError as error:
                raise Unstable(f"{article(type(value).__name__)}: {error}") from None
        if hasattr(value, "tobytes") and not getattr(getattr(value, "dtype", None), "hasobject", True):
            return ["array", str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
        if isinstance(value, _gleaner.Task):
            return of_table([value], "tasks")
        kind = type(value)
        # Other objects, such as a random.Random, may have hidden state.
        is_plain = all(base in STATELESS or not _is_library_name(base) for base in kind.__mro__)
        if not is_plain or not hasattr(value, "__dict__") or any(vars(base).get("__slots__") for base in kind.__mro__):
            raise Unstable(f"changes to {article(kind.__name__)} cannot be detected")
        return ["object", self.of(kind), self.of(dict(sorted(vars(value).items())))]


def of_table(table: Any, option: str = "table") -> Identity:
    """The identity of a table, or of another object that the engines read as a file: the identity of the file that is
    written for it."""
    with Staging() as staging:
        return of_file(staging.file(option, table))


def article(name: str) -> str:
    """A name with its indefinite article."""
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _globals(code: CodeType) -> Iterator[str]:
    """The names of global variables that a function and the functions inside it use."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(step.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals(constant)


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def _is_library_name(value: Any) -> bool:
    """Whether a value is a function or class that can be found by name in the standard library, in an installed package
    or in Gleaner. Such values are identified by name."""
    name, module = _name(value), getattr(value, "__module__", None)
    found = sys.modules.get(module) if isinstance(module, str) else None
    if not isinstance(name, str) or found is None:
        return False
    path = getattr(found, "__file__", None)
    is_library = found.__name__.partition(".")[0] in sys.builtin_module_names if path is None else _in_library(path)
    for part in name.split("."):
        found = getattr(found, part, None)
    return is_library and found is value


def _name(value: Any) -> Any:
    return getattr(value, "__qualname__", getattr(value, "__name__", None))


@lru_cache(maxsize=1)
def _libraries() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    names = {paths[of] for of in ("stdlib", "platstdlib", "purelib", "platlib")} | {str(Path(__file__).parent)}
    return tuple(os.path.realpath(name) + os.sep for name in names)


def _in_library(path: str) -> bool:
    return os.path.realpath(path).startswith(_libraries())
