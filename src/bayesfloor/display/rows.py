"""Rows of marks: floors of classes, subgroups and representations, rates that votes give, columns that moved."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, cast

import numpy as np

from bayesfloor.display import canvas, checks
from bayesfloor.display.base import Display
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.results import columns_of

#: How far two kinds of marks are from the middle of their row: both are often at the same place.
APART = 0.16


@dataclass(eq=False, repr=False)
class RowsDisplay(Display):
    """A picture with a row for each name. A subclass sets ``_names``, and ``_has_legend`` where there is one."""

    _names = cast(list[str], ())
    _has_legend = False

    def _new_axes(self) -> Any:
        return canvas.axes_for_rows(self._names, self._has_legend)

    def _rows(self) -> Floats:
        return np.arange(len(self._names), dtype=np.float64)

    def _finish(self, ax: Any, x_label: str) -> None:
        canvas.finish_rows(ax, self._names, x_label, self._has_legend)


@dataclass(eq=False, repr=False)
class ClassFloorsDisplay(RowsDisplay):
    """One-vs-rest floors with their intervals and, where there are predictions, the confusion rate of each class.

    Make one with ``one_vs_rest_bayes_error(X, y).plot()``.

    Parameters
    ----------
    floors : ndarray of shape (K,)
        The floor of each class against the rest.
    classes : ndarray of shape (K,)
        The labels.
    interval : ndarray of shape (K, 2), optional
        Confidence intervals of the floors.
    confidence : float, optional
        Level of the intervals.
    confusion : ndarray of shape (K,), optional
        What a classifier reached: the confusion rate of each class.
    quantity : str, default="floor"
        What the floors are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    floor_marks_, confusion_marks_ : matplotlib Line2D or None
        The two kinds of marks.
    interval_lines_ : matplotlib LineCollection or None
        The intervals.
    order_ : ndarray of shape (K,)
        The labels from top to bottom.

    See Also
    --------
    PairwiseHeatmapDisplay : Every class against every other.

    Examples
    --------
    >>> from bayesfloor.display import ClassFloorsDisplay
    >>> display = ClassFloorsDisplay([0.02, 0.05], ["cat", "dog"], confusion=[0.04, 0.06])
    >>> display.plot().order_.tolist()
    ['dog', 'cat']
    """

    floors: Floats
    classes: Any = None
    _: KW_ONLY
    interval: Floats | None = None
    confidence: float | None = None
    confusion: Floats | None = None
    quantity: str = "floor"

    def __post_init__(self) -> None:
        n = np.size(self.floors)
        self.floors = checks.check_values(self.floors, "floors", (n,))
        self.classes = checks.check_labels_of(n, self.classes)
        self.interval = checks.check_interval(self.interval, (n,))
        self.confusion = None if self.confusion is None else checks.check_values(self.confusion, "confusion", (n,))

    def _columns(self) -> dict[str, Any]:
        """Return a row for each class, in the order of the classes."""
        columns = {"class": self.classes, "floor": self.floors, **checks.interval_columns(self.interval)}
        return columns if self.confusion is None else {**columns, "confusion": self.confusion}

    def plot(self, ax: Any = None, *, order: Any = "floor") -> Self:
        """Draw one row per class.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure with space for all classes.
        order : "floor", "name" or sequence of labels, default="floor"
            The classes from top to bottom: the highest floor first, in the order of ``classes``, or as given.

        Returns
        -------
        ClassFloorsDisplay
            This display.
        """
        codes = checks.check_order(order, self.classes, floor=lambda: np.argsort(-self.floors, kind="stable"))
        self._codes, self.order_ = codes, self.classes[codes]
        self._names, self._has_legend = canvas.shortened(self.order_), self.confusion is not None
        return super().plot(ax)

    def _draw(self, ax: Any) -> None:
        codes, rows = self._codes, self._rows()
        apart = 0.0 if self.confusion is None else APART
        interval = None if self.interval is None else self.interval[codes]
        title = canvas.with_level(self.quantity, self.confidence)
        self.interval_lines_ = canvas.draw_row_intervals(ax, rows - apart, interval)
        self.floor_marks_ = canvas.draw_row_marks(ax, rows - apart, self.floors[codes], label=title)
        self.confusion_marks_ = None
        x_label = canvas.with_level(f"{self.quantity} against the rest", self.confidence)
        if self.confusion is not None:
            x_label = "share of rows"
            self.confusion_marks_ = canvas.draw_row_marks(
                ax, rows + apart, self.confusion[codes], label="confusion rate", **canvas.DIAMONDS
            )
        self._finish(ax, x_label)


@dataclass(eq=False, repr=False)
class SubgroupsDisplay(RowsDisplay):
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
        self._names, self._has_legend = canvas.shortened(self.names), True

    def _columns(self) -> dict[str, Any]:
        names = ("estimate", "interval", "reached", "reached_interval")
        return columns_of({"group": list(self.names)} | {name: getattr(self, name) for name in names})

    def _draw(self, ax: Any) -> None:
        above, below = self._rows() - APART, self._rows() + APART
        self.interval_lines_ = canvas.draw_row_intervals(ax, above, self.interval)
        self.reached_lines_ = canvas.draw_row_intervals(ax, below, self.reached_interval)
        self.reached_lines_.set_color(canvas.ORANGE)
        floor = canvas.with_level("floor", self.confidence)
        self.floor_marks_ = canvas.draw_row_marks(ax, above, self.estimate, label=floor)
        self.reached_marks_ = canvas.draw_row_marks(ax, below, self.reached, label="reached", **canvas.DIAMONDS)
        x_label = f"error by {canvas.shortened([self.column])[0]}" if self.column else "error"
        self._finish(ax, x_label)
        ax.xaxis.label.set(parse_math=False, usetex=False)


@dataclass(eq=False, repr=False)
class FeatureComparisonDisplay(RowsDisplay):
    """What is reached with each of several representations, and the floor of each, with their intervals.

    Make one with ``compare_features({...}, y).plot()``. Open marks are representations that surely differ from the
    first. This is told from differences on the same rows: intervals may overlap.

    Parameters
    ----------
    columns : data frame or mapping
        Columns such as those of ``FeatureComparison.frame()``: ``name``, ``estimate`` and, if there are any,
        ``interval_low``, ``interval_high``, ``reached``, ``reached_low``, ``reached_high``, ``n_features`` and
        ``distinguishable``.
    title : str, default="error"
        The metric.
    larger_is_better : bool, default=False
        Whether the best value of it is a ceiling, and no floor.
    is_rate : bool, default=True
        Whether it is a share of rows, to be written in percent.
    confidence : float, optional
        Level of the intervals.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    marks_, distinct_marks_ : matplotlib Line2D
        Floors of representations that are as good as the first, and of those that are not.
    reached_marks_ : matplotlib Line2D or None
        What is reached.
    interval_lines_, reached_lines_ : matplotlib LineCollection or None
        The intervals.

    Examples
    --------
    >>> from bayesfloor.display import FeatureComparisonDisplay
    >>> table = {"name": ["PCA(2)", "all"], "estimate": [0.12, 0.11], "distinguishable": [False, False]}
    >>> FeatureComparisonDisplay(table).plot().marks_.get_xdata().tolist()
    [0.12, 0.11]
    """

    columns: Any
    _: KW_ONLY
    title: str = "error"
    larger_is_better: bool = False
    is_rate: bool = True
    confidence: float | None = None

    def __post_init__(self) -> None:
        others = ["n_features", "distinguishable", "reached", "reached_low", "reached_high"]
        ends = "interval_low", "interval_high"
        self._floors, self._interval, columns = checks.columns_of(self.columns, "estimate", *ends, ["name"], others)
        self._named = [str(name) for name in columns["name"]]
        self._others = {name: columns[name] for name in others if name in columns}
        self._reached = np.asarray(self._others.get("reached", np.full(len(self._floors), np.nan)), np.float64)
        self._distinct = np.asarray(self._others.get("distinguishable", np.zeros(len(self._floors))), dtype=bool)
        self._names = canvas.shortened(self._named)
        if "n_features" in columns:
            self._names = [f"{name} (d = {d})" for name, d in zip(self._names, columns["n_features"], strict=True)]
        self._is_learned = bool(np.isfinite(self._reached).any())
        self._has_legend = self._is_learned or bool(self._distinct.any())

    def _columns(self) -> dict[str, Any]:
        """Return a row for each representation, in the order of the picture."""
        columns = {"name": self._named, "estimate": self._floors, **checks.interval_columns(self._interval)}
        return columns | self._others

    def _draw(self, ax: Any) -> None:
        rows, distinct, what = self._rows(), self._distinct, "ceiling" if self.larger_is_better else "floor"
        above = rows - APART if self._is_learned else rows
        self.interval_lines_ = canvas.draw_row_intervals(ax, above, self._interval)
        label = f"{what}, like the first"
        self.marks_ = canvas.draw_row_marks(ax, above[~distinct], self._floors[~distinct], label=label)
        open_marks = {"markerfacecolor": "white", "label": f"{what}, differs from it"}
        self.distinct_marks_ = canvas.draw_row_marks(ax, above[distinct], self._floors[distinct], **open_marks)
        self.reached_marks_ = self.reached_lines_ = None
        if self._is_learned:
            below = rows + APART
            if "reached_low" in self._others and "reached_high" in self._others:
                ends = np.column_stack([self._others["reached_low"], self._others["reached_high"]])
                self.reached_lines_ = canvas.draw_row_intervals(ax, below, ends)
                self.reached_lines_.set_color(canvas.ORANGE)
            self.reached_marks_ = canvas.draw_row_marks(ax, below, self._reached, label="reached", **canvas.DIAMONDS)
        x_label = canvas.with_level(self.title, self.confidence)
        canvas.finish_rows(ax, self._names, x_label, self._has_legend, is_rate=self.is_rate)


@dataclass(eq=False, repr=False)
class DriftDisplay(RowsDisplay):
    """How far each column of two tables moved.

    Make one with ``drift(old, new).plot()``. Full marks are columns that surely moved.

    Parameters
    ----------
    columns : data frame or mapping
        Columns such as those of ``Drift.frame()``: ``column``, ``what``, ``share`` and ``p_value``.
    confidence : float, default=0.95
        1 less the p-value up to which a column surely moved.
    most : int, default=20
        Rows that are drawn at the most, the surest.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the picture is.
    figure_ : matplotlib Figure
        The figure that it is on.
    moved_marks_, other_marks_ : matplotlib Line2D
        Columns that surely moved, and all others.

    See Also
    --------
    SubgroupsDisplay : Floors of subgroups.

    Examples
    --------
    >>> from bayesfloor.display import DriftDisplay
    >>> table = {"column": ["age", "income"], "what": ["values", "gaps"], "share": [0.2, 0.1], "p_value": [0.001, 0.3]}
    >>> DriftDisplay(table).plot().moved_marks_.get_xdata().tolist()
    [0.2]
    """

    columns: Any
    _: KW_ONLY
    confidence: float = 0.95
    most: int = 20

    def __post_init__(self) -> None:
        self._share, _, columns = checks.columns_of(self.columns, "share", "", "", ["column", "what", "p_value"], [])
        self._others = {name: columns[name] for name in ("column", "what", "p_value")}
        self._drawn = slice(0, self.most)
        named = zip(columns["column"][self._drawn], columns["what"][self._drawn], strict=True)
        self._names = canvas.shortened([f"{name}: gaps" if what == "gaps" else name for name, what in named])
        self._moved = np.asarray(columns["p_value"], np.float64)[self._drawn] <= 1.0 - self.confidence
        self._has_legend = bool(self._moved.any())

    def _columns(self) -> dict[str, Any]:
        """Return a row for each column, in the order of the picture."""
        return self._others | {"share": self._share}

    def _draw(self, ax: Any) -> None:
        rows, share, moved = self._rows(), self._share[self._drawn], self._moved
        self.moved_marks_ = canvas.draw_row_marks(ax, rows[moved], share[moved], label="surely moved")
        self.other_marks_ = canvas.draw_row_marks(
            ax, rows[~moved], share[~moved], label="may be chance", **canvas.HOLLOW
        )
        self._finish(ax, "share of rows that moved, at least")


@dataclass(eq=False, repr=False)
class VoteFloorDisplay(RowsDisplay):
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

    def __post_init__(self) -> None:
        self._names = [str(name) for name in self.columns["measure"]]

    def _draw(self, ax: Any) -> None:
        value, low, high = (np.asarray(self.columns[name]) for name in ("value", "interval_low", "interval_high"))
        rows, known = self._rows(), np.isfinite(low)
        self.interval_lines_ = canvas.draw_row_intervals(ax, rows[known], np.column_stack([low, high])[known])
        self.floor_marks_ = canvas.draw_row_marks(ax, rows[:1], value[:1], markersize=7)
        self.other_marks_ = canvas.draw_row_marks(ax, rows[1:], value[1:], **canvas.HOLLOW)
        self._finish(ax, canvas.with_level("error", self.confidence))
