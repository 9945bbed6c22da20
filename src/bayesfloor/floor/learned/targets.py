"""What differs between classes and numbers where learners are trained and combined.

=====================  ===========================================  ============================================
..                     classes                                      numbers
=====================  ===========================================  ============================================
a prediction           logarithms of probabilities                  a number
a stack                a product of powers of probabilities         a weighted sum, both with an offset; in time a mean
which is fitted by     likelihood                                   least squares
=====================  ===========================================  ============================================
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize
from scipy.special import log_softmax

from bayesfloor.data.numbers import weighted_median
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.row_plan import RowPlan
from bayesfloor.floor.learned.training_sets import mean_and_spread
from bayesfloor.learn.learner import Learner, Look
from bayesfloor.learn.records import Record, record
from bayesfloor.learn.registry import CLASS_LEARNERS, MANY_ROWS_LEARNERS, NUMBER_LEARNERS, allowed, suited
from bayesfloor.learn.training_rows import Train, mixed
from bayesfloor.runtime.arrays import Floats, Ints

#: Learners in a stack: the best by log-loss or squared error.
N_BEST = 14
#: Most rows that a stack of classes is fitted to: it has few parameters.
MOST_ROWS = 4000
#: Most predictions that what a learner tells is measured by, and exponents that it may have.
MOST_CALIBRATED, EXPONENTS = 1000, (0.25, 0.5, 1.0)
#: Ridge penalty that draws weights to equal shares and offsets to 0, in rows; of numbers, in rows of the variance that
#: the best learner leaves.
_RIDGE = 15.0
#: Most steps of Newton's method, twice the fall of the log-loss of a row that makes a step the last one, and the share
#: of what the slope promises that a step has to win.
_MOST_STEPS, _CONVERGED, _ENOUGH = 50, 1e-7, 1e-4
#: Standard deviations of the training targets beyond their range that a prediction may lie: extrapolations are held
#: back, as one of them can cost more than all other rows.
BEYOND = 1.0


class Known(NamedTuple):
    """The learners that have a name.

    Attributes
    ----------
    learners : mapping of str to Learner
        The learners.
    is_learner : callable
        Tells whether an object is such an estimator.
    noun : str
        What it is called, with its article.
    """

    learners: Mapping[str, Learner]
    is_learner: Callable[[Any], bool]
    noun: str


CLASS_KNOWN = Known(
    CLASS_LEARNERS,
    lambda given: hasattr(given, "predict_proba"),
    "a classifier with predict_proba",
)
NUMBER_KNOWN = Known(
    NUMBER_LEARNERS,
    lambda given: hasattr(given, "predict") and not hasattr(given, "predict_proba"),
    "a regressor",
)


class Finish(Record):
    """How what a learner returns becomes a prediction."""

    def of(self, values: Floats) -> NDArray[np.float32]:
        """Return predictions."""
        raise NotImplementedError


@record
class Logarithms(Finish):
    """Logarithms of probabilities, none of them 0.

    Attributes
    ----------
    share : float
        Share of the prior that is mixed in, so that no class is ruled out.
    prior : ndarray of shape (n_classes,)
        Shares of the classes.
    moved : ndarray of shape (n_classes,) or None
        Added, to move them to other shares of the classes.
    """

    share: float
    prior: Floats
    moved: Floats | None

    def of(self, values: Floats) -> NDArray[np.float32]:
        """Return logarithms of probabilities."""
        log_p = np.log(mixed(values, self.share, self.prior))
        return (log_p if self.moved is None else log_softmax(log_p + self.moved, axis=1)).astype(np.float32)


@record
class InUnit(Finish):
    """Standardised numbers in the unit of the target, held within a range of standardised ones."""

    mean: float
    spread: float
    low: float
    high: float

    def of(self, values: Floats) -> NDArray[np.float32]:
        """Return numbers."""
        return (self.mean + self.spread * np.clip(np.nan_to_num(values), self.low, self.high)).astype(np.float32)


class Target(Protocol):
    """What the pipeline asks of classes and of numbers.

    Attributes
    ----------
    known : Known
        Learners that have a name.
    shape : tuple of int
        Shape of the prediction of one row.
    takes_single : bool
        Whether learners take many rows in float32.
    """

    known: Known
    shape: tuple[int, ...]
    takes_single: bool

    def default_learners(self, look: Look, *, is_many: bool) -> dict[str, Learner]:
        """Return the learners that suit the rows to predict."""

    def finish(self, train: Train, problem: Problem, known: Ints) -> Finish:
        """Return how what learners return becomes predictions; `known` are the rows that they were trained on."""

    def fit_stack(
        self, predicted: NDArray[Any], among: Ints, views: Ints, rows: Ints, seed: list[int]
    ) -> tuple[Floats, Any]:
        """Fit weights of some learners, 0 for all others, and an offset, to predictions of some views of rows."""

    def calibrated_losses(self, predicted: NDArray[Any], among: Ints, views: Ints, rows: Ints) -> Floats:
        """Return what predictions, the first of many, lose with each learner, calibrated; in the last line without."""

    def combined(self, predicted: NDArray[Any], weights: Floats, offset: Any) -> Floats:
        """Combine the predictions of learners."""

    def lost(self, combined: Floats, rows: Ints) -> Floats:
        """Return what a stack's predictions of rows lose by what it is fitted by: log-loss or squared error."""

    def losses(self, predicted: Floats) -> Floats:
        """Return what each row loses, wrong or right, or the square of what it is off by."""


