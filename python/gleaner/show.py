"""Shows runs, tables and pages in notebooks as HTML. Notebooks store their output. To keep the output small, the HTML
contains tables and SVG figures, but not the library that makes figures interactive."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .errors import GleanerError

if TYPE_CHECKING:
    from ._gleaner import Page, Table
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


ROWS = 5
"""Number of rows that a preview shows at each end of a table."""


def preview(table: Table) -> str:
    """The first and last rows of a table, and its size."""
    rows = len(table)
    is_cut = rows > 2 * ROWS + 1
    body = _rows(table._texts(0, ROWS if is_cut else rows))
    if is_cut:
        gap = "<td>…</td>" * len(table.columns)
        body += f"<tr>{gap}</tr>" + _rows(table._texts(rows - ROWS, ROWS))
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    size = f"<p><code>{escape(table.name)}</code>: {rows:,} rows, {len(table.columns)} columns</p>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{size}"


def _rows(rows: list[list[str]]) -> str:
    return "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)


def _size(text: str) -> int:
    return len(text.encode())
