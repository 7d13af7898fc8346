"""Shows runs and pages in notebooks as HTML. Notebooks store their output, so the HTML contains tables and SVG figures,
but not the library that makes figures interactive."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .errors import GleanerError

if TYPE_CHECKING:
    from ._gleaner import Page
    from .run import Run

MOST = 500_000
"""Maximum size of the HTML of a run or a page, in bytes."""


def shown(run: Run) -> str:
    """The facts, tables and figures of the run's page, and the names of the run's tables."""
    state = "" if run.complete else " (interrupted)"
    names = ", ".join(f"<code>{escape(name)}</code>" for name in run.tables)
    head, foot = f"<b>{escape(run.command)}</b>{state}", f"<p>Tables: {names}</p>"
    try:
        page = run.report()
    except GleanerError:
        # Some runs have no page, such as those that were interrupted before their first event.
        return head + foot
    tables = page.tables()
    if _size(tables) < MOST // 2:
        head += tables
    return head + foot + stills(page, MOST - _size(head + foot))


def stills(page: Page, most: int = MOST) -> str:
    """The figures of a page as SVG, without those that do not fit into ``most`` bytes."""
    left_out = "<p>Left out: {}. <code>page.figures</code> contains them, and <code>page.write</code> writes all figures.</p>"
    most -= _size(left_out) + sum(_size(escape(name)) + 2 for name in page.figures)
    parts, missing = [], []
    for name, figure in page.figures.items():
        part = f"<div>{figure.svg()}</div>"
        if _size(part) <= most:
            parts.append(part)
            most -= _size(part)
        else:
            missing.append(escape(name))
    if missing:
        parts.append(left_out.format(", ".join(missing)))
    return "".join(parts)


def _size(text: str) -> int:
    return len(text.encode())
