"""The class tree and the heat map of the page."""

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from bayesfloor.report.blocks import Summary
from bayesfloor.report.page.svg import LETTER, SIZE, label, picture, tag
from bayesfloor.runtime.text import counted, cut_middle, listed, percent, visible

#: Pixels between two rows of up to `_SPACIOUS` classes, and of more.
_PITCH, _TIGHT_PITCH = 26.0, 17.0
#: Pixels between a decision and the next: where there is space, where a floor still fits, and however deep the tree.
_STEP, _LABELLED_STEP, _LEAST_STEP = 52.0, 36.0, 1.0
#: With more classes than this, rows are close, names stand where their branch ends rather than in one column, and
#: floors are shown on hovering only.
_SPACIOUS = 30
#: Pixels of the branch to a class whose name is not in the column of names.
_STUB = 10.0
#: Pixels of the branch that leads to the first decision, where that shows no floor.
_STEM = 12.0
#: Letters of a name.
_LONGEST_NAME = 40
#: Colours of floors, from none to the largest.
LEVELS = 10
#: With more classes than this, squares are too small for figures.
_WITH_FIGURES = 16
#: With more classes than this, they are too small for large names.
_SMALL = 30
#: Letters of a name that fit below a square; longer ones are turned upright.
_LYING = 6


@dataclass
class _Place:
    """Where a class or a decision is drawn: how far from the leaves, and between which rows."""

    height: int
    row: float
    classes: list[str]
    parts: "list[_Place]"


def class_tree(tree: dict[str, Any], width: float) -> Markup | None:
    """Draw the class tree from left to right.

    Parameters
    ----------
    tree : dict
        The part "tree" of a summary.
    width : float
        Width in pixels that it keeps to, unless names are long or the tree is very deep.

    Returns
    -------
    Markup or None
        The picture; None where there is no decision.
    """
    places = _lay_out(tree["nested"])
    root = places[-1]
    if not root.parts:
        return None
    floors = {frozenset([*node["left"], *node["right"]]): node["floor"] for node in tree["nodes"]}
    largest = max((floor for floor in floors.values() if floor is not None), default=0.0)
    spacious = len(root.classes) <= _SPACIOUS
    pitch = _PITCH if spacious else _TIGHT_PITCH
    names = [cut_middle(visible(name), _LONGEST_NAME) for name in root.classes]
    beside = 16 + max(map(len, names)) * LETTER * SIZE * 1.1
    if not spacious:
        beside += _STUB
    step = min((width - beside) / (root.height + 1), _STEP)  # the root's floor needs a step of its own
    labelled = spacious and step >= _LABELLED_STEP
    if not labelled:
        step = min(max((width - beside - _STEM) / root.height, _LEAST_STEP), _STEP)
    across = step * root.height + (step if labelled else _STEM)

    def x(place: _Place) -> float:
        return across - step * place.height

    def y(place: _Place) -> float:
        return pitch * (place.row + 0.5)

    lines, marks = [f"M0 {y(root):.1f}H{x(root):.1f}"], []
    for place in places:
        if not place.parts:
            continue
        lines.append(f"M{x(place):.1f} {y(place.parts[0]):.1f}V{y(place.parts[-1]):.1f}")
        for part in place.parts:
            end = x(part) if spacious or part.parts else x(place) + _STUB
            lines.append(f"M{x(place):.1f} {y(part):.1f}H{end:.1f}")
            if not part.parts:
                name = label(end + 8, y(part) + 4, cut_middle(visible(part.classes[0]), _LONGEST_NAME))
                marks.append(tag("g", tag("title", part.classes[0]), name, class_="leaf"))
        floor = floors.get(frozenset(place.classes))
        sides = " against ".join(_listed(part.classes) for part in place.parts)
        level = level_of(floor, largest)
        inside = [tag("title", f"{sides}: {percent(floor)}")]
        inside.append(tag("circle", cx=x(place), cy=y(place), r=5.0 if spacious else 3.0, class_=f"h{level}"))
        if labelled and floor is not None:
            inside.append(label(x(place) - 8, y(place) - 5, percent(floor), "end", "quiet small"))
        marks.append(tag("g", *inside, class_="decision"))
    description = f"A binary tree of {len(root.classes)} classes. It first parts {sides_of(root)}. In words below."
    path = tag("path", d="".join(lines), class_="branch")
    return picture(
        across + beside, pitch * len(root.classes), "Class tree", description, path, *marks, class_="tree-chart"
    )


def level_of(value: float | None, largest: float) -> int:
    """Return the colour of a value on a scale that ends at the largest: 0 to LEVELS."""
    if value is None or largest <= 0:
        return 0
    return min(max(round(LEVELS * value / largest), 0), LEVELS)


def sides_of(place: _Place) -> str:
    """Say which classes a decision parts."""
    return " from ".join(_listed(part.classes) for part in place.parts)


def _lay_out(nested: Any) -> list[_Place]:
    """Place everything, parts before the whole. A loop, not a recursion: trees may be as deep as there are classes."""
    done: list[_Place] = []
    leaves = 0
    waiting: list[tuple[Any, bool]] = [(nested, False)]
    ready: list[_Place] = []
    while waiting:
        part, opened = waiting.pop()
        if not isinstance(part, list | tuple):
            ready.append(_Place(0, float(leaves), [str(part)], []))
            leaves += 1
        elif not opened:
            waiting.append((part, True))
            waiting += [(each, False) for each in reversed(part)]
            continue
        else:
            parts = ready[len(ready) - len(part) :]
            del ready[len(ready) - len(part) :]
            classes = [name for each in parts for name in each.classes]
            row = (parts[0].row + parts[-1].row) / 2
            ready.append(_Place(1 + max(each.height for each in parts), row, classes, parts))
        done.append(ready[-1])
    return done


def _listed(names: list[str]) -> str:
    """List a few names, and count the rest."""
    return listed([cut_middle(visible(name), _LONGEST_NAME) for name in names], 6)


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
