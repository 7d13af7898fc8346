"""Runs as HTML, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Iterable, Sequence

if TYPE_CHECKING:
    from ._gleaner import Table
    from .run import Run

MAIN = {"simulate": "policies", "compare": "solvers"}
"""The table that says most of a run, where there is one."""


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
    return f"<b>{escape(run.command)}</b>{state}<table>{rows}</table><p>Tables: {names}</p>"


def _of_table(table: Table) -> str:
    columns = [table.column(name) for name in table.columns]
    return _row(table.columns, []) + "".join(_row([], row) for row in zip(*columns))


def _row(heads: Iterable[str], cells: Sequence[object]) -> str:
    heading = "".join(f"<th>{escape(head)}</th>" for head in heads)
    return f"<tr>{heading}{''.join(f'<td>{_cell(cell)}</td>' for cell in cells)}</tr>"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return escape(f"{value:.6g}" if isinstance(value, float) else str(value))
