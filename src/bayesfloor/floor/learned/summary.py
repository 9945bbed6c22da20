"""From the stack's predictions at three training sizes to the floor, its interval and findings.

======  ====================================================================
BF021   a sample of the rows was used
BF022   a class with fewer rows than folds
BF023   nothing beats always naming the largest class
BF024   neighbours err alike: there is signal that no learner caught
BF025   the error still falls with more rows
BF026   a class so rare that the error says little of it
BF027   there are few groups
BF028   a class is in one group only
BF029   rows of long ago mislead
BF039   learners have only begun to see what there is
BF040   the error falls as fast as before: no end is in sight
BF042   the error gets worse with more rows
======  ====================================================================
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.clusters import clustered_error, effective_rows
from bayesfloor.floor.learned.learning_curve import (
    RATES,
    SLOW_RATES,
    Posterior,
    covariance_of,
    curve_posterior,
    drift_posterior,
    split_posterior,
)
from bayesfloor.floor.learned.metrics import Metric, one_hot
from bayesfloor.floor.learned.result import LearningCurve
from bayesfloor.floor.learned.rows_needed import find_rise
from bayesfloor.floor.learned.stack_errors import middle_error
from bayesfloor.floor.learned.stacking import Stack
from bayesfloor.floor.learned.strata import PlainRows
from bayesfloor.runtime.arrays import Bools, Floats, Ints, Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import listed, shown

#: Errors, in rows, below which the lower end of the interval is 0: so few do not rule out a floor of 0.
FEW_ERRORS = 5
#: Rows that a proportion's interval is computed for, at most. A loss that hardly varies stands for 1e27 of them, where
#: SciPy's quantiles are NaN or noise; from here on the interval is narrower than any digit that is shown.
MOST_ROWS = 1e10
#: Residual z from which neighbours are said to err alike: one in a hundred data sets has it by chance.
ERR_ALIKE = 2.33
#: Factor on the lower arm of the interval where neighbours err alike.
WIDER = 1.5
#: Residual z from which, in time, the lower arm grows with it.
CHANGED = 3.0 * ERR_ALIKE
#: Standard errors by which the stack must beat the largest class for that to count in full.
SURE = 2.0
#: Growth of the stack's lead over the largest class, from a quarter of the training rows to all of them, at which the
#: lower end begins to be drawn to 0, and at which it is 0. Where learners see all there is, the growth is about 1.
GROWTH = (1.2, 1.6)
#: Standard errors by which the stack must beat what needs no features for the lower end to be above 0 at all, and to be
#: where the curve has it. Ranks and probabilities show a lead long before decisions do, and then the least part of it.
SEEN = (2.0, 5.0)
#: Share of one doubling's fall of the error that the next must keep for it to be as fast as before, and the standard
#: errors that the fall must have for it to be a fall at all.
AS_FAST, SURELY_FALLS = 0.85, 3.0
#: Doublings of the rows for which an error that falls as fast as before may go on to do so.
N_DOUBLINGS = 10
#: Share of the error that more rows are expected to remove, from which finding BF025 is reported.
STILL_FALLING = 0.15
#: Degrees of freedom of a variance, at the least.
FEWEST_DEGREES = 4.0
#: Groups below which their spread, and with it every interval, is rough.
FEW_GROUPS = 30
#: Share of the stack that learners of recent rows alone have where rows of long ago mislead.
MOSTLY_RECENT = 0.75
#: Share of an equal part of the rows below which a class is rare: 5% of two classes, 1% of ten.
RARE = 0.1
#: Share of rows outside of the largest class below which the error is as good as that of never naming the others.
FEW_OTHERS = 0.05


class CurveSummary(NamedTuple):
    """The best possible value of a metric, and what it was read from; the fields are those of `MetricFloor`.

    All are losses, of which smaller is better: for metrics of which larger is better, 1 less the metric. `kept` is the
    share of the curve's lower end that was left where learners have only begun to see what there is. `q` has the
    probabilities by which `reached` was reached: those of the stack, or of the rule that knows no features.
    `curve_low` is the lower end without what rows of equal features tell.
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
    folds : ndarray of shape (n,) or None, default=None
        The fold of each row, see `without_features`; None for what the stack alone reaches.
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

    Returns
    -------
    CurveSummary
    """
    codes, weights = rows.codes, rows.class_weights[rows.codes]
    shares = rows.class_counts / rows.class_counts.sum()
    tail = (1.0 - confidence) / 2.0
    lowest, scale = metric.bounds[0], metric.scale
    targets = one_hot(codes, len(shares))

    def lost(targets: Floats, q: Floats) -> Floats:
        return (rows.weighted(metric.losses(targets, q, weights)) - lowest) / scale

    def sampled(values: Floats, q: Floats) -> Sampling:
        between = rows.between_classes(metric.losses(targets, q, weights)) / scale**2
        return _sampling(values, q, rows, metric, clusters, confidence, baseline, top, between)

    hard_rows, soft_losses, middle, of_averages = [], [], [], []
    sampling: Sampling | None = None
    beaten = lost(targets, constant_probabilities(rows, metric, None))
    if (metric.of_guesses - lowest) / scale < beaten.mean():
        beaten = np.full(len(codes), (metric.of_guesses - lowest) / scale)
    baseline = float(beaten.mean())
    constant = constant_probabilities(rows, metric, past)
    top = (metric.bounds[1] - lowest) / scale
    for stack in stacks:
        of_views = np.exp(stack.predicted)
        hard = np.mean([lost(targets, q) for q in of_views], axis=0)
        soft = np.mean([lost(q, q) for q in of_views], axis=0)
        if sampling is None:
            sampling = reached_by = sampled(hard, of_views[0])
            of_reached, reached_q, is_constant = hard, of_views[0], np.zeros(len(codes), bool)
            if folds is not None and metric.is_row_mean:
                of_constant = lost(targets, constant)
                is_constant = without_features(hard, of_constant, folds, in_time=in_time)
                if is_constant.any():
                    of_reached = np.where(is_constant, of_constant, hard)
                    reached_q = np.where(is_constant[:, np.newaxis], constant, reached_q)
                    reached_by = sampled(of_reached, reached_q)
        hard_rows.append(hard)
        soft_losses.append(float(soft.mean()))
        middle.append(middle_error(hard, soft, sampling.n_rows))
        if len(of_views) > 1:
            average = of_views.mean(axis=0)
            of_averages.append(middle_error(lost(targets, average), lost(average, average), sampling.n_rows))
    assert sampling is not None  # there is at least one size
    hard_losses = [float(hard.mean()) for hard in hard_rows]
    relative = sizes / sizes[0]
    largest = (metric.largest - lowest) / scale
    n_views = [float(len(stack.predicted)) for stack in stacks]
    variance, n_rows = sampling.variance, sampling.n_rows

    def posteriors(rates: Range) -> tuple[Posterior, Posterior]:
        points = np.column_stack(middle)
        curve = curve_posterior(points, variance, relative, largest, n_rows, rates)
        if in_time:
            return curve, drift_posterior(points, variance, relative, largest, n_rows, rates)
        all_points = np.column_stack([*middle, *of_averages])
        sizes_of_all = np.concatenate([relative, relative[1:]])
        averaged = np.concatenate([np.ones(len(stacks)), n_views[1:]])
        return curve, split_posterior(all_points, variance, sizes_of_all, averaged, largest, n_rows, rates)

    curve, other = posteriors(RATES)
    reached = float(of_reached.mean())
    reached_interval = reached_by.interval(reached, top, confidence)
    estimate = 0.5 * (curve.mean + other.mean)
    lower = min(posterior.quantile(tail) for posterior in (curve, other, *posteriors(SLOW_RATES)))
    upper = max(reached_interval[1], curve.quantile(1.0 - tail))

    # How surely the stack beats what needs no features: not at all, 0, or by two standard errors and more, 1.
    def standard_error(values: Floats) -> float:
        error = values.std() / len(values) ** 0.5 if clusters is None else clustered_error(values, clusters)
        return max(float(error), 1e-12 / len(values) ** 0.5)

    gain = beaten - hard_rows[0]
    surely = float(np.clip(gain.mean() / (SURE * standard_error(gain)), 0.0, 1.0))
    if surely < 1.0:
        estimate = surely * min(estimate, baseline) + (1.0 - surely) * baseline
        of_baseline = _sampling_of_baseline(baseline, standard_error(beaten), rows, metric, n_rows, top)
        upper = max(upper, of_baseline.interval(baseline, top, confidence)[1])
    if surely == 1.0 or is_constant.all():
        estimate = min(estimate, reached)  # the floor is at most what a model attains
    if residual_z > ERR_ALIKE:
        # In time, what no learner caught may be a change that the past does not show: the more of it, the wider.
        wider = WIDER * max(1.0, residual_z / CHANGED) if in_time else WIDER
        lower = min(lower, estimate - wider * (estimate - lower))
    growth, steady_fall = 1.0, 0.0
    if not in_time:  # where smaller training sets are more recent ones as well
        growth = growth_of_lead(hard_rows, beaten, standard_error)
        steady_fall = fall_as_fast(hard_rows, standard_error)
    begin, end = GROWTH
    of_curve = lower
    lower *= float(np.clip((end - growth) / (end - begin), 0.0, 1.0)) if surely == 1.0 else 0.0
    if metric.name != "error":
        lower *= kept
        upper = min(upper, max(largest, baseline))  # attained without features
        few, many = SEEN
        lower *= float(np.clip((gain.mean() / standard_error(gain) - few) / (many - few), 0.0, 1.0))
    if steady_fall > 0.0:
        lower = min(lower, hard_losses[0] - N_DOUBLINGS * steady_fall)
    left = max(lower, 0.0) / of_curve if surely == 1.0 and of_curve > 0.0 else 1.0
    lower = min(lower, reached_interval[0]) - share_unseen
    if lower < FEW_ERRORS / sampling.n_equivalent:
        lower = 0.0
    curve_low = min(lower, estimate)
    if cells is not None and metric.is_least_by_shares:
        # No rule tells rows of equal features apart: on these rows, each loses at least as much as their shares do.
        q = shares_in_cells(cells, targets * weights[:, np.newaxis])
        least = lost(targets, q)
        lower = max(lower, min(sampled(least, q).interval(float(least.mean()), top, confidence)[0], reached))
        estimate = max(estimate, lower)

    def unscaled(values: Any) -> Any:
        return lowest + scale * values

    return CurveSummary(
        estimate=unscaled(estimate),
        interval=(unscaled(min(lower, estimate)), unscaled(max(upper, estimate))),
        reached=unscaled(reached),
        reached_interval=(unscaled(reached_interval[0]), unscaled(reached_interval[1])),
        baseline=unscaled(baseline),
        beats_baseline=surely == 1.0,
        curve=LearningCurve(
            size=sizes,
            value=unscaled(np.array(hard_losses)),
            expected=unscaled(np.array(soft_losses)),
            middle=unscaled(np.array([values.mean() for values in middle])),
            fitted=unscaled(curve.fitted),
            limit=unscaled(curve.mean),
            rate=_power(curve.fitted - curve.mean, relative),
            covariance=scale**2 * covariance_of(np.column_stack(hard_rows), variance, n_rows),
        ),
        share_recent=_share_recent(stacks[0].weights) if in_time else 0.0,
        growth=growth,
        steady_fall=scale * steady_fall,
        kept=left,
        q=reached_q,
        curve_low=unscaled(curve_low),
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
    counts = np.tile(rows.class_counts.astype(np.float64), (len(rows.codes), 1))
    if metric.is_score:
        counts += 0.5 - one_hot(rows.codes, counts.shape[1])
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def shares_in_cells(cells: Ints, targets: Floats) -> Floats:
    """Return the shares of the classes among the rows of each cell, for each row."""
    sums = np.zeros((int(cells.max()) + 1, targets.shape[1]))
    np.add.at(sums, cells, targets)
    return np.asarray((sums / sums.sum(axis=1, keepdims=True))[cells])


class Sampling(NamedTuple):
    """How surely a mean loss is known.

    Attributes
    ----------
    variance : float
        Of the mean; not 0 when nothing was lost.
    n_rows : float or None
        How many independent rows say as much as these, where some belong together; None for all.
    n_equivalent : float
        How many rows would show a share of this size as surely.
    """

    variance: float
    n_rows: float | None
    n_equivalent: float

    def interval(self, loss: float, top: float, confidence: float) -> Range:
        """Return where the loss lies, as for a proportion of the largest one; for one without end, in logarithms."""
        if np.isfinite(top):
            n = self.n_equivalent
            low, high = proportion_interval(round(loss / top * n, 6), n, confidence)
            return top * low, top * high
        reach = float(ndtri(0.5 + 0.5 * confidence)) * self.variance**0.5
        share = reach / max(loss, 1e-300)
        # A loss that is as small as what it varies by says nothing of its logarithm.
        high = loss * float(np.exp(share)) if share < 1.0 else loss + (math.e - 1.0) * reach
        return loss * float(np.exp(-share)), float(high)


def _sampling(
    lost: Floats,
    scores: Floats,
    rows: PlainRows,
    metric: Metric,
    clusters: Ints | None,
    confidence: float,
    baseline: float,
    top: float,
    between: float,
) -> Sampling:
    """Return how surely the mean of what rows lose is known; of the error, by the class that has the largest score."""
    mean = float(lost.mean())
    if metric.name == "error":
        if clusters is not None:
            n = effective_rows(lost, clusters, confidence)
            return Sampling(_proportion_variance(mean, n), n, n)
        is_wrong = scores.argmax(axis=-1) != rows.codes
        return Sampling(rows.variance(is_wrong), None, rows.n_equivalent(is_wrong))
    n_rows = len(lost)
    parts = (lost - mean) ** 2 if clusters is None else np.bincount(clusters, lost - mean) ** 2
    # One more row that loses as much as without features, so that the variance is not 0 where nothing was lost.
    variance = float(parts.sum() + (metric.of_one_row * (baseline - mean)) ** 2) / n_rows**2 + between
    n_independent = None if clusters is None else n_rows * float(lost.var() * n_rows / max(parts.sum(), 1e-300))
    # Where a few rows make up the variance, it is a guess: with as many degrees of freedom as its own variance says.
    freedom = 2.0 * float(parts.sum()) ** 2 / max(float((parts**2).sum()), 1e-300)
    tail = 0.5 + 0.5 * confidence
    variance *= float(stdtrit(max(freedom, FEWEST_DEGREES), tail) / ndtri(tail)) ** 2
    n_equivalent = _n_equivalent(mean, variance, top, n_rows)
    return Sampling(variance, n_independent and min(max(n_independent, 1.0), n_rows), n_equivalent)


def _sampling_of_baseline(
    baseline: float, error: float, rows: PlainRows, metric: Metric, n_rows: float | None, top: float
) -> Sampling:
    """Return how surely the loss without features is known."""
    n_all = float(rows.class_counts.sum())
    if metric.name == "error":
        return Sampling(error**2, n_rows, n_rows or n_all)
    return Sampling(error**2, n_rows, _n_equivalent(baseline, error**2, top, n_all))


def _n_equivalent(loss: float, variance: float, top: float, n: float) -> float:
    """Return how many rows show a proportion with the variance that a loss has, as a share of the largest one."""
    if not np.isfinite(top):
        return n
    share = (loss / top * n + 0.5) / (n + 1.0)
    most = MOST_ROWS * variance  # a loss that is the same for all rows is known
    return share * (1.0 - share) * top**2 / variance if share * (1.0 - share) * top**2 < most else MOST_ROWS


def growth_of_lead(errors: list[Floats], of_largest: Floats, standard_error: Callable[[Floats], float]) -> float:
    """Return by what factor the lead over the largest class grew from the smallest training sets to the largest.

    Parameters
    ----------
    errors : list of ndarray of shape (n,)
        The error of each row at each size, the largest first.
    of_largest : ndarray of shape (n,)
        The error of always naming the largest class.
    standard_error : callable
        The standard error of a mean of such values; a lead that is smaller is taken to be that.

    Returns
    -------
    float
    """
    first, last = of_largest - errors[-1], of_largest - errors[0]
    return float(last.mean() / max(first.mean(), standard_error(first)))


def fall_as_fast(errors: list[Floats], standard_error: Callable[[Floats], float]) -> float:
    """Return what the last doubling of the training rows took off the error, if about as much as the one before.

    Parameters
    ----------
    errors, standard_error
        As for `growth_of_lead`; each size is twice the next.

    Returns
    -------
    float
        0 where the error does not surely fall, or falls more slowly than before.
    """
    last, before = errors[1] - errors[0], errors[2] - errors[1]
    is_fall = last.mean() > SURELY_FALLS * standard_error(last) and last.mean() > AS_FAST * before.mean()
    return float(last.mean()) if is_fall else 0.0


def _share_recent(weights: Floats) -> float:
    """Return the share of a stack's exponents that learners of recent rows have: all but the first third of them."""
    total = weights.mean(axis=0)
    return float(total[len(total) // 3 :].sum() / max(total.sum(), 1e-12))


def proportion_interval(count: float, n: float, confidence: float) -> Range:
    """Return Clopper and Pearson's interval of a proportion; of a weighted one, with numbers that stand for it."""
    tail = (1.0 - confidence) / 2.0
    if n > MOST_ROWS:
        count, n = count * MOST_ROWS / n, MOST_ROWS
    low = float(betaincinv(count, n - count + 1, tail)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, n - count, 1.0 - tail)) if count < n else 1.0
    return low, high


def _proportion_variance(share: float, n: float) -> float:
    """Return the variance of a proportion, which is not 0 when nothing was counted."""
    share = (share * n + 0.5) / (n + 1.0)
    return share * (1.0 - share) / n


def _power(excess: Floats, relative: Floats) -> float:
    """Return the power of the size through both ends of a curve: a mean of power laws is no power law."""
    if not 0.0 < excess[0] < excess[-1]:
        return 1.0  # there is next to nothing to fall
    return float(np.log(excess[-1] / excess[0]) / -np.log(relative[-1]))


def find_in_learned(
    summary: CurveSummary, residual_z: float, problem: Problem, codes: Ints, n_folds: int
) -> Iterator[Finding]:
    """List what was found, in the order of the codes; `codes` are those of the rows that were used."""
    n_rows, counts = len(codes), problem.class_counts
    if n_rows < len(problem.X):
        kept = [
            f"{n_used} of {counts[k]} of {shown(problem.classes[k])}"
            for k, n_used in enumerate(np.bincount(codes, minlength=len(counts)).tolist())
            if n_used > n_rows * counts[k] / len(problem.X) + 2
        ]
        share = "as large a share of each class"
        if kept:
            share += f", but more of the rare ones, which count less for it: {listed(kept)}"
        yield Finding(
            "BF021",
            f"The figures come from {n_rows} of {len(problem.X)} rows, {share}.",
            "Raise max_rows to use more.",
        )
    few = np.flatnonzero(counts < n_folds)
    if len(few):
        text = listed([f"{shown(problem.classes[k])} ({counts[k]})" for k in few])
        plural = "classes have" if len(few) > 1 else "class has"
        yield Finding(
            "BF022",
            f"{len(few)} {plural} fewer rows than there are folds: {text}.",
            "Some models never see them in training, so their rows count as errors. Merge classes, or leave them out.",
        )
    if not summary.beats_baseline:
        low = "nothing can be said of how low the error can get: its range begins at 0"
        if summary.interval[0] > 0.0:
            low = (
                "no learning curve says how low the error can get. Rows with equal features and different labels put "
                f"it at {summary.interval[0]:.4f} or more"
            )
        yield Finding(
            "BF023",
            f"Nothing that was tried beats always naming the largest class (error {summary.baseline:.4f}), so {low}.",
            "Either the features tell nothing about the classes, or they do so in a way that needs far more rows, or a "
            "class is so rare that naming it hardly ever pays; its ROC AUC tells that.",
        )
    if residual_z > ERR_ALIKE:
        yield Finding(
            "BF024",
            f"Rows next to each other err alike (z = {residual_z:.1f}): there is local signal that no learner caught.",
            "The floor may be lower than the estimate. Add a learner that fits this kind of data.",
        )
    gain = summary.reached - summary.estimate
    falls = problem.time is None or summary.curve.value[-1] > summary.reached
    if summary.beats_baseline and falls and gain > STILL_FALLING * summary.reached and gain * n_rows > 5:
        yield Finding(
            "BF025",
            f"The error still falls with more rows: {summary.curve.value[-1]:.4f} with {summary.curve.size[-1]:.0f}, "
            f"{summary.reached:.4f} with {summary.curve.size[0]:.0f}, and {summary.estimate:.4f} in the limit if the "
            "curve goes on like this.",
            "More rows, or better features, would narrow the gap.",
        )
    yield from _find_in_curve(summary)
    curve = summary.curve
    yield from find_rise("error", curve.value, curve.value, curve.covariance, curve.size)
    rare = [k for k in np.flatnonzero(is_rare(counts)) if counts[k] >= n_folds]
    if rare:
        text = listed([f"{shown(problem.classes[k])} ({counts[k]} rows)" for k in rare])
        what, them = ("These classes are", "them") if len(rare) > 1 else ("This class is", "it")
        yield Finding(
            "BF026",
            f"{what} so rare that the error says little of {them}: {text}.",
            f"Judge a model by how high it ranks {them}: by ROC AUC, and recall at the precision that you need.",
        )
    yield from _find_in_groups(problem)
    if summary.share_recent > MOSTLY_RECENT:
        yield Finding(
            "BF029",
            f"Rows of long ago mislead: learners of the more recent half or quarter of the past make up "
            f"{100 * summary.share_recent:.0f}% of the stack.",
            "Train on recent rows, and again before long.",
        )


def _find_in_curve(summary: CurveSummary) -> Iterator[Finding]:
    """Say why the lower end is not where the curve would put it."""
    if not summary.beats_baseline or summary.reached_interval[0] == 0.0:
        return
    curve, begins = summary.curve, "the error's range begins at 0"
    if summary.interval[0] > 0.0:
        begins = f"the error's range begins at {summary.interval[0]:.4f}, lower than the curve would have it"
    if summary.growth > GROWTH[0]:
        lead = summary.baseline - curve.value
        yield Finding(
            "BF039",
            f"Learners have only begun to see what there is: with {curve.size[-1]:.0f} rows they beat the largest "
            f"class by {max(lead[-1], 0.0):.4f}, with {curve.size[0]:.0f} by {lead[0]:.4f}. How far that goes on "
            f"cannot be told, so {begins}.",
            "Take the upper end as what is known. More rows will tell more, and so may a learner made for such data.",
        )
    elif summary.steady_fall > 0.0:
        yield Finding(
            "BF040",
            f"Each doubling of the rows lowers the error about as much as the one before: {curve.value[2]:.4f}, "
            f"{curve.value[1]:.4f}, {curve.value[0]:.4f}. No end is in sight: {N_DOUBLINGS} more such steps are "
            f"allowed for, and {begins}.",
            "More rows will lower the error further; they will also tell where it ends.",
        )


def _find_in_groups(problem: Problem) -> Iterator[Finding]:
    """Say what groups leave open."""
    if problem.groups is None:
        return
    n_groups = len(np.unique(problem.groups))
    if n_groups < FEW_GROUPS:
        yield Finding(
            "BF027",
            f"There are {n_groups} groups. How much they differ from each other is a guess, and so is the width of "
            "each interval.",
            f"From {FEW_GROUPS} groups on intervals can be relied upon.",
        )
    alone = classes_in_one_group(problem)
    if len(alone):
        text = listed([shown(problem.classes[k]) for k in alone])
        plural = "classes are" if len(alone) > 1 else "class is"
        yield Finding(
            "BF028",
            f"{len(alone)} {plural} in one group only: {text}. No model can be trained on one group of such a class "
            "and tested on another, so all its rows count as errors.",
            "Nothing can be said about new groups of such a class. Collect more groups, or leave the class out.",
        )


def classes_in_one_group(problem: Problem) -> Ints:
    """Return the classes that are in one group only, as codes; none without groups."""
    if problem.groups is None:
        return np.empty(0, np.int64)
    pairs = np.unique(np.column_stack([problem.codes, problem.groups]), axis=0)
    return np.flatnonzero(np.bincount(pairs[:, 0], minlength=len(problem.classes)) == 1)


def is_rare(counts: Ints | Floats) -> Bools:
    """Tell which classes have less than a tenth of an equal share of the rows, from their counts or shares."""
    return counts < RARE * counts.sum() / len(counts)


def leads_with_ranking(counts: Ints) -> bool:
    """Tell whether nearly all rows are of one class, so that its ranking says more of a rare one than any error."""
    return bool(is_rare(counts).any()) and counts.sum() - counts.max() < FEW_OTHERS * counts.sum()
