"""Runs the examples of docstrings, of docs/PYTHON.md and of docs/HPO.md."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import re
import shutil
from pathlib import Path

import pytest

import gleaner
from conftest import ROOT
from test_replay import command

HAS_OPTUNA = importlib.util.find_spec("optuna") is not None
MODULES = ["gleaner", "gleaner.api", "gleaner.errors", "gleaner.groups", "gleaner.identity", "gleaner.logs"]
MODULES += ["gleaner.policy", "gleaner.run", "gleaner.search"]
MODULES += ["gleaner.optuna"] if HAS_OPTUNA else []


def docstrings() -> dict[str, str]:
    """The docstrings with examples: those of modules, and of the classes and functions that the modules define."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(name)
        own = {key: value for key, value in vars(module).items() if str(getattr(value, "__module__", "")).startswith("gleaner")}
        for key, value in {name: module, **own}.items():
            text = inspect.getdoc(value) if inspect.ismodule(value) or callable(value) else None
            if text and ">>>" in text:
                found[str(getattr(value, "__name__", key))] = text
    return found


def test_docstrings_have_examples() -> None:
    assert {"replay", "simulate", "compare", "solve", "inspect", "ingest", "Policy", "Task", "Problem"} <= set(docstrings())


@pytest.mark.parametrize("name", sorted(docstrings()))
def test_examples_of_docstrings_run(name: str) -> None:
    globs = {key: value for key, value in vars(gleaner).items()}
    example = doctest.DocTestParser().get_doctest(docstrings()[name], globs, name, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(example)
    assert runner.summarize(verbose=False).failed == 0 and runner.tries > 0


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "PYTHON.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) > 8
    shutil.copytree(ROOT / "dataset", tmp_path / "dataset")
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(blocks, 1):
        if not HAS_OPTUNA and re.search("optuna|search_of", block):
            continue
        exec(compile(block, f"docs/PYTHON.md, block {number}", "exec"), scope)


@pytest.mark.skipif(not HAS_OPTUNA, reason="Optuna is not installed: pip install optuna")
def test_the_optuna_example_of_the_hpo_page_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "HPO.md").read_text()
    [(block, output)] = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    shutil.copytree(ROOT / "dataset", tmp_path / "dataset")
    monkeypatch.chdir(tmp_path)
    generate = re.findall(r"^gleaner (synth events .*)$", page, re.MULTILINE)
    command(*generate[0].split())
    exec(compile(block, "docs/HPO.md", "exec"), {"__name__": "page"})
    assert capsys.readouterr().out == output
