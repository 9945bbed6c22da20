"""What all pictures share: axes and their scale, names as they are, rates in percent, and rows of marks.

Matplotlib is loaded by the first picture and not before.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.text import cut_middle, exact_percent, label_text

#: Smallest size of letters, in points: the least that is legible in print.
SMALLEST_FONT = 5.5
#: Largest size of letters, in points: that of the text around a picture.
LARGEST_FONT = 10.0
#: The same of letters within a picture and its legend.
SMALLEST_LABEL, LARGEST_LABEL = 6.0, 9.0
#: Longest name on a picture, in characters; longer ones would take the space of what is drawn.
LONGEST_NAME = 26
#: Two colours that differ in every common kind of colour vision, and in grey.
BLUE, ORANGE = "#0072b2", "#e69f00"
#: Lines that are neither, from the darkest to the faintest.
DARK, GREY, FAINT = "#333333", "#757575", "#d9d9d9"
#: Marks in each row of what was reached, beside floors.
DIAMONDS = {"marker": "D", "color": ORANGE, "markeredgecolor": "black", "markeredgewidth": 0.6}
#: Marks of what is not the floor itself.
HOLLOW = {"markerfacecolor": "white", "markeredgecolor": DARK, "linestyle": "none"}
#: Lines of what needs no features, or of all rows.
DOTTED = {"color": GREY, "linestyle": (0, (1, 2)), "linewidth": 1.0}
#: Where a legend stands.
ABOVE = {"loc": "lower left", "bbox_to_anchor": (0, 1), "frameon": False, "borderpad": 0, "fontsize": 9}


def load_pyplot() -> Any:
    """Return matplotlib.pyplot, or say how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("A picture needs matplotlib: pip install 'bayesfloor[plot]'") from error
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


def text_width(texts: Sequence[str]) -> float:
    """Return the width of the widest text as a multiple of the size of its letters."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=100)
    widths = [text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] for text in texts]
    return float(max(widths)) / 100


def show_percent(axis: Any) -> None:
    """Write the ticks of an axis of rates in percent."""
    axis.set_major_formatter(lambda rate, _: exact_percent(rate))


def with_level(quantity: str, confidence: float | None) -> str:
    """Name a quantity, and the level of its interval where that is known."""
    return quantity if confidence is None else f"{quantity}, {exact_percent(confidence)} interval"


def shortened(names: Iterable[Any]) -> list[str]:
    """Write names in one line each, none too long, so that different names stay different.

    A long name loses its middle, since its end often tells it from others. Where that leaves two names alike, they
    begin shortly before the first letter in which they differ; and where that is no help, they are numbered.
    """
    texts = [label_text(name) for name in names]
    short = [cut_middle(text, LONGEST_NAME) for text in texts]
    for alike in _places_of_repeated(short):
        columns = zip(*(texts[place] for place in alike), strict=False)
        shared = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, columns))
        start = max(0, shared - LONGEST_NAME // 3)
        for place in alike:
            rest = texts[place][start:]
            rest = rest if len(rest) < LONGEST_NAME else f"{rest[: LONGEST_NAME - 2]}…"
            short[place] = ("…" if start else "") + rest
    for alike in _places_of_repeated(short):
        for place in alike:
            short[place] = f"{short[place][: LONGEST_NAME - 6]}… {place}"
    return short


def _places_of_repeated(names: list[str]) -> list[list[int]]:
    """Return the places of each name that occurs more than once."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    return [found for found in places.values() if len(found) > 1]


def font_for(pitch: float) -> float:
    """Return the size of letters that goes well with rows that are `pitch` points apart."""
    return float(np.clip(0.8 * pitch, SMALLEST_FONT, LARGEST_FONT))


