"""Tests that the functions in gleaner/calls.py have the options that the library declares, with their types and
meanings."""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
from pathlib import Path
from typing import Any, Iterator

import pytest

import gleaner
from gleaner import api, commands

PACKAGE = Path(__file__).resolve().parents[1] / "gleaner"

HEAD = '''"""The functions of the package with all of their options. Written by tests/test_options.py from ``api.py`` and the
declarations of options: ``WRITE_DOCS=1 pytest python/tests/test_options.py``."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Optional, Union, overload

from . import api
from ._gleaner import Answer, ClassProblem, Problem
from .api import AnyProblem, Inspection, Objective, OwnPolicy, Pilots, Solver
from .groups import Group
from .inputs import Events, Input, Tasks
from .logs import EventLog, Trace
from .run import Run, StrPath
from .search import Search
from .sweeps import Progress, SweepRuns

Number = Union[int, float, str]
When = Union[str, datetime.datetime]
'''

NUMBERS = {"SECONDS", "MINUTES", "COUNT", "NUMBER", "ROWS", "INDEX", "GAP", "K", "SHARE", "SECONDS|auto", "NUMBER|auto"}


def kind(option: dict[str, Any]) -> str:
    """The type of an option in Python."""
    if option["is_flag"]:
        return "bool"
    if option["choices"]:
        found = f"Literal[{', '.join(repr(choice) for choice in option['choices'])}]"
        if {"yes", "no"} <= set(option["choices"]):
            found = f"Union[bool, {found}]"
    elif commands.takes_file(option):
        found = "Union[Input, Number]" if "|" in option["value"] else "Input"
    elif option["value"] in NUMBERS:
        found = "Number"
    elif option["value"] == "TIME":
        found = "When"
    else:
        found = "str"
    return f"Union[{found}, Sequence[{found}]]" if option["is_list"] else found


def meaning(option: dict[str, Any]) -> str:
    """The declared meaning of an option."""
    text = " ".join(option["help"].split()).replace("\\", "\\\\").replace('"""', "'''")
    if option["default"] is not None and not option["is_flag"]:
        text += f" [default: {option['default']}]"
    indent = " " * 8
    return textwrap.fill(text, 118, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def options(function: str) -> dict[str, dict[str, Any]]:
    """The options of a function, except those that are parameters in ``api.py``. ``ingest`` has the options of all
    formats."""
    found: dict[str, dict[str, Any]] = {}
    for command in [f"ingest {of}" for of in (*api.LOGS, *api.TRACES)] if function == "ingest" else [function]:
        for name, option in commands.options(command).items():
            if name not in commands.LEFT_OUT[function]:
                found.setdefault(name, option)
    return dict(sorted(found.items()))


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """For each function or overload in ``api.py`` that accepts options, yields the source of the module and the
    function's definition."""
    source = (PACKAGE / "api.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.args.kwarg and node.args.kwarg.arg == "options" and node.name != "given":
            yield source, node


def parameters(source: str, node: ast.FunctionDef) -> tuple[list[str], list[str]]:
    """The parameters of a function as written in the source, and the arguments that pass them on."""

    def written(argument: ast.arg, default: Any = None) -> str:
        assert argument.annotation is not None
        text = f"{argument.arg}: {ast.get_source_segment(source, argument.annotation)}"
        return text if default is None else f"{text} = {ast.get_source_segment(source, default)}"

    args = node.args
    defaults = [None] * (len(args.args) - len(args.defaults)) + list(args.defaults)
    found = [written(argument, default) for argument, default in zip(args.args, defaults)]
    passed = [argument.arg for argument in args.args]
    if args.vararg is not None:
        found.append("*" + written(args.vararg))
        passed.append("*" + args.vararg.arg)
    elif args.kwonlyargs or args.kwarg:
        found.append("*")
    found += [written(argument, default) for argument, default in zip(args.kwonlyargs, args.kw_defaults)]
    passed += [f"{argument.arg}={argument.arg}" for argument in args.kwonlyargs]
    return found, passed


def function(source: str, node: ast.FunctionDef) -> str:
    """The source of a function with all of its options."""
    known = options(node.name)
    found, passed = parameters(source, node)
    found += [f"{name}: Optional[{kind(option)}] = None" for name, option in known.items()]
    assert node.returns is not None
    returns = ast.get_source_segment(source, node.returns)
    lines = "".join(f"    {parameter},\n" for parameter in found)
    head = f"def {node.name}(\n{lines}) -> {returns}:"
    if node.decorator_list:
        return f"\n\n@overload\n{head} ...\n"
    text, examples = (ast.get_docstring(node) or "").partition("\n\n>>>")[::2]
    meanings = "\n".join(f"    {name}\n{meaning(option)}" for name, option in known.items())
    text = textwrap.indent(text, "    ").strip()
    examples = "\n" + textwrap.indent(f">>>{examples}", "    ") + "\n" if examples else ""
    doc = f'    """{text}\n\n    Options:\n\n{meanings}\n{examples}    """\n'
    names = "".join(f"            {name}={name},\n" for name in known)
    arguments = "".join(f"        {argument},\n" for argument in passed)
    return f"\n\n{head}\n{doc}    return api.{node.name}(\n{arguments}        **api.given(\n{names}        ),\n    )\n"


def written() -> str:
    """The expected source of the module."""
    return HEAD + "".join(function(source, node) for source, node in functions())


def test_the_functions_have_the_options_of_the_library() -> None:
    path = PACKAGE / "calls.py"
    if os.environ.get("WRITE_DOCS"):
        path.write_text(written(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == written()


@pytest.mark.parametrize("name", ["replay", "simulate", "compare", "solve", "inspect", "sweep", "ingest"])
def test_the_functions_name_every_option(name: str) -> None:
    signature = inspect.signature(getattr(gleaner, name))
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds
    assert set(options(name)) <= set(signature.parameters) and options(name)
    assert inspect.getdoc(getattr(gleaner, name)).count("\n\nOptions:\n") == 1  # type: ignore[union-attr]
    with pytest.raises(TypeError, match="unexpected keyword argument 'tfwd'"):
        getattr(gleaner, name)("x", "y", tfwd=60)


def test_options_that_are_left_out_exist() -> None:
    for command, names in commands.LEFT_OUT.items():
        of = ["ingest slurm", "ingest table"] if command == "ingest" else [command]
        assert names <= {name for known in of for name in commands.options(known)}


class NoStaging:
    """A stand-in for ``Staging``, for tests that need no files."""


@pytest.mark.parametrize("command", [command for command in commands.LEFT_OUT if command != "ingest"])
def test_false_reaches_the_library(command: str) -> None:
    """False turns a flag off, and means ``no`` for an option with this choice. For any other option, it is an error."""
    for name, option in commands.options(command).items():

        def texts(value: object) -> list[list[str]]:
            found = commands.pairs(command, {name: value}, NoStaging())  # type: ignore[arg-type]
            return [texts for _, texts in found]

        if option["is_flag"]:
            assert texts(True) == [["true"]]
            assert texts(False) == [["false"]]
        elif "no" in option["choices"]:
            assert texts(False) == [["no"]]
        else:
            with pytest.raises(gleaner.UsageError, match=f"{name} is False"):
                texts(False)
        assert texts(None) == []
