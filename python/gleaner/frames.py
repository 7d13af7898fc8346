"""Converts tables to the data frames of other libraries. A library is imported when it is first needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._gleaner import Table


def to_pandas(table: Table) -> Any:
    """The table as a ``pandas.DataFrame``."""
    _library("to_pandas", "pandas", "pandas pyarrow")
    return _library("to_pandas", "pyarrow", "pandas pyarrow").table(table).to_pandas()


def to_polars(table: Table) -> Any:
    """The table as a ``polars.DataFrame``."""
    return _library("to_polars", "polars", "polars").DataFrame(table)


def to_arrow(table: Table) -> Any:
    """The table as a ``pyarrow.Table``."""
    return _library("to_arrow", "pyarrow", "pyarrow").table(table)


def _library(method: str, name: str, packages: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"{method}() requires {name}: pip install {packages}", name=name) from error
