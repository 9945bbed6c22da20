"""Each subgroup of rows: its floor, and beside it the error that was reached."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display import canvas
from bayesfloor.display.base import Display
from bayesfloor.runtime.results import columns_of

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class SubgroupsDisplay(Display):
    """Floors of subgroups and the errors reached there, with their intervals.

    Make one with ``learned_floor(X, y, by=...).subgroups.plot()``.

    Parameters
    ----------
    estimate : ndarray of shape (n_groups,)
        The floor of each subgroup; NaN where it is not known.
    names : sequence of str
        The subgroups.
    interval : ndarray of shape (n_groups, 2)
        Intervals of the floors.
    reached : ndarray of shape (n_groups,)
        The error that was reached; NaN where it is not known.
    reached_interval : ndarray of shape (n_groups, 2)
        Intervals of that.
    confidence : float
        Level of the intervals.
    column : str, default=""
        What tells the subgroups apart; the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    floor_marks_, reached_marks_ : matplotlib Line2D
        The two kinds of marks.
    interval_lines_, reached_lines_ : matplotlib LineCollection
        The intervals.

    See Also
    --------
    ClassFloorsDisplay : The same for classes.

    Examples
    --------
    >>> from bayesfloor.display import SubgroupsDisplay
    >>> display = SubgroupsDisplay(
    ...     [0.02, 0.05],
    ...     names=["north", "south"],
    ...     interval=[[0.01, 0.04], [0.02, 0.08]],
    ...     reached=[0.03, 0.06],
    ...     reached_interval=[[0.02, 0.04], [0.04, 0.08]],
    ...     confidence=0.95,
    ... )
    >>> display.plot().floor_marks_.get_xdata().tolist()
    [0.02, 0.05]
    """

    estimate: Floats
    _: KW_ONLY
    names: Any
    interval: Floats
    reached: Floats
    reached_interval: Floats
    confidence: float
    column: str = ""

    def __post_init__(self) -> None:
        for name in ("estimate", "interval", "reached", "reached_interval"):
            setattr(self, name, np.asarray(getattr(self, name), np.float64))

    def _columns(self) -> dict[str, Any]:
        names = ("estimate", "interval", "reached", "reached_interval")
        return columns_of({"group": list(self.names)} | {name: getattr(self, name) for name in names})

    def _new_axes(self) -> Any:
        return canvas.axes_for_rows(canvas.shortened(self.names), True)

    def _draw(self, ax: Any) -> None:
        names = canvas.shortened(self.names)
        rows = np.arange(len(names), dtype=np.float64)
        above, below = rows - 0.16, rows + 0.16  # both are often at the same place
        self.interval_lines_ = canvas.draw_row_intervals(ax, above, self.interval)
        self.reached_lines_ = canvas.draw_row_intervals(ax, below, self.reached_interval)
        self.reached_lines_.set_color(canvas.ORANGE)
        floor = canvas.with_level("floor", self.confidence)
        self.floor_marks_ = canvas.draw_row_marks(ax, above, self.estimate, label=floor)
        self.reached_marks_ = canvas.draw_row_marks(ax, below, self.reached, label="reached", **canvas.DIAMONDS)
        x_label = f"error by {canvas.shortened([self.column])[0]}" if self.column else "error"
        canvas.finish_rows(ax, names, x_label, legend=True)
        ax.xaxis.label.set(parse_math=False, usetex=False)
