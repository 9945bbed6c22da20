"""What every learner starts from: standardised rows, their classes, and distances."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayesfloor.runtime.arrays import Bools, Floats, Ints

#: Features above which a covariance matrix of all of them takes too long.
MANY_FEATURES = 1000
#: Random projections that then stand in for the features.
N_COMBINATIONS = 500

#: Principal components of scaled features in which distances are taken: so many at the most, or this much variance.
MOST_COMPONENTS, EXPLAINED = 64, 0.999
#: Rows that the components are computed from.
COMPONENT_ROWS = 20_000

#: Squared distance, as a share of the largest squared norm, below which the expanded form has lost too many digits.
NEAR = 1e-6
#: Differences of rows that are taken at a time, in numbers.
AT_ONCE = 2**20

#: Standard deviations from the mean at which test rows are clipped, so that float32 holds their squared distances.
FARTHEST = 1e15


F = TypeVar("F", np.float32, np.float64)


def never_stop() -> None:
    """Raise nothing: the work was not cancelled."""


class Codes(NamedTuple):
    """The columns of a table for learners that take codes and gaps.

    Attributes
    ----------
    train, test : ndarray of shape (n, n_columns)
        Rows to learn from and rows to predict: numbers, codes from 0 for categories, NaN where a value is missing.
    is_category : ndarray of shape (n_columns,)
        Which columns hold codes.
    """

    train: Floats
    test: Floats
    is_category: Bools


class Train(NamedTuple):
    """Standardised rows to learn from.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    codes : ndarray of shape (n,)
        Their classes.
    n_classes : int
        Number of classes.
    check : callable
        Slow learners call it now and then; it raises an exception when the work was cancelled.
    table : Codes or None
        The columns as codes with gaps, where the rows come from a table.
    spread : ndarray of shape (d,) or float
        Standard deviations of the columns before they were standardised, as shares of the largest.
    given_columns : ndarray of shape (d,) or None
        Where each column, as the caller has them, is; None where all are where they were.
    """

    X: Floats
    codes: Ints
    n_classes: int
    check: Callable[[], None] = never_stop
    table: Codes | None = None
    spread: Floats | float = 1.0
    given_columns: Ints | None = None

    @property
    def counts(self) -> Ints:
        """Rows of each class; a small training set may miss some."""
        return np.bincount(self.codes, minlength=self.n_classes)

    @property
    def prior(self) -> Floats:
        """Shares of the classes, never 0."""
        smoothed = self.counts.astype(np.float64) + 0.5
        return smoothed / smoothed.sum()

    @property
    def one_hot(self) -> Floats:
        """Indicator of each row's class."""
        return np.eye(self.n_classes)[self.codes]


