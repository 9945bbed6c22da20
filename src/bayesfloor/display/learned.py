"""The learned floor: a learning curve and where it ends."""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from bayesfloor.display.base import Display
from bayesfloor.display.canvas import (
    BLUE,
    DARK,
    DOTTED,
    ORANGE,
    legend_above,
    letters_for,
    show_percent,
    text_width,
)
from bayesfloor.runtime.arrays import Floats, Range
from bayesfloor.runtime.results import columns_of
from bayesfloor.runtime.text import counted, exact_percent, written, written_range

#: Where the picture starts, as a multiple of the smallest size: the first mark stays clear of the axis.
BELOW = 0.75
#: Ticks on an axis of rows within each power of ten, the closest first; the first that fit are drawn.
TICKS = ((1, 2, 5), (1, 3), (1,))


@dataclass(eq=False, repr=False)
class LearnedFloorDisplay(Display):
    """The learning curve of a learned floor, with what was reached and the floor that it leads to.

    Circles are what the stack attains at a few training sizes: errors, or another metric. The curve goes through them,
    and is dashed where it goes on from there to the floor.

    Make one with ``learned_floor(X, y).plot()``.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Columns of the learning curve, with one entry per training size: ``size``, ``value``, ``expected``, ``middle``
        and ``fitted``, as `LearningCurve` explains them.
    line : (ndarray, ndarray)
        The curve: sizes from the smallest that was tried to where the picture ends, among them the largest that
        was tried, and the value at each.
    estimate : float
        The floor, or the ceiling where larger is better.
    interval : (float, float)
        Its interval.
    reached : float
        The value at the largest size.
    reached_interval : (float, float)
        Its interval.
    baseline : float
        What needs no features: the error of always predicting the commonest class.
    confidence : float
        Level of the intervals.
    title : str, default="error"
        What the metric is called.
    is_rate : bool, default=True
        Whether it is written in percent.
    larger_is_better : bool, default=False
        Whether it has a ceiling rather than a floor.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    error_marks_ : matplotlib Line2D
        The circles.
    curve_line_, extrapolation_ : matplotlib Line2D
        The curve over the sizes that were tried, and beyond them.
    floor_line_ : matplotlib Line2D
        The floor.
    floor_band_ : matplotlib Patch
        Its interval.
    reached_line_ : matplotlib LineCollection
        The interval of the error that was reached.
    baseline_line_ : matplotlib Line2D or None
        What needs no features, where it is on the picture.
    legend_ : matplotlib Legend
        What the lines are, with the figures that they stand for.


    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesfloor import learned_floor
    >>> X, y = load_iris(return_X_y=True)
    >>> display = learned_floor(X[::3], y[::3], learners=["gaussian", "logistic"]).plot()
    >>> display.frame()["size"].tolist()
    [40.0, 20.0, 10.0]
    """

    columns: Mapping[str, Floats]
    _: KW_ONLY
    line: tuple[Floats, Floats]
    estimate: float
    interval: Range
    reached: float
    reached_interval: Range
    baseline: float
    confidence: float
    title: str = "error"
    is_rate: bool = True
    larger_is_better: bool = False

    def _columns(self) -> dict[str, Any]:
        """Return a row for each training size; the estimate and its interval are the same in all."""
        return columns_of({**self.columns, "estimate": self.estimate, "interval": self.interval})

    def _draw(self, ax: Any) -> None:
        size, value = (self.columns[name] for name in ("size", "value"))
        largest, line_size, line_value = float(size.max()), *self.line
        ax.set_xscale("log")
        ax.set_xlim(BELOW * float(size.min()), line_size.max())

        low, high = self.interval
        self.floor_band_ = ax.axhspan(low, high, facecolor=BLUE, alpha=0.13, linewidth=0, zorder=0.5)
        self.floor_line_ = ax.axhline(self.estimate, color=BLUE, linewidth=1.6, zorder=2)
        tried, beyond = line_size <= largest, line_size >= largest
        thin = {"color": DARK, "linewidth": 1.3, "zorder": 2.5}
        (self.curve_line_,) = ax.plot(line_size[tried], line_value[tried], **thin)
        (self.extrapolation_,) = ax.plot(line_size[beyond], line_value[beyond], linestyle=(0, (4, 2.5)), **thin)
        self.reached_line_ = ax.vlines(largest, *self.reached_interval, color=DARK, linewidth=1.0, zorder=2.8)
        marks = {"marker": "o", "linestyle": "none", "markeredgecolor": "black", "markeredgewidth": 0.7, "zorder": 3}
        (self.error_marks_,) = ax.plot(size, value, markersize=6.5, color=ORANGE, **marks)

        drawn = [*value, *line_value[tried], *self.interval, *self.reached_interval]
        ends = (0.0, 1.02 * max(*drawn, 1e-3))  # zero is on the picture, with half a mark below it
        if self.larger_is_better:
            ends = (min(*drawn, 1.0), 1.0)
        ax.update_datalim([(largest, end) for end in ends], updatex=False)
        ax.margins(y=0.04)
        bottom, top = ax.get_ylim()
        self.baseline_line_ = None
        if bottom < self.baseline < top:
            self.baseline_line_ = ax.axhline(self.baseline, zorder=2.2, **DOTTED)
        ax.set_xlabel("training rows")
        ax.set_ylabel(self.title)
        if self.is_rate:
            show_percent(ax.yaxis)
        ax.spines[["top", "right"]].set_visible(False)
        _mark_rows(ax, TICKS[-1])
        letters = letters_for(ax)
        _mark_rows(ax, _ticks_that_fit(ax, letters + 1))
        handles, texts = zip(*self._explained(), strict=True)
        self.legend_ = legend_above(ax, handles, texts, letters)

    def _explained(self) -> Iterator[tuple[Any, str]]:
        """Yield what is drawn, each with its name and its figures."""
        yield self.error_marks_, f"{self.title} of the stack, reached {self._written(self.reached)}"
        yield self.extrapolation_, "if it goes on like this"
        limit = f"{'ceiling' if self.larger_is_better else 'floor'} {self._written(self.estimate)}"
        between = written_range(*self.interval, self.is_rate)
        yield (self.floor_band_, self.floor_line_), f"{limit}, {exact_percent(self.confidence)} range {between}"
        if self.baseline_line_ is not None:
            text = "always the commonest class" if self.title == "error" else "without features"
            yield self.baseline_line_, f"{text} {self._written(self.baseline)}"

    def _written(self, value: float) -> str:
        return written(value, self.is_rate)


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
    return counted(round(value))
