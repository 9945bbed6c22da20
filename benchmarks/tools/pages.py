"""Pages of results: Markdown tables, and where they go."""

import os
import platform
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
#: Choices in the library were made on the first half of the problems; the second was looked at once they were made.
HALVES = ("design", "held-out")


def as_table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    return "\n".join([*table_head(*header), *map(table_row, rows)])


def table_head(*header: Any) -> list[str]:
    """Return the first two lines of a Markdown table, for one that is printed row by row."""
    return [table_row(header), table_row(["---"] * len(header))]


def table_row(cells: Iterable[Any]) -> str:
    """Return one line of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def write_page(name: str, *parts: str) -> None:
    """Write a page of paragraphs, tables and headings; empty ones are left out."""
    text = "\n\n".join(part.strip("\n") for part in parts if part)
    (RESULTS / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    print(f"wrote {RESULTS / name}.md")


def notes_of(name: str) -> str:
    """Return what is to be said on a page and no script can know."""
    path = RESULTS / f"{name}_notes.md"
    return path.read_text(encoding="utf-8").strip() if path.exists() else ""


def this_machine() -> str:
    """Say what a page was measured on, and when."""
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}"
    )
