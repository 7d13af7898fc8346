"""The results of a sweep over a dict of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, Sequence

from . import figures
from ._gleaner import Table, stack_tables
from .errors import UsageError
from .run import Run

if TYPE_CHECKING:
    from .plans import Combination

Progress = Callable[[int, int, dict[str, Any]], object]
"""Receives the number of completed runs, the total number of runs, and the settings of the run that has just
finished."""


class SweepRuns:
    """The runs of a sweep over a dict. ``sweep[{"t_fwd": 60}]`` is the run with this setting, if there is exactly
    one."""

    command: str
    """The function that was called: ``replay`` or ``simulate``."""
    complete: bool
    """Whether all runs are done."""

    def __init__(self, command: str, done: Sequence[tuple[Combination, Run]], complete: bool) -> None:
        self.command = command
        self.complete = complete
        self._done = list(done)

    @property
    def runs(self) -> list[tuple[dict[str, Any], Run]]:
        """The settings and the results of each run, in the order of the combinations."""
        return [(of.settings, run) for of, run in self._done]

    @property
    def summary(self) -> Table:
        """A table with a row for each run: its settings, and the figures of its summary. The figures of a simulation
        with a single policy include those of the policy. If a setting differs from the figure of the same name, the
        setting's column is called ``NAME_setting``."""
        rows = [figures.of_run(run) for _, run in self._done]
        pairs = [(of.labels, row) for (of, _), row in zip(self._done, rows)]
        different = {name for labels, row in pairs for name in labels if name in row and row[name] != labels[name]}
        fronts = _fronts([of for of, _ in self._done], different)
        return figures.of_rows("summary", [{**front, **row} for front, row in zip(fronts, rows)])

    def table(self, name: str) -> Table:
        """The tables of all runs, one below the other, with the settings in the first columns. Runs without such a
        table are left out. If the tables have a column with the name of a setting, the setting's column is called
        ``NAME_setting``."""
        found = [(of, table) for of, run in self._done if (table := figures.table(run, name)) is not None]
        if not found:
            known = dict.fromkeys(of for _, run in self._done for of in figures.names(run))
            raise KeyError(f"no table {name!r}, expected one of {', '.join(known)}")
        tables = [table for _, table in found]
        fronts = _fronts([of for of, _ in found], {column for table in tables for column in table.columns})
        return stack_tables(name, figures.of_rows(name, fronts), tables) if fronts[0] else tables[0]

    def means(self, over: str) -> Table:
        """The means of all figures over the values of one setting. ``over`` is the name of this setting, such as
        ``seed``, or ``events`` for the windows of a log (:meth:`EventLog.windows`).

        The table has a row for each combination of the other settings. After the settings and the number of
        ``repetitions``, it has three columns for each figure: the mean, and the ends of its 95 % interval (Student's t),
        ``NAME_low`` and ``NAME_high``. A row has no values for a figure if one of its runs lacks the figure. The
        interval is empty for a single run, and for fewer than five windows.

        >>> windows = EventLog.read("dataset/idle.csv").windows(5)
        >>> found = sweep({"events": windows, "tasks": "dataset/endless.toml", "t_fwd": [60, 120]}).means("events")
        >>> found.column("t_fwd"), found.column("repetitions")
        ([60, 120], [5, 5])
        >>> low, mean = found.column("efficiency_low")[1], found.column("efficiency")[1]
        >>> 0.5 < low < mean < 1
        True
        """
        known = self._done[0][0].labels if self._done else {}
        if over not in known:
            listed = f"one of {', '.join(known)}" if known else "a setting with a list of values; this sweep has none"
            raise UsageError(f"over: found {over!r}, expected {listed}")
        groups: dict[str, tuple[dict[str, Any], list[figures.Row]]] = {}
        for of, run in self._done:
            others = {name: label for name, label in of.labels.items() if name != over}
            # A figure that only repeats a setting has no mean.
            row = {name: value for name, value in figures.of_run(run).items() if others.get(name) != value}
            groups.setdefault(repr(others), (others, []))[1].append(row)
        means = [(others, figures.means(rows, over == "events")) for others, rows in groups.values()]
        taken = {name for _, row in means for name in row}
        rows: list[dict[str, Any]] = []
        for others, row in means:
            rows.append({f"{name}_setting" if name in taken else name: label for name, label in others.items()} | row)
        return figures.of_rows("means", rows)

    def __getitem__(self, settings: Mapping[str, Any]) -> Run:
        known = self._done[0][0].settings if self._done else {}
        unknown = [name for name in settings if name not in known]
        if unknown:
            raise KeyError(f"no setting {unknown[0]!r}, expected one or more of {', '.join(known)}")
        found = [run for of, run in self._done if all(_is_value(of, name, value) for name, value in settings.items())]
        if len(found) != 1:
            raise KeyError(f"{len(found)} runs have these settings, expected exactly one of the {len(self._done)} runs")
        return found[0]

    def __len__(self) -> int:
        return len(self._done)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Run]]:
        return iter(self.runs)

    def __repr__(self) -> str:
        state = "" if self.complete else ", incomplete"
        return f"<gleaner.SweepRuns: {len(self)} runs of {self.command}{state}>"

    def _repr_html_(self) -> str:
        from .show import preview

        return preview(self.summary)


def _is_value(of: Combination, name: str, value: Any) -> bool:
    given = of.settings[name]
    if given is value or (isinstance(value, str) and of.labels.get(name) == value):
        return True
    # Comparing tables does not give a single True or False, because they are compared row by row.
    is_table = any(hasattr(one, "__arrow_c_stream__") for one in (given, value))
    return not is_table and bool(given == value)


def _fronts(combinations: Sequence[Combination], taken: set[str]) -> list[dict[str, Any]]:
    """The settings of each run, as the first columns of a table that also has the columns in ``taken``."""
    return [
        {f"{name}_setting" if name in taken else name: label for name, label in of.labels.items()}
        for of in combinations
    ]
