"""Tests of the display of runs and pages in notebooks."""

from __future__ import annotations

import pytest

import gleaner
from gleaner import show
from test_replay import EVENTS, TASKS

MOST = 500_000


def checked(html: str) -> str:
    assert len(html.encode()) <= MOST
    assert "plotly" not in html.lower() and "<script" not in html and "<iframe" not in html
    return html


@pytest.mark.parametrize("command", ["replay", "simulate", "sweep", "compare"])
def test_a_run_shows_tables_and_figures(command: str) -> None:
    run = {
        "replay": lambda: gleaner.replay(EVENTS, TASKS, t_fwd=60),
        "simulate": lambda: gleaner.simulate(data="dataset/cluster", policy="all", estimates="oracle"),
        "sweep": lambda: gleaner.sweep("dataset/sweep.toml"),
        "compare": lambda: gleaner.compare("dataset/problems.jsonl", solvers=["exact", "equal-share"]),
    }[command]()
    html = checked(run._repr_html_())
    assert "<table>" in html and "<svg" in html


def test_a_page_shows_its_figures_and_names_those_left_out() -> None:
    page = gleaner.replay(EVENTS, TASKS, t_fwd=60).report()
    whole = checked(page._repr_html_())
    assert whole.count("<svg") >= 3
    assert "plotly" in page.html().lower()
    least = min(len(figure.svg()) for figure in page.figures.values())
    some = show.stills(page, least + 2_000)
    assert 1 <= some.count("<svg") < len(page.figures) and len(some.encode()) <= least + 2_000
    assert "Left out: " in some and "<svg" not in show.stills(page, 100)
    checked(gleaner.inspect(EVENTS)._repr_html_())
