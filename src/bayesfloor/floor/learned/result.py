"""What `learned_floor` returns."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from bayesfloor.data.metrics import OfLoss
from bayesfloor.floor.learned.rows_needed import RowsNeeded, find_rise, rows_to_reach
from bayesfloor.floor.learned.suspicious import SuspiciousRows
from bayesfloor.floor.learned.trust.found import Trust
from bayesfloor.runtime.arrays import Floats, Ints, Range
from bayesfloor.runtime.checks import check_float, check_option
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import PlottedResult, Result
from bayesfloor.runtime.text import shown, written

#: Largest size in a picture of the curve, as a multiple of the largest training size.
_DRAWN_BEYOND = 10.0


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(Result, says="size value limit rate", rows="size value expected middle fitted"):
    """What the stack attains at a few training sizes, the largest first.

    `frame` has a row for each size.

    Attributes
    ----------
    size : ndarray
        Rows trained on.
    value : ndarray
        The metric that it attains: by default the error, the share of rows predicted wrongly.
    expected : ndarray
        The same as the stack itself expects it, from its probabilities.
    middle : ndarray
        The mean of both, which the curve is fitted to.
    fitted : ndarray
        The curve at these sizes.
    limit : float
        Where it ends. The estimate of the floor is the mean of this and of a second curve's end, and moves to the error
        of the commonest class where nothing surely beats that.
    rate : float
        The power of the size with which it gets there.
    covariance : ndarray or None
        Of `value`, for sampling and for what a curve misses; None where it is not known.
    """

    size: Floats
    value: Floats
    expected: Floats
    middle: Floats
    fitted: Floats
    limit: float
    rate: float
    covariance: Floats | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ClassRanking(Result, says="label auc average_precision n_samples"):
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
        Area under the curve of precision and recall. By chance it is the share of the class among the tested rows.
    recall_at_top : float
        Share of its rows among the 1% of all rows that are ranked highest.
    recall_at_precision : float
        Share of its rows that can be found with at most one false alarm for each.
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


@dataclass(frozen=True, eq=False, repr=False)
class MetricFloor(
    OfLoss,
    PlottedResult,
    says="estimate:name reached",
    rows="metric=name estimate interval reached reached_interval baseline",
    display="LearnedFloorDisplay",
):
    """The best value of one metric that any model can attain.

    Attributes
    ----------
    name : str
        What the metric is asked for by: "roc_auc".
    title : str
        What it is called: "ROC AUC".
    estimate : float
        The best value: a floor, or a ceiling where larger is better.
    interval : (float, float)
        Where it lies. The worse end is never better than what a model reached on rows it had not seen, or than what
        needs no features where that is better. The better end is extrapolated from the learning curve and from
        simulated problems.
    reached : float
        What the stack attains by cross-validation, or on rows that were held out.
    reached_interval : (float, float)
        Where that lies, for sampling.
    baseline : float
        What needs no features: always the same probabilities, the shares of the classes.
    larger_is_better : bool
        Whether the best value is the largest.
    curve : LearningCurve
        What the stack attains at each training size.
    confidence : float
        Level of the intervals.
    is_rate : bool
        Whether it is a share of rows, to be written in percent.
    about : str
        The class that it is of, as said after a value: "for 'fraud'"; empty where it is of all classes.
    perfect : float
        What a model that is never wrong attains.
    bounds : (float, float)
        Where its values lie.
    """

    name: str
    title: str
    estimate: float
    interval: Range
    reached: float
    reached_interval: Range
    baseline: float
    larger_is_better: bool
    curve: LearningCurve
    confidence: float
    is_rate: bool = False
    about: str = ""
    perfect: float = 0.0
    bounds: Range = (0.0, 1.0)

    @property
    def best(self) -> float:
        """The better end of the interval, which is extrapolated."""
        return self.interval[1] if self.larger_is_better else self.interval[0]

    @property
    def measured(self) -> float:
        """The worse end of the interval, which is never better than what a model attains."""
        return self.interval[0] if self.larger_is_better else self.interval[1]

    def sentence(self) -> str:
        """Say what was measured, and what is extrapolated.

        Returns
        -------
        str
        """
        side, most = ("above", "at least") if self.larger_is_better else ("below", "at most")
        shown_as = self.written
        limit = f"Models like those tried are not likely to get {side} {self.said(self.best)} on these columns"
        if self.best == self.perfect:
            limit = f"Nothing in these rows rules out {self.said(self.perfect)}"
        return (
            f"{limit}; the best value is about {shown_as(self.estimate)}, if the learning curve goes on as it does. "
            f"A model that was tried reaches {shown_as(self.reached)}, so {most} {shown_as(self.measured)} can be had."
        )

    def written(self, value: float) -> str:
        """Write a value of this metric: in percent where it is a share of rows.

        Parameters
        ----------
        value : float
            The value.

        Returns
        -------
        str
        """
        return written(value, self.is_rate)

    def said(self, value: float, bound: str = "") -> str:
        """Write a value with the name of the metric: "an ROC AUC of at least 0.93".

        Parameters
        ----------
        value : float
            The value.
        bound : str, default=""
            What comes before it, such as "at least".

        Returns
        -------
        str
        """
        article = "an" if self.title.startswith(("error", "average", "ROC", "F1", "R²", "RMSE", "MAE")) else "a"
        return " ".join(filter(None, (article, self.title, "of", bound, self.written(value), self.about)))

    def curve_at(self, size: Any) -> Floats:
        """Return the curve that is drawn: through what was attained at each size, and on to the estimate.

        A model of more rows is no worse, so that a point which is better than one of more rows is smoothed, unless that
        is surely so. Beyond the largest size, what is left to lose falls with the power that was fitted.

        Parameters
        ----------
        size : array-like
            Rows trained on.

        Returns
        -------
        ndarray
        """
        from scipy.interpolate import PchipInterpolator

        size, curve = np.asarray(size, np.float64), self.curve
        sign = -1.0 if self.larger_is_better else 1.0  # from values to what is lost
        losses, end = sign * curve.value, sign * self.estimate
        if not find_rise(self.title, curve.value, losses, curve.covariance, curve.size):
            losses = isotonic_regression(losses).x  # sizes fall, so that losses rise
        within = PchipInterpolator(np.log(curve.size[::-1]), losses[::-1])(np.log(np.clip(size, *curve.size[[-1, 0]])))
        left = max(float(losses[0]) - end, 0.0)
        beyond = left * (np.maximum(size / curve.size[0], 1.0) ** -curve.rate - 1.0)
        return np.asarray(sign * (within + beyond))

    def rows_for(self, value: Any) -> RowsNeeded:
        """Estimate how many training rows a model needs to reach a value.

        Parameters
        ----------
        value : float
            The value of this metric.

        Returns
        -------
        RowsNeeded
        """
        least, most = self.bounds
        value = check_float("value", value, f"[{least}, {most}{']' if np.isfinite(most) else ')'}")
        curve = self.curve
        if curve.covariance is None:
            raise ValueError("This learning curve has no covariance, so that the rows for a value cannot be told.")
        sign = -1.0 if self.larger_is_better else 1.0  # from values to what is lost
        low, high = sorted(sign * end for end in self.interval)
        rows, interval, verdict = rows_to_reach(
            sign * value,
            sign * curve.value,
            curve.covariance,
            curve.size,
            sign * self.estimate,
            (low, high),
            min(sign * end for end in self.bounds),
            self.confidence,
        )
        return RowsNeeded(
            value=value,
            metric=self.name,
            rows=rows,
            interval=interval,
            verdict=verdict,
            n_train=float(curve.size[0]),
            confidence=self.confidence,
            value_text=self.said(value),
            findings=tuple(find_rise(self.title, curve.value, sign * curve.value, curve.covariance, curve.size)),
        )

    def _drawn(self, names: Iterable[str]) -> dict[str, Any]:
        smallest, largest = float(self.curve.size.min()), float(self.curve.size.max())
        tried, beyond = np.geomspace(smallest, largest, 60), np.geomspace(largest, _DRAWN_BEYOND * largest, 60)
        tried[-1] = beyond[0] = largest  # rounding must not leave the last size on one side only
        sizes = np.concatenate([tried, beyond])
        return super()._drawn(names) | {"columns": self.curve._columns(), "line": (sizes, self.curve_at(sizes))}


@dataclass(frozen=True, eq=False, repr=False)
class CostDecisions(Result):
    """What follows from a matrix of costs.

    `frame` has a row for each true class and decision that costs something, the dearest first.

    Attributes
    ----------
    costs : ndarray of shape (n_classes, n_decisions)
        What each decision costs, for each true class.
    decisions : tuple of str
        The classes, and "no decision" where there is a cost of that.
    pair_costs : ndarray of shape (n_classes, n_decisions)
        What each decision for each true class costs per row, as the stack decides: their sum is the cost reached.
    pair_rows : ndarray of shape (n_classes, n_decisions)
        Share of the rows that each of these is.
    class_weights : ndarray of shape (n_classes,) or None
        Weights of the classes for a learner that knows no costs, with a mean of 1; None where no weights lead to the
        same decisions.
    classes : ndarray of shape (n_classes,)
        The labels.
    """

    costs: Floats
    decisions: tuple[str, ...]
    pair_costs: Floats
    pair_rows: Floats
    class_weights: Floats | None
    classes: NDArray[Any]

    def __repr__(self) -> str:
        k, j = np.unravel_index(int(self.pair_costs.argmax()), self.pair_costs.shape)
        total = max(float(self.pair_costs.sum()), 1e-300)
        return (
            f"CostDecisions({self.pair_costs.sum():.4g} per row, {100 * self.pair_costs[k, j] / total:.0f}% of it for "
            f"taking {shown(self.classes[k])} for {self.decisions[j]})"
        )

    @property
    def undecided(self) -> float | None:
        """Share of the rows that are left undecided; None where there is no cost of that."""
        return float(self.pair_rows[:, -1].sum()) if len(self.decisions) > len(self.classes) else None

    def _columns(self) -> dict[str, Any]:
        """Return a row for each true class and decision that costs something, the dearest first."""
        order = np.argsort(-self.pair_costs, axis=None, kind="stable")
        pairs = [np.unravel_index(place, self.pair_costs.shape) for place in order.tolist()]
        pairs = [(int(k), int(j)) for k, j in pairs if self.pair_costs[k, j] > 0]
        total = max(float(self.pair_costs.sum()), 1e-300)
        return {
            "label": [str(self.classes[k]) for k, _ in pairs],
            "decision": [self.decisions[j] for _, j in pairs],
            "cost": [float(self.costs[pair]) for pair in pairs],
            "rows": [float(self.pair_rows[pair]) for pair in pairs],
            "cost_per_row": [float(self.pair_costs[pair]) for pair in pairs],
            "share_of_cost": [float(self.pair_costs[pair]) / total for pair in pairs],
        }


@dataclass(frozen=True, eq=False, repr=False)
class SubgroupFloors(
    PlottedResult,
    says="column names reached reached_p_value floor_p_value",
    rows="group=names estimate interval reached reached_interval share share_of_errors n_samples n_rows is_too_few",
    display="SubgroupsDisplay",
):
    """The floor, and what was reached, among the rows of each subgroup.

    `frame` has a row for each subgroup.

    The floor of a subgroup is the error that the best model of all rows makes among those of the subgroup. Where the
    columns tell the subgroup it is the lowest error that any model can have there.

    Attributes
    ----------
    column : str
        What tells the subgroups apart.
    names : tuple of str
        The subgroups, in the order of their values.
    estimate : ndarray of shape (n_groups,)
        The floor; NaN where `is_too_few`.
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
        How subgroups were made of the values, where they are not the values themselves; and which are too few.
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

    @property
    def is_too_few(self) -> NDArray[np.bool_]:
        """Which subgroups have too few tested rows, fewer than 5, for anything to be said of their floor."""
        return np.isnan(self.estimate)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StackFloor(
    PlottedResult,
    says="estimate:metric reached n_samples",
    rows="residual_z n_samples n_rows seconds",
    omits="honest",
    display="LearnedFloorDisplay",
):
    """The best value that any model can attain, as the limit of what a stack of learners learns.

    `frame` has a row for each metric, the first one first.

    Attributes
    ----------
    metric : str
        Name of the first metric that was asked for.
    metrics : dict of str to MetricFloor
        Every metric, by name, the first one first.
    weights : dict of str to float
        Weights of the learners in the stack, the largest first; mean over the folds.
    residual_z : float
        Standard errors by which residuals of neighbours are alike. Above 2.33, there is local signal that no learner
        caught.
    n_samples, n_rows : int
        Rows given, rows used for training or tests. In an order of time, half of the rows used are tested; of more
        than 10 000, about 10 000 are.
    suspicious : SuspiciousRows
        Rows whose label models find hard to believe, and how many labels may be wrong.
    findings : tuple of Finding
        What a reader should know.
    seconds : float
        Time taken.
    trust : Trust
        What speaks against the figures: columns that give the target away, rows that belong together, an order in time.
    """

    metric: str
    metrics: dict[str, MetricFloor]
    weights: dict[str, float]
    residual_z: float
    n_samples: int
    n_rows: int
    suspicious: SuspiciousRows
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0
    trust: Trust = field(default_factory=Trust)

    def __repr__(self) -> str:
        if self.trust.honest is None:
            return super().__repr__()
        said = " ".join(self.trust.headline)
        return f"{type(self).__name__}({said} As asked for: {super().__repr__().partition('(')[2]}"

    @property
    def honest(self) -> Self:
        """The figures that hold for rows to come, as far as that can be seen; these, where nothing speaks against them.

        Without columns that give the target away, with rows kept apart that belong together, and in an order of time.
        """
        honest: Self = self if self.trust.honest is None else self.trust.honest
        return honest

    @property
    def estimate(self) -> float:
        """The best value of the first metric: a floor, or a ceiling where larger is better."""
        return self._first.estimate

    @property
    def interval(self) -> Range:
        """Where that lies.

        The worse end is never better than what a model reached on rows it had not seen. The better end is extrapolated
        from the learning curve and from simulated problems.
        """
        return self._first.interval

    @property
    def reached(self) -> float:
        """What the stack attains by cross-validation, or on rows that were held out."""
        return self._first.reached

    @property
    def reached_interval(self) -> Range:
        """Where that lies, for sampling."""
        return self._first.reached_interval

    @property
    def curve(self) -> LearningCurve:
        """What the stack attains at three training sizes, by the first metric."""
        return self._first.curve

    @property
    def confidence(self) -> float:
        """Level of the intervals."""
        return self._first.confidence

    @property
    def _first(self) -> MetricFloor:
        return self.metrics[self.metric]

    def sentence(self) -> str:
        """Say what speaks against the figures, what was measured of the first metric, and what is extrapolated.

        Returns
        -------
        str
        """
        as_asked = ["As asked for:"] if self.trust.honest is not None else []
        return " ".join([*self.trust.headline, *as_asked, self._answer()])

    def _answer(self) -> str:
        """Say what was measured of the first metric, and what is extrapolated."""
        return self._first.sentence()

    def rows_for(self, value: Any, metric: str | None = None) -> RowsNeeded:
        """Estimate how many training rows a model needs to reach a value of a metric.

        Parameters
        ----------
        value : float
            The value.
        metric : str or None, default=None
            Name of one of `metrics`; None for the first.

        Returns
        -------
        RowsNeeded
            The number of rows with an interval, or that it is more than 100 times those at hand, or that the value is
            beyond what any model can attain.
        """
        name = self.metric if metric is None else check_option("metric", metric, self.metrics)
        return self.metrics[name].rows_for(value)

    def _columns(self) -> dict[str, Any]:
        """Return a row for each metric, the first one first; what is known of all rows stands in each."""
        floors = [each._columns() for each in self.metrics.values()]
        columns = {name: [value for each in floors for value in each[name]] for name in floors[0]}
        return columns | {name: value * len(floors) for name, value in super()._columns().items()}

    def _drawn(self, names: Iterable[str]) -> dict[str, Any]:
        return self._first._drawn(names)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LearnedFloor(
    StackFloor,
    says="estimate:metric reached n_samples n_classes",
    rows="majority_error residual_z n_samples n_rows n_classes seconds",
):
    """The floor as the limit of what can be learned.

    `estimate`, `interval`, `reached`, `reached_interval` and `curve` are of the first metric that was asked for: by
    default of the error, the share of rows predicted wrongly. `metrics` holds them for all, and always the error.

    Attributes
    ----------
    metric : str
        Name of the first metric that was asked for.
    metrics : dict of str to MetricFloor
        Every metric that was asked for, by name, and the error.
    weights : dict of str to float
        Exponents of the learners in the stack, the largest first; mean over the folds.
    residual_z : float
        Do neighbours err alike? Above 2.33, there is local signal that no learner caught.
    n_samples, n_rows : int
        Rows given, rows used for training or tests. In an order of time, half of the rows used are tested; of more
        than 10 000, about 10 000 are.
    suspicious : SuspiciousRows
        Rows whose label models find hard to believe, and how many labels may be wrong.
    findings : tuple of Finding
        What a reader should know.
    seconds : float
        Time taken.
    trust : Trust
        What speaks against the figures: columns that give the target away, rows that belong together, an order in time.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    class_reached : ndarray of shape (n_classes,)
        The stack's error at telling each class from the rest, among all rows.
    pair_reached : ndarray of shape (n_classes, n_classes)
        Share of the rows of each two classes that the stack takes for the other one of them.
    ranking : tuple of ClassRanking
        How high the rows of each class are ranked, in the order of the labels; says more than an error of a rare class.
    cost : CostDecisions or None
        What follows from the costs; None without.
    subgroups : SubgroupFloors or None
        The error among the rows of each subgroup, whatever the metric, where `by` asked for it.
    """

    classes: NDArray[Any]
    class_reached: Floats
    pair_reached: Floats
    ranking: tuple[ClassRanking, ...] = ()
    cost: CostDecisions | None = None
    subgroups: SubgroupFloors | None = None

    @property
    def majority_error(self) -> float:
        """The error of always predicting the commonest class."""
        return self.metrics["error"].baseline

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)