class ClassTarget:
    """Classes.

    Parameters
    ----------
    problem : Problem
        The rows that are used, in random order.
    plan : RowPlan
        Which of them are predicted.
    light : float, default=0.0
        Share of all weights below which a learner is left out of a stack.
    """

    known = CLASS_KNOWN
    takes_single = True

    def __init__(self, problem: Problem, plan: RowPlan, light: float = 0.0) -> None:
        self.light = light
        n_classes = len(problem.classes)
        self.codes = problem.codes[plan.predicted]
        self.weight = None if problem.sample_weight is None else problem.sample_weight[plan.predicted]
        self.shape: tuple[int, ...] = (n_classes,)
        # Offsets fitted on other groups move away from a fold whose groups lean to one class, because these were among
        # the training rows: with 80 uneven groups that made the error .01 too high.
        self.has_offsets = problem.groups is None
        # More rows of rare classes are held out than their share: what was learned is moved to the shares of those.
        self.moved: Floats | None = None
        if plan.is_many:
            self.moved = np.zeros(n_classes)
            if problem.groups is None:
                tested = np.bincount(self.codes, self.weight, minlength=n_classes)
                self.moved = np.log(tested / problem.class_totals)

    def default_learners(self, look: Look, *, is_many: bool) -> dict[str, Learner]:
        """Return the learners that suit the rows to predict: of many rows, those of linear cost."""
        return suited(MANY_ROWS_LEARNERS, look) if is_many else suited(allowed(CLASS_LEARNERS), look)

    def finish(self, train: Train, problem: Problem, known: Ints) -> Finish:
        """Turn probabilities into logarithms."""
        return Logarithms(1.0 / (len(train.y) + 1.0), train.prior, self.moved)

    def fit_stack(
        self, predicted: NDArray[Any], among: Ints, views: Ints, rows: Ints, seed: list[int]
    ) -> tuple[Floats, Floats]:
        """Choose learners and fit their exponents."""
        weight = None if self.weight is None else self.weight[rows]
        losses = [-float(_mean(predicted[m][views, rows, self.codes[rows]], weight)) for m in among]
        chosen = among[np.argsort(losses, kind="stable")[:N_BEST]]
        distinct = np.unique(rows)
        most = max(MOST_ROWS * len(distinct) // len(rows), 1)
        if len(distinct) > most:
            distinct = np.random.default_rng(seed).permutation(distinct)[:most]
            kept = np.isin(rows, distinct)
            views, rows = views[kept], rows[kept]
            weight = None if weight is None else weight[kept]
        inputs = predicted[chosen[:, np.newaxis], views, rows].astype(np.float64)

        def fit(some: Ints) -> tuple[Floats, Floats]:
            row_weight = len(distinct) / len(rows)
            return fit_exponents(inputs[some], self.codes[rows], row_weight, weight, has_offsets=self.has_offsets)

        weights = np.zeros(len(predicted))
        weights[chosen], offset = _without_light_ones(fit, len(chosen), self.light)
        return weights, offset

    def calibrated_losses(self, predicted: NDArray[Any], among: Ints, views: Ints, rows: Ints) -> Floats:
        """Return log-losses; between the shares of the classes and a learner, the exponent is the best of a few."""
        views, rows = views[:MOST_CALIBRATED], rows[:MOST_CALIBRATED]
        codes, weight = self.codes[rows], np.ones(len(rows)) if self.weight is None else self.weight[rows]
        shares = np.log((np.bincount(codes, weight, self.shape[0]) + 0.5) / (weight.sum() + 0.5 * self.shape[0]))
        losses = np.tile(-weight * shares[codes], (len(among) + 1, 1))
        away = predicted[among[:, np.newaxis], views, rows].astype(np.float64) - shares
        at_label, each_class = away[:, np.arange(len(rows)), codes], np.ones(self.shape[0])
        for exponent in EXPONENTS:
            # between two distributions the sum is at most 1, and never near 0
            total = np.log(np.exp(shares + exponent * away) @ each_class)
            lost = weight * (total - shares[codes] - exponent * at_label)
            better = np.flatnonzero(lost.mean(axis=1) < losses[:-1].mean(axis=1))
            losses[better] = lost[better]
        return losses

    def combined(self, predicted: NDArray[Any], weights: Floats, offset: Any) -> Floats:
        """Return logarithms of the product of powers."""
        total = np.einsum("m,mvnk->vnk", weights, predicted.astype(np.float64)) + offset
        return log_softmax(total, axis=-1)

    def lost(self, combined: Floats, rows: Ints) -> Floats:
        """Return log-losses."""
        lost: Floats = -combined[np.arange(len(rows)), self.codes[rows]]
        return lost if self.weight is None else self.weight[rows] * lost

    def losses(self, predicted: Floats) -> Floats:
        """Return 1 where the most probable class is a wrong one."""
        wrong = (predicted.argmax(axis=-1) != self.codes).astype(np.float64)
        return wrong if self.weight is None else self.weight * wrong


class NumberTarget:
    """Numbers.

    Parameters
    ----------
    problem : Problem
        The rows that are used, in random order.
    plan : RowPlan
        Which of them are predicted.
    light : float, default=0.0
        Share of all weights below which a learner is left out of a stack.
    """

    known = NUMBER_KNOWN
    shape: tuple[int, ...] = ()
    takes_single = False

    def __init__(self, problem: Problem, plan: RowPlan, light: float = 0.0) -> None:
        self.light = light
        self.in_time = problem.time is not None
        self.y = problem.y[plan.predicted]
        self.weight = np.ones(len(self.y))
        if problem.sample_weight is not None:
            self.weight = problem.sample_weight[plan.predicted]

    def default_learners(self, look: Look, *, is_many: bool) -> dict[str, Learner]:
        """Return the learners that suit the rows to predict; each bounds its own work."""
        return suited(allowed(NUMBER_LEARNERS), look)

    def finish(self, train: Train, problem: Problem, known: Ints) -> Finish:
        """Put numbers in the unit of the target, and hold them within its range."""
        mean, spread = mean_and_spread(problem, known)
        # levels of the future may lie beyond all that was seen
        beyond = float(np.ptp(train.y)) if self.in_time else BEYOND
        low, high = float(train.y.min()) - beyond, float(train.y.max()) + beyond
        return InUnit(mean, spread, low, high)

    def fit_stack(
        self, predicted: NDArray[Any], among: Ints, views: Ints, rows: Ints, seed: list[int]
    ) -> tuple[Floats, float]:
        """Choose learners and fit their weights."""
        inputs = predicted[among[:, np.newaxis], views, rows].astype(np.float64)
        y, weight, n_rows = self.y[rows], self.weight[rows], len(np.unique(rows))
        errors = (y - inputs) ** 2 @ weight
        best = np.argsort(errors, kind="stable")[:N_BEST]

        def fit(some: Ints) -> tuple[Floats, float]:
            return fit_weights(inputs[best[some]], y, weight, n_rows, in_time=self.in_time)

        weights = np.zeros(len(predicted))
        weights[among[best]], offset = _without_light_ones(fit, len(best), self.light)
        return weights, offset

    def calibrated_losses(self, predicted: NDArray[Any], among: Ints, views: Ints, rows: Ints) -> Floats:
        """Return squared errors; between the mean and a learner, the slope is the best there is up to 1."""
        y, weight = self.y[rows], self.weight[rows]
        inputs = predicted[among[:, np.newaxis], views, rows].astype(np.float64)
        y = y - weight @ y / weight.sum()
        inputs -= (inputs @ weight / weight.sum())[:, np.newaxis]
        slopes = np.clip(inputs @ (weight * y) / np.maximum(inputs**2 @ weight, 1e-300), 0.0, 1.0)
        return weight * (y - np.vstack([slopes[:, np.newaxis] * inputs, np.zeros(len(y))])) ** 2

    def combined(self, predicted: NDArray[Any], weights: Floats, offset: Any) -> Floats:
        """Return the weighted sum, in time of members that differ from their median by the offset at the most."""
        members = predicted.astype(np.float64)
        if not self.in_time:
            return np.einsum("m,mvn->vn", weights, members) + offset
        median = weighted_median(members, weights[:, np.newaxis, np.newaxis], axis=0)
        return np.einsum("m,mvn->vn", weights, np.clip(members, median - offset, median + offset))

    def lost(self, combined: Floats, rows: Ints) -> Floats:
        """Return squared errors."""
        return np.asarray(self.weight[rows] * (self.y[rows] - combined) ** 2)

    def losses(self, predicted: Floats) -> Floats:
        """Return squared errors."""
        return np.asarray(self.weight * (self.y - predicted) ** 2)


def _mean(values: NDArray[Any], weight: Floats | None) -> Any:
    return values.mean() if weight is None else np.average(values, weights=weight)


def _without_light_ones(fit: Callable[[Ints], tuple[Floats, Any]], n_learners: int, light: float) -> tuple[Floats, Any]:
    """Fit weights of learners, and once more of those that weigh enough: the others need no training on more rows."""
    weights, offset = fit(np.arange(n_learners))
    heavy = np.flatnonzero(weights >= light * weights.sum())
    if 0 < len(heavy) < n_learners:
        weights = np.zeros(n_learners)
        weights[heavy], offset = fit(heavy)
    return weights, offset


def target_of(problem: Problem, plan: RowPlan, light: float = 0.0) -> Target:
    """Return what the rows of a problem are predicted as; a stack leaves out learners of less than a share."""
    kind = ClassTarget if problem.task == "classification" else NumberTarget
    return kind(problem, plan, light)


def fit_exponents(
    log_p: Floats,
    codes: Ints,
    row_weight: float = 1.0,
    sample_weight: Floats | None = None,
    *,
    has_offsets: bool = True,
) -> tuple[Floats, Floats]:
    """Fit w >= 0 and b of softmax(sum of w log p + b) by penalised likelihood.

    Parameters
    ----------
    log_p : ndarray of shape (n_learners, n, n_classes)
        Logarithms of probabilities.
    codes : ndarray of shape (n,)
        Classes of the rows.
    row_weight : float, default=1.0
        Weight of each row against the penalty.
    sample_weight : ndarray of shape (n,) or None, default=None
        What each row counts against the others; None where all count the same.
    has_offsets : bool, default=True
        Whether to fit b; otherwise it is 0.

    Returns
    -------
    w : ndarray of shape (n_learners,)
    b : ndarray of shape (n_classes,)
    """
    n_learners, n, n_classes = log_p.shape
    of_class = np.ascontiguousarray(log_p.transpose(2, 0, 1))
    weight = np.ones(n) if sample_weight is None else sample_weight / sample_weight.mean()
    at_label = (weight * log_p[:, np.arange(n), codes]).sum(axis=1)
    told = np.concatenate([at_label, np.bincount(codes, weight, minlength=n_classes)])
    middle = np.concatenate([np.full(n_learners, 1.0 / n_learners), np.zeros(n_classes)])
    strength = _RIDGE / row_weight
    is_weight = np.arange(len(middle)) < n_learners

    def loss(parameters: Floats) -> tuple[float, Floats, Floats]:
        """Return the loss, its gradient, and the probabilities of the classes times the weights of the rows."""
        q = parameters[:n_learners] @ of_class + parameters[n_learners:, np.newaxis]
        top = q.max(axis=0)
        np.exp(np.subtract(q, top, out=q), out=q)
        total, away = q.sum(axis=0), parameters - middle
        value = float(weight @ (np.log(total) + top) - parameters @ told + 0.5 * strength * (away @ away))
        q *= weight / total
        of_learners = np.matmul(of_class, q[:, :, np.newaxis]).sum(axis=0)[:, 0]
        return value, np.concatenate([of_learners, q.sum(axis=1)]) - told + strength * away, q

    def curvature(some: Ints, q: Floats) -> Floats:
        """Return the second derivatives by some of the exponents and by the offsets."""
        m, counted = len(some), np.where(weight > 0, weight, 1.0)
        away = of_class[:, some]
        away -= np.einsum("kmn,kn->mn", away, q / counted)
        spread = away * q[:, np.newaxis]
        second = np.empty((m + n_classes, m + n_classes))
        second[:m, :m] = np.matmul(spread, away.transpose(0, 2, 1)).sum(axis=0)
        second[m:, :m] = spread.sum(axis=2)
        second[:m, m:] = second[m:, :m].T
        second[m:, m:] = np.diag(q.sum(axis=1)) - (q / counted) @ q.T
        second[np.diag_indices(len(second))] += strength
        return second

    found = middle
    value, gradient, q = loss(found)
    for _ in range(_MOST_STEPS):
        free = np.flatnonzero(~is_weight | (found > 0) | (gradient < 0))
        n_free = len(free) if has_offsets else len(free) - n_classes
        second = curvature(free[:-n_classes], q)[:n_free, :n_free]
        step = np.zeros(len(found))
        step[free[:n_free]] = -linalg.cho_solve(linalg.cho_factor(second, check_finite=False), gradient[free[:n_free]])
        expected = -float(gradient @ step)
        share = 1.0
        while True:
            moved = np.where(is_weight, np.maximum(found + share * step, 0.0), found + share * step)
            if expected < _CONVERGED * n:
                return moved[:n_learners], moved[n_learners:]
            after = loss(moved)
            if after[0] <= value + _ENOUGH * float(gradient @ (moved - found)):
                break
            share *= 0.5
        found, (value, gradient, q) = moved, after
    return found[:n_learners], found[n_learners:]


def fit_weights(
    predicted: NDArray[Any], y: Floats, weight: Floats, n_rows: int, *, in_time: bool = False
) -> tuple[Floats, float]:
    """Fit w >= 0 and b of sum of w f + b by least squares; in time, w of sum 1.

    Parameters
    ----------
    predicted : ndarray of shape (n_learners, n)
        Predictions of each learner.
    y, weight : ndarray of shape (n,)
        Targets, and what each prediction counts.
    n_rows : int
        Different rows among them.
    in_time : bool, default=False
        Whether the stack predicts what comes after these rows. Levels may move on, so that w sums to 1, and b is how
        far a learner may differ from the median of all: no more than the stack errs here. Some cannot follow a level,
        which no row of the past may have shown.

    Returns
    -------
    w : ndarray of shape (n_learners,)
    b : float
    """
    share = weight / weight.sum()
    least = float(((y - predicted) ** 2 @ share).min())
    centre = float(share @ y)
    middle = predicted @ share
    flat = (predicted - (y if in_time else middle[:, np.newaxis])) * np.sqrt(share)
    target = (y - centre) * np.sqrt(share)
    gram = flat @ flat.T
    equal = 1.0 / len(predicted)
    # |Fw - t|² + penalty |w - equal|² as least squares of a triangular factor
    scale = max(float(np.trace(gram)) * equal, 1e-300)
    penalty = _RIDGE * max(least, 1e-300) / n_rows + 1e-9 * scale
    right = flat @ target + penalty * equal
    gram[np.diag_indices(len(gram))] += penalty
    if in_time:  # of c + (sum of w - 1)², where c goes with the square of w, the minimum has the direction of c's own
        gram, right = gram + scale, np.full(len(gram), scale)
    factor = linalg.cholesky(gram, lower=False)
    w, _ = optimize.nnls(factor, linalg.solve_triangular(factor, right, trans="T"))
    if in_time:
        w /= w.sum()
        return w, float(share @ (w @ predicted - y) ** 2) ** 0.5
    return w, centre - float(w @ middle)
