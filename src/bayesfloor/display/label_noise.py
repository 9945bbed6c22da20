"""Floors with more and more labels redrawn, beside the line on which they should lie."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display.base import Display
from bayesfloor.display.canvas import BLUE, DARK, FAINT, show_percent, with_level
from bayesfloor.display.placement import LabelPlacement, Place, legend_above, letters_for
from bayesfloor.runtime.text import percent


@dataclass(eq=False, repr=False)
class LabelNoiseDisplay(Display):
    """Estimates of the floor with more and more labels redrawn, beside the line that theory gives.

    The line starts at the estimate without noise. Estimates that leave it are wrong somewhere; those that follow it may
    still be.

    Make one with ``label_noise_check(X, y).plot()``.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns with one entry per share of labels: ``share``, ``estimate``, ``interval_low``, ``interval_high``,
        ``expected``, ``deviation`` and ``reached``, as `LabelNoiseCheck` explains them.
    mean_deviation : float
        Mean size of the deviations.
    confidence : float
        Level of the intervals.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    floor_marks_, reached_marks_ : matplotlib Line2D
        The estimates, and what the stack reaches.
    interval_lines_ : matplotlib LineCollection
        Intervals of the estimates.
    expected_line_ : matplotlib Line2D
        Where the floor must be if the estimate without noise is right.
    label_ : matplotlib Annotation
        The mean deviation.

    See Also
    --------
    LearnedFloorDisplay : How one of the estimates comes about.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import label_noise_check
    >>> X, y = load_iris(return_X_y=True)
    >>> display = label_noise_check(X[::3], y[::3], shares=[0.3], learners=["gaussian"]).plot()
    >>> display.frame()["share"].tolist()
    [0.0, 0.3]
    """

    columns: Mapping[str, NDArray[np.float64]]
    _: KW_ONLY
    mean_deviation: float
    confidence: float

    _size = (4.8, 3.6)

    def _columns(self) -> dict[str, Any]:
        return dict(self.columns)

    def _draw(self, ax: Any) -> None:
        names = ("share", "estimate", "interval_low", "interval_high", "expected", "reached")
        share, estimate, low, high, expected, reached = (self.columns[name] for name in names)
        (self.expected_line_,) = ax.plot(share, expected, color=DARK, linewidth=1.2, zorder=1.5)
        self.interval_lines_ = ax.vlines(share, low, high, color=BLUE, linewidth=1.8, alpha=0.5, zorder=2)
        hollow = {"markerfacecolor": "white", "markeredgecolor": DARK, "markeredgewidth": 0.9}
        (self.reached_marks_,) = ax.plot(share, reached, "D", markersize=5.5, zorder=3, **hollow)
        (self.floor_marks_,) = ax.plot(share, estimate, "o", markersize=5, color=BLUE, zorder=3)

        # zero is on the picture, with half a mark below it
        ax.update_datalim([(0, 0), (0, 1e-3)])
        ax.margins(x=0.05, y=0.04)
        ax.set_xlabel("labels redrawn at random")
        ax.set_ylabel("error")
        show_percent(ax.xaxis)
        show_percent(ax.yaxis)
        ax.yaxis.grid(color=FAINT, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        size = letters_for(ax)
        handles = self.floor_marks_, self.reached_marks_, self.expected_line_
        legend_above(ax, handles, (with_level("floor", self.confidence), "reached", "expected floor"), size)
        placement = LabelPlacement(ax, size)
        placement.avoid_line(share, expected)
        for at, bottom, top in zip(share, low, high, strict=True):
            placement.avoid_line([at, at], [bottom, top])
        placement.avoid_marks(share, estimate, 4.0)
        placement.avoid_marks(share, reached, 4.0)
        self.label_ = self._write_label(placement)

    def _write_label(self, placement: LabelPlacement) -> Any:
        """Write the mean deviation into a corner that is free."""
        (left, right), (bottom, top) = self.ax_.get_xlim(), self.ax_.get_ylim()
        for tick in self.ax_.get_yticks():
            placement.avoid_level(tick)
        # the line rises, so that the lower right and the upper left corner are mostly free
        corners = ((right, bottom), (left, top), (left, bottom), (right, top))
        places = [
            Place(x, y, -4.0, up, "right", va) if x == right else Place(x, y, 4.0, up, "left", va)
            for x, y in corners
            for up, va in [(d, "bottom") if y == bottom else (-d, "top") for d in np.arange(2.0, 40.0, 2.0)]
        ]
        return placement.write([f"mean deviation {percent(self.mean_deviation)}"], places, color=BLUE)
