"""The features of a landmark model: a constant, the columns, Gaussian kernels of landmarks, and rules.

Columns come on one scale, and there are fewer of them where they are very many: `scaling_of`.

A rule is a cut of a column, or two that hold at the same time. Features are float32, block by block, so that they need
not be kept.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from bayesfloor.data.points import SPARSE_LIMIT
from bayesfloor.learn.landmarks.feature_kernels import fill_gaussians, fill_rules
from bayesfloor.learn.records import Record, record, require, require_within
from bayesfloor.learn.training_rows import product
from bayesfloor.runtime.arrays import Bools, Floats, Ints

F32 = NDArray[np.float32]

#: What linear features and rules are multiplied by, beside kernels that lie between 0 and 1: the penalty weighs them.
LINEAR_SCALE, RULE_SCALE = 0.2, 0.5
#: Deviations from the centre at which columns and axes are clipped, so that float32 holds squared distances.
FARTHEST = 1e4
#: Project more columns than this on principal axes, and the maximum number of these.
MANY_COLUMNS, N_AXES = 512, 256
#: Rows that axes are computed from.
AXIS_ROWS = 2000
#: Rows in a block that is scaled at a time.
SCALED_ROWS = 65_536
#: Maximum share of non-zero values for which rows of many columns are stored as sparse.
SPARSE_SHARE = 0.1
#: Smallest and largest weight of a column.
LIGHTEST, HEAVIEST = 0.1, 4.0
#: Largest centre and scale of a column, as fits allow them, and largest coefficient of an axis.
LARGEST_CENTRE, LARGEST_SCALE, LARGEST_AXIS = 1e154, 1e300, 1e12
#: Largest gamma: that of rows a millionth of a deviation apart is below.
LARGEST_GAMMA = 1e15
#: A column counts as constant up to this width, relative to its largest value and absolute.
LEAST_WIDTH, SMALLEST = 1e-12, 1e-300


@record
class FeatureMap(Record):
    """What turns rows into features.

    Attributes
    ----------
    centre, scale : ndarray of shape (n_columns,)
        Subtracted from the columns, and multiplied with them then.
    axes : ndarray of shape (n_columns, n_axes), float32, or None
        Directions that the scaled columns are projected on, where these are many. In what follows, the axes are the
        columns then.
    weights : ndarray of shape (n_axes,), float32
        What columns are multiplied by for the kernels.
    landmarks : ndarray of shape (n_landmarks, n_axes), float32
        Rows, multiplied by the weights.
    gamma : float
        A kernel is exp(-gamma times the squared distance).
    cut_columns, cut_values : ndarray of shape (n_cuts,)
        A cut holds where the column is above the value.
    rule_first, rule_second : ndarray of shape (n_rules,)
        The cuts of each rule; the same twice for a rule of one.
    """

    centre: Floats
    scale: Floats
    axes: F32 | None
    weights: F32
    landmarks: F32
    gamma: float
    cut_columns: Ints
    cut_values: F32
    rule_first: Ints
    rule_second: Ints

    @property
    def n_axes(self) -> int:
        """How many columns the kernels and rules see."""
        return len(self.weights)

    @property
    def kernel_columns(self) -> slice:
        """Where among the features those of the landmarks are."""
        return slice(1 + self.n_axes, 1 + self.n_axes + len(self.landmarks))

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return 1 + self.n_axes + len(self.landmarks) + len(self.rule_first)

    def scaled(self, X: Any) -> F32:
        """Return rows, dense or sparse, as the float32 columns from which features are computed."""
        if issparse(X):
            X = X.copy()
            X.sum_duplicates()  # and sorts: sums over a row are in the order of its columns
        return scaled(X, self.centre, self.scale, self.axes)

    def features(self, columns: F32) -> F32:
        """Return the features of scaled rows, (n, n_features)."""
        n, d = columns.shape
        out = np.empty((n, self.n_features), np.float32)
        out[:, 0] = 1.0
        np.multiply(columns, np.float32(LINEAR_SCALE), out=out[:, 1 : 1 + d])
        fill_gaussian(columns * self.weights, self.landmarks, self.gamma, 1 + d, out)
        if len(self.rule_first):
            first = 1 + d + len(self.landmarks)
            fill_rules(
                columns, self.cut_columns, self.cut_values, self.rule_first, self.rule_second, RULE_SCALE, first, out
            )
        return out

    def landmark_kernel(self) -> Floats:
        """Return the kernel between every two landmarks."""
        return gaussian(self.landmarks, self.landmarks, self.gamma).astype(np.float64)

    def check(self) -> None:
        """Features of finite rows are finite, and every rule has cuts of columns that are there."""
        n_columns, n_axes, n_cuts = len(self.centre), self.n_axes, len(self.cut_columns)
        require(self.centre.shape == self.scale.shape == (n_columns,) and self.weights.shape == (n_axes,))
        require(self.landmarks.shape[1:] == (n_axes,) and self.cut_columns.ndim == self.rule_first.ndim == 1)
        require(n_axes == n_columns if self.axes is None else self.axes.shape == (n_columns, n_axes))
        require(self.cut_values.shape == (n_cuts,) and self.rule_second.shape == self.rule_first.shape)
        axes = self.weights if self.axes is None else self.axes
        for values, least, largest in (
            (self.centre, -LARGEST_CENTRE, LARGEST_CENTRE),
            (self.scale, 0.0, LARGEST_SCALE),
            (axes, -LARGEST_AXIS, LARGEST_AXIS),
            (self.weights, LIGHTEST, HEAVIEST),
            (self.landmarks, -FARTHEST * HEAVIEST, FARTHEST * HEAVIEST),
            (np.array([self.gamma]), np.nextafter(0.0, 1.0), LARGEST_GAMMA),
            (self.cut_columns, 0, n_axes - 1),
            (self.cut_values, -FARTHEST, FARTHEST),
            (self.rule_first, 0, n_cuts - 1),
            (self.rule_second, 0, n_cuts - 1),
        ):
            require_within(values, values.dtype.type(least), values.dtype.type(largest))


def scaled(X: Any, centre: Floats, scale: Floats, axes: F32 | None) -> F32:
    """Centre and scale rows, dense or sparse, and project them; see `FeatureMap`."""
    if axes is None:
        return _deviations(X.toarray() if issparse(X) else X, centre, scale)
    if issparse(X):
        # only what is not zero is multiplied, by how much more it deviates than a zero does
        of_zeros = _deviations(np.zeros_like(centre), centre, scale)
        more = _deviations(X.data, centre[X.indices], scale[X.indices]) - of_zeros[X.indices]
        projected = csr_array((more, X.indices, X.indptr), X.shape) @ axes
        projected += of_zeros @ axes
    else:
        projected = product(_deviations(X, centre, scale), axes)
    return np.clip(projected, -FARTHEST, FARTHEST, out=projected)


def _deviations(values: Floats, centre: Floats, scale: Floats) -> F32:
    """Return how many times its scale each value is off the centre of its column."""
    columns = values - centre
    with np.errstate(over="ignore"):
        columns *= scale
    return np.clip(columns, -FARTHEST, FARTHEST, out=columns).astype(np.float32)


def squares_of_rows(A: F32) -> F32:
    """Return the sum of squares of each row."""
    return np.einsum("ij,ij->i", A, A)


def fill_gaussian(rows: F32, landmarks: F32, gamma: float, first: int, out: F32) -> None:
    """Write exp(-gamma |x - z|^2) of rows x and landmarks z into the columns of `out` from `first` on."""
    width = np.float32(gamma)
    products = np.ascontiguousarray(product(rows, landmarks.T * (2 * width)))
    fill_gaussians(products, width * squares_of_rows(rows), width * squares_of_rows(landmarks), first, out)


def gaussian(rows: F32, landmarks: F32, gamma: float) -> F32:
    """Return exp(-gamma |x - z|^2) of rows x and landmarks z."""
    out = np.empty((len(rows), len(landmarks)), np.float32)
    fill_gaussian(rows, landmarks, gamma, 0, out)
    return out


class Scaling(NamedTuple):
    """What scales columns, see `FeatureMap`, and which of the scaled ones have two values."""

    centre: Floats
    scale: Floats
    axes: F32 | None
    is_binary: Bools


def by_share_of_zeros(X: Any) -> Any:
    """Return rows as a CSR array where columns are many and most values zero, and else as a dense array.

    The values alone decide, so that rows give the same model from either container.
    """
    size, has_many = X.shape[0] * X.shape[1], X.shape[1] > MANY_COLUMNS
    if not issparse(X):
        return csr_array(X) if has_many and np.count_nonzero(X) <= SPARSE_SHARE * size else np.ascontiguousarray(X)
    if not has_many:
        return X.toarray()
    stored = csr_array(X, copy=True)
    stored.sum_duplicates()
    stored.eliminate_zeros()
    return stored.toarray() if stored.nnz > SPARSE_SHARE * size and 8 * size <= SPARSE_LIMIT else stored


def scaling_of(X: Any, weight: F32, seed: int) -> Scaling:
    """Return what scales columns: to mean 0 and deviation 1, or to -1 and 1 where they have two values.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, n_columns)
        Rows; the first of them are a random sample.
    weight : ndarray of shape (n,)
        Weights.
    seed : int
        Of the search for axes, where columns are many.

    Returns
    -------
    Scaling
    """
    share = weight.astype(np.float64)
    if X.shape[1] > MANY_COLUMNS:
        return _with_axes(X[:AXIS_ROWS], share[:AXIS_ROWS], seed)
    low, high = X.min(axis=0), X.max(axis=0)
    is_binary = (high > low) & ((low == X) | (high == X)).all(axis=0)
    centre, deviation = _moments(X, share, low, high)
    centre = np.where(is_binary, low / 2 + high / 2, centre)
    scale = _inverse(np.where(is_binary, high / 2 - low / 2, deviation), low, high)
    return Scaling(centre, scale, None, is_binary & (scale > 0))


def _moments(X: Floats, weight: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return mean and deviation of columns that lie between two values."""
    share = weight / weight.sum()
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    unit = np.ldexp(1.0, np.frexp(half)[1])  # a power of two, so that squares neither overflow nor vanish
    centred = (X - middle) / unit  # no cancellation in the squares
    mean = share @ centred
    deviation = np.sqrt(np.maximum(share @ (centred * centred) - mean * mean, 0.0))
    return middle + unit * mean, unit * deviation


