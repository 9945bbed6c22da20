"""Local learners: neighbours, kernels and trees."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayesfloor.floor.learned.neighbour_kernels import nearest_columns
from bayesfloor.floor.learned.training_rows import (
    Train,
    components,
    distances_between,
    never_stop,
    relative_spread,
    squared_distances,
)
from bayesfloor.floor.learned.tree_kernels import grow_trees
from bayesfloor.runtime.arrays import Floats, Ints

#: Numbers of neighbours that vote.
N_NEIGHBORS = (5, 15, 50)
#: Most landmarks of the Nystroem method: their kernel matrix is factorised for every width.
N_LANDMARKS = 300
#: The same for narrow kernels: on letters, digits and pixels a third of the error goes with more of them.
MANY_LANDMARKS = 600
#: Features above which they have no more than the others, and above which local ridge regression is left to spaces of
#: fewer: standardised, so many are mostly noise.
MANY_COLUMNS = 256
#: Widths of narrow kernels and of the wide one, as shares of the median distance between rows.
NARROW, WIDE = (0.3, 0.6), 1.0
#: Nearest rows that local ridge regression is fitted to; its width, as a share of the median distance, and penalty.
LOCAL_ROWS, LOCAL_WIDTH, LOCAL_PENALTY = 32, 0.5, 0.01
#: Least probability that local ridge regression gives a class, before all are divided by their sum.
LEAST = 1e-3
#: Rows whose distances tell the median, and test rows that are fitted at once.
LOCAL_SAMPLE, LOCAL_BLOCK = 1000, 64
#: Trees of the ensemble, and the fewest where rows and features are many.
N_TREES, FEWEST_TREES = 100, 20
#: Rows times features that so many trees are grown for; with more of them there are fewer trees.
TREE_WORK = 250_000
#: Features of most importance that the scaled space has.
MOST_SCALED = 128
#: Fewest rows in the nodes that shallow trees predict by.
MIN_ROWS = 5
#: Trees between two checks for cancellation.
TREES_AT_ONCE = 5


def neighbours(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return the votes of 5, 15 and 50 nearest rows, and kernel ridge regression of them unless columns are many."""
    nearest = nearest_rows(train.X, test, max(N_NEIGHBORS), train.check)
    found = {f"{k} neighbours": votes_of(nearest[:, :k], train) for k in N_NEIGHBORS}
    if train.X.shape[1] <= MANY_COLUMNS:
        found["local ridge"] = local_ridge(train, test, nearest[:, :LOCAL_ROWS])
    return found


def nearest_rows(X: Floats, test: Floats, k: int, check: Callable[[], None] = never_stop) -> Ints:
    """Return the numbers of the k nearest rows of X for each test row, the nearest first; `check` as in `Train`."""
    nearest = np.empty((len(test), min(k, len(X))), np.int64)
    known, others = _single(X), _single(test)
    for rows in _blocks(len(test), len(known)):
        check()
        nearest_columns(squared_distances(others[rows], known), nearest[rows])
    return nearest


def votes_of(nearest: Ints, train: Train) -> Floats:
    """Return the shares of the classes among nearest rows, with the prior as one vote more."""
    counts = np.zeros((len(nearest), train.n_classes))
    for of_one in train.codes[nearest].T:
        counts[np.arange(len(nearest)), of_one] += 1.0
    return (counts + train.prior) / (nearest.shape[1] + 1.0)


