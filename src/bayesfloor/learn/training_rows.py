"""What every learner starts from: standardised rows, their targets, distances, and categories as means of targets."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayesfloor.data.target_encoding import (
    N_FOLDS,
    class_shares,
    classes_to_encode,
    out_of_fold_means,
    out_of_fold_shares,
    value_means,
)
from bayesfloor.learn.records import Record, record, require
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

#: Rows that are multiplied at a time.
BLOCK = 256

#: Values of a nominal column: the fewest, the most, and rows for each of them on average.
FEWEST_VALUES, MOST_VALUES, ROWS_OF_VALUE = 3, 600, 2
#: Share of the columns that must have two values.
SHARE_OF_BINARY = 0.8

#: Standard deviations from the mean at which test rows are clipped, so that float32 holds their squared distances.
FARTHEST = 1e15


F = TypeVar("F", np.float32, np.float64)
Singles = NDArray[np.float32]


def never_stop() -> None:
    """Raise nothing: the work was not cancelled."""


class Codes(NamedTuple):
    """The columns of a table for learners that take codes and gaps.

    Attributes
    ----------
    values : ndarray of shape (n, n_columns)
        Rows to learn from: numbers, codes from 0 for categories, NaN where a value is missing.
    is_category : ndarray of shape (n_columns,)
        Which columns hold codes.
    """

    values: Floats
    is_category: Bools


class Train(NamedTuple):
    """Standardised rows to learn from, in random order: of classes, or of numbers.

    Learners regress a matrix of targets: indicators of the classes, or one column of numbers.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        Their classes, from 0 to n_classes - 1, or numbers with mean 0 and variance 1.
    n_classes : int
        Number of classes; 0 for numbers.
    check : callable
        Slow learners call it now and then; it raises an exception when the work was cancelled.
    table : Codes or None
        The columns as codes with gaps, where the rows come from a table.
    spread : ndarray of shape (d,) or float
        Standard deviations of the columns before they were standardised, as shares of the largest.
    weight : ndarray of shape (n,) or None
        What each row counts, 1 on average; None where all count the same.
    fold : ndarray of shape (n,) or None
        A row's category is told by the targets of the other folds: rows of a group share one, and so do copies of a
        row. None where rows are dealt out in turn.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    n_classes: int
    check: Callable[[], None] = never_stop
    table: Codes | None = None
    spread: Floats | float = 1.0
    weight: Floats | None = None
    fold: Ints | None = None

    @classmethod
    def of_numbers(cls, X: Floats, y: Floats, weight: Floats | None = None, **others: Any) -> "Train":
        """Return rows whose target is a number."""
        return cls(X, y, 0, weight=weight, **others)

    @property
    def codes(self) -> Ints:
        """The classes of the rows."""
        return self.y

    @property
    def counts(self) -> Ints:
        """Rows of each class; a small training set may miss some."""
        return np.bincount(self.y, minlength=self.n_classes)

    @property
    def weights(self) -> Floats:
        """What each row counts."""
        return np.ones(len(self.y)) if self.weight is None else self.weight

    @property
    def folds(self) -> Ints:
        """The fold of each row."""
        return np.arange(len(self.y)) % N_FOLDS if self.fold is None else self.fold

    @property
    def prior(self) -> Floats:
        """What is predicted without any feature: shares of the classes, never 0, or the mean."""
        if not self.n_classes:
            return self.mean
        smoothed = np.bincount(self.y, self.weight, self.n_classes) + 0.5
        return smoothed / smoothed.sum()

    @property
    def mean(self) -> Floats:
        """The mean row of the targets."""
        if self.n_classes:
            return np.bincount(self.y, self.weight, self.n_classes) / self.weights.sum()
        return np.array([self.weights @ self.y / self.weights.sum()])

    @property
    def one_hot(self) -> Floats:
        """Indicator of each row's class."""
        return np.eye(self.n_classes)[self.y]

    def targets(self, rows: Any = slice(None)) -> Floats:
        """Return the targets of some rows, a column for each class, or one."""
        of_rows = self.y[rows]
        return np.eye(self.n_classes)[of_rows] if self.n_classes else of_rows[..., np.newaxis].astype(np.float64)

    def first(self, n: int) -> "Train":
        """Return a sample of the rows."""
        weight = None if self.weight is None else self.weight[:n]
        fold = None if self.fold is None else self.fold[:n]
        table = None if self.table is None else self.table._replace(values=self.table.values[:n])
        return self._replace(X=self.X[:n], y=self.y[:n], weight=weight, table=table, fold=fold)

    def drawn_by_weight(self) -> "Train":
        """Return as many rows, in which each stands as often as it counts: for learners that take no weights."""
        if self.weight is None:
            return self
        n = len(self.y)
        totals = np.cumsum(self.weight)
        rows = np.minimum(np.searchsorted(totals, (np.arange(n) + 0.5) * (totals[-1] / n)), n - 1)
        table = None if self.table is None else self.table._replace(values=self.table.values[rows])
        return self._replace(X=self.X[rows], y=self.y[rows], weight=None, table=table, fold=self.folds[rows])

    def within(self, predicted: NDArray[Any], least: float) -> Floats:
        """Return regressions as predictions: probabilities of at least so much, or a single column as it is."""
        return within(predicted, least, self.n_classes > 0)