def write_names(axis: Any, names: Sequence[str], pitch: float) -> None:
    """Label positions 0, 1, … of an axis with names, each taken literally; every second or n-th where they crowd.

    Parameters
    ----------
    axis : matplotlib Axis
        ``ax.xaxis`` or ``ax.yaxis``. Names below x are turned by 90 degrees where they do not fit side by side.
    names : sequence of str
        One name per position.
    pitch : float
        Points between two positions.
    """
    size = font_for(pitch)
    step = max(1, int(np.ceil(size / pitch)))
    shown = range(0, len(names), step)
    upright = axis.axis_name == "x" and text_width(names) * size > 0.95 * pitch
    axis.set_ticks(list(shown), [names[place] for place in shown], fontsize=size)
    for label in axis.get_ticklabels():
        # "$x$" is a name here, not a formula; nor is anything else code for TeX
        label.set(parse_math=False, usetex=False, rotation=90 if upright else 0)


def axes_for_rows(names: Sequence[str], legend: bool) -> Any:
    """Make axes with space for a row per name, and for a legend above them."""
    pitch = min(0.26, 40 / len(names))
    beside = text_width(names) * font_for(72 * pitch) / 72
    return new_axes(beside + 4.4, max(pitch * len(names), 0.8) + (1.0 if legend else 0.6))


def draw_row_intervals(ax: Any, rows: Floats, interval: Floats | None) -> Any:
    """Draw a line over the interval of each row, if there are any; return them."""
    return None if interval is None else ax.hlines(rows, *interval.T, color=BLUE, linewidth=1.8, zorder=2)


def draw_row_marks(ax: Any, rows: Floats, values: Floats, **style: Any) -> Any:
    """Draw a mark in each row; return them."""
    usual = {"marker": "o", "markersize": 5, "linestyle": "none", "color": BLUE, "zorder": 3}
    (marks,) = ax.plot(values, rows, **usual | style)
    return marks


def finish_rows(ax: Any, names: Sequence[str], x_label: str, legend: bool, *, is_rate: bool = True) -> None:
    """Write a name at each of the rows 0, 1, … from the top, rule them faintly, and begin x at 0; rates in percent."""
    # zero is on the picture, with half a mark beside it, and axes that share x may still widen it
    ax.update_datalim([(0, 0)], updatey=False)
    ax.margins(x=0.025)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(x_label)
    if is_rate:
        show_percent(ax.xaxis)
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0, pad=7)
    if legend:
        ax.legend(**ABOVE)
    _, pitch = points_per_unit(ax)
    write_names(ax.yaxis, names, pitch)
    ax.hlines(np.arange(len(names)), 0, 1, transform=ax.get_yaxis_transform(), color=FAINT, linewidth=0.8, zorder=0)


def letters_for(ax: Any) -> float:
    """Return the size of letters that goes well with axes, and shrink what is around small axes to match."""
    points_per_unit(ax)
    box, point = ax.get_window_extent(), ax.figure.figure.dpi / 72
    size = float(np.clip(min(box.width / 26, box.height / 13) / point, SMALLEST_LABEL, LARGEST_LABEL))
    if size < LARGEST_LABEL:
        ax.tick_params(labelsize=size + 1)
        for axis in (ax.xaxis, ax.yaxis):
            axis.label.set_fontsize(size + 1)
    return size


def legend_above(ax: Any, handles: Sequence[Any], labels: Sequence[str], size: float) -> Any:
    """Put a legend above the axes, in as many columns as fit; return it."""
    width = ax.get_window_extent().width / (ax.figure.figure.dpi / 72)
    spacing = {"handlelength": 1.8, "handletextpad": 0.7, "columnspacing": 1.4, "labelspacing": 0.3}
    around = sum(spacing.values()) - spacing["labelspacing"]
    columns = len(labels)
    while columns > 1:
        n_rows = -(-len(labels) // columns)
        widest = [text_width(labels[start : start + n_rows]) for start in range(0, len(labels), n_rows)]
        if size * (sum(widest) + around * len(widest) - spacing["columnspacing"]) <= width:
            break
        columns -= 1
    return ax.legend(handles, labels, ncols=columns, **ABOVE | {"fontsize": size}, **spacing)
