"""Axes to draw on, the room there is on them, and names that are shown as they are.

Matplotlib is loaded by the first picture and not before.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayesfloor.display import tree_drawing as drawing
from bayesfloor.tree.class_tree import label_text

#: Sizes of letters, in points: no smaller than can be read in print, no larger than the text around a picture.
SMALLEST_FONT, LARGEST_FONT = 5.5, 10.0
#: Two colours that differ in every common kind of colour vision, and in grey.
BLUE, ORANGE = "#0072b2", "#e69f00"
FAINT = "#d9d9d9"


def load_pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'bayesfloor[plot]'") from error
    return pyplot


def new_axes(width: float, height: float, layout: str = "constrained") -> Any:
    """Make a figure of a size in inches that holds everything on it, and return its axes."""
    _, ax = load_pyplot().subplots(figsize=(width, height), layout=layout)
    return ax


def points_per_unit(ax: Any) -> tuple[float, float]:
    """Lay out the figure and return how many points (1/72 inch) one unit of x and of y takes."""
    figure = ax.figure.figure  # of a subfigure, the figure that it is on
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    ax.apply_aspect()
    box = ax.get_window_extent()
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    point = figure.dpi / 72
    return box.width / abs(right - left) / point, box.height / abs(top - bottom) / point


def shortened(names: Iterable[Any]) -> list[str]:
    """Write names in one line each, none too long, and none alike."""
    return drawing.shortened([label_text(name) for name in names])


def text_width(texts: Sequence[str]) -> float:
    """Return the width of the widest text as a multiple of the size of its letters."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=100)
    widths = [text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] for text in texts]
    return float(max(widths)) / 100


def as_percent(value: float, _: int = 0) -> str:
    """Write a rate as a tick label: 0.125 as 12.5%."""
    return f"{100 * value:.6g}%"


def with_certainty(quantity: str, confidence: float | None) -> str:
    """Name a quantity, and the level of its interval where that is known."""
    return quantity if confidence is None else f"{quantity}, {100 * confidence:g}% interval"


def font_for(pitch: float) -> float:
    """Return the size of letters that go well with rows that are `pitch` points apart."""
    return float(np.clip(0.8 * pitch, SMALLEST_FONT, LARGEST_FONT))


def write_names(axis: Any, names: Sequence[str], pitch: float, *, upright: bool = False) -> None:
    """Label positions 0, 1, … of an axis with names, each taken literally; every second or n-th where they crowd.

    Parameters
    ----------
    axis : matplotlib Axis
        ``ax.xaxis`` or ``ax.yaxis``.
    names : sequence of str
        One name per position.
    pitch : float
        Points between two positions.
    upright : bool, default=False
        Turn the names by 90 degrees.
    """
    size = font_for(pitch)
    step = max(1, int(np.ceil(size / pitch)))
    shown = range(0, len(names), step)
    axis.set_ticks(list(shown), [names[place] for place in shown], fontsize=size)
    for label in axis.get_ticklabels():
        # "$x$" is a name here, not a formula; nor is anything else code for TeX
        label.set(parse_math=False, usetex=False, rotation=90 if upright else 0)
