"""The heat map of all pairs of classes: which can be told apart, and which cannot."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from bayesfloor.display import canvas, checks
from bayesfloor.display.base import Display
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.text import exact_percent


@dataclass(eq=False, repr=False)
class PairwiseHeatmapDisplay(Display):
    """Heat map of the floors of all pairs of classes.

    Make one with ``pairwise_bayes_error(X, y).plot()``. Each pair is one square, and dark squares are pairs that are
    hard to tell apart. The colours keep their order in grey.

    Parameters
    ----------
    values : ndarray of shape (K, K)
        A rate for every two classes, symmetric; the diagonal is not used.
    classes : ndarray of shape (K,)
        The labels.
    interval : ndarray of shape (K, K, 2), optional
        Confidence intervals of the values, for `frame`.
    quantity : str, default="floor"
        What the values are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    image_ : matplotlib AxesImage
        The squares.
    text_ : list of matplotlib Text
        The printed values; empty where they did not fit.
    order_ : ndarray of shape (K,)
        The labels in the order of the picture.

    See Also
    --------
    ClassFloorsDisplay : Each class against all others.
    ClassTreeDisplay : The class tree that such floors give.

    Examples
    --------
    >>> from bayesfloor.display import PairwiseHeatmapDisplay
    >>> floors = [[0, 0.01, 0.2], [0.01, 0, 0.02], [0.2, 0.02, 0]]
    >>> display = PairwiseHeatmapDisplay(floors, ["cat", "car", "dog"])
    >>> display.plot(order=["cat", "dog", "car"]).order_.tolist()
    ['cat', 'dog', 'car']
    """

    values: Floats
    classes: Any = None
    _: KW_ONLY
    interval: Floats | None = None
    quantity: str = "floor"

    def __post_init__(self) -> None:
        self.values, self.classes = checks.check_pairs(self.values, self.classes)
        self.interval = checks.check_interval(self.interval, self.values.shape)

    def _columns(self) -> dict[str, Any]:
        """Return a row for each pair, in the order of the classes."""
        first, second = np.triu_indices(len(self.classes), 1)
        columns = {"first": self.classes[first], "second": self.classes[second], "value": self.values[first, second]}
        interval = None if self.interval is None else self.interval[first, second]
        return {**columns, **checks.interval_columns(interval)}

    def plot(self, ax: Any = None, *, order: Any = "name") -> Self:
        """Draw the heat map: each pair once, below the diagonal, with its value in percent where that is legible.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure, large enough for all classes.
        order : "name" or sequence of labels, default="name"
            The order of the classes: that of `classes`, or as given. ``tree.leaves`` of a class tree puts classes next
            to each other that are hard to tell apart.

        Returns
        -------
        PairwiseHeatmapDisplay
            This display.
        """
        canvas.load_pyplot()
        codes = checks.check_order(order, self.classes)
        rows, columns = codes[1:], codes[:-1]
        shown = np.ma.array(self.values[np.ix_(rows, columns)])
        shown[np.triu_indices(len(rows), 1)] = np.ma.masked
        names = canvas.shortened(self.classes)
        row_names, column_names = [names[code] for code in rows], [names[code] for code in columns]
        beside = len(rows) < 5  # too little space for the colour bar above the diagonal
        ax = self._open(_axes_for(row_names, 1.2 if beside else 0.2) if ax is None else ax)
        highest = float(shown.max())
        self.order_ = self.classes[codes]
        self.image_ = ax.imshow(shown, cmap="Blues", vmin=0.0, vmax=highest if highest > 0 else 1.0, aspect="equal")
        ax.set_facecolor("none")
        ax.spines[:].set_visible(False)
        if beside:
            self.figure_.colorbar(self.image_, ax=ax, label=self.quantity, shrink=0.8, **_bar_ticks())
        # names first, as they take space from the squares; then see how large the squares are
        pitch, _ = canvas.points_per_unit(ax)
        canvas.write_names(ax.yaxis, row_names, pitch)
        canvas.write_names(ax.xaxis, column_names, pitch)
        pitch, _ = canvas.points_per_unit(ax)
        if not beside:
            self._explain_colours_above(pitch * len(rows))
        self._part_squares(pitch)
        self.text_ = self._print_values(shown, pitch)
        return self

    def _explain_colours_above(self, side: float) -> None:
        """Put a colour bar into the empty corner of a triangle with sides of so many points."""
        width, height, title = min(0.45, 160 / side), 8 / side, 16 / side
        place = self.ax_.inset_axes([1 - width, 1 - title - height, width, height])
        self.figure_.colorbar(self.image_, cax=place, orientation="horizontal", **_bar_ticks())
        place.set_title(self.quantity, fontsize=9)
        place.tick_params(labelsize=8)

    def _part_squares(self, pitch: float) -> None:
        """Draw thin lines, of the colour of the page, between squares that are not tiny."""
        for axis, n in zip((self.ax_.yaxis, self.ax_.xaxis), self.image_.get_size(), strict=True):
            axis.set_ticks(np.arange(n + 1) - 0.5 if pitch > 6 else [], minor=True)
            axis.set_tick_params(which="both", length=0)
            axis.grid(False, which="major")
            axis.grid(which="minor", color=self.figure_.get_facecolor(), linewidth=min(1.0, pitch / 20))

    def _print_values(self, shown: Any, pitch: float) -> list[Any]:
        """Print values in percent into squares of `pitch` points, if a legible size of letters allows it."""
        largest = 100 * float(shown.max())
        digits = 0 if largest >= 100 else 1 if largest >= 10 else 2  # so that no value is longer than 12.3
        size = min(9.0, 0.42 * pitch, 0.86 * pitch / canvas.text_width([f"{largest:.{digits}f}"]))
        if size < canvas.SMALLEST_FONT:
            return []
        written = []
        for row, column in np.argwhere(~np.ma.getmaskarray(shown)).tolist():
            value = float(shown[row, column])
            text = f"{100 * value:.{digits}f}" if value else "0"
            red, green, blue, _ = self.image_.cmap(self.image_.norm(value))
            colour = "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"
            written.append(self.ax_.text(column, row, text, ha="center", va="center", color=colour, fontsize=size))
        return written


def _axes_for(names: Sequence[str], bar: float) -> Any:
    """Make axes with space for as many squares as there are names, for the names, and for a bar of so many inches."""
    n = len(names)
    side = float(np.clip(4.0 / n, 0.36, 0.8)) if n <= 30 else 10.8 / n
    beside = canvas.text_width(names) * canvas.font_for(72 * side) / 72 + 0.2
    return canvas.new_axes(side * n + beside + bar, max(side * n + beside, 1.8 if bar > 1 else 0), "compressed")


def _bar_ticks() -> dict[str, Any]:
    from matplotlib.ticker import MaxNLocator

    return {"ticks": MaxNLocator(4, steps=[1, 2, 5, 10]), "format": lambda rate, _: exact_percent(rate)}
