"""The floor along a feature selection."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display import canvas, checks
from bayesfloor.runtime.checks import check_option
from bayesfloor.runtime.frames import Framed

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class SelectionPathDisplay(Framed):
    """The floor after every step of a feature selection, with its interval.

    Make one with `from_estimator` or `from_data`, or with ``selector.path_.plot()``.

    Parameters
    ----------
    floors : ndarray of shape (n_steps,)
        The floor at the start and after every step.
    features : sequence of str
        What each step added or removed; "" for the start.
    interval : ndarray of shape (n_steps, 2), optional
        Confidence intervals of the floors.
    confidence : float, optional
        Level of the intervals.
    selected : ndarray of shape (n_steps,), optional
        Whether each step was kept; by default all were.
    direction : {"forward", "backward"}, default="forward"
        Whether features are added or removed.
    quantity : str, default="floor"
        What the floors are.

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
    >>> display = SelectionPathDisplay.from_data(path)
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['start', '+ petal width', '+ petal length']
    """

    floors: Floats
    _: KW_ONLY
    features: Sequence[str]
    interval: Floats | None = None
    confidence: float | None = None
    selected: NDArray[np.bool_] | None = None
    direction: str = "forward"
    quantity: str = "floor"

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Any:
        """Draw the path of a fitted `FloorSelector`.

        Parameters
        ----------
        estimator : FloorSelector or Pipeline
            Fitted; of a pipeline, the last step.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        SelectionPathDisplay
            The display, drawn.
        """
        return checks.fitted_attribute(estimator, "path_", "path of a selection").plot(ax)

    @classmethod
    def from_data(
        cls,
        path: Any,
        *,
        direction: str = "forward",
        measure: str = "whole",
        confidence: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw a path.

        Parameters
        ----------
        path : data frame or mapping
            Columns such as those of ``SelectionPath.frame()``: ``floor`` and, if there are any, ``features``,
            ``interval_low``, ``interval_high`` and ``selected``.
        direction : {"forward", "backward"}, default="forward"
            Whether features are added or removed.
        measure : {"whole", "mean_pair", "worst_pair", "mean_class", "worst_class", "noise"}, default="whole"
            Which floor this is.
        confidence : float, optional
            Level of the intervals.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        SelectionPathDisplay
            The display, drawn.
        """
        floors, interval, columns = checks.columns_of(
            path, "floor", "interval_low", "interval_high", [], ["features", "selected"]
        )
        features = columns.get("features", ["", *(f"step {step}" for step in range(1, len(floors)))])
        display = cls(
            floors,
            features=[str(name) for name in features],
            interval=interval,
            confidence=confidence,
            selected=np.asarray(columns["selected"], dtype=bool) if "selected" in columns else None,
            direction=check_option("direction", direction, ("forward", "backward")),
            quantity=checks.MEASURES[check_option("measure", measure, checks.MEASURES)],
        )
        return display.plot(ax)

    def frame(self) -> Any:
        """Return a data frame with one row per step, the start first."""
        columns = {"features": list(self.features), "floor": self.floors, **checks.interval_columns(self.interval)}
        return self._frame_of({**columns, "selected": self._kept()})

    def plot(self, ax: Any = None) -> Self:
        """Draw the path from left to right.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure with space for all steps.

        Returns
        -------
        SelectionPathDisplay
            This display.
        """
        canvas.load_pyplot()
        sign = "+" if self.direction == "forward" else "−"
        names = [f"{sign} {name}" for name in canvas.shortened(self.features)]
        names = [name if feature else "start" for name, feature in zip(names, self.features, strict=True)]
        steps, kept = np.arange(len(names)), self._kept()
        if ax is None:
            ax = _axes_for(names)
        self.ax_, self.figure_ = ax, ax.figure
        self.interval_lines_ = None
        if self.interval is not None:
            low, high = self.interval.T
            self.interval_lines_ = ax.vlines(steps, low, high, color=canvas.BLUE, linewidth=1.8, alpha=0.5)
        style = {"color": canvas.BLUE, "marker": "o", "markersize": 5, "zorder": 3}
        (self.line_,) = ax.plot(steps[kept], self.floors[kept], label="kept", **style)
        open_marks = {"linestyle": "none", "markerfacecolor": "white", "label": "not kept"}
        (self.dropped_,) = ax.plot(steps[~kept], self.floors[~kept], **style | open_marks)
        if not kept.all():
            ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, borderpad=0, fontsize=9)

        ax.set_xlim(-0.5, len(names) - 0.5)
        ax.update_datalim([(0, 0)], updatex=False)
        ax.margins(y=0.03)
        ax.set_ylabel(canvas.with_level(self.quantity, self.confidence))
        canvas.show_percent(ax.yaxis)
        ax.yaxis.grid(color=canvas.FAINT, linewidth=0.8)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        pitch, _ = canvas.points_per_unit(ax)
        canvas.write_names(ax.xaxis, names, pitch)
        return self

    def _kept(self) -> NDArray[np.bool_]:
        return np.ones(len(self.floors), dtype=bool) if self.selected is None else self.selected


def _axes_for(names: Sequence[str]) -> Any:
    """Make axes with space for the names of all steps: side by side while that stays narrow, else upright."""
    width = canvas.text_width(names) * canvas.LARGEST_FONT / 72
    if 1.15 * width * len(names) < 6.0:
        return canvas.new_axes(max(3.2, 1.15 * width * len(names)) + 0.8, 3.0)
    return canvas.new_axes(max(3.2, 0.32 * len(names)) + 0.8, 2.8 + width)
