"""The learned floor: a learning curve and where it ends."""

from typing import Any, Self

import numpy as np

from bayesfloor.display.canvas import BLUE, ORANGE, as_percent, load_pyplot, new_axes, text_width
from bayesfloor.display.placement import FreeRoom, Place, legend_above, letters_for, rates_text, up_and_down
from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.runtime.frames import data_frame

#: The curve, and the error of naming one class always.
DARK, GREY = "#333333", "#757575"
#: How far the picture goes beyond the smallest and the largest size, as a multiple of each.
BELOW, BEYOND = 0.75, 10.0
#: Marks on an axis of rows within each power of ten, the closest first.
TICKS = ((1, 2, 5), (1, 3), (1,))


class LearnedFloorDisplay:
    """The learning curve of a learned floor, with what was reached and the floor that it leads to.

    Circles are errors of the stack at a few training sizes. Dots are the mean of these and of the errors that the stack
    itself expects; the curve is fitted to them, and dashed where it goes beyond the data. The floor also rests on a
    second curve and on whether the stack beats the largest class, so that the dashes may end beside it.

    Make one with `from_data`, or with ``learned_floor(X, y).plot()``.

    Parameters
    ----------
    floor : LearnedFloor
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    error_marks_, middle_marks_ : matplotlib Line2D
        The circles and the dots.
    curve_line_, extrapolation_ : matplotlib Line2D
        The curve over the sizes that were tried, and beyond them.
    floor_line_ : matplotlib Line2D
        The floor.
    floor_band_ : matplotlib Patch
        Its interval.
    reached_line_ : matplotlib LineCollection
        The interval of the error that was reached.
    majority_line_ : matplotlib Line2D or None
        The error of always naming the largest class, where it is on the picture.
    labels_ : list of matplotlib Annotation
        What is written beside the lines.

    See Also
    --------
    LabelNoiseDisplay : Does the floor move as it should when labels are redrawn?

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor.display import LearnedFloorDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = LearnedFloorDisplay.from_data(X[::3], y[::3], learners=["gaussian", "logistic"])
    >>> display.frame()["size"].tolist()
    [40.0, 20.0, 10.0]
    """

    def __init__(self, floor: LearnedFloor) -> None:
        self.floor = floor

    @classmethod
    def from_data(cls, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Estimate the floor of data, and draw it.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The points.
        y : array-like or series of shape (n_samples,)
            The labels.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        **options
            Those of `learned_floor`.

        Returns
        -------
        LearnedFloorDisplay
            The display, drawn.
        """
        from bayesfloor.floor.learned.estimate import learned_floor

        load_pyplot()
        return cls(learned_floor(X, y, **options)).plot(ax)

    def frame(self) -> Any:
        """Return a data frame with a row for each training size; floor and interval are the same in all."""
        floor, curve = self.floor, self.floor.curve
        columns: dict[str, Any] = {
            "size": curve.size,
            "error": curve.error,
            "expected": curve.expected,
            "middle": curve.middle,
            "fitted": curve.fitted,
            "floor": np.full(len(curve.size), floor.estimate),
            "interval_low": np.full(len(curve.size), floor.interval[0]),
            "interval_high": np.full(len(curve.size), floor.interval[1]),
        }
        return data_frame(columns)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curve over training sizes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        LearnedFloorDisplay
            This display.
        """
        load_pyplot()
        ax = new_axes(5.6, 3.6) if ax is None else ax
        self.ax_, self.figure_ = ax, ax.figure
        floor, curve = self.floor, self.floor.curve
        smallest, largest = float(curve.size.min()), float(curve.size.max())
        left, right = BELOW * smallest, BEYOND * largest
        ax.set_xscale("log")
        ax.set_xlim(left, right)

        low, high = floor.interval
        self.floor_band_ = ax.axhspan(low, high, facecolor=BLUE, alpha=0.13, linewidth=0, zorder=0.5)
        self.floor_line_ = ax.axhline(floor.estimate, color=BLUE, linewidth=1.6, zorder=2)
        tried, beyond = np.geomspace(smallest, largest, 60), np.geomspace(largest, right, 60)
        manners = {"color": DARK, "linewidth": 1.3, "zorder": 2.5}
        (self.curve_line_,) = ax.plot(tried, curve.at(tried), **manners)
        (self.extrapolation_,) = ax.plot(beyond, curve.at(beyond), linestyle=(0, (4, 2.5)), **manners)
        self.reached_line_ = ax.vlines(largest, *floor.reached_interval, color=DARK, linewidth=1.0, zorder=2.8)
        marks = {"marker": "o", "linestyle": "none", "markeredgecolor": "black", "markeredgewidth": 0.7, "zorder": 3}
        (self.error_marks_,) = ax.plot(curve.size, curve.error, markersize=6.5, color=ORANGE, **marks)
        (self.middle_marks_,) = ax.plot(curve.size, curve.middle, markersize=2.6, color=DARK, **marks)

        # zero is on the picture, with half a mark's room below it
        drawn = [*curve.error, *curve.middle, *self.curve_line_.get_ydata(), high, floor.reached_interval[1]]
        ax.update_datalim([(largest, 0), (largest, 1.02 * max(*drawn, 1e-3))], updatex=False)
        ax.margins(y=0.04)
        bottom, top = ax.get_ylim()
        self.majority_line_ = None
        if bottom < floor.majority_error < top:
            dotted = {"color": GREY, "linestyle": (0, (1, 2)), "linewidth": 1.0}
            self.majority_line_ = ax.axhline(floor.majority_error, zorder=2.2, **dotted)
        ax.set_xlabel("training rows")
        ax.set_ylabel("error")
        ax.yaxis.set_major_formatter(as_percent)
        ax.spines[["top", "right"]].set_visible(False)
        _mark_rows(ax, TICKS[-1])
        size = letters_for(ax)
        _mark_rows(ax, _ticks_that_fit(ax, size + 1))
        stack = self.error_marks_, (self.curve_line_, self.middle_marks_)
        legend_above(ax, stack, ("error of the stack", "mean with the error it expects, fitted"), size)
        self.labels_ = self._write_labels(FreeRoom(ax, size))
        return self

    def _write_labels(self, room: FreeRoom) -> list[Any]:
        """Name the lines, each where nothing else is."""
        floor, curve, (_, right) = self.floor, self.floor.curve, self.ax_.get_xlim()
        largest = float(curve.size.max())
        for line in (self.curve_line_, self.extrapolation_):
            room.keep_line_clear(*line.get_data())
        room.keep_line_clear([largest, largest], floor.reached_interval)
        room.keep_marks_clear(curve.size, curve.error, 4.0)
        room.keep_marks_clear(curve.size, curve.middle, 2.0)
        room.keep_level_clear(floor.estimate)
        if self.majority_line_ is not None:
            room.keep_level_clear(floor.majority_error)

        low, high = floor.interval
        rates = rates_text([floor.reached, floor.estimate, low, high, floor.majority_error], high)
        reached, estimate, low_text, high_text, majority = rates
        places = [Place(largest, floor.reached, 7.0, 0.0, "left", "center")]
        places += up_and_down(largest, floor.reached, 7.0, "left", apart=1.0)
        labels = [room.write([f"reached {reached}%"], places, color="black")]
        parts = f"floor {estimate}%", f"{100 * floor.confidence:g}% range {low_text}–{high_text}%"
        places = up_and_down(right, floor.estimate, -2.0, "right")
        labels.append(room.write([", ".join(parts), "\n".join(parts)], places, color=BLUE))
        if self.majority_line_ is not None:
            places = up_and_down(right, floor.majority_error, -2.0, "right")
            labels.append(room.write([f"always the largest class {majority}%"], places, color=GREY))
        return labels


def _mark_rows(ax: Any, steps: tuple[int, ...]) -> None:
    """Write numbers of rows in full on a logarithmic axis: these multiples of each power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.xaxis.set_major_locator(LogLocator(subs=steps, numticks=50))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(_rows))


def _ticks_that_fit(ax: Any, size: float) -> tuple[int, ...]:
    """Return the closest marks whose numbers stay apart."""
    left, right = ax.get_xlim()
    decade = ax.get_window_extent().width / (ax.figure.figure.dpi / 72) / np.log10(right / left)
    needed = 1.2 * size * text_width([_rows(right, 0)])
    fitting = [steps for steps in TICKS if decade * np.diff(np.log10([*steps, 10])).min() > needed]
    return fitting[0] if fitting else TICKS[-1]


def _rows(value: float, _: int) -> str:
    return f"{value:,.0f}"
