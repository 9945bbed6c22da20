"""What `learned_floor` returns."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display import LearnedFloorDisplay, SubgroupsDisplay
from bayesfloor.runtime.arrays import Floats, Ints, Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.frames import data_frame
from bayesfloor.runtime.text import shown

#: Largest size in a picture of the curve, as a multiple of the largest training size.
_DRAWN_BEYOND = 10.0


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve:
    """Errors of the stack at a few training sizes, the largest first.

    Attributes
    ----------
    size : ndarray
        Rows trained on.
    error : ndarray
        Share of rows predicted wrongly.
    expected : ndarray
        The same as the stack itself expects it, from its probabilities.
    middle : ndarray
        The mean of both, which the curve is fitted to.
    fitted : ndarray
        The curve at these sizes.
    limit : float
        Where it ends. The estimate of the floor is the mean of this and of a second curve's end, and moves to the error
        of the largest class where nothing surely beats that.
    rate : float
        The power of the size with which it gets there.
    """

    size: Floats
    error: Floats
    expected: Floats
    middle: Floats
    fitted: Floats
    limit: float
    rate: float

    def __repr__(self) -> str:
        points = ", ".join(f"{size:.0f}: {error:.4f}" for size, error in zip(self.size, self.error, strict=True))
        return f"LearningCurve({points}, limit {self.limit:.4f})"

    def at(self, size: Any) -> Floats:
        """Return the fitted curve at any training size.

        Parameters
        ----------
        size : array-like
            Rows trained on.

        Returns
        -------
        ndarray
        """
        excess = self.fitted[0] - self.limit
        return self.limit + excess * (np.asarray(size, np.float64) / self.size[0]) ** -self.rate

    def columns(self) -> dict[str, Floats]:
        """Return the values at each size, by name."""
        return {name: getattr(self, name) for name in ("size", "error", "expected", "middle", "fitted")}

    def frame(self) -> Any:
        """Return a data frame with a row for each size."""
        return data_frame(self.columns())


@dataclass(frozen=True, eq=False, repr=False)
class ClassRanking:
    """How high the stack ranks the rows of a class, by the probability of that class.

    Attributes
    ----------
    label : object
        The class.
    n_samples, n_rows : int
        Its rows among those given, and among those tested.
    share : float
        Its share of the rows given.
    auc : float
        Area under the ROC curve: the chance that a row of the class is ranked above a row of another.
    auc_interval : (float, float)
        Where it lies.
    average_precision : float
        Area under the curve of precision and recall. By chance it is `share`.
    recall_at_top : float
        Share of its rows among the 1% of all rows that are ranked highest.
    recall_at_precision : float
        Share of its rows that can be found with at most one false alarm for each.
    auc_by_size : tuple of float
        The AUC at each training size of the learning curve, the largest first.
    is_rising : bool
        Whether the AUC at the largest size is surely above that at half of it.
    """

    label: Any
    n_samples: int
    n_rows: int
    share: float
    auc: float
    auc_interval: Range
    average_precision: float
    recall_at_top: float
    recall_at_precision: float
    auc_by_size: tuple[float, ...]
    is_rising: bool

    def __repr__(self) -> str:
        low, high = self.auc_interval
        return (
            f"ClassRanking({shown(self.label)}: AUC {self.auc:.4f}, interval {low:.4f} to {high:.4f}, "
            f"average precision {self.average_precision:.4f}, {self.n_rows} of {self.n_samples} samples)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SubgroupFloors:
    """The floor, and what was reached, among the rows of each subgroup.

    The floor of a subgroup is the error that the best model of all rows makes among those of the subgroup. Where the
    columns tell the subgroup it is the lowest error that any model can have there.

    Attributes
    ----------
    column : str
        What tells the subgroups apart.
    names : tuple of str
        The subgroups, in the order of their values.
    estimate : ndarray of shape (n_groups,)
        The floor; NaN where fewer than 5 rows were tested.
    interval : ndarray of shape (n_groups, 2)
        Where it lies. It begins at 0 where nothing tells how low the floor of the subgroup may be.
    reached : ndarray of shape (n_groups,)
        The error that the stack attains; NaN where no row was tested.
    reached_interval : ndarray of shape (n_groups, 2)
        Where it lies.
    share : ndarray of shape (n_groups,)
        Share of the tested rows.
    share_of_errors : ndarray of shape (n_groups,)
        Share of all errors of the stack.
    n_samples, n_rows : ndarray of shape (n_groups,)
        Rows given, and rows tested.
    reached_p_value : float
        Chance of errors that differ as much, if all subgroups were predicted equally well.
    floor_p_value : float
        The same of floors; large too where intervals are too wide to tell.
    confidence : float
        Level of the intervals.
    note : str
        How subgroups were made of the values, where they are not the values themselves.
    """

    column: str
    names: tuple[str, ...]
    estimate: Floats
    interval: Floats
    reached: Floats
    reached_interval: Floats
    share: Floats
    share_of_errors: Floats
    n_samples: Ints
    n_rows: Ints
    reached_p_value: float
    floor_p_value: float
    confidence: float
    note: str = ""

    def __repr__(self) -> str:
        known = self.reached[~np.isnan(self.reached)]
        return (
            f"SubgroupFloors({len(self.names)} groups by {shown(self.column)}, reached {known.min():.4f} to "
            f"{known.max():.4f}, p = {self.reached_p_value:.2g}; floors differ with p = {self.floor_p_value:.2g})"
        )

    def frame(self) -> Any:
        """Return a data frame with a row for each subgroup."""
        return data_frame(
            {
                "group": list(self.names),
                "estimate": self.estimate,
                "interval_low": self.interval[:, 0],
                "interval_high": self.interval[:, 1],
                "reached": self.reached,
                "reached_low": self.reached_interval[:, 0],
                "reached_high": self.reached_interval[:, 1],
                "share": self.share,
                "share_of_errors": self.share_of_errors,
                "n_samples": self.n_samples,
                "n_rows": self.n_rows,
            }
        )

    def plot(self, ax: Any = None) -> SubgroupsDisplay:
        """Draw the floor and what was reached of each subgroup, with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        SubgroupsDisplay
        """
        return SubgroupsDisplay(
            self.estimate,
            names=self.names,
            interval=self.interval,
            reached=self.reached,
            reached_interval=self.reached_interval,
            confidence=self.confidence,
            column=self.column,
        ).plot(ax)


@dataclass(frozen=True, eq=False, repr=False)
class LearnedFloor:
    """The floor as the limit of what can be learned.

    Attributes
    ----------
    estimate : float
        The floor.
    interval : (float, float)
        Where it lies. The upper end is proven, up to sampling, by a model that exists; the lower end assumes that the
        learning curve goes on as it does.
    reached : float
        The error that the stack attains by cross-validation, or on rows that were held out.
    reached_interval : (float, float)
        Clopper and Pearson's interval of that; of as many independent rows as these say as much as, where rows belong
        together.
    majority_error : float
        The error of always naming the largest class.
    curve : LearningCurve
        The stack's errors at three training sizes.
    tree_bounds : (float, float)
        Henze-Penrose bounds from spanning trees in the space of the learned posterior.
    residual_z : float
        Do neighbours err alike? Above 2.33, there is local signal that no learner caught.
    class_reached : ndarray of shape (n_classes,)
        The stack's error at telling each class from the rest, among all rows.
    pair_reached : ndarray of shape (n_classes, n_classes)
        The stack's error at telling two classes apart, among the rows of these two.
    weights : dict
        Exponents of the learners in the stack, the largest first; mean over the folds.
    n_samples, n_rows, n_classes : int
        Rows given, rows used for training or tests, classes. In an order of time, half of the rows used are tested;
        of more than 10 000, about 10 000 are.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    confidence : float
        Level of the intervals.
    findings : tuple of Finding
        What a reader should know.
    seconds : float
        Time taken.
    ranking : tuple of ClassRanking
        How high the rows of each class are ranked, in the order of the labels; says more than an error of a rare class.
    subgroups : SubgroupFloors or None
        The same figures among the rows of each subgroup, where `by` asked for them.
    """

    estimate: float
    interval: Range
    reached: float
    reached_interval: Range
    majority_error: float
    curve: LearningCurve
    tree_bounds: Range
    residual_z: float
    class_reached: Floats
    pair_reached: Floats
    weights: dict[str, float]
    n_samples: int
    n_rows: int
    n_classes: int
    classes: NDArray[Any]
    confidence: float
    findings: tuple[Finding, ...] = field(default=())
    seconds: float = 0.0
    ranking: tuple[ClassRanking, ...] = ()
    subgroups: SubgroupFloors | None = None

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"LearnedFloor({self.estimate:.4f}, {100 * self.confidence:g}% interval {low:.4f} to {high:.4f}, "
            f"reached {self.reached:.4f}, {self.n_rows} of {self.n_samples} samples, {self.n_classes} classes)"
        )

    def frame(self) -> Any:
        """Return a data frame of one row."""
        return data_frame(
            {
                "estimate": [self.estimate],
                "interval_low": [self.interval[0]],
                "interval_high": [self.interval[1]],
                "reached": [self.reached],
                "reached_low": [self.reached_interval[0]],
                "reached_high": [self.reached_interval[1]],
                "majority_error": [self.majority_error],
                "tree_lower": [self.tree_bounds[0]],
                "tree_upper": [self.tree_bounds[1]],
                "residual_z": [self.residual_z],
                "n_samples": [self.n_samples],
                "n_rows": [self.n_rows],
                "n_classes": [self.n_classes],
                "seconds": [self.seconds],
            }
        )

    def plot(self, ax: Any = None) -> LearnedFloorDisplay:
        """Draw the learning curve with its limit, the interval, and what was reached.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        LearnedFloorDisplay
        """
        smallest, largest = float(self.curve.size.min()), float(self.curve.size.max())
        tried, beyond = np.geomspace(smallest, largest, 60), np.geomspace(largest, _DRAWN_BEYOND * largest, 60)
        tried[-1] = beyond[0] = largest  # rounding must not leave the last size on one side only
        sizes = np.concatenate([tried, beyond])
        return LearnedFloorDisplay(
            self.curve.columns(),
            line=(sizes, self.curve.at(sizes)),
            floor=self.estimate,
            interval=self.interval,
            reached=self.reached,
            reached_interval=self.reached_interval,
            majority_error=self.majority_error,
            confidence=self.confidence,
        ).plot(ax)
