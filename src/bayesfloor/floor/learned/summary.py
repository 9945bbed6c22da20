"""From the stack's predictions at several training sizes to the floor and its interval, by one metric."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.floor.learned.certainty import Sampling, sampling_of, standard_error_of
from bayesfloor.floor.learned.counted_rows import PlainRows
from bayesfloor.floor.learned.learning_curve import (
    DECADES_MISFIT,
    MISFIT,
    RATES,
    SLOW_RATES,
    Posterior,
    covariance_of,
    curve_posterior,
    decades_posterior,
    drift_posterior,
    goes_over_decades,
    power_of,
    split_posterior,
)
from bayesfloor.floor.learned.metrics import Metric, one_hot
from bayesfloor.floor.learned.result import LearningCurve
from bayesfloor.floor.learned.rules import ERR_ALIKE, N_COMPARED, WIDER, Lead, below_attained, widened
from bayesfloor.floor.learned.simulated import Signs, with_simulated
from bayesfloor.floor.learned.stack_errors import middle_error
from bayesfloor.floor.learned.stacking import Stack
from bayesfloor.runtime.arrays import Bools, Floats, Ints, Range

#: Errors, in rows, below which the lower end of the interval is 0: so few do not rule out a floor of 0.
FEW_ERRORS = 5
#: Residual z from which, in time, the lower arm grows with it.
CHANGED = 3.0 * ERR_ALIKE
#: Growth of the stack's lead over the largest class, from a quarter of the training rows to all of them, at which the
#: lower end begins to be drawn to 0, and at which it is 0. Where learners see all there is, the growth is about 1.
GROWTH = (1.2, 1.6)
#: Standard errors by which the stack must beat what needs no features for the lower end to be above 0 at all, and to be
#: where the curve has it. Ranks and probabilities show a lead long before decisions do, and then the least part of it.
SEEN = (2.0, 5.0)
#: Doublings of the rows for which an error that falls as fast as before may go on to do so.
N_DOUBLINGS = 10


class CurveSummary(NamedTuple):
    """The best possible value of a metric, and what it was read from; the fields are those of `MetricFloor`.

    All are losses, of which smaller is better: for metrics of which larger is better, 1 less the metric. `kept` is the
    share of the curve's lower end that was left where learners have only begun to see what there is. `q` has the
    probabilities by which `reached` was reached, in each repeat: of the stack, or of the rule that knows no features.
    `curve_low` is the lower end without what rows of equal features tell. `is_told` is from `columns_tell`, where the
    error does not beat the baseline.
    """

    estimate: float
    interval: Range
    reached: float
    reached_interval: Range
    baseline: float
    beats_baseline: bool
    curve: LearningCurve
    share_recent: float = 0.0
    growth: float = 1.0
    steady_fall: float = 0.0
    kept: float = 1.0
    q: Floats | None = None
    curve_low: float = 0.0
    is_told: bool = False


def summarise(
    stacks: list[Stack],
    sizes: Floats,
    rows: PlainRows,
    metric: Metric,
    *,
    residual_z: float,
    confidence: float,
    folds: Ints | None = None,
    clusters: Ints | None = None,
    in_time: bool = False,
    share_unseen: float = 0.0,
    kept: float = 1.0,
    past: Floats | None = None,
    cells: Ints | None = None,
    stack: tuple[int, Floats] | None = None,
) -> CurveSummary:
    """Extrapolate what the stacks lose by a metric.

    Parameters
    ----------
    stacks : list of Stack
        Predictions at each size, the largest first.
    sizes : ndarray
        Training rows at each size.
    rows : PlainRows
        Classes of the rows, and what each row counts.
    metric : Metric
        What is lost.
    residual_z : float
        As from `residual_test`. Where neighbours err alike, the lower end is drawn further down.
    confidence : float
        Level of the intervals.
    folds : ndarray of shape (n_repeats, n) or None, default=None
        The fold of each row in each repeat, see `without_features`; None for what the stack alone reaches.
    clusters : ndarray of shape (n,) or None, default=None
        Rows that err alike have the same number; None where all are independent.
    in_time : bool, default=False
        Whether smaller training sets are more recent ones.
    share_unseen : float, default=0.0
        Share of rows whose class no other group has: that all of them count as errors says nothing about the floor.
    kept : float, default=1.0
        `CurveSummary.kept` of the error, for another metric: what learners have not seen yet they have not seen by any
        metric.
    past : ndarray of shape (n, n_classes) or None, default=None
        In time: the shares of the classes among the rows that each row is predicted from.
    cells : ndarray of shape (n,) or None, default=None
        Rows whose features are all equal have the same number, from 0; None where that tells nothing.
    stack : (int, ndarray) or None, default=None
        How many columns the stack learned from, and the shares of kinds of learners in it (`Signs.kinds`). The error is
        then averaged with what simulated problems tell; None where they were not made for this.

    Returns
    -------
    CurveSummary
    """
    losses = _Losses(stacks, sizes / sizes[0], rows, metric, clusters, confidence, in_time=in_time)
    reached = losses.reached(folds, past)
    curve, other = losses.posteriors(RATES)
    tail = (1.0 - confidence) / 2.0
    reached_interval = reached.sampling.interval(reached.mean, losses.top, confidence)
    estimate = 0.5 * (curve.mean + other.mean)
    lower = min(posterior.quantile(tail) for posterior in (curve, other, *losses.posteriors(SLOW_RATES)))
    upper = max(reached_interval[1], curve.quantile(1.0 - tail))

    standard_error, baseline = standard_error_of(clusters), losses.baseline
    lead = Lead.of(losses.hard, losses.beaten, standard_error, in_time=in_time)
    most = losses.most_without_features()
    if lead.surely < 1.0:
        estimate = lead.surely * min(estimate, baseline) + (1.0 - lead.surely) * baseline
        upper = most
    estimate = min(estimate, reached.mean)
    # In time, what no learner caught may be a change that the past does not show: the more of it, the wider.
    lower = widened(lower, estimate, residual_z, WIDER * max(1.0, residual_z / CHANGED) if in_time else WIDER)
    of_curve = lower
    lower = lead.drawn_to_zero(lower, GROWTH, over_decades=losses.over_decades)
    if metric.name != "error":
        lower *= kept * lead.seen(*SEEN)
    lower = lead.after_doublings(lower, float(losses.hard[0].mean()), N_DOUBLINGS)
    left = max(lower, 0.0) / of_curve if lead.surely == 1.0 and of_curve > 0.0 else 1.0
    lower = min(lower, reached_interval[0]) - share_unseen
    if stack is not None and metric.name == "error":
        signs = losses.signs(sizes[0], reached.mean, residual_z, *stack)
        ends = max(lower, 0.0), upper
        estimate, (lower, upper) = with_simulated("classes", estimate, ends, signs, lead, confidence)
    if lower < FEW_ERRORS / losses.sampling.n_equivalent:
        lower = 0.0
    attained = (reached.mean, reached_interval[1]), (baseline, most)
    estimate, (lower, upper) = below_attained(estimate, (lower, upper), *attained)
    curve_low = lower
    if cells is not None and metric.is_least_by_shares:
        lower = max(lower, min(losses.least_in_cells(cells), reached.mean, baseline))
        estimate = max(estimate, lower)
    unscaled = losses.unscaled
    return CurveSummary(
        estimate=unscaled(estimate),
        interval=(unscaled(lower), unscaled(upper)),
        reached=unscaled(reached.mean),
        reached_interval=(unscaled(reached_interval[0]), unscaled(reached_interval[1])),
        baseline=unscaled(baseline),
        beats_baseline=lead.surely == 1.0,
        curve=losses.learning_curve(sizes, curve),
        share_recent=_share_recent(stacks[0].weights) if in_time else 0.0,
        growth=lead.growth,
        steady_fall=metric.scale * lead.steady_fall,
        kept=left,
        q=reached.q,
        curve_low=unscaled(curve_low),
    )


def columns_tell(
    stacks: list[Stack], rows: PlainRows, metrics: Iterable[Metric], confidence: float, clusters: Ints | None
) -> bool:
    """Tell whether the columns say anything of the classes, by log-loss and ROC AUC, whatever the error shows of it.

    A proper score is less than that of the shares of the classes as soon as probabilities are any better than these. Of
    a few rows of a rare class it varies more than their ranks do.
    """
    proper, ranks = (
        _Losses(stacks[:1], np.ones(1), rows, each, clusters, confidence, in_time=True) for each in metrics
    )
    lead = Lead.of(proper.hard, proper.beaten, standard_error_of(clusters), in_time=True)
    misranked = ranks.sampling.interval(float(ranks.hard[0].mean()), ranks.top, confidence)
    return lead.surely == 1.0 or misranked[1] < ranks.baseline


class _Reached(NamedTuple):
    """What the stack attains, or the rule that knows no features where that is better."""

    mean: float
    sampling: Sampling
    q: Floats


class RowLosses:
    """What rows lose by a metric, as shares of the metric's scale.

    Parameters
    ----------
    rows : PlainRows
        Classes of the rows, and what each row counts.
    metric : Metric
        What is lost.
    clusters : ndarray of shape (n,) or None
        Rows that err alike have the same number; None where all are independent.
    confidence : float
        Level of the intervals.
    """

    def __init__(self, rows: PlainRows, metric: Metric, clusters: Ints | None, confidence: float) -> None:
        self.rows, self.metric, self.clusters, self.confidence = rows, metric, clusters, confidence
        self.lowest, self.scale = metric.bounds[0], metric.scale
        self.weights = rows.weights
        self.targets = one_hot(rows.codes, len(rows.class_counts))
        self.top = (metric.bounds[1] - self.lowest) / self.scale
        self.largest = (metric.largest - self.lowest) / self.scale
        self.constant = constant_probabilities(rows, metric, None)
        self.beaten = self.lost(self.targets, self.constant)
        of_guesses = (metric.of_guesses - self.lowest) / self.scale
        if of_guesses < self.beaten.mean():
            self.beaten = np.full(len(rows.codes), of_guesses)
        self.baseline = float(self.beaten.mean())

    def lost(self, targets: Floats, q: Floats) -> Floats:
        """Return what each row loses, if its label is as likely as the targets say."""
        values = self.rows.weighted(self.metric.losses(targets, q, self.weights))
        return (values - self.lowest) / self.scale

    def sampled(self, values: Floats, q: Floats) -> Sampling:
        """Return how surely the mean of losses is known, which are means over the first axis of `q`, the repeats."""
        losses = np.mean([self.metric.losses(self.targets, of_repeat, self.weights) for of_repeat in q], axis=0)
        between = self.rows.between_classes(losses) / self.scale**2
        return sampling_of(
            values, q, self.rows, self.metric, self.clusters, self.confidence, self.baseline, self.top, between
        )

    def most_without_features(self) -> float:
        """Return the upper end of what is lost without features, which is most where classes are even."""
        known = self.sampled(self.beaten, self.constant[np.newaxis])
        high = known.interval(self.baseline, self.top, self.confidence)[1]
        return min(high, max(self.largest, self.baseline))

    def unscaled(self, values: Any) -> Any:
        """Return losses in the unit of the metric."""
        return self.lowest + self.scale * values


class _Losses(RowLosses):
    """What rows lose at each training size.

    `hard` is what they lose with their labels, `soft` what predictions expect to lose, and `middle` lies between.
    """

    def __init__(
        self,
        stacks: list[Stack],
        relative: Floats,
        rows: PlainRows,
        metric: Metric,
        clusters: Ints | None,
        confidence: float,
        *,
        in_time: bool,
    ) -> None:
        super().__init__(rows, metric, clusters, confidence)
        self.relative, self.in_time = relative, in_time
        self.over_decades = goes_over_decades(relative)
        self.n_views = [float(stack.predicted.shape[1]) for stack in stacks]
        self.hard: list[Floats] = []
        self.soft: list[float] = []
        self.middle: list[Floats] = []
        self.of_averages: list[Floats] = []
        for stack in stacks:
            self._add(np.exp(stack.predicted))

    def _add(self, of_repeats: Floats) -> None:
        """Add a training size, from the probabilities of its models: those of the views in each repeat."""
        of_models = of_repeats.reshape(-1, *of_repeats.shape[2:])
        hard = np.mean([self.lost(self.targets, q) for q in of_models], axis=0)
        soft = np.mean([self.lost(q, q) for q in of_models], axis=0)
        if not self.hard:
            self.q = of_repeats[:, 0]
            self.sampling = self.sampled(hard, self.q)
        self.hard.append(hard)
        self.soft.append(float(soft.mean()))
        self.middle.append(middle_error(hard, soft, self.sampling.n_rows))
        if of_repeats.shape[1] > 1:
            averages = of_repeats.mean(axis=1)
            hard = np.mean([self.lost(self.targets, q) for q in averages], axis=0)
            soft = np.mean([self.lost(q, q) for q in averages], axis=0)
            self.of_averages.append(middle_error(hard, soft, self.sampling.n_rows))

    def reached(self, folds: Ints | None, past: Floats | None) -> _Reached:
        """Return what a model attains; see `without_features`."""
        q = self.q
        if folds is not None and self.metric.is_row_mean:
            constant = constant_probabilities(self.rows, self.metric, past)
            of_constant = self.lost(self.targets, constant)
            of_repeats = np.array([self.lost(self.targets, of_repeat) for of_repeat in q])
            marked = np.array(
                [
                    without_features(lost, of_constant, of_repeat, in_time=self.in_time)
                    for lost, of_repeat in zip(of_repeats, folds, strict=True)
                ]
            )
            if marked.any():
                lost = np.where(marked, of_constant, of_repeats).mean(axis=0)
                q = np.where(marked[..., np.newaxis], constant, q)
                return _Reached(float(lost.mean()), self.sampled(lost, q), q)
        return _Reached(float(self.hard[0].mean()), self.sampling, q)

    def posteriors(self, rates: Range) -> tuple[Posterior, Posterior]:
        """Return two posteriors of the end of the curve."""
        known = self.sampling.variance, self.relative, self.largest, self.sampling.n_rows, rates
        points = np.column_stack(self.middle)
        if self.in_time:
            return curve_posterior(points, *known), drift_posterior(points, *known)
        all_points = np.column_stack([*self.middle, *self.of_averages])
        sizes = np.concatenate([self.relative, self.relative[1:]])
        averaged = np.concatenate([np.ones(len(self.middle)), self.n_views[1:]])
        variance, _, largest, n_rows, _ = known
        if self.over_decades:
            near = sizes >= sizes[N_COMPARED - 1]
            curve, of_near = (
                decades_posterior(all_points[:, used], variance, sizes[used], averaged[used], largest, n_rows)
                for used in (sizes > 0.0, near)
            )
            return replace(curve, fitted=curve.fitted[: len(self.middle)]), of_near
        curve = curve_posterior(points, *known)
        return curve, split_posterior(all_points, variance, sizes, averaged, largest, n_rows, rates)

    def signs(self, n_train: float, reached: float, residual_z: float, n_columns: int, kinds: Floats) -> Signs:
        """Return what simulated problems are compared by."""
        losses = np.array([float(lost.mean()) for lost in self.hard[:N_COMPARED]])
        return Signs(float(n_train), n_columns, losses, reached, self.baseline, residual_z, kinds)

    def least_in_cells(self, cells: Ints) -> float:
        """Return the lower end of what every rule loses on these rows: none tells rows of equal features apart."""
        q = shares_in_cells(cells, self.targets * self.weights[:, np.newaxis])
        least = self.lost(self.targets, q)
        return self.sampled(least, q[np.newaxis]).interval(float(least.mean()), self.top, self.confidence)[0]

    def learning_curve(self, sizes: Floats, curve: Posterior) -> LearningCurve:
        """Return the curve that is shown."""
        hard = np.array([float(lost.mean()) for lost in self.hard])
        misfit = DECADES_MISFIT if self.over_decades else MISFIT
        covariance = covariance_of(np.column_stack(self.hard), self.sampling.variance, self.sampling.n_rows, misfit)
        return LearningCurve(
            size=sizes,
            value=self.unscaled(hard),
            expected=self.unscaled(np.array(self.soft)),
            middle=self.unscaled(np.array([values.mean() for values in self.middle])),
            fitted=self.unscaled(curve.fitted),
            limit=self.unscaled(curve.mean),
            rate=power_of(curve.fitted - curve.mean, self.relative),
            covariance=self.scale**2 * covariance,
        )


def without_features(lost: Floats, of_constant: Floats, folds: Ints, *, in_time: bool) -> Bools:
    """Mark the rows of folds in which the rule that knows no features takes the place of the stack.

    What needs no features is a model too, and where a class is rare the stack may err more often. Which of the two is
    better for a fold is told by the other folds: by its own rows, the better of two figures would be too good.

    Parameters
    ----------
    lost, of_constant : ndarray of shape (n,)
        What the stack and the rule lose in each row.
    folds : ndarray of shape (n,)
        Folds of the rows.
    in_time : bool
        Whether a fold comes after those of lower numbers, which then are all that is known.

    Returns
    -------
    ndarray of shape (n,)
    """
    marked = np.zeros(len(folds), bool)
    for fold in np.unique(folds):
        others = folds < fold if in_time else folds != fold
        marked[folds == fold] = others.any() and lost[others].mean() >= of_constant[others].mean()
    return marked


def constant_probabilities(rows: PlainRows, metric: Metric, past: Floats | None) -> Floats:
    """Return what a rule predicts that knows no features: the shares of the classes.

    Folds have the same shares of each class, so that a decision by the shares of all rows is one by those trained on. A
    probability is not: the row that it is judged by is left out. In time, shares are those of the past.

    Parameters
    ----------
    rows : PlainRows
        Classes of the rows.
    metric : Metric
        What the rule is judged by.
    past : ndarray of shape (n, n_classes) or None
        As for `summarise`.

    Returns
    -------
    ndarray of shape (n, n_classes)
    """
    if past is not None and metric.is_row_mean:
        return past
    counts = np.tile(rows.class_totals.astype(np.float64), (len(rows.codes), 1))
    if metric.is_score:
        own = np.broadcast_to(rows.sample_weight, len(rows.codes))
        counts += 0.5 - own[:, np.newaxis] * one_hot(rows.codes, counts.shape[1])
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def shares_in_cells(cells: Ints, targets: Floats) -> Floats:
    """Return the shares of the classes among the rows of each cell, for each row."""
    sums = np.zeros((int(cells.max()) + 1, targets.shape[1]))
    np.add.at(sums, cells, targets)
    return np.asarray((sums / sums.sum(axis=1, keepdims=True))[cells])


def _share_recent(weights: Floats) -> float:
    """Return the share of a stack's exponents that learners of recent rows have: all but the first third of them."""
    total = weights.mean(axis=0)
    return float(total[len(total) // 3 :].sum() / max(total.sum(), 1e-12))
