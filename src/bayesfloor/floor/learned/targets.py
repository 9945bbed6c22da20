"""What differs between classes and numbers where learners are trained and combined.

=====================  ===========================================  ============================================
..                     classes                                      numbers
=====================  ===========================================  ============================================
a prediction           logarithms of probabilities                  a number
a stack                a product of powers of probabilities         a weighted sum, both with an offset
which is fitted by     likelihood                                   least squares
=====================  ===========================================  ============================================
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize
from scipy.special import log_softmax

from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.row_plan import RowPlan
from bayesfloor.floor.learned.training_sets import mean_and_spread
from bayesfloor.learn.families import (
    CLASS_FAMILIES,
    CLASS_LEARNERS,
    NUMBER_FAMILIES,
    NUMBER_LEARNERS,
    Family,
    class_families_for,
    number_families_for,
)
from bayesfloor.learn.linear_cost import linear_families_for
from bayesfloor.learn.training_rows import Train, safe
from bayesfloor.runtime.arrays import Floats, Ints

#: Learners in a stack: the best by log-loss or squared error.
N_BEST = 14
#: Most rows that a stack of classes is fitted to: it has few parameters.
MOST_ROWS = 4000
#: Ridge penalty that draws weights to equal shares and offsets to 0, in rows; of numbers, in rows of the variance that
#: the best learner leaves.
_RIDGE = 15.0
#: Standard deviations of the training targets beyond their range that a prediction may lie: extrapolations are held
#: back, as one of them can cost more than all other rows.
BEYOND = 1.0


class Known(NamedTuple):
    """The learners that have a name.

    Attributes
    ----------
    families : mapping of str to Family
        Families of learners.
    names : mapping of str to tuple of str
        The learners of each family.
    is_learner : callable
        Tells whether an object is such an estimator.
    noun : str
        What it is called, with its article.
    """

    families: Mapping[str, Family]
    names: Mapping[str, tuple[str, ...]]
    is_learner: Callable[[Any], bool]
    noun: str


CLASS_KNOWN = Known(
    CLASS_FAMILIES,
    CLASS_LEARNERS,
    lambda given: hasattr(given, "predict_proba"),
    "a classifier with predict_proba",
)
NUMBER_KNOWN = Known(
    NUMBER_FAMILIES,
    NUMBER_LEARNERS,
    lambda given: hasattr(given, "predict") and not hasattr(given, "predict_proba"),
    "a regressor",
)


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

    def default_families(self, predicted: Problem, n_rows: int, *, is_many: bool) -> dict[str, Family]:
        """Return the families that suit the rows to predict, of so many rows in all."""

    def predictions(self, values: Floats, train: Train, problem: Problem, known: Ints) -> NDArray[np.float32]:
        """Turn what a learner returns into predictions; `known` are the rows that it was trained on."""

    def fit_stack(self, predicted: NDArray[Any], views: Ints, rows: Ints, seed: list[int]) -> tuple[Floats, Any]:
        """Fit weights of the learners, 0 for those left out, and an offset, to predictions of some views of rows."""

    def combined(self, predicted: NDArray[Any], weights: Floats, offset: Any) -> Floats:
        """Combine the predictions of learners."""

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
    """

    known = CLASS_KNOWN
    takes_single = True

    def __init__(self, problem: Problem, plan: RowPlan) -> None:
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

    def default_families(self, predicted: Problem, n_rows: int, *, is_many: bool) -> dict[str, Family]:
        """Return the families that suit the rows to predict: of many rows, those of linear cost."""
        if is_many:
            return linear_families_for(predicted.X, predicted.tabular, n_rows)
        return class_families_for(predicted.X, predicted.tabular, predicted.supervised)

    def predictions(self, values: Floats, train: Train, problem: Problem, known: Ints) -> NDArray[np.float32]:
        """Return logarithms of probabilities."""
        log_p = np.log(safe(values, train))
        if self.moved is not None:
            log_p = log_softmax(log_p + self.moved, axis=1)
        return log_p.astype(np.float32)

    def fit_stack(self, predicted: NDArray[Any], views: Ints, rows: Ints, seed: list[int]) -> tuple[Floats, Floats]:
        """Choose learners and fit their exponents."""
        weight = None if self.weight is None else self.weight[rows]
        losses = [-float(_mean(of_learner[views, rows, self.codes[rows]], weight)) for of_learner in predicted]
        chosen = np.argsort(losses, kind="stable")[:N_BEST]
        distinct = np.unique(rows)
        most = max(MOST_ROWS * len(distinct) // len(rows), 1)
        if len(distinct) > most:
            distinct = np.random.default_rng(seed).permutation(distinct)[:most]
            kept = np.isin(rows, distinct)
            views, rows = views[kept], rows[kept]
            weight = None if weight is None else weight[kept]
        inputs = predicted[chosen[:, np.newaxis], views, rows].astype(np.float64)
        weights = np.zeros(len(predicted))
        weights[chosen], offset = fit_exponents(
            inputs, self.codes[rows], len(distinct) / len(rows), weight, has_offsets=self.has_offsets
        )
        return weights, offset

    def combined(self, predicted: NDArray[Any], weights: Floats, offset: Any) -> Floats:
        """Return logarithms of the product of powers."""
        total = np.einsum("m,mvnk->vnk", weights, predicted.astype(np.float64)) + offset
        return log_softmax(total, axis=-1)

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
    """

    known = NUMBER_KNOWN
    shape: tuple[int, ...] = ()
    takes_single = False

    def __init__(self, problem: Problem, plan: RowPlan) -> None:
        self.y = problem.y[plan.predicted]
        self.weight = np.ones(len(self.y))
        if problem.sample_weight is not None:
            self.weight = problem.sample_weight[plan.predicted]

    def default_families(self, predicted: Problem, n_rows: int, *, is_many: bool) -> dict[str, Family]:
        """Return the families that suit the rows to predict; each bounds its own work."""
        return number_families_for(predicted.X, predicted.tabular, predicted.supervised)

    def predictions(self, values: Floats, train: Train, problem: Problem, known: Ints) -> NDArray[np.float32]:
        """Return numbers in the unit of the target, held within its range."""
        mean, spread = mean_and_spread(problem, known)
        low, high = float(train.y.min()) - BEYOND, float(train.y.max()) + BEYOND
        return (mean + spread * np.clip(np.nan_to_num(values), low, high)).astype(np.float32)

    def fit_stack(self, predicted: NDArray[Any], views: Ints, rows: Ints, seed: list[int]) -> tuple[Floats, float]:
        """Choose learners and fit their weights."""
        return fit_weights(predicted[:, views, rows], self.y[rows], self.weight[rows], len(np.unique(rows)))

    def combined(self, predicted: NDArray[Any], weights: Floats, offset: Any) -> Floats:
        """Return the weighted sum."""
        return np.einsum("m,mvn->vn", weights, predicted.astype(np.float64)) + offset

    def losses(self, predicted: Floats) -> Floats:
        """Return squared errors."""
        return np.asarray(self.weight * (self.y - predicted) ** 2)


def _mean(values: NDArray[Any], weight: Floats | None) -> Any:
    return values.mean() if weight is None else np.average(values, weights=weight)


def target_of(problem: Problem, plan: RowPlan) -> Target:
    """Return what the rows of a problem are predicted as."""
    return ClassTarget(problem, plan) if problem.task == "classification" else NumberTarget(problem, plan)


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
    flat = np.ascontiguousarray(log_p.reshape(n_learners, -1))
    weight = np.ones(n) if sample_weight is None else sample_weight / sample_weight.mean()
    at_label = (weight * log_p[:, np.arange(n), codes]).sum(axis=1)
    counts = np.bincount(codes, weight, minlength=n_classes)
    middle = 1.0 / n_learners
    strength = _RIDGE / (row_weight * n)

    def loss(parameters: Floats) -> tuple[float, Floats]:
        w, b = parameters[:n_learners], parameters[n_learners:]
        scores = (w @ flat).reshape(n, n_classes) + b
        top = scores.max(axis=1, keepdims=True)
        q = np.exp(scores - top)
        total = q.sum(axis=1, keepdims=True)
        value = (weight * (np.log(total) + top)[:, 0]).sum() - w @ at_label - b @ counts
        q /= total
        if sample_weight is not None:
            q *= weight[:, np.newaxis]
        gradient = np.concatenate([flat @ q.ravel() - at_label, q.sum(axis=0) - counts]) / n
        away = np.concatenate([w - middle, b])
        return value / n + 0.5 * strength * float(away @ away), gradient + strength * away

    start = np.concatenate([np.full(n_learners, middle), np.zeros(n_classes)])
    bounds = [(0.0, None)] * n_learners + [(None, None) if has_offsets else (0.0, 0.0)] * n_classes
    found = optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 100, "ftol": 1e-8, "gtol": 1e-6}
    )
    return found.x[:n_learners], found.x[n_learners:]


def fit_weights(predicted: NDArray[Any], y: Floats, weight: Floats, n_rows: int) -> tuple[Floats, float]:
    """Fit w >= 0 and b of sum of w f + b by least squares.

    Parameters
    ----------
    predicted : ndarray of shape (n_learners, n)
        Predictions of each learner.
    y, weight : ndarray of shape (n,)
        Targets, and what each prediction counts.
    n_rows : int
        Different rows among them.

    Returns
    -------
    w : ndarray of shape (n_learners,)
    b : float
    """
    share = weight / weight.sum()
    errors = (y - predicted.astype(np.float64)) ** 2 @ share
    chosen: Ints = np.argsort(errors, kind="stable")[:N_BEST]
    features = predicted[chosen].astype(np.float64)
    centre = float(share @ y)
    middle = features @ share
    features -= middle[:, np.newaxis]
    flat = features * np.sqrt(share)
    target = (y - centre) * np.sqrt(share)
    strength = _RIDGE * max(float(errors[chosen[0]]), 1e-300) / n_rows
    gram = flat @ flat.T
    equal = 1.0 / len(chosen)
    # |Fw - t|² + penalty |w - equal|² as least squares of a triangular factor
    scale = max(float(np.trace(gram)) * equal, 1e-300)
    penalty = strength + 1e-9 * scale
    gram[np.diag_indices(len(chosen))] += penalty
    factor = linalg.cholesky(gram, lower=False)
    right = flat @ target + penalty * equal
    w, _ = optimize.nnls(factor, linalg.solve_triangular(factor, right, trans="T"))
    weights = np.zeros(len(predicted))
    weights[chosen] = w
    return weights, centre - float(w @ middle)
