"""The noise of a target of numbers, over what is predicted."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from bayesfloor.display import canvas
from bayesfloor.display.base import Display
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.results import columns_of
from bayesfloor.runtime.text import figure

#: Where the marks of bins begin to lie over each other on a figure of its own.
_MANY_BINS = 40


@dataclass(eq=False, repr=False)
class NoiseProfileDisplay(Display):
    """How large the noise is where small and large values are predicted.

    One line for each bin of predictions, as long as the bin is wide, at the standard deviation that no model can
    remove there, in a band that is its interval.

    Make one with ``regression_floor(X, y).noise.plot()``.

    Parameters
    ----------
    sd : ndarray of shape (n_bins,)
        Standard deviation of the noise in each bin.
    low, high : ndarray of shape (n_bins,)
        Smallest and largest prediction of each bin, in rising order.
    sd_interval : ndarray of shape (n_bins, 2)
        Intervals of the standard deviations.
    n_rows : ndarray of shape (n_bins,)
        Rows of each bin.
    confidence : float
        Level of the intervals.
    overall : float or None, default=None
        Standard deviation of the noise of all rows.
    target : str, default=""
        What is predicted; on the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    noise_lines_ : matplotlib LineCollection
        One for each bin.
    noise_marks_ : matplotlib Line2D
        The middles of the bins.
    bands_ : list of matplotlib Patch
        The intervals.
    overall_line_ : matplotlib Line2D or None
        The noise of all rows, where it is known.

    See Also
    --------
    LearnedFloorDisplay : The learning curve, and where it ends.

    Examples
    --------
    >>> from bayesfloor.display import NoiseProfileDisplay
    >>> display = NoiseProfileDisplay(
    ...     [1.0, 2.5],
    ...     low=[0.0, 10.0],
    ...     high=[10.0, 40.0],
    ...     sd_interval=[[0.8, 1.3], [2.0, 3.1]],
    ...     n_rows=[50, 50],
    ...     confidence=0.95,
    ... )
    >>> display.plot().noise_marks_.get_xdata().tolist()
    [5.0, 25.0]
    """

    sd: Floats
    _: KW_ONLY
    low: Floats
    high: Floats
    sd_interval: Floats
    n_rows: Ints
    confidence: float
    overall: float | None = None
    target: str = ""

    _size = (5.6, 3.4)

    def __post_init__(self) -> None:
        for name in ("sd", "low", "high", "sd_interval"):
            setattr(self, name, np.asarray(getattr(self, name), np.float64))

    def _columns(self) -> dict[str, Any]:
        names = ("low", "high", "n_rows", "sd", "sd_interval")
        return columns_of({name: np.asarray(getattr(self, name)) for name in names})

    def _draw(self, ax: Any) -> None:
        from matplotlib.patches import Rectangle

        sd, low, high, interval = self.sd, self.low, self.high, self.sd_interval
        self.bands_ = [
            ax.add_patch(
                Rectangle((left, below), right - left, above - below, facecolor=canvas.BLUE, alpha=0.16, linewidth=0)
            )
            for left, right, (below, above) in zip(low, high, interval, strict=True)
        ]
        self.noise_lines_ = ax.hlines(sd, low, high, color=canvas.BLUE, linewidth=1.8, zorder=2)
        size = 4.5 if len(sd) <= _MANY_BINS else 2.5
        (self.noise_marks_,) = ax.plot(
            (low + high) / 2, sd, marker="o", markersize=size, linestyle="none", color=canvas.BLUE, zorder=3
        )
        self.overall_line_ = None
        if self.overall is not None:
            label = f"all rows: {figure(self.overall)}"
            self.overall_line_ = ax.axhline(self.overall, zorder=1, label=label, **canvas.DOTTED)
        ax.update_datalim([(low.min(), 0.0), (high.max(), float(interval.max()))])
        ax.margins(x=0.03, y=0.05)
        ax.set_ylim(bottom=0.0)
        name = canvas.shortened([self.target])[0] if self.target else "value"
        ax.set_xlabel(f"predicted {name}", parse_math=False, usetex=False)
        ax.set_ylabel("noise, standard deviation")
        ax.spines[["top", "right"]].set_visible(False)
        self.noise_marks_.set_label(canvas.with_level("in each bin", self.confidence))
        ax.legend(**canvas.ABOVE, ncols=2)
