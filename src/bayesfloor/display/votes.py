"""Error rates that votes or soft labels give, each with its interval."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from bayesfloor.display import canvas
from bayesfloor.display.base import Display


@dataclass(eq=False, repr=False)
class VoteFloorDisplay(Display):
    """The floor from votes or soft labels, beside the other error rates that go with it.

    Make one with ``vote_floor(votes).plot()`` or ``soft_label_floor(P).plot()``.

    Parameters
    ----------
    columns : mapping of str to sequence
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

    columns: Mapping[str, Any]
    _: KW_ONLY
    confidence: float

    def _columns(self) -> dict[str, Any]:
        return dict(self.columns)

    def _new_axes(self) -> Any:
        return canvas.axes_for_rows(self._names, legend=False)

    @property
    def _names(self) -> list[str]:
        return [str(name) for name in self.columns["measure"]]

    def _draw(self, ax: Any) -> None:
        value, low, high = (np.asarray(self.columns[name]) for name in ("value", "interval_low", "interval_high"))
        rows = np.arange(len(value), dtype=np.float64)
        known = np.isfinite(low)
        self.interval_lines_ = canvas.draw_row_intervals(ax, rows[known], np.column_stack([low, high])[known])
        self.floor_marks_ = canvas.draw_row_marks(ax, rows[:1], value[:1], markersize=7)
        hollow = {"markerfacecolor": "white", "markeredgecolor": canvas.DARK}
        self.other_marks_ = canvas.draw_row_marks(ax, rows[1:], value[1:], **hollow)
        canvas.finish_rows(ax, self._names, canvas.with_level("error", self.confidence), legend=False)
