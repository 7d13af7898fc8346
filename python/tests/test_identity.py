"""Tests that identities differ whenever results could differ, and are the same in every process."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import itertools
import math
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import polars
import pytest

import gleaner
from gleaner.identity import Unstable, canonical, of_file, of_value

LIMIT = 3
KINDS = {"a", "b", "c", "d", "e"}


def limited(value: float) -> float:
    return min(value, LIMIT) if value not in {"a", "b", "c"} and not KINDS else helper(value)


def helper(value: float) -> float:
    return math.sqrt(value) if value > 1 else limited(value)


def calls_module(value: float) -> float:
    return gleaner.Task("a", {1: value}).rate(1) + numpy.sqrt(value)


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Base(gleaner.Policy):
    size = 2

    @staticmethod
    def key(job: gleaner.Job) -> int:
        return job.gpus


class Derived(Base):
    def __init__(self, limit: int = 3) -> None:
        self.limit = limit


@dataclasses.dataclass
class Data:
    limit: int = 3


def same(*values: Any) -> bool:
    return len({canonical(of_value(value)) for value in values}) == 1


def different(*values: Any) -> bool:
    return len({canonical(of_value(value)) for value in values}) == len(values)


def power(exponent: float) -> Callable[[float], float]:
    return lambda value: value**exponent


def test_values() -> None:
    array = numpy.array([1.0, 2.0])
    assert different(None, True, 1, 1.0, "1", b"1", [1], {1: 1}, {1}, math.inf, "inf", array, array[:1], Colour.RED, Colour.BLUE)
    assert same(1, numpy.int64(1)) and same([1, 2], (1, 2)) and same({1, 2, 3}, {3, 2, 1})
    frame = polars.DataFrame({"a": [1, 2]})
    assert same(frame, frame.to_pandas(), frame.to_arrow()) and different(frame, frame.reverse())


def test_functions() -> None:
    two = [lambda value: value + 1, lambda value: value + 2]
    assert different(*two) and different(power(1), power(2)) and same(power(2), power(2))
    partials = [functools.partial(pow, 2), functools.partial(pow, 3), functools.partial(pow, exp=3), functools.partial(max, 2)]
    assert different(*partials) and same(partials[0], functools.partial(pow, 2))
    assert different(lambda value, of=1: of, lambda value, of=2: of) and different(len, max, math.sqrt, numpy.sqrt)
    assert different(functools.lru_cache(power(1)), functools.lru_cache(power(2)))
    before = canonical(of_value(limited))
    assert limited(2.0) == math.sqrt(2) and canonical(of_value(limited)) == before


def test_variables_of_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    before = canonical(of_value(helper)), canonical(of_value(limited))
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", 4)
    after = canonical(of_value(helper)), canonical(of_value(limited))
    assert before[0] != after[0] and before[1] != after[1]
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", 3)
    assert (canonical(of_value(helper)), canonical(of_value(limited))) == before


def test_modules_of_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change in any module of the user, imported directly or indirectly, changes the identity."""
    monkeypatch.syspath_prepend(str(tmp_path))
    files = {"outer_one.py": "import inner_one\n", "inner_one.py": "from package_one import deep\n", "package_one/deep.py": "X = 1\n"}
    (tmp_path / "package_one").mkdir()
    (tmp_path / "package_one" / "__init__.py").write_text("")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    outer = importlib.import_module("outer_one")
    found = [canonical(of_value(lambda: outer))]
    for name, text in files.items():
        (tmp_path / name).write_text(text + "# changed\n")
        found.append(canonical(of_value(lambda: outer)))
    assert len(set(found)) == 4


def test_classes_and_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    assert different(Base, Derived, Base(), Derived(3), Derived(4)) and same(Derived(), Derived(3))
    assert different(Data(3), Data(4)) and same(Data(), Data(3))
    assert different(Derived(3).next, Derived(4).next)
    before = canonical(of_value(Derived))
    monkeypatch.setattr(Base, "size", 3)
    assert canonical(of_value(Derived)) != before
    made = [type("Made", (gleaner.Policy,), {"size": of}) for of in (1, 2)]
    assert different(*made)


@pytest.mark.parametrize("value", [random.Random(1), itertools.count(), threading.Lock(), iter([1]), [].append, type("R", (random.Random,), {})()])
def test_hidden_state_has_no_identity(value: Any) -> None:
    with pytest.raises(Unstable, match="changes to .* cannot be detected"):
        of_value(value)
    with pytest.raises(Unstable, match="the variable 'value' of .*<lambda>"):
        of_value(lambda: value)


def test_files_are_identified_by_content(tmp_path: Path) -> None:
    one, other, folder = tmp_path / "one.csv", tmp_path / "other.csv", tmp_path / "folder"
    one.write_text("a")
    other.write_text("a")
    assert of_file(str(one)) == of_file(str(other)) != of_file(str(one.rename(tmp_path / "one.gev")))
    os.utime(other, ns=(0, 0))
    assert of_file(str(other))[2] == of_file(str(tmp_path / "one.gev"))[2]
    other.write_text("b")
    assert of_file(str(other))[2] != of_file(str(tmp_path / "one.gev"))[2]
    folder.mkdir()
    (folder / "x").write_text("1")
    found = [of_file(str(folder))]
    (folder / "x").rename(folder / "y")
    found.append(of_file(str(folder)))
    assert found[0] != found[1]


def test_identities_are_the_same_in_every_process() -> None:
    script = """
import test_identity as of
from gleaner.identity import canonical, of_value
print(canonical(of_value([of.limited, of.helper, of.calls_module, of.Derived, of.Derived(2), of.power(3), of.Data(1), of.KINDS])))
"""
    found = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        program = [sys.executable, "-c", script]
        found.add(subprocess.run(program, capture_output=True, text=True, env=environment, check=True).stdout)
    here = canonical(of_value([limited, helper, calls_module, Derived, Derived(2), power(3), Data(1), KINDS]))
    assert found == {here + "\n"}