@record
class Scaling(Record):
    """What columns are divided by, less, and times, one after the other, to have mean 0 and deviation 1."""

    largest: Floats
    centre: Floats
    scale: Floats

    def alike(self, rows: Floats, columns: slice = slice(None)) -> Floats:
        """Scale other rows alike, or some of their columns, and hold them within `FARTHEST` deviations."""
        with np.errstate(over="ignore"):  # what overflows is held back as well
            others = rows / self.largest[columns]
            np.clip(others, -1e300, 1e300, out=others)
            others -= self.centre[columns]
            others *= self.scale[columns]
            np.clip(others, -FARTHEST, FARTHEST, out=others)
        return others


def standardised(X: Floats, test: Floats) -> tuple[Floats, Floats]:
    """Scale training rows to mean 0 and deviation 1, and test rows alike; what is constant in training becomes 0.

    Test rows are held within `FARTHEST` deviations.
    """
    X, scaling = standardised_with(X)
    return X, scaling.alike(test)


def standardised_with(X: Floats) -> tuple[Floats, Scaling]:
    """Scale rows to mean 0 and deviation 1, and return how."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    largest[~(largest > 0)] = 1.0
    X = X / largest  # squares of large and small numbers stay within range
    centre = X.mean(axis=0)
    X -= centre
    spread = np.sqrt((X * X).sum(axis=0) / len(X))
    scale = np.where(spread > 1e-12, 1.0 / np.maximum(spread, 1e-12), 0.0)
    X *= scale
    return X, Scaling(largest, centre, scale)


def quantiles_of(ordered: Floats, n_bins: int) -> Floats:
    """Return values that cut each line of sorted numbers into bins of about equal size."""
    last = ordered.shape[-1] - 1
    places = np.rint(last * (np.arange(1, n_bins) / n_bins)).astype(np.int64)
    return ordered[..., places]


def distinct(ordered: Floats) -> Floats:
    """Return the different values among sorted numbers, as `numpy.unique` does after sorting them once more."""
    return ordered[np.append(True, ordered[1:] > ordered[:-1])] if len(ordered) else ordered


def relative_spread(X: Floats) -> Floats:
    """Return the standard deviations of columns as shares of the largest."""
    largest = np.abs(X).max(initial=0.0)
    spread = (X / largest if largest > 0 else X).std(axis=0)
    return spread / max(float(spread.max(initial=0.0)), 1e-300)


def within(predicted: NDArray[Any], least: float, are_classes: bool) -> Floats:
    """Return regressions as predictions: probabilities of at least so much, or a single column as it is."""
    return np.clip(predicted, least, None) if are_classes else predicted[:, 0]


def safe(probability: Floats, train: Train) -> Floats:
    """Mix in a little of the prior, so that no class is ruled out."""
    return mixed(probability, 1.0 / (len(train.y) + 1.0), train.prior)


def mixed(probability: Floats, share: float, prior: Floats) -> Floats:
    """Return probabilities that add up to 1, with a share of the prior mixed in."""
    total = probability.sum(axis=1, keepdims=True)
    return (1.0 - share) * probability / np.where(total > 0, total, 1.0) + share * prior


def _signs(d: int, n_combinations: int) -> Floats:
    return np.random.default_rng(d).choice([-1.0, 1.0], (d, n_combinations)) / n_combinations**0.5


def by_blocks(function: Callable[[NDArray[Any]], NDArray[Any]], rows: NDArray[Any]) -> NDArray[Any]:
    """Call a function with as many rows at a time as `BLOCK`, the last of which are filled up.

    How rows are multiplied, and so rounded, hangs on how many they are: a row is then the same alone and among others.
    """
    n = len(rows)
    if n in (0, BLOCK):
        return function(rows)
    more = np.repeat(rows[-1:], -n % BLOCK, axis=0)
    whole = np.concatenate([rows, more]) if len(more) else rows
    return np.concatenate([function(whole[first : first + BLOCK]) for first in range(0, len(whole), BLOCK)])[:n]


def product(rows: NDArray[Any], matrix: NDArray[Any]) -> NDArray[Any]:
    """Return a matrix product in which a row has the same line alone and among others; see `by_blocks`.

    The last columns are multiplied otherwise than the rest where there is no multiple of eight of them.
    """
    n_columns = matrix.shape[1]
    more = np.zeros((len(matrix), -n_columns % 8), matrix.dtype)
    whole = np.hstack([matrix, more]) if more.size else matrix
    return by_blocks(lambda part: part @ whole, rows)[:, :n_columns]


class Space(Record):
    """How rows become points that are compared in another space."""

    def of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the points."""
        raise NotImplementedError


