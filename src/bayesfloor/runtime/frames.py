"""Data frames of the library that is installed."""

from importlib import import_module
from typing import Any


def data_frame(columns: dict[str, Any]) -> Any:
    """Make a data frame: pandas where it is installed, else polars."""
    for library in ("pandas", "polars"):
        try:
            return import_module(library).DataFrame(columns)
        except ImportError:
            continue
    raise ImportError("frame() needs pandas or polars: pip install pandas")
