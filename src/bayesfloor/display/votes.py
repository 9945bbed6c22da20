"""Error rates that votes or soft labels give, each with its interval."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from bayesfloor.display import canvas
from bayesfloor.runtime.frames import Framed


@dataclass(eq=False, repr=False)
class VoteFloorDisplay(Framed):
    """The floor from votes or soft labels, beside the other error rates that go with it.

    Make one with ``vote_floor(votes).plot()`` or ``soft_label_floor(P).plot()``.

    Parameters
    ----------
    measures : mapping of str to sequence
        Columns with one entry per error rate: ``measure``, its name; ``value``; ``interval_low`` and ``interval_high``,
        NaN where there is no interval. The floor comes first.
    confidence : float
        Level of the intervals.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    floor_marks_, other_marks_ : matplotlib Line2D
        The floor, and the other rates.
    interval_lines_ : matplotlib LineCollection
        The intervals.

    See Also
    --------
    LearnedFloorDisplay : The floor as the limit of what models learn.

    Examples
    --------
    >>> from bayesfloor import vote_floor
    >>> display = vote_floor([[3, 0], [2, 1], [0, 3], [1, 2], [3, 0], [0, 3]] * 10).plot()
    >>> display.frame()["measure"].tolist()[:2]
    ['floor', 'naive: votes outside the majority']
    """

    measures: Mapping[str, Any]
    _: KW_ONLY
    confidence: float

    def frame(self) -> Any:
        """Return a data frame with a row for each error rate."""
        return self._frame_of(dict(self.measures))

    def plot(self, ax: Any = None) -> Self:
        """Draw a row for each error rate.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        VoteFloorDisplay
            This display.
        """
        canvas.load_pyplot()
        names = [str(name) for name in self.measures["measure"]]
        ax = canvas.axes_for_rows(names, legend=False) if ax is None else ax
        self.ax_, self.figure_ = ax, ax.figure
        value, low, high = (np.asarray(self.measures[name]) for name in ("value", "interval_low", "interval_high"))
        rows = np.arange(len(names), dtype=np.float64)
        known = np.isfinite(low)
        self.interval_lines_ = canvas.draw_row_intervals(ax, rows[known], np.column_stack([low, high])[known])
        self.floor_marks_ = canvas.draw_row_marks(ax, rows[:1], value[:1], markersize=7)
        hollow = {"markerfacecolor": "white", "markeredgecolor": canvas.DARK}
        self.other_marks_ = canvas.draw_row_marks(ax, rows[1:], value[1:], **hollow)
        canvas.finish_rows(ax, names, canvas.with_level("error", self.confidence), legend=False)
        return self
