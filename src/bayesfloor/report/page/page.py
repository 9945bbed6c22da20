"""The report as one HTML file: a summary in, a page out that needs nothing else.

`render_page` hands the summary to a template, together with what a template should not work out itself: pictures,
the cells of the heat map, the values in which two rows differ. The template escapes all text, and `shown` writes
control characters as escapes before that.
"""

import base64
import hashlib
import math
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from bayesfloor.report.gap import p_of, signed
from bayesfloor.report.page.charts import floor_scale, learning_curve, subgroup_chart
from bayesfloor.report.page.gap import gap_chart
from bayesfloor.report.page.noise import noise_chart
from bayesfloor.report.page.tree import LEVELS, class_tree, level_of
from bayesfloor.runtime.finding_pages import finding_title
from bayesfloor.runtime.kernels import cache_folder, keep, kept
from bayesfloor.runtime.text import (
    NOTHING,
    counted,
    cut_middle,
    exact_percent,
    figure,
    percent,
    percent_range,
    visible,
    written,
    written_range,
)

#: Width of pictures on a desk, in pixels: that of a column of text.
WIDE = 720.0
#: Width of pictures on a phone, in pixels: 375 less the margins of the page.
NARROW = 335.0
#: Rows of a table that are shown at once, about a screen; the others are folded away.
FIRST_ROWS = 15
#: Classes and pairs in a table, at the most; the JSON has more.
MOST_ROWS = 100
#: Rows to look at that are shown at once; each is a card with a table of its own.
FIRST_SUSPECTS = 6
#: Values in which two rows differ that are shown at once.
FIRST_VALUES = 6
#: Values in which two rows differ that are shown at all; of the others there is a count.
MOST_VALUES = 30
#: With more classes than this, squares of the heat map are too small for figures.
_WITH_FIGURES = 16
#: With more classes than this, they are too small for large names.
_SMALL = 30

Summary = dict[str, Any]


def render_page(summary: Summary, *, fragment: bool = False) -> str:
    """Write the report as HTML.

    Parameters
    ----------
    summary : dict
        The figures and sentences of a report; `README.md` beside this file says what is in it.
    fragment : bool, default=False
        Return a ``<div>`` for notebooks, which holds the page in a frame of its own: neither style sheet reaches the
        other. By default a whole page.

    Returns
    -------
    str
        HTML that asks for nothing from elsewhere.
    """
    templates = _environment()
    style, script = (Markup(_template_text(name)) for name in ("report.css", "report.js"))
    curve, floor = summary["curve"], summary["floor"]
    is_regression = summary["task"] == "regression"
    own = _parts_of_numbers(summary) if is_regression else _parts_of_classes(summary)
    page = templates.get_template("regression.html" if is_regression else "report.html").render(
        s=summary,
        style=style,
        script=script,
        policy=content_policy(script),
        scale=[floor_scale(floor, width) for width in (WIDE, NARROW)],
        curve=[learning_curve(curve, floor, width) for width in (WIDE, NARROW)] if curve else [None],
        **own,
        suspects=suspect_rows(summary["suspects"]),
        how_to_read=[(part["heading"], _paragraphs(part["text"])) for part in summary["how_to_read"]],
        first_rows=FIRST_ROWS,
        most_rows=MOST_ROWS,
        first_suspects=FIRST_SUSPECTS,
    )
    if not fragment:
        return page
    return templates.get_template("fragment.html").render(page=escape(page), title=summary["title"])


def _parts_of_classes(summary: Summary) -> Summary:
    """Prepare what only a report on classes shows."""
    subgroups, gap = summary["subgroups"], summary["gap"]
    return {
        "gap": [gap_chart(gap, width) for width in (WIDE, NARROW)] if gap else [None],
        "groups": [subgroup_chart(subgroups, width) for width in (WIDE, NARROW)] if subgroups else [None],
        "tree": [class_tree(summary["tree"], width) for width in (WIDE, NARROW)],
        "heat": heat_map(summary["pairs"], summary["floor"]["confidence"]),
    }


def _parts_of_numbers(summary: Summary) -> Summary:
    """Prepare what only a report on numbers shows."""
    target = summary["data"]["target"]
    return {"noise": [noise_chart(summary["noise"], target, width) for width in (WIDE, NARROW)]}