def local_ridge(
    train: Train, test: Floats, nearest: Ints, width: float = LOCAL_WIDTH, penalty: float = LOCAL_PENALTY
) -> Floats:
    """Return kernel ridge regression for each test row, fitted to its nearest rows alone.

    Far rows have small weights in kernel ridge regression, so this comes close to that of all rows.

    Parameters
    ----------
    train : Train
        Rows with labels.
    test : ndarray of shape (n_test, d)
        Rows to predict.
    nearest : ndarray of shape (n_test, k)
        Their nearest rows.
    width, penalty : float
        Width of the kernel, as a share of the median distance between rows, and what is added to its diagonal.

    Returns
    -------
    ndarray of shape (n_test, n_classes)
    """
    known, others, k = _single(train.X), _single(test), nearest.shape[1]
    sample = known[:LOCAL_SAMPLE]
    between_all = squared_distances(sample, sample)[np.triu_indices(len(sample), 1)]
    typical = float(np.median(between_all)) if len(between_all) else 1.0
    scale = np.float32(-0.5 / max(width**2 * typical, 1e-30))
    one_hot, prior = np.eye(train.n_classes, dtype=np.float32), train.prior.astype(np.float32)
    predicted = np.empty((len(test), train.n_classes))
    for first in range(0, len(test), LOCAL_BLOCK):
        train.check()
        rows = slice(first, first + LOCAL_BLOCK)
        points = known[nearest[rows]]
        centre = points[:, :1].copy()  # not the test row, which may be so far that nothing else is left in float32
        points -= centre
        squares = np.einsum("bkd,bkd->bk", points, points)
        between = points @ points.transpose(0, 2, 1)
        between *= np.float32(-2.0)
        between += squares[:, :, np.newaxis]
        between += squares[:, np.newaxis]
        np.maximum(between, 0.0, out=between)
        points += centre - others[rows, np.newaxis]
        squares = np.einsum("bkd,bkd->bk", points, points)
        with np.errstate(over="ignore"):  # what is farther than float32 holds has a kernel of 0
            kernel, to_test = np.exp(scale * between), np.exp(scale * squares)
        kernel[:, np.arange(k), np.arange(k)] += np.float32(penalty)
        weights = np.linalg.solve(kernel, to_test[:, :, np.newaxis]).transpose(0, 2, 1)
        predicted[rows] = (weights @ (one_hot[train.codes[nearest[rows]]] - prior))[:, 0] + prior
    return np.clip(predicted, LEAST, None)


def _blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Cut rows into blocks of at most two million distances, to bound memory."""
    step = max(1, 2_000_000 // max(n_columns, 1))
    return [slice(first, first + step) for first in range(0, n_rows, step)]


def kernels(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return kernel ridge regression at several widths."""
    n_landmarks = MANY_LANDMARKS if train.X.shape[1] <= MANY_COLUMNS else N_LANDMARKS
    fitted = kernel_ridge(train, test, seed, NARROW, n_landmarks) | kernel_ridge(train, test, seed, (WIDE,))
    return {f"kernel ridge {width}": p for width, p in fitted.items()}


