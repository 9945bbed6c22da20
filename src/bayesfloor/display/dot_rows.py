"""Rows of names, each with a value and its interval: class floors and compared transforms."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display.canvas import FAINT, as_percent, font_for, new_axes, points_per_unit, text_width, write_names

Floats = NDArray[np.float64]


def axes_for_rows(names: Sequence[str], legend: bool) -> Any:
    """Make axes with room for a row per name, and for a legend above them."""
    pitch = min(0.26, 40 / len(names))
    beside = text_width(names) * font_for(72 * pitch) / 72
    return new_axes(beside + 4.4, max(pitch * len(names), 0.8) + (1.0 if legend else 0.6))


def draw_intervals(ax: Any, rows: Floats, interval: Floats | None, color: str) -> Any:
    """Draw a line over the interval of each row, if there are any; return them."""
    return None if interval is None else ax.hlines(rows, *interval.T, color=color, linewidth=1.8, zorder=2)


def draw_marks(ax: Any, rows: Floats, values: Floats, **manners: Any) -> Any:
    """Draw a mark in each row; return them."""
    (marks,) = ax.plot(values, rows, **{"marker": "o", "markersize": 5, "linestyle": "none", "zorder": 3} | manners)
    return marks


def prepare_rows(ax: Any, names: Sequence[str], x_label: str, legend: bool) -> None:
    """Write a name at each of the rows 0, 1, … from the top, rule them faintly, and make x an axis of rates from 0."""
    # zero is on the picture, with half a mark's room beside it, and axes that share x may still widen it
    ax.update_datalim([(0, 0)], updatey=False)
    ax.margins(x=0.025)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(x_label)
    ax.xaxis.set_major_formatter(as_percent)
    ax.spines[["left", "top", "right"]].set_visible(False)
    ax.tick_params(axis="y", length=0, pad=7)
    if legend:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderpad=0, fontsize=9)
    _, pitch = points_per_unit(ax)
    write_names(ax.yaxis, names, pitch)
    ax.hlines(np.arange(len(names)), 0, 1, transform=ax.get_yaxis_transform(), color=FAINT, linewidth=0.8, zorder=0)
