"""Differences of a number over the edges of spanning trees, against the length of the edges."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from bayesfloor.display import canvas
from bayesfloor.display.base import Display
from bayesfloor.runtime.arrays import Floats, Range


@dataclass(eq=False, repr=False)
class NoiseFromTreesDisplay(Display):
    """Half the mean squared difference over the edges of each tree, and the noise variance at length zero.

    Make one with ``noise_variance_from_trees(X, y).plot()``.

    Parameters
    ----------
    lengths, differences : ndarray of shape (n_trees,)
        Mean length of the edges of each tree, as a share of the typical distance, and half the mean squared difference.
    estimate : float
        The noise variance.
    interval : tuple of float
        Its confidence interval.
    variance : float
        The variance of the target.
    confidence : float
        Level of the interval.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    tree_marks_, estimate_mark_ : matplotlib Line2D
        The trees, and the estimate.
    interval_line_, variance_line_ : matplotlib Line2D
        The interval, and the variance of the target.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesfloor import noise_variance_from_trees
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> display = noise_variance_from_trees(X, X[:, 0]).plot()
    >>> display.frame()["length"].tolist()[0]
    0.0
    """

    lengths: Floats
    differences: Floats
    _: KW_ONLY
    estimate: float
    interval: Range
    variance: float
    confidence: float

    _size = (5.0, 3.5)

    def _columns(self) -> dict[str, Any]:
        """Return the estimate, at length zero, and then a row for each tree."""
        trees = range(1, len(self.lengths) + 1)
        return {
            "what": ["estimate", *(f"tree {number}" for number in trees)],
            "length": [0.0, *map(float, self.lengths)],
            "value": [self.estimate, *map(float, self.differences)],
        }

    def _draw(self, ax: Any) -> None:
        low, high = np.minimum(self.interval, self.variance * 1.2)
        (self.interval_line_,) = ax.plot([0.0, 0.0], [low, high], color=canvas.DARK, linewidth=2)
        label = canvas.with_level("noise variance", self.confidence)
        (self.estimate_mark_,) = ax.plot([0.0], [self.estimate], "o", color=canvas.DARK, label=label)
        hollow = {"markerfacecolor": "white", "markeredgecolor": canvas.DARK, "linestyle": "none"}
        (self.tree_marks_,) = ax.plot(self.lengths, self.differences, "o", label="edges of each tree", **hollow)
        self.variance_line_ = ax.axhline(self.variance, color=canvas.DARK, linewidth=0.8, linestyle=":")
        ax.set_xlim(left=-0.03 * max(float(np.max(self.lengths, initial=0.0)), 0.1))
        ax.set_ylim(0.0, 1.12 * max(self.variance, float(np.max(self.differences, initial=0.0))))
        ax.annotate(
            "variance of the target", (0.99, self.variance), xycoords=("axes fraction", "data"), ha="right", va="bottom"
        )
        ax.set_xlabel("mean length of the edges, of the typical distance")
        ax.set_ylabel("half mean squared difference")
        ax.legend(loc="best", frameon=False)