def unit(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return kernel ridge regression, of landmarks and of nearest rows, and neighbours in the unit that columns share.

    The edge of an image is nearly constant; standardised, its noise counts as much as the middle.
    """
    points, others = components(train.X, test, np.broadcast_to(train.spread, test.shape[1]))
    in_unit = train._replace(X=points)
    nearest = nearest_rows(in_unit.X, others, LOCAL_ROWS, train.check)
    return {
        "kernel ridge, one unit": kernel_ridge(in_unit, others, seed, NARROW[1:], MANY_LANDMARKS)[NARROW[1]],
        "5 neighbours, one unit": votes_of(nearest[:, :5], train),
        "local ridge, one unit": local_ridge(in_unit, others, nearest),
    }


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


def kernel_ridge(
    train: Train, test: Floats, seed: int, widths: tuple[float, ...], most_landmarks: int = N_LANDMARKS
) -> dict[float, Floats]:
    """Regress indicators of the classes on RBF features of random landmarks.

    The penalty is chosen by generalised cross-validation.
    """
    n = len(train.X)
    n_landmarks = min(most_landmarks, max(n // 2, 50))
    landmarks = train.X[np.random.default_rng(seed).permutation(n)[:n_landmarks]]
    near = _single(landmarks)
    to_train, to_test = squared_distances(_single(train.X), near), squared_distances(_single(test), near)
    between, typical = distances_between(landmarks)
    prior = train.counts / n
    targets = train.one_hot - prior
    fitted = {}
    for width in widths:
        scale = -0.5 / (width**2 * typical)
        kernel = np.exp(scale * between)
        kernel[np.diag_indices(len(landmarks))] += 1e-6
        factor = linalg.cholesky(kernel, lower=True)
        with np.errstate(over="ignore"):  # what is farther than float32 holds has a kernel of 0
            features, of_test = (np.exp(np.float32(scale) * to).astype(np.float64) for to in (to_train, to_test))
        half = linalg.solve_triangular(factor, features.T @ features, lower=True)
        gram = linalg.solve_triangular(factor, half.T, lower=True, overwrite_b=True)
        # single precision is finer than the smallest penalty, and half the work
        s, axes = (part.astype(np.float64) for part in linalg.eigh(_single(gram), driver="evd", overwrite_a=True))
        moments = axes.T @ linalg.solve_triangular(factor, features.T @ targets, lower=True)
        s = np.maximum(s, 0.0)
        power = (moments**2).sum(axis=1)
        penalties = np.geomspace(1e-6, 1.0, 19) * n
        shares = s[:, None] / (s[:, None] + penalties)
        residual = (targets**2).sum() - ((2.0 - shares) * power[:, None] / (s[:, None] + penalties)).sum(axis=0)
        gcv = np.maximum(residual, 0.0) / np.maximum(n - 1.0 - shares.sum(axis=0), 1e-9) ** 2
        penalty = penalties[gcv.argmin()]
        solution = axes @ (moments / (s + penalty)[:, None])
        coefficients = linalg.solve_triangular(factor, solution, lower=True, trans="T")
        fitted[width] = np.clip(of_test @ coefficients + prior, 0.5 / (n + 1.0), None)
    return fitted


# --- trees


def trees(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return randomised trees, and neighbours and kernel ridge where features are scaled by their importance."""
    n_trees = max(FEWEST_TREES, min(N_TREES, N_TREES * TREE_WORK // train.X.size))
    grown = grow_ensemble(train, test, seed, n_trees)
    used = np.sort(np.argsort(-grown.importance, kind="stable")[:MOST_SCALED])
    scale = grown.importance[used]
    scaled, others = Train(train.X[:, used] * scale, *train[1:4]), test[:, used] * scale
    nearest = nearest_rows(scaled.X, others, LOCAL_ROWS, train.check)
    return {
        "trees": grown.shallow,
        "deep trees": grown.deep,
        "15 neighbours, scaled": votes_of(nearest[:, :15], train),
        "local ridge, scaled": local_ridge(scaled, others, nearest),
        "kernel ridge, scaled": kernel_ridge(scaled, others, seed, (0.5,))[0.5],
    }


class Grown(NamedTuple):
    """What an ensemble of trees says.

    Attributes
    ----------
    deep, shallow : ndarray of shape (n_test, n_classes)
        Shares of the classes, added up over the trees: in leaves of `min_leaf` rows or more, and in nodes of `MIN_ROWS`
        or more.
    importance : ndarray of shape (d,)
        Importance of each feature, at most 1.
    """

    deep: Floats
    shallow: Floats
    importance: Floats


def grow_ensemble(train: Train, test: Floats, seed: int, n_trees: int, min_leaf: int = 1) -> Grown:
    """Grow extremely randomised trees."""
    n_features = train.X.shape[1]
    deep, shallow = (np.zeros((len(test), train.n_classes)) for _ in range(2))
    importance = np.zeros(n_features)
    n_tries = min(n_features, max(10, min(n_features // 3, 30)))
    known = _single(train.X.T), train.codes, train.n_classes, _single(test)
    sizes, state = (n_tries, min_leaf, MIN_ROWS), (np.array([seed], np.uint64), np.arange(n_features))
    for _ in range(n_trees // TREES_AT_ONCE):
        train.check()
        grow_trees(*known, TREES_AT_ONCE, *sizes, *state, deep, shallow, importance)
    if not importance.max() > 0:
        importance[:] = 1.0
    return Grown(deep, shallow, importance / importance.max())


def _single(X: Floats) -> NDArray[np.float32]:
    """Return numbers in single precision, in rows of memory."""
    return np.ascontiguousarray(X, np.float32)