def _inverse(width: Floats, low: Floats, high: Floats) -> Floats:
    """Return what columns are multiplied by to be of width 1; 0 for those of one value, but for rounding."""
    is_none = width <= np.maximum(LEAST_WIDTH * np.maximum(np.abs(low), np.abs(high)), SMALLEST)
    return np.where(is_none, 0.0, 1.0 / np.where(is_none, 1.0, width))


def _with_axes(X: Any, weight: Floats, seed: int) -> Scaling:
    """Return the scaling of many columns: the principal axes of a sample, on one scale in all."""
    from sklearn.utils.extmath import randomized_svd

    sample = X.toarray() if issparse(X) else X
    low, high = sample.min(axis=0), sample.max(axis=0)
    centre, deviation = _moments(sample, weight, low, high)
    scale = _inverse(deviation, low, high)
    columns = scaled(sample, centre, scale, None)
    n_axes = min(N_AXES, *columns.shape)
    values, axes = randomized_svd(columns, n_axes, random_state=seed % 2**32)[1:]
    size = np.sqrt(float((values**2).sum()) / (len(columns) * n_axes))
    return Scaling(centre, scale, (axes.T / max(size, 1e-12)).astype(np.float32), np.zeros(n_axes, bool))


def scale_rows(X: Any, scaling: Scaling) -> F32:
    """Return scaled rows, block by block."""
    n_columns = X.shape[1] if scaling.axes is None else scaling.axes.shape[1]
    out = np.empty((X.shape[0], n_columns), np.float32)
    for first in range(0, X.shape[0], SCALED_ROWS):
        rows = slice(first, first + SCALED_ROWS)
        out[rows] = scaled(X[rows], scaling.centre, scaling.scale, scaling.axes)
    return out
