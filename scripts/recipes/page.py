"""Parses a recipe from ARCHITECTURE.md: the files that it names and its test commands."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from tree import Fault


@dataclass
class Command:
    """A `cargo test` command without the flags that select packages, features or the profile."""

    words: list[str]
    variables: dict[str, str] = field(default_factory=dict)


class Recipe:
    """A paragraph of the section "Recipes" in ARCHITECTURE.md, with the section of CONTRIBUTING.md that it links to."""

    def __init__(self, root: Path, title: str) -> None:
        """Reads the paragraph that contains the title."""
        paragraphs = _section(root / "ARCHITECTURE.md", "Recipes").split("\n\n")
        found = [paragraph for paragraph in paragraphs if title in paragraph]
        if len(found) != 1:
            raise Fault(f"ARCHITECTURE.md: {len(found)} recipes with {title!r}, expected 1")
        text = found[0]
        linked = re.findall(r"\[([^\]]*)\]\(CONTRIBUTING\.md#", text)
        # Only the first link is followed, because the paragraph may also contain a second recipe with its own link.
        if linked:
            text += _section(root / "CONTRIBUTING.md", linked[0])
        # Code blocks are examples, so their paths and commands are ignored.
        text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        code = [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", text)]
        links = re.findall(r"\]\(([^)#]+)", text)
        self.paths = {word for word in code if "/" in word and " " not in word} | set(links)
        self.commands = [_command(line) for line in code if "cargo test" in line]

    def names(self, path: str, is_new: bool) -> bool:
        """Whether the recipe names a file. For a new file, the name of its folder is sufficient."""
        folder = path.rpartition("/")[0] + "/"
        return path in self.paths or (is_new and folder in self.paths)


def _section(page: Path, heading: str) -> str:
    parts = page.read_text(encoding="utf-8").split(f"\n## {heading}\n")
    if len(parts) != 2:
        raise Fault(f"{page.name}: found {len(parts) - 1} sections {heading!r}, expected 1")
    return parts[1].split("\n## ")[0]


def _command(line: str) -> Command:
    words = shlex.split(line)
    variables = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    del words[:2]
    kept = []
    while words:
        word = words.pop(0)
        if word in ("-p", "--features"):
            words.pop(0)
        elif word not in ("--release", "--no-default-features"):
            kept.append(word)
    return Command(kept, variables)
