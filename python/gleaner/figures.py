"""Converts the figures of summaries to rows of tables."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Optional, Sequence

from ._gleaner import Table, spread, table_of
from .run import Run

Row = dict[str, Any]


def flat(summary: Mapping[str, Any]) -> Row:
    """The scalar values of a summary. In a group of scalar values, the name of each value gets the name of the group as
    a prefix: ``{"jobs": 400, "small": {"jobs": 392}}`` becomes ``{"jobs": 400, "small_jobs": 392}``. Other groups and
    lists are left out."""
    found: Row = {}
    for name, value in summary.items():
        if isinstance(value, dict) and not any(isinstance(of, (dict, list)) for of in value.values()):
            found.update({f"{name}_{inner}": of for inner, of in value.items()})
        elif not isinstance(value, (dict, list)):
            found[name] = value
    return found


def of_run(run: Run) -> Row:
    """The figures of a run. If the run simulates a single policy, they include the figures of the policy."""
    policies = _policies(run)
    return {**flat(run.summary), **(flat(next(iter(policies.values()))) if len(policies) == 1 else {})}


def table(run: Run, name: str) -> Optional[Table]:
    """A table of a run. The directory of a simulation has no files for the tables ``policies`` and ``vcs``, so their
    rows are taken from the summary."""
    if name in run.tables:
        return run.tables[name]
    policies = _policies(run)
    if name == "policies" and policies:
        return of_rows(name, [{"policy": policy, **flat(of)} for policy, of in policies.items()])
    if name == "vcs" and policies:
        return of_rows(name, list(_vcs(policies)))
    return None


def names(run: Run) -> list[str]:
    """The names of the tables of a run."""
    return [*(["policies", "vcs"] if _policies(run) else []), *run.tables]


def _policies(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = run.summary.get("policies") or {}
    return found


def _vcs(policies: Mapping[str, Any]) -> Iterator[Row]:
    for policy, of in policies.items():
        for vc, figures in of["vcs"].items():
            yield {"policy": policy, "vc": vc, **flat(figures)}


def means(rows: Sequence[Row], are_windows: bool) -> Row:
    """The number of rows, and the mean of each numeric figure with the ends of its 95 % interval. The ends are None if
    there are too few rows. If a row lacks a figure, the figure's mean and ends are None."""
    found: Row = {"repetitions": len(rows)}
    for name in dict.fromkeys(of for row in rows for of in row):
        numbers = [float(row[name]) for row in rows if _is_number(row.get(name))]
        if numbers:
            mean, ends = (spread(numbers, are_windows) if len(numbers) == len(rows) else None) or (None, None)
            found[name], (found[f"{name}_low"], found[f"{name}_high"]) = mean, ends or (None, None)
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def of_rows(name: str, rows: Sequence[Row]) -> Table:
    """A table with a column for each name that occurs in the rows."""
    known = dict.fromkeys(of for row in rows for of in row)
    return table_of(name, [(of, column([row.get(of) for row in rows])) for of in known])


def column(values: Sequence[Any]) -> list[Any]:
    """The values of a column, converted to text unless all of them are numbers or all are Booleans."""
    present = [value for value in values if value is not None]
    are_truths = all(isinstance(value, bool) for value in present)
    are_numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present)
    if are_truths or are_numbers:
        return list(values)
    return [None if value is None else str(value) for value in values]
