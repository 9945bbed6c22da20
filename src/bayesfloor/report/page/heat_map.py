"""The heat map of the page."""

from markupsafe import Markup

from bayesfloor.report.blocks import Summary
from bayesfloor.runtime.text import counted, percent, visible

#: Colours of floors, from none to the largest.
LEVELS = 10
#: With more classes than this, squares are too small for figures.
_WITH_FIGURES = 16
#: With more classes than this, they are too small for large names.
_SMALL = 30
#: Letters of a name that fit below a square; longer ones are turned upright.
_LYING = 6


def level_of(value: float | None, largest: float) -> int:
    """Return the colour of a value on a scale that ends at the largest: 0 to LEVELS."""
    if value is None or largest <= 0:
        return 0
    return min(max(round(LEVELS * value / largest), 0), LEVELS)


def heat_map(pairs: Summary) -> Summary | None:
    """Prepare the heat map: a triangle of squares, each with a colour, a figure and a tooltip.

    Parameters
    ----------
    pairs : dict
        The part "pairs" of a summary.

    Returns
    -------
    dict or None
        Rows and columns; None where a single pair needs no map.
    """
    names, matrix = pairs["names"], pairs["confused"]
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
        tooltip = [f"{visible(first)} against {visible(second)}", f"{percent(value)} confused"]
        if pair is not None:
            tooltip.append(f"{counted(pair['n_rows'])} rows")
        cells[i].append({"level": level_of(value, largest), "rate": value, "tooltip": Markup("&#10;").join(tooltip)})
    size = "large" if len(names) <= _WITH_FIGURES else "small" if len(names) <= _SMALL else "tiny"
    rows = [{"name": names[i], "cells": cells[i]} for i in range(1, len(names))]
    return {
        "rows": rows,
        "columns": names[:-1],
        "largest": largest,
        "levels": range(LEVELS + 1),
        "size": size,
        "is_turned": max(map(len, names[:-1])) > _LYING,
    }
