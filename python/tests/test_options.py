"""The types of options in gleaner/options.py are those of the command line."""

from __future__ import annotations

import os
import pydoc
import textwrap
from pathlib import Path
from typing import Any

import gleaner
from gleaner import commands

PATH = Path(__file__).resolve().parents[1] / "gleaner" / "options.py"

HEAD = '''"""The options of the functions, with their types and meanings. Written by tests/test_options.py from those of the
command line: ``WRITE_DOCS=1 pytest python/tests/test_options.py``."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict, Union

if TYPE_CHECKING:
    from .inputs import Input

Number = Union[int, float, str]
When = Union[str, datetime.datetime]
'''

NUMBERS = {"SECONDS", "COUNT", "NUMBER", "ROWS", "INDEX", "GAP", "K", "SECONDS|auto", "NUMBER|auto"}


def kind(option: dict[str, Any]) -> str:
    """The type of an option in Python."""
    if option["is_flag"]:
        return "bool"
    if option["choices"]:
        found = f"Literal[{', '.join(repr(choice) for choice in option['choices'])}]"
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
    """What an option means, as the help of the command line says it."""
    text = " ".join(option["help"].split()).replace("\\", "\\\\").replace('"""', "'''")
    if option["default"] is not None and not option["is_flag"]:
        text += f" [default: {option['default']}]"
    indent = " " * 8
    return textwrap.fill(text, 118, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def written() -> str:
    """What the module should be."""
    parts = [HEAD]
    for command in commands.LEFT_OUT:
        known = sorted(commands.options(command).items())
        named = [(name, of) for name, of in known if name not in commands.LEFT_OUT[command] and not of["is_positional"]]
        meanings = "\n".join(f"    {name}\n{meaning(option)}" for name, option in named)
        fields = "\n".join(f"    {name}: {kind(option)}" for name, option in named)
        head = f"class {command.capitalize()}Options(TypedDict, total=False):"
        parts.append(f'\n\n{head}\n    """Options of ``{command}``.\n\n{meanings}\n    """\n\n{fields}\n')
    return "".join(parts)


def test_the_types_of_options_are_those_of_the_command_line() -> None:
    if os.environ.get("WRITE_DOCS"):
        PATH.write_text(written(), encoding="utf-8")
    assert PATH.read_text(encoding="utf-8") == written()


def test_help_has_the_options_with_their_meanings() -> None:
    shown = pydoc.plain(pydoc.render_doc(gleaner.options))
    assert "max_tasks\n" in shown and "Most tasks that are active at once (-maxJ) [default: 10]" in shown


def test_options_that_are_left_out_exist() -> None:
    for command, names in commands.LEFT_OUT.items():
        assert names <= set(commands.options(command))
