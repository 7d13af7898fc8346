"""Fixtures and helpers for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATASET = ROOT / "dataset"
SHARED = ROOT.parent / "shared" / "data"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs tests in the repository's root, because the paths in examples, such as dataset/idle.csv, are relative to the
    root."""
    monkeypatch.chdir(ROOT)


def shared(*parts: str) -> Path:
    """A file of the published data. The test is skipped if the file is missing."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{path} is missing")
    return path