def standardised(X: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Scale training rows to mean 0 and deviation 1, and test rows alike; what is constant in training becomes 0.

    Test rows are held within `FARTHEST` deviations.
    """
    largest = np.abs(X).max(axis=0, initial=0.0)
    largest[~(largest > 0)] = 1.0
    X = X / largest  # squares of large and small numbers stay within range
    centre = X.mean(axis=0)
    X -= centre
    spread = np.sqrt((X * X).sum(axis=0) / len(X))
    scale = np.where(spread > 1e-12, 1.0 / np.maximum(spread, 1e-12), 0.0)
    with np.errstate(over="ignore"):  # what overflows is held back as well
        others = test / largest
        np.clip(others, -1e300, 1e300, out=others)
        others -= centre
        others *= scale
        np.clip(others, -FARTHEST, FARTHEST, out=others)
    X *= scale
    return X, others


def as_given(X: Floats, given_columns: Ints | None) -> Floats:
    """Return a copy of rows with their columns as the caller has them, for an estimator that may change it."""
    return X.copy() if given_columns is None else np.ascontiguousarray(X[:, given_columns])


def quantiles_of(ordered: Floats, n_bins: int) -> Floats:
    """Return values that cut each line of sorted numbers into bins of about equal size."""
    last = ordered.shape[-1] - 1
    places = np.rint(last * (np.arange(1, n_bins) / n_bins)).astype(np.int64)
    return ordered[..., places]


def relative_spread(X: Floats) -> Floats:
    """Return the standard deviations of columns as shares of the largest."""
    largest = np.abs(X).max(initial=0.0)
    spread = (X / largest if largest > 0 else X).std(axis=0)
    return spread / max(float(spread.max(initial=0.0)), 1e-300)


def safe(probability: Floats, train: Train) -> Floats:
    """Mix in a little of the prior, so that no class is ruled out."""
    share = 1.0 / (len(train.codes) + 1.0)
    total = probability.sum(axis=1, keepdims=True)
    return (1.0 - share) * probability / np.where(total > 0, total, 1.0) + share * train.prior


def narrow(
    train: Train, test: Floats, most: int = MANY_FEATURES, n_combinations: int = N_COMBINATIONS
) -> tuple[Train, Floats]:
    """Project very many features onto fewer random directions, which nearly preserves distances."""
    d = train.X.shape[1]
    if d <= most:
        return train, test
    signs = _signs(d, n_combinations)
    return Train(train.X @ signs, train.codes, train.n_classes), test @ signs


def _signs(d: int, n_combinations: int) -> Floats:
    return np.random.default_rng(d).choice([-1.0, 1.0], (d, n_combinations)) / n_combinations**0.5


def components(X: Floats, test: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Return the first principal components of scaled features, in single precision."""
    if X.shape[1] > MANY_FEATURES:
        signs = _signs(X.shape[1], N_COMBINATIONS) * scale[:, np.newaxis]
        X, test, scale = X @ signs, test @ signs, np.ones(N_COMBINATIONS)
    scale, kept = scale.astype(np.float32), scale > 0
    if not kept.any():
        return np.zeros((len(X), 1), np.float32), np.zeros((len(test), 1), np.float32)
    sample = X[:COMPONENT_ROWS, kept].astype(np.float32) * scale[kept]
    centre = sample.mean(axis=0)
    sample -= centre
    variances, axes = linalg.eigh((sample.T @ sample).astype(np.float64))
    variances, axes = variances[::-1], axes[:, ::-1]
    n_needed = 1 + int(np.searchsorted(np.cumsum(variances), EXPLAINED * variances.sum()))
    axes = axes[:, : min(n_needed, MOST_COMPONENTS)].astype(np.float32)
    axes *= scale[kept, np.newaxis]
    shift = centre @ (axes / scale[kept, np.newaxis])
    known, others = (rows[:, kept].astype(np.float32, copy=False) @ axes - shift for rows in (X, test))
    return known, others


def squared_distances(A: NDArray[F], B: NDArray[F]) -> NDArray[F]:
    """Return squared Euclidean distances; both sides are standardised, so the expanded form is accurate enough."""
    distances: NDArray[F] = (A @ B.T) * -2.0
    distances += (A**2).sum(axis=1)[:, None]
    distances += (B**2).sum(axis=1)
    return np.maximum(distances, 0.0, out=distances)


def distances_between(points: Floats) -> tuple[Floats, float]:
    """Return squared distances between points, and their median; where most points are equal, that of all others.

    Those of points near each other are taken from differences: a kernel of them is positive definite whatever the
    median, and equal points have none.
    """
    between = squared_distances(points, points)
    near = between <= NEAR * float((points**2).sum(axis=1).max(initial=0.0))
    first, second = np.nonzero(np.triu(near, 1))
    step = max(1, AT_ONCE // max(points.shape[1], 1))
    for start in range(0, len(first), step):
        i, j = first[start : start + step], second[start : start + step]
        between[i, j] = between[j, i] = ((points[i] - points[j]) ** 2).sum(axis=1)
    np.fill_diagonal(between, 0.0)
    above = between[np.triu_indices(len(points), 1)]
    apart = above[above > 0]
    if not len(apart):
        return between, 1.0
    return between, float(np.median(above)) or float(np.median(apart))
