"""A copy of the repository, which recipes change at lines that match regular expressions (anchors)."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path


class Fault(Exception):
    """An error that prevents a recipe from being followed."""


class Tree:
    """A copy of the repository with a new git history. The first commit contains all copied files."""

    def __init__(self, source: Path, root: Path) -> None:
        """Copies the files that git does not ignore. Writes only files that differ from an earlier copy, because cargo
        rebuilds a crate if one of its files is newer than the last build."""
        self.root = root
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=source, capture_output=True, text=True, check=True,
        ).stdout
        names = {name for name in listed.split("\0") if (source / name).is_file()}
        shutil.rmtree(root / ".git", ignore_errors=True)
        for path in root.rglob("*"):
            if path.is_file() and str(path.relative_to(root)) not in names:
                path.unlink()
        for name in names:
            old, new = root / name, (source / name).read_bytes()
            if not old.is_file() or old.read_bytes() != new:
                old.parent.mkdir(parents=True, exist_ok=True)
                old.write_bytes(new)
                shutil.copymode(source / name, old)
        self.git("init", "--quiet")
        self.commit("the tree")

    def git(self, *words: str) -> str:
        """Runs a git command and returns its output."""
        author = ["-c", "user.name=recipes", "-c", "user.email=recipes@localhost"]
        program = ["git", *author, *words]
        return subprocess.run(program, cwd=self.root, capture_output=True, text=True, check=True).stdout

    def commit(self, subject: str) -> None:
        """Commits every change."""
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "--message", subject)

    def undo(self) -> None:
        """Reverts all changes since the last commit."""
        self.git("add", "--all", "--force")
        self.git("reset", "--quiet", "--hard")

    def changes(self) -> dict[str, bool]:
        """Returns the files that have changed since the last commit, and whether each of them is new."""
        self.git("add", "--all", "--force")
        lines = self.git("diff", "--cached", "--name-status", "--no-renames").splitlines()
        return {name: status == "A" for status, name in (line.split("\t") for line in lines)}

    def create(self, path: str, text: str) -> None:
        """Creates a file that must not exist yet."""
        if (self.root / path).exists():
            raise Fault(f"{path} already exists")
        (self.root / path).write_text(text, encoding="utf-8")

    def after(self, path: str, *anchors: str, add: str) -> None:
        """Inserts lines after the match of the last anchor. The search for each anchor begins at the match of the
        previous anchor."""
        self._insert(path, anchors, add, 1)

    def before(self, path: str, *anchors: str, add: str) -> None:
        """Inserts lines before the match of the last anchor."""
        self._insert(path, anchors, add, 0)

    def replace(self, path: str, *anchors: str, by: str) -> None:
        """Replaces the text that the last anchor matches."""
        lines, at = self._find(path, anchors)
        lines[at] = re.sub(anchors[-1], lambda found: found.expand(by), lines[at], count=1)
        self._write(path, lines)

    def copy(self, path: str, *anchors: str, old: str, new: str) -> None:
        """Finds the line that the last anchor matches, and inserts before it a copy in which `old` is replaced with
        `new`."""
        lines, at = self._find(path, anchors)
        if old not in lines[at]:
            raise Fault(f"{path}: the line that matches {anchors[-1]!r} does not contain {old!r}")
        lines.insert(at, lines[at].replace(old, new))
        self._write(path, lines)

    def _insert(self, path: str, anchors: tuple[str, ...], text: str, offset: int) -> None:
        lines, at = self._find(path, anchors)
        lines[at + offset : at + offset] = text.removesuffix("\n").split("\n")
        self._write(path, lines)

    def _find(self, path: str, anchors: tuple[str, ...]) -> tuple[list[str], int]:
        """Returns the lines of a file, and the index of the line that the last anchor matches."""
        file = self.root / path
        if not file.is_file():
            raise Fault(f"{path} does not exist")
        lines = file.read_text(encoding="utf-8").split("\n")
        at = 0
        for anchor in anchors:
            found = (index for index in range(at, len(lines)) if re.search(anchor, lines[index]))
            at = next(found, -1)
            if at < 0:
                raise Fault(f"{path}: no line matches {anchor!r}; update the anchor in scripts/recipes")
        return lines, at

    def _write(self, path: str, lines: list[str]) -> None:
        (self.root / path).write_text("\n".join(lines), encoding="utf-8")