@record
class Scaled(Space):
    """Some columns, times a scale."""

    columns: Ints
    scale: NDArray[Any]

    def check(self) -> None:
        """No column is counted from the end."""
        require((self.columns >= 0).all())

    def of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the points."""
        return rows[:, self.columns] * self.scale


@record
class InDouble(Space):
    """The same rows in double precision."""

    def of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the points."""
        return rows.astype(np.float64)


@record
class Turned(Space):
    """Some columns, times a matrix."""

    columns: Ints
    matrix: Floats

    def check(self) -> None:
        """No column is counted from the end."""
        require((self.columns >= 0).all())

    def of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the points."""
        return product(rows[:, self.columns], self.matrix)


@record
class Projected(Space):
    """Products with a matrix; rows as they are without one.

    Very many features are projected onto fewer random directions, which nearly preserves distances.
    """

    matrix: Floats | None

    @classmethod
    def to_fewer(cls, n_columns: int, most: int = MANY_FEATURES, n_combinations: int = N_COMBINATIONS) -> "Projected":
        """Take random directions in place of more features than so many."""
        return cls(None if n_columns <= most else _signs(n_columns, n_combinations))

    def of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the points."""
        return rows if self.matrix is None else product(rows, self.matrix)


@record
class Directions(Space):
    """The first principal components of scaled features.

    Attributes
    ----------
    signs : ndarray of shape (d, n_combinations) or None
        Random combinations that stand for very many features.
    kept : ndarray of bool
        Features that have a scale.
    axes, shift : ndarray, float32
        The components, and where the mean is along them.
    """

    signs: Floats | None
    kept: Bools
    axes: Singles
    shift: Singles

    @classmethod
    def of_points(cls, X: Floats, scale: Floats) -> "Directions":
        """Find the components of rows."""
        signs = None
        if X.shape[1] > MANY_FEATURES:
            signs = _signs(X.shape[1], N_COMBINATIONS) * scale[:, np.newaxis]
            X, scale = X[:COMPONENT_ROWS] @ signs, np.ones(N_COMBINATIONS)
        scale, kept = scale.astype(np.float32), scale > 0
        if not kept.any():
            return cls(signs, kept, np.zeros((0, 1), np.float32), np.zeros(1, np.float32))
        sample = X[:COMPONENT_ROWS, kept].astype(np.float32) * scale[kept]
        centre = sample.mean(axis=0)
        sample -= centre
        variances, axes = linalg.eigh((sample.T @ sample).astype(np.float64))
        variances, axes = variances[::-1], axes[:, ::-1]
        n_needed = 1 + int(np.searchsorted(np.cumsum(variances), EXPLAINED * variances.sum()))
        axes = axes[:, : min(n_needed, MOST_COMPONENTS)].astype(np.float32)
        axes *= scale[kept, np.newaxis]
        return cls(signs, kept, axes, centre @ (axes / scale[kept, np.newaxis]))

    def of(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows along the components, in single precision."""
        rows = rows if self.signs is None else product(rows, self.signs)
        return product(rows[:, self.kept].astype(np.float32, copy=False), self.axes) - self.shift


def squared_distances(A: NDArray[F], B: NDArray[F]) -> NDArray[F]:
    """Return squared Euclidean distances; both sides are standardised, so the expanded form is accurate enough."""
    n = len(B)
    B = np.concatenate([B, np.zeros((-n % 8, B.shape[1]), B.dtype)])  # as in `product`
    doubled: Any = -2.0 * A  # the smaller of the factors, most of the time
    distances: NDArray[F] = doubled @ B.T
    distances += (A**2).sum(axis=1)[:, None]
    distances += (B**2).sum(axis=1)
    return np.maximum(distances, 0.0, out=distances)[:, :n]


@lru_cache(maxsize=4)
def _pairs(n: int) -> tuple[Ints, Ints]:
    """Return all pairs of so many rows, the lower number first."""
    return np.triu_indices(n, 1)


def distances_between(points: Floats) -> tuple[Floats, float]:
    """Return squared distances between points, and a typical one.

    Those of points near each other are taken from differences: a kernel of them is positive definite whatever the
    typical distance, and equal points have none.
    """
    between = squared_distances(points, points)
    first, second = _pairs(len(points))
    above = between[first, second]
    near = np.flatnonzero(above <= NEAR * float((points**2).sum(axis=1).max(initial=0.0)))
    step = max(1, AT_ONCE // max(points.shape[1], 1))
    for start in range(0, len(near), step):
        some = near[start : start + step]
        i, j = first[some], second[some]
        above[some] = between[i, j] = between[j, i] = ((points[i] - points[j]) ** 2).sum(axis=1)
    np.fill_diagonal(between, 0.0)
    return between, _median(above)


def typical_distance(points: NDArray[Any]) -> float:
    """Return the median squared distance between points; where most points are equal, that of all others."""
    return _median(squared_distances(points, points)[_pairs(len(points))])


def _median(distances: NDArray[Any]) -> float:
    """Return the median; of those above 0 where it is 0, and 1 where there are none."""
    median = float(np.median(distances)) if len(distances) else 0.0
    if median > 0.0:
        return median
    apart = distances[distances > 0]
    return float(np.median(apart)) if len(apart) else 1.0


def single(X: Any) -> Singles:
    """Return numbers in single precision, in rows of memory."""
    return np.ascontiguousarray(X, np.float32)


def share_a_unit(X: Floats) -> bool:
    """Tell whether columns are measured alike, as pixels are: a quarter of them have the same range, the widest of all.

    Columns of 0 and 1 are left to others, and so are columns that vary as much as each other.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    of_all = (low == low.min()) & (high == high.max())
    if of_all.sum() < max(4, 0.25 * len(of_all)) or np.isin(X[:, of_all], [low.min(), high.max()]).all():
        return False
    spread = relative_spread(X)
    return bool(spread[spread > 0].min() < 0.9)


def is_nominal(X: Floats) -> Bools:
    """Tell which columns have few values, each of them in several rows, and so may be names that were numbered."""
    n_values = 1 + (np.diff(np.sort(X, axis=0), axis=0) > 0).sum(axis=0)
    return (n_values >= FEWEST_VALUES) & (n_values <= min(MOST_VALUES, len(X) // ROWS_OF_VALUE))


def is_mostly_binary(X: NDArray[Any]) -> bool:
    """Tell whether most of the columns that vary have two values."""
    low, high = X.min(axis=0), X.max(axis=0)
    varies = high > low
    is_binary = (np.equal(X, low) | np.equal(X, high)).all(axis=0)
    return int(varies.sum()) > 2 and bool(is_binary[varies].mean() >= SHARE_OF_BINARY)


def most_telling(train: Train) -> Ints:
    """Return features in the order of how much a line, or a parabola, of each alone tells of a number."""
    squares = train.X**2
    told = np.zeros(train.X.shape[1])
    for features in (train.X, squares - squares.mean(axis=0)):
        spread = features.std(axis=0)
        told += (train.weights * train.y @ features / np.where(spread > 1e-9, spread, np.inf)) ** 2
    return np.argsort(-told, kind="stable")


@record
class TargetMeans(Record):
    """The mean targets in a category: shares of the classes, or the mean number, drawn towards those of all rows.

    Attributes
    ----------
    means : ndarray of shape (n_levels + 2, n_encoded)
        Of each level; behind them those of gaps, and of levels that no training row has, which is the mean of all.
    seen : ndarray of shape (n_levels,)
        Levels that training rows have.
    """

    means: Floats
    seen: Bools

    def of(self, values: Floats) -> Floats:
        """Look up the means of categories."""
        n_levels, others = len(self.seen), _levels(values)
        is_known = (others >= 0) & np.append(self.seen, False)[np.minimum(others, n_levels)]
        return self.means[np.where(is_known, others, np.where(others < 0, n_levels, n_levels + 1))]


def target_means(values: Floats, train: Train, classes: Ints | None = None) -> tuple[Floats, TargetMeans]:
    """Return the mean targets in a category, for training rows from other training rows, and those for other rows.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The category of each training row as a code; a gap is a category.
    train : Train
        The training rows; their order is random.
    classes : ndarray or None, default=None
        The classes whose shares are taken; None for the largest.

    Returns
    -------
    known : ndarray of shape (n, n_encoded)
    means : TargetMeans
    """
    levels = _levels(values)
    n_levels = 1 + int(levels.max(initial=0))
    if train.n_classes:
        used = classes_to_encode(train.codes, train.n_classes) if classes is None else classes
        targets = levels, train.codes, n_levels, train.n_classes, used
        known = out_of_fold_shares(*targets, train.folds, train.weight)
        means = class_shares(*targets, train.weight)
    else:
        known = out_of_fold_means(levels, train.y, n_levels, train.folds, train.weight)
        means = value_means(levels, train.y, n_levels, train.weight)
    return known, TargetMeans(means, np.bincount(levels + 1, minlength=n_levels + 1)[1:] > 0)


def _levels(values: Floats) -> Ints:
    return np.where(np.isnan(values), -1.0, values).astype(np.int64)
