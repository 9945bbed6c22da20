"""The floor along a feature selection."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from bayesfloor.display import canvas, checks
from bayesfloor.display.base import Display
from bayesfloor.runtime.checks import check_option


@dataclass(eq=False, repr=False)
class SelectionPathDisplay(Display):
    """The floor after every step of a feature selection, with its interval.

    Make one with ``selector.path_.plot()``.

    Parameters
    ----------
    columns : data frame or mapping
        Columns such as those of ``SelectionPath.frame()``: ``floor`` and, if there are any, ``features``,
        ``interval_low``, ``interval_high`` and ``selected``.
    direction : {"forward", "backward"}, default="forward"
        Whether features are added or removed.
    measure : {"whole", "noise"}, default="whole"
        Which floor this is.
    confidence : float, optional
        Level of the intervals.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    line_ : matplotlib Line2D
        The path, with a mark for each step that was kept.
    dropped_ : matplotlib Line2D
        Open marks for steps that were not.
    interval_lines_ : matplotlib LineCollection or None
        The intervals.

    Examples
    --------
    >>> from bayesfloor.display import SelectionPathDisplay
    >>> path = {"features": ["", "petal width", "petal length"], "floor": [0.667, 0.051, 0.042]}
    >>> display = SelectionPathDisplay(path).plot()
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['start', '+ petal width', '+ petal length']
    """

    columns: Any
    _: KW_ONLY
    direction: str = "forward"
    measure: str = "whole"
    confidence: float | None = None

    def __post_init__(self) -> None:
        self._floors, self._interval, columns = checks.columns_of(
            self.columns, "floor", "interval_low", "interval_high", [], ["features", "selected"]
        )
        n = len(self._floors)
        self._features = [str(name) for name in columns.get("features", ["", *(f"step {k}" for k in range(1, n))])]
        self._kept = np.asarray(columns.get("selected", np.ones(n)), dtype=bool)
        sign = {"forward": "+", "backward": "−"}[check_option("direction", self.direction, ("forward", "backward"))]
        named = zip(canvas.shortened(self._features), self._features, strict=True)
        self._names = [f"{sign} {name}" if feature else "start" for name, feature in named]
        self._quantity = checks.MEASURES[check_option("measure", self.measure, checks.MEASURES)]

    def _columns(self) -> dict[str, Any]:
        """Return a row for each step, the start first."""
        columns = {"features": self._features, "floor": self._floors, **checks.interval_columns(self._interval)}
        return {**columns, "selected": self._kept}

    def _new_axes(self) -> Any:
        """Make axes with space for the names of all steps: side by side while that stays narrow, else upright."""
        n, width = len(self._names), canvas.text_width(self._names) * canvas.LARGEST_FONT / 72
        if 1.15 * width * n < 6.0:
            return canvas.new_axes(max(3.2, 1.15 * width * n) + 0.8, 3.0)
        return canvas.new_axes(max(3.2, 0.32 * n) + 0.8, 2.8 + width)

    def _draw(self, ax: Any) -> None:
        names, steps, kept = self._names, np.arange(len(self._names)), self._kept
        self.interval_lines_ = None
        if self._interval is not None:
            low, high = self._interval.T
            self.interval_lines_ = ax.vlines(steps, low, high, color=canvas.BLUE, linewidth=1.8, alpha=0.5)
        style = {"color": canvas.BLUE, "marker": "o", "markersize": 5, "zorder": 3}
        (self.line_,) = ax.plot(steps[kept], self._floors[kept], label="kept", **style)
        open_marks = {"linestyle": "none", "markerfacecolor": "white", "label": "not kept"}
        (self.dropped_,) = ax.plot(steps[~kept], self._floors[~kept], **style | open_marks)
        if not kept.all():
            ax.legend(**canvas.ABOVE, ncols=2)

        ax.set_xlim(-0.5, len(names) - 0.5)
        ax.update_datalim([(0, 0)], updatex=False)
        ax.margins(y=0.03)
        ax.set_ylabel(canvas.with_level(self._quantity, self.confidence))
        canvas.show_percent(ax.yaxis)
        ax.yaxis.grid(color=canvas.FAINT, linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        pitch, _ = canvas.points_per_unit(ax)
        canvas.write_names(ax.xaxis, names, pitch)
