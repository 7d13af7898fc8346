"""Temporary directories. The module that makes them is imported when one is needed: it takes longer than most of
the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    Folder = TemporaryDirectory[str]


def folder() -> Folder:
    """A directory that lasts as long as what this returns."""
    from tempfile import TemporaryDirectory

    return TemporaryDirectory(prefix="gleaner-")