def content_policy(script: str) -> str:
    """Return the policy that a browser is to hold the page to: its own style, this script, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def heat_map(pairs: Summary, confidence: float | None) -> Summary | None:
    """Prepare the heat map: a triangle of squares, each with a colour, a figure and what hovering tells.

    Parameters
    ----------
    pairs : dict
        The part "pairs" of a summary.
    confidence : float or None
        Level of the intervals.

    Returns
    -------
    dict or None
        Rows and columns; None where a single pair needs no map.
    """
    names, matrix = pairs["names"], pairs["matrix"]
    if len(names) < 3:
        return None
    known = {frozenset((row["first"], row["second"])): row for row in pairs["rows"]}
    below = [(i, j) for i in range(1, len(names)) for j in range(i)]
    largest = max((matrix[i][j] for i, j in below if matrix[i][j] is not None), default=0.0)
    cells: list[list[Summary]] = [[] for _ in names]
    for i, j in below:
        value = matrix[i][j]
        pair = known.get(frozenset((names[i], names[j])))
        first, second = (names[j], names[i]) if pair is None else (pair["first"], pair["second"])
        told = [f"{visible(first)} against {visible(second)}", f"{percent(value)} of its maximum"]
        if pair is not None:
            interval = percent_range(pair["low"], pair["high"])
            level = "" if confidence is None else f"{exact_percent(confidence)} "
            told.append(f"trees’ estimate {percent(pair['floor'])} ({level}range {interval})")
            if pair["confused"] is not None:
                told.append(f"best model {percent(pair['confused'])}")
            told.append(f"{counted(pair['n_rows'])} rows")
        cells[i].append({"level": level_of(value, largest), "rate": value, "told": Markup("&#10;").join(told)})
    size = "large" if len(names) <= _WITH_FIGURES else "small" if len(names) <= _SMALL else "tiny"
    rows = [{"name": names[i], "cells": cells[i]} for i in range(1, len(names))]
    return {"rows": rows, "columns": names[:-1], "largest": largest, "levels": range(LEVELS + 1), "size": size}


def suspect_rows(suspects: Summary) -> list[Summary]:
    """Add to each row that looks like another class the values in which it differs from its look-alike.

    The values that differ most come first: numbers by their difference relative to the column's spread over all rows
    listed, and text that differs before all numbers.

    Parameters
    ----------
    suspects : dict
        The part "suspects" of a summary.

    Returns
    -------
    list of dict
        Each with "first_values" and "more_values", of names and two texts, and how many are left out or equal.
    """
    columns = suspects["columns"]
    everything = [row[key] for row in suspects["rows"] for key in ("values", "other_values")]
    spreads = [_spread(column) for column in zip(*everything, strict=True)]
    prepared = []
    for row in suspects["rows"]:
        differing = []
        for name, spread, mine, other in zip(columns, spreads, row["values"], row["other_values"], strict=True):
            if mine != other:
                share = abs(float(mine) - float(other)) / spread if spread else 1.0
                differing.append((-share, name, mine, other))
        differing.sort(key=lambda each: each[0])
        values = [each[1:] for each in differing]
        added = {
            "first_values": values[:FIRST_VALUES],
            "more_values": values[FIRST_VALUES:MOST_VALUES],
            "n_left_out": max(len(values) - MOST_VALUES, 0),
            "n_equal": len(columns) - len(values),
        }
        prepared.append(row | added)
    return prepared


def shown(value: Any) -> Any:
    """Write anything that a template prints; what is markup already stays as it is."""
    if value is None:
        return NOTHING
    return value if isinstance(value, Markup) else visible(value)


def sorting_key(number: float | None) -> str:
    """Write a number for the script that sorts; nothing where there is none, which sorts last."""
    return "" if number is None else repr(float(number))


def _paragraphs(text: str) -> list[str]:
    return [" ".join(paragraph.split("\n")) for paragraph in text.split("\n\n")]


def _spread(values: Iterable[str]) -> float:
    """Return largest less smallest of a column of numbers; 0 where it holds anything else."""
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return 0.0
    spread = max(numbers) - min(numbers)
    return spread if math.isfinite(spread) else 0.0


class _KeptTemplates(BytecodeCache):
    """Compiled templates, kept beside compiled kernels."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load_bytecode(self, bucket: Any) -> None:
        """Load a template, which names itself after its source."""
        if (content := kept(self._path(bucket))) is not None:
            bucket.bytecode_from_string(content)

    def dump_bytecode(self, bucket: Any) -> None:
        """Save a template."""
        keep(self._path(bucket), bucket.bytecode_to_string())

    def _path(self, bucket: Any) -> Path:
        return self._folder / f"template-{bucket.key}-{version('jinja2')}.bin"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("bayesfloor.report.page"),
        bytecode_cache=None if (folder := cache_folder()) is None else _KeptTemplates(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "exact_percent": exact_percent, "count": counted}
    environment.filters |= {"figure": figure, "key": sorting_key, "finding_title": finding_title}
    environment.filters["short"] = lambda name, longest: cut_middle(visible(name), longest)
    environment.globals |= {"signed": signed, "p_of": p_of}
    environment.globals |= {"percent_range": percent_range, "written": written, "written_range": written_range}
    return environment


@cache
def _template_text(name: str) -> str:
    return files("bayesfloor.report.page").joinpath("templates", name).read_text(encoding="utf-8")
