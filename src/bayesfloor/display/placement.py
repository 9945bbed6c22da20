"""Labels within a picture: each near what it names, on the axes, and over nothing else."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesfloor.display.canvas import ABOVE, points_per_unit, text_width
from bayesfloor.runtime.arrays import Floats

#: Size of letters within a picture, in points.
LARGEST_FONT = 9.0
#: The same on the smallest axes, where it is still legible.
SMALLEST_FONT = 6.0
#: Points between two places that are tried along a line: about a fifth of a letter.
STEP = 2.0
#: Points beyond which no place is tried.
FARTHEST = 200.0
#: Points around a label that stay free.
PADDING = 1.5
#: Height of a line of text as a multiple of the size of its letters.
LINE_HEIGHT = 1.25
#: Reaching one pixel beyond the axes is as bad as covering this many marks.
OUTSIDE_COST = 100.0
#: Share of a text that lies before the point it is aligned with.
BEFORE = {"left": 0.0, "bottom": 0.0, "center": 0.5, "right": 1.0, "top": 1.0}


class Place(NamedTuple):
    """Where a label could stand: a point of the data, points (1/72 inch) beside it, and how to align the text there."""

    x: float
    y: float
    right: float
    up: float
    ha: str
    va: str


class LabelPlacement:
    """Labels on axes, each where it covers nothing: neither what was drawn nor another label.

    Axes are laid out first: limits, ticks and everything around them must be final.

    Parameters
    ----------
    ax : matplotlib Axes
        The axes.
    size : float
        Size of the letters.
    """

    def __init__(self, ax: Any, size: float) -> None:
        points_per_unit(ax)
        self.ax, self.size = ax, size
        self._point = ax.figure.figure.dpi / 72
        self._taken: list[Floats] = []

    def avoid_marks(self, x: ArrayLike, y: ArrayLike, radius: float) -> None:
        """Keep labels off marks at points of the data, of a radius in points (1/72 inch)."""
        self._take(self._pixels(x, y), radius)

    def avoid_line(self, x: ArrayLike, y: ArrayLike) -> None:
        """Keep labels off a line through points of the data."""
        corners = self._pixels(x, y)
        lengths = np.hypot(*np.diff(corners, axis=0).T) / (STEP * self._point)
        for start, end, length in zip(corners[:-1], corners[1:], lengths, strict=True):
            self._take(np.linspace(start, end, int(length) + 2), 1.0)

    def avoid_level(self, y: float) -> None:
        """Keep labels off a level line over the whole width."""
        self.avoid_line(self.ax.get_xlim(), [y, y])

    def write(self, wordings: Sequence[str], places: Iterable[Place], **style: Any) -> Any:
        """Write a label in the first place that is free, or else where it covers least; return it.

        Parameters
        ----------
        wordings : sequence of str
            Ways to put it. All are tried in a place before the next place is.
        places : iterable of Place
            Where it could stand, the best first.
        **style
            Of the text.

        Returns
        -------
        matplotlib Annotation
        """
        extents = {text: self._extent(text) for text in wordings}
        options = [(text, place) for place in places for text in wordings]
        boxes = self._boxes(np.array([extents[text] for text, _ in options]), [place for _, place in options])
        best = int(np.argmin(self._covered(boxes)))
        self._taken.append(boxes[best : best + 1])
        text, (x, y, right, up, ha, va) = options[best]
        aligned = {"ha": ha, "va": va, "multialignment": ha, "linespacing": LINE_HEIGHT, "fontsize": self.size}
        literal = {"parse_math": False, "usetex": False}
        return self.ax.annotate(
            text, (x, y), (right, up), textcoords="offset points", zorder=5, **aligned, **literal, **style
        )

    def _take(self, centres: Floats, radius: float) -> None:
        self._taken.append(np.hstack([centres - radius * self._point, centres + radius * self._point]))

    def _pixels(self, x: ArrayLike, y: ArrayLike) -> Floats:
        return np.asarray(self.ax.transData.transform(np.column_stack(np.broadcast_arrays(x, y))), dtype=np.float64)

    def _extent(self, text: str) -> Floats:
        """Return width and height of a text, in pixels."""
        lines = text.split("\n")
        return self._point * self.size * np.array([text_width(lines), LINE_HEIGHT * len(lines)])

    def _boxes(self, extents: Floats, places: Sequence[Place]) -> Floats:
        """Return left, bottom, right and top of labels, in pixels."""
        x, y, right, up = (np.array([place[field] for place in places]) for field in range(4))
        before = np.array([(BEFORE[place.ha], BEFORE[place.va]) for place in places])
        corners = self._pixels(x, y) + self._point * np.column_stack([right, up]) - before * extents
        return np.hstack([corners, corners + extents])

    def _covered(self, boxes: Floats) -> Floats:
        """Return how much each box covers: of what is taken and, far worse, of what lies around the axes."""
        boxes = boxes + PADDING * self._point * np.array([-1, -1, 1, 1])
        taken = np.concatenate(self._taken)
        left, bottom, right, top = ((boxes[:, None, side], taken[None, :, side]) for side in range(4))
        across = np.minimum(*right) - np.maximum(*left)
        along = np.minimum(*top) - np.maximum(*bottom)
        covered = np.count_nonzero((across > 0) & (along > 0), axis=1)
        edges = self.ax.get_window_extent().extents
        over = np.maximum(edges[:2] - boxes[:, :2], 0).sum(axis=1) + np.maximum(boxes[:, 2:] - edges[2:], 0).sum(axis=1)
        return np.asarray(covered + OUTSIDE_COST * over, dtype=np.float64)


def up_and_down(x: float, y: float, right: float, ha: str, *, apart: float = 3.0) -> list[Place]:
    """Return places above and below a point, the nearest first, and those below before those above."""
    return [
        Place(x, y, right, sign * distance, ha, va)
        for distance in np.arange(apart, FARTHEST, STEP)
        for sign, va in ((-1, "top"), (1, "bottom"))
    ]


def letters_for(ax: Any) -> float:
    """Return the size of letters that goes well with axes, and shrink what is around small axes to match."""
    points_per_unit(ax)
    box, point = ax.get_window_extent(), ax.figure.figure.dpi / 72
    size = float(np.clip(min(box.width / 26, box.height / 13) / point, SMALLEST_FONT, LARGEST_FONT))
    if size < LARGEST_FONT:
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
