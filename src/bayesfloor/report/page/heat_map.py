"""The heat map of the page: how hard every two classes are to tell apart."""

from markupsafe import Markup

from bayesfloor.report.blocks import Summary
from bayesfloor.report.page.tree import LEVELS, level_of
from bayesfloor.runtime.text import counted, exact_percent, percent, percent_range, visible

#: With more classes than this, squares are too small for figures.
_WITH_FIGURES = 16
#: With more classes than this, they are too small for large names.
_SMALL = 30


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
