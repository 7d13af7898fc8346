"""Shows runs and pages in notebooks as HTML. Notebooks store what they show, so the HTML has tables and SVG figures,
without the library that makes figures interactive."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Iterable, Sequence

from .errors import GleanerError

if TYPE_CHECKING:
    from ._gleaner import Page, Table
    from .run import Run

MAIN = {"simulate": "policies", "compare": "solvers"}
"""The table that says most of a run, where there is one."""
MOST = 500_000
"""Maximum size of the HTML of a run or a page, in bytes."""
ROWS = 50
"""Maximum number of rows shown of a table."""


def shown(run: Run) -> str:
    """The run's figures, and the names of its tables."""
    main = MAIN.get(run.command)
    if main is not None and main in run.tables:
        rows = _of_table(run.tables[main])
    else:
        summary = run.summary.items()
        plain = [(name, value) for name, value in summary if value is not None and not isinstance(value, (dict, list))]
        rows = "".join(_row([name], [value]) for name, value in plain)
    state = "" if run.complete else " (interrupted)"
    names = ", ".join(f"<code>{escape(name)}</code>" for name in run.tables)
    head = f"<b>{escape(run.command)}</b>{state}<table>{rows}</table><p>Tables: {names}</p>"
    try:
        page = run.report()
    except GleanerError:
        # Some runs have no page, such as those that were interrupted before their first event.
        return head
    return head + stills(page, MOST - _size(head))


def stills(page: Page, most: int = MOST) -> str:
    """The figures of a page as SVG, as many of them as fit into ``most`` bytes."""
    left_out = "<p>Left out: {}. <code>page.figures</code> has them, and <code>page.write</code> writes them all.</p>"
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


def _of_table(table: Table) -> str:
    columns = [table.column(name)[:ROWS] for name in table.columns]
    more = f"<tr><td>… {len(table)} rows</td></tr>" if len(table) > ROWS else ""
    return _row(table.columns, []) + "".join(_row([], row) for row in zip(*columns)) + more


def _row(heads: Iterable[str], cells: Sequence[object]) -> str:
    heading = "".join(f"<th>{escape(head)}</th>" for head in heads)
    return f"<tr>{heading}{''.join(f'<td>{_cell(cell)}</td>' for cell in cells)}</tr>"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return escape(f"{value:.6g}" if isinstance(value, float) else str(value))
