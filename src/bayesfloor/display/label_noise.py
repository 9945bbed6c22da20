"""Floors with more and more labels redrawn, beside the line on which they should lie."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayesfloor.display.canvas import BLUE, FAINT, as_percent, load_pyplot, new_axes, with_certainty
from bayesfloor.display.placement import FreeRoom, Place, legend_above, letters_for, rates_text

if TYPE_CHECKING:
    from bayesfloor.floor.learned.label_noise import LabelNoiseCheck

#: The line that theory gives.
DARK = "#333333"


class LabelNoiseDisplay:
    """Estimates of the floor with more and more labels redrawn, beside the line that theory gives.

    The line starts at the estimate without noise. Estimates that leave it are wrong somewhere; those that follow it may
    still be.

    Make one with `from_data`, or with ``label_noise_check(X, y).plot()``.

    Parameters
    ----------
    check : LabelNoiseCheck
        What to draw.

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
    >>> from bayesfloor.display import LabelNoiseDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = LabelNoiseDisplay.from_data(X[::3], y[::3], shares=[0.3], learners=["gaussian"])
    >>> display.frame()["share"].tolist()
    [0.0, 0.3]
    """

    def __init__(self, check: "LabelNoiseCheck") -> None:
        self.check = check

    @classmethod
    def from_data(cls, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Redraw labels of data, estimate the floor each time, and draw that.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The points.
        y : array-like or series of shape (n_samples,)
            The labels.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            Those of `label_noise_check`.

        Returns
        -------
        LabelNoiseDisplay
            The display, drawn.
        """
        from bayesfloor.floor.learned.label_noise import label_noise_check

        load_pyplot()
        return cls(label_noise_check(X, y, **options)).plot(ax)

    def frame(self) -> Any:
        """Return a data frame with a row for each share."""
        return self.check.frame()

    def plot(self, ax: Any = None) -> Self:
        """Draw the estimates over the share of labels that were redrawn.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        LabelNoiseDisplay
            This display.
        """
        load_pyplot()
        ax = new_axes(4.8, 3.6) if ax is None else ax
        self.ax_, self.figure_ = ax, ax.figure
        check = self.check
        low, high = check.interval.T
        (self.expected_line_,) = ax.plot(check.share, check.expected, color=DARK, linewidth=1.2, zorder=1.5)
        self.interval_lines_ = ax.vlines(check.share, low, high, color=BLUE, linewidth=1.8, alpha=0.5, zorder=2)
        hollow = {"markerfacecolor": "white", "markeredgecolor": DARK, "markeredgewidth": 0.9}
        (self.reached_marks_,) = ax.plot(check.share, check.reached, "D", markersize=5.5, zorder=3, **hollow)
        (self.floor_marks_,) = ax.plot(check.share, check.estimate, "o", markersize=5, color=BLUE, zorder=3)

        # zero is on the picture, with half a mark's room below it
        ax.update_datalim([(0, 0), (0, 1e-3)])
        ax.margins(x=0.05, y=0.04)
        ax.set_xlabel("labels redrawn at random")
        ax.set_ylabel("error")
        ax.xaxis.set_major_formatter(as_percent)
        ax.yaxis.set_major_formatter(as_percent)
        ax.yaxis.grid(color=FAINT, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        size = letters_for(ax)
        handles = self.floor_marks_, self.reached_marks_, self.expected_line_
        legend_above(ax, handles, (with_certainty("floor", check.confidence), "reached", "expected floor"), size)
        self.label_ = self._write_label(FreeRoom(ax, size))
        return self

    def _write_label(self, room: FreeRoom) -> Any:
        """Write the mean deviation into a corner that is free."""
        check = self.check
        room.keep_line_clear(check.share, check.expected)
        for share, interval in zip(check.share, check.interval, strict=True):
            room.keep_line_clear([share, share], interval)
        room.keep_marks_clear(check.share, check.estimate, 4.0)
        room.keep_marks_clear(check.share, check.reached, 4.0)
        (left, right), (bottom, top) = self.ax_.get_xlim(), self.ax_.get_ylim()
        for tick in self.ax_.get_yticks():
            room.keep_level_clear(tick)
        (deviation,) = rates_text([check.mean_deviation], max(check.mean_deviation, 1e-4))
        lower, upper = (bottom, 1, "bottom"), (top, -1, "top")
        to_right, to_left = (right, -4.0, "right"), (left, 4.0, "left")
        # the line rises, so that these two corners are mostly free
        places = [
            Place(x, y, inward, sign * distance, ha, va)
            for (y, sign, va), (x, inward, ha) in (
                (lower, to_right),
                (upper, to_left),
                (lower, to_left),
                (upper, to_right),
            )
            for distance in np.arange(2.0, 40.0, 2.0)
        ]
        return room.write([f"mean deviation {deviation}%"], places, color=BLUE)
