"""Each subgroup of rows: its floor, and beside it the error that was reached."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display import canvas, checks
from bayesfloor.runtime.frames import Framed

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class SubgroupsDisplay(Framed):
    """Floors of subgroups and the errors reached there, with their intervals.

    Make one with ``learned_floor(X, y, by=...).subgroups.plot()``.

    Parameters
    ----------
    floors : ndarray of shape (n_groups,)
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

    floors: Floats
    _: KW_ONLY
    names: Any
    interval: Floats
    reached: Floats
    reached_interval: Floats
    confidence: float
    column: str = ""

    def frame(self) -> Any:
        """Return a data frame with one row per subgroup."""
        reached_low, reached_high = np.asarray(self.reached_interval, np.float64).T
        return self._frame_of(
            {
                "group": list(self.names),
                "floor": np.asarray(self.floors, np.float64),
                **checks.interval_columns(np.asarray(self.interval, np.float64)),
                "reached": np.asarray(self.reached, np.float64),
                "reached_low": reached_low,
                "reached_high": reached_high,
            }
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw one row per subgroup, in their order.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure with space for all subgroups.

        Returns
        -------
        SubgroupsDisplay
            This display.
        """
        canvas.load_pyplot()
        names = canvas.shortened(self.names)
        if ax is None:
            ax = canvas.axes_for_rows(names, True)
        self.ax_, self.figure_ = ax, ax.figure
        rows = np.arange(len(names), dtype=np.float64)
        above, below = rows - 0.16, rows + 0.16  # both are often at the same place
        self.interval_lines_ = canvas.draw_row_intervals(ax, above, np.asarray(self.interval, np.float64))
        self.reached_lines_ = canvas.draw_row_intervals(ax, below, np.asarray(self.reached_interval, np.float64))
        self.reached_lines_.set_color(canvas.ORANGE)
        floor = canvas.with_level("floor", self.confidence)
        self.floor_marks_ = canvas.draw_row_marks(ax, above, np.asarray(self.floors, np.float64), label=floor)
        diamonds = {"marker": "D", "color": canvas.ORANGE, "markeredgecolor": "black", "markeredgewidth": 0.6}
        reached = np.asarray(self.reached, np.float64)
        self.reached_marks_ = canvas.draw_row_marks(ax, below, reached, label="reached", **diamonds)
        x_label = f"error by {canvas.shortened([self.column])[0]}" if self.column else "error"
        canvas.finish_rows(ax, names, x_label, legend=True)
        ax.xaxis.label.set(parse_math=False, usetex=False)
        return self
