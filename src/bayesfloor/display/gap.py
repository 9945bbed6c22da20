"""A model beside the floor: three figures on one scale, and where the model loses more than was reached."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from bayesfloor.display import canvas
from bayesfloor.display.base import Display
from bayesfloor.runtime.arrays import Bools, Floats, Ints, Range
from bayesfloor.runtime.text import written

#: Pairs or classes that are drawn, at the most: those with the largest gap.
MOST_DRAWN = 12
#: Rows that bars have space for, at the least: a single one need not fill a picture.
FEWEST_ROWS = 5
#: Bars that may be chance.
PALE = "#f5d999"


@dataclass(eq=False, repr=False)
class FloorGapDisplay(Display):
    """A model, what was reached on the same rows and the floor on one scale, and the gap by pair, class or subgroup.

    Make one with ``floor_gap(model, X, y).plot()``.

    Parameters
    ----------
    value, reached, estimate : float
        What the model attains, what was reached, and the floor.
    value_interval, reached_interval, interval : (float, float)
        Their intervals.
    names : sequence of str
        Pairs, classes or subgroups, that with the largest gap first.
    gap : ndarray
        By how much more of all rows the model gets wrong there; of subgroups, what can be won in each.
    is_sure : ndarray of bool
        Which of these differences are sure.
    confidence : float
        Level of the intervals.
    places : str, default="pair of classes"
        What `names` are.
    title : str, default="error"
        What models are judged by.
    is_rate : bool, default=True
        Whether that is a share of rows, to be written in percent.
    limit : {"floor", "ceiling"}, default="floor"
        What `estimate` is called: a ceiling where larger is better.

    Attributes
    ----------
    ax_, places_ax_ : matplotlib Axes
        Where the scale and the bars are; the second is None where model and stack do not differ.
    figure_ : matplotlib Figure
        The figure that they are on.
    marks_ : matplotlib Line2D
        The three figures.
    interval_lines_ : matplotlib LineCollection
        Their intervals.
    bars_ : matplotlib BarContainer
        The gap of each pair or class.

    Examples
    --------
    >>> from bayesfloor.display import FloorGapDisplay
    >>> display = FloorGapDisplay(
    ...     value=0.081,
    ...     reached=0.051,
    ...     estimate=0.039,
    ...     value_interval=(0.07, 0.093),
    ...     reached_interval=(0.042, 0.061),
    ...     interval=(0.02, 0.06),
    ...     names=["3 against 8", "4 against 9"],
    ...     gap=[0.015, 0.006],
    ...     is_sure=[True, False],
    ...     confidence=0.95,
    ... )
    >>> display.plot().marks_.get_xdata().tolist()
    [0.081, 0.051, 0.039]
    """

    _: KW_ONLY
    value: float
    reached: float
    estimate: float
    value_interval: Range
    reached_interval: Range
    interval: Range
    names: Any
    gap: Floats
    is_sure: Bools
    confidence: float
    places: str = "pair of classes"
    title: str = "error"
    is_rate: bool = True
    limit: str = "floor"

    def __post_init__(self) -> None:
        self.gap, self.is_sure = np.asarray(self.gap, np.float64), np.asarray(self.is_sure, bool)

    def _columns(self) -> dict[str, Any]:
        """Return a row for each pair or class."""
        return {self.places.replace(" ", "_"): list(self.names), "gap": self.gap, "is_sure": self.is_sure}

    def plot(self, ax: Any = None) -> Self:
        """Draw the scale, and beside it the pairs or classes with the largest gaps.

        Parameters
        ----------
        ax : two matplotlib Axes, optional
            Where to draw the scale and the bars; by default on a new figure.

        Returns
        -------
        FloorGapDisplay
            This display.
        """
        pyplot = canvas.load_pyplot()
        drawn = np.argsort(-np.abs(self.gap), kind="stable")[:MOST_DRAWN]
        drawn = np.sort(drawn[self.gap[drawn] != 0.0])
        if ax is None:
            n_axes, width = (2, 9.6) if len(drawn) else (1, 5.2)
            size = width, max(2.4, 0.26 * len(drawn) + 1.0)
            ax = pyplot.subplots(1, n_axes, figsize=size, layout="constrained", squeeze=False)[1][0]
        axes = list(np.atleast_1d(ax))
        self.places_ax_ = axes[1] if len(axes) > 1 and len(drawn) else None
        self._draw(self._open(axes[0]))
        self.bars_ = None if self.places_ax_ is None else self._draw_bars(self.places_ax_, drawn)
        return self

    def _draw(self, ax: Any) -> None:
        values, rows = np.array([self.value, self.reached, self.estimate]), np.arange(3.0)
        interval = np.array([self.value_interval, self.reached_interval, self.interval])
        self.interval_lines_ = canvas.draw_row_intervals(ax, rows, interval)
        colours = [canvas.ORANGE, canvas.DARK, canvas.BLUE]
        self.interval_lines_.set_color(colours)
        (self.marks_,) = ax.plot(values, rows, linestyle="none")
        ax.scatter(values, rows, s=46, c=colours, edgecolors="black", linewidths=0.6, zorder=3)
        texts = ("your model", "reached by the stack", f"the {self.limit}")
        names = [f"{text}\n{written(value, self.is_rate)}" for text, value in zip(texts, values.tolist(), strict=True)]
        canvas.finish_rows(
            ax, names, canvas.with_level(self.title, self.confidence), legend=False, is_rate=self.is_rate
        )
        ax.locator_params(axis="x", nbins=5)

    def _draw_bars(self, ax: Any, drawn: Ints) -> Any:
        sure = self.is_sure[drawn]
        names = canvas.shortened([self.names[place] for place in drawn.tolist()])
        colours = [canvas.ORANGE if is_one else PALE for is_one in sure.tolist()]
        bars = ax.barh(np.arange(len(drawn)), self.gap[drawn], height=0.62, color=colours, zorder=2)
        can_be_won = f"{self.title}: what can be won in each"
        text = can_be_won if self.places == "subgroup" else "more errors than reached, of all rows"
        canvas.finish_rows(ax, names, text, legend=False, is_rate=self.is_rate)
        ax.set_ylim(max(len(drawn), FEWEST_ROWS) - 0.5, -0.5)
        ax.axvline(0.0, color=canvas.DARK, linewidth=0.8, zorder=3)
        ax.locator_params(axis="x", nbins=5)
        paler = "; pale: may be chance" if not sure.all() else ""
        ax.set_title(f"by {self.places}{paler}", fontsize=9, loc="left")
        return bars
