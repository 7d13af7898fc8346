"""Temporary directories. The module `tempfile` is imported on demand, because importing it takes longer than importing
most of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    Folder = TemporaryDirectory[str]


def folder() -> Folder:
    """Creates a temporary directory, which is deleted together with the returned object."""
    from tempfile import TemporaryDirectory

    return TemporaryDirectory(prefix="gleaner-")
