"""Tests that tables can be converted to data frames, and that notebooks show a preview of them."""

from __future__ import annotations

import datetime
import re
import sys
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import gleaner
from conftest import ROOT
from gleaner import _gleaner, frames
from test_replay import EVENTS, TASKS


@pytest.fixture(scope="module")
def run() -> gleaner.Run:
    return gleaner.replay(ROOT / EVENTS, ROOT / TASKS, t_fwd=60)


def test_tables_become_data_frames(run: gleaner.Run) -> None:
    table = run.steps
    assert isinstance(table.to_arrow(), pyarrow.Table) and table.to_arrow().equals(pyarrow.table(table))
    assert isinstance(table.to_polars(), polars.DataFrame) and table.to_polars().equals(polars.DataFrame(table))
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == table.columns and len(frame) == len(table)
    assert frame["evtTime"][0] == pandas.Timestamp(polars.DataFrame(table)["evtTime"][0])
    assert table["nNd"] == table.column("nNd") == frame["nNd"].tolist()
    with pytest.raises(KeyError, match='no column "x" in steps, expected one of evtTime'):
        table["x"]
    with pytest.raises(TypeError):
        table[0]  # type: ignore[index]


@pytest.mark.parametrize(
    ("method", "missing", "packages"),
    [("to_polars", "polars", "polars"), ("to_arrow", "pyarrow", "pyarrow"), ("to_pandas", "pandas", "pandas pyarrow"), ("to_pandas", "pyarrow", "pandas pyarrow")],
)
def test_a_missing_library_is_named(method: str, missing: str, packages: str, run: gleaner.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=re.escape(f"{method}() requires {missing}: pip install {packages}")):
        getattr(frames, method)(run.steps)
    with pytest.raises(ImportError, match="pip install"):
        getattr(run.steps, method)()


def cells(html: str) -> list[list[str]]:
    """The text of each cell in a table's body, row by row."""
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    return [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", body)]


def test_the_preview_has_the_first_and_last_rows(run: gleaner.Run) -> None:
    html = run.steps._repr_html_()
    rows = cells(html)
    assert len(rows) == 11 and set(rows[5]) == {"…"} and len(html) < 20_000
    whole = polars.DataFrame(run.steps)
    at = run.steps.columns.index("nNd")
    assert [row[at] for row in rows[:5]] == [str(of) for of in whole["nNd"][:5]]
    assert [row[at] for row in rows[6:]] == [str(of) for of in whole["nNd"][-5:]]
    first = datetime.datetime.strptime(rows[0][0].partition(".")[0], "%Y-%m-%d %H:%M:%S")
    assert first == whole["evtTime"][0].replace(microsecond=0)
    assert f"<code>steps</code>: {len(whole):,} rows, {len(whole.columns)} columns" in html
    assert re.findall("<th>(.*?)</th>", html) == run.steps.columns


def test_the_preview_escapes_text() -> None:
    table = _gleaner.table_of("<b>", [("a&b", ["<script>", None, "x"])])
    html = table._repr_html_()
    assert cells(html) == [["&lt;script&gt;"], [""], ["x"]] and "<th>a&amp;b</th>" in html
    assert "<code>&lt;b&gt;</code>: 3 rows, 1 columns" in html and "<script" not in html


def typed(columns: dict[str, list[Any]]) -> polars.DataFrame:
    return _gleaner.table_of("made", list(columns.items())).to_polars()


def test_columns_have_the_type_of_their_values() -> None:
    found = typed({"t": [True, None], "i": [1, 2], "f": [1, 0.5], "s": ["a", None], "n": [None, None]})
    assert found.dtypes == [polars.Boolean, polars.Int64, polars.Float64, polars.String, polars.Float64]
    assert found.rows() == [(True, 1, 1.0, "a", None), (None, 2, 0.5, None, None)]
    table = _gleaner.table_of("made", [("t", [True, None])])
    assert table["t"] == [True, None]
    with pytest.raises(ValueError, match="s: "):
        typed({"s": ["a", 1]})
    with pytest.raises(gleaner.RunError):
        typed({"a": [1], "b": [1, 2]})


def test_tables_are_stacked() -> None:
    front = _gleaner.table_of("front", [("p", ["x", "y", "z"]), ("q", [1, 2, 3])])
    one = _gleaner.table_of("t", [("a", [1, 2]), ("b", ["u", "v"])])
    other = _gleaner.table_of("t", [("a", [0.5]), ("c", [True])])
    none = _gleaner.table_of("t", [("a", [])])
    found = _gleaner.stack_tables("t", front, [one, none, other]).to_polars()
    expected = {"p": ["x", "x", "z"], "q": [1, 1, 3], "a": [1.0, 2.0, 0.5], "b": ["u", "v", None], "c": [None, None, True]}
    assert found.to_dict(as_series=False) == expected and found.columns == list(expected)
    with pytest.raises(ValueError, match="a row for each table"):
        _gleaner.stack_tables("t", front, [one])
