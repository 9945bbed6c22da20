"""Nearest rows: the search, the mean of their targets, and kernel ridge regression of them alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.learn.later import of_rows
from bayesfloor.learn.nearest_kernels import fit_nearest, keep_nearest
from bayesfloor.learn.training_rows import Singles, Train, never_stop, single, typical_distance
from bayesfloor.runtime.arrays import Floats, Ints

#: Width of local ridge regression, as a share of the median distance, and its penalty.
LOCAL_WIDTH, LOCAL_PENALTY = 0.5, 0.01
#: Of many rows or classes: numbers of neighbours that vote.
N_NEIGHBORS = (1, 5, 15)
#: Nearest rows that local ridge regression is fitted to there; its widths, as shares of the median distance, and
#: penalties.
LOCAL_ROWS, LOCAL_FITS = 64, ((0.25, 0.3), (0.5, 0.01))
#: Least probability that local ridge regression gives a class, before all are divided by their sum.
LEAST = 1e-3
#: Least weight of a row in local ridge regression.
LIGHTEST = 1e-6
#: Rows whose distances tell the median, and test rows between two checks for cancellation.
LOCAL_SAMPLE, LOCAL_BLOCK = 500, 1024
#: Test rows and training rows in a block of distances, which stays in the cache.
NEAR_TESTS, NEAR_ROWS = 256, 2048
#: Test rows and training rows of a block where rows that lie together are in one, and how many directions of equal
#: variance rows may spread along for that: with more of them, nearly all blocks are near each other.
CLOSE_TESTS, CLOSE_ROWS, FEW_DIRECTIONS = 64, 256, 6.0
#: What single precision may change in a squared distance, as a share of the squared lengths of the rows.
ROUNDED = 1e-5


@of_rows
def nearest_rows(X: NDArray[Any], test: NDArray[Any], k: int, check: Callable[[], None] = never_stop) -> Ints:
    """Return the numbers of the k nearest rows of X for each test row, the nearest first; `check` as in `Train`.

    Of equal distances, the first row is nearer. Where rows spread along few directions, they are cut into boxes, and
    boxes that are farther away than the nearest rows so far are passed over.
    """
    k = min(k, len(X))
    known, others = single(X), single(test)
    distance, nearest = np.full((len(test), k), np.inf, np.float32), np.zeros((len(test), k), np.int64)
    is_boxed = len(X) > 2 * NEAR_ROWS and _n_directions(known) <= FEW_DIRECTIONS
    tests, blocks = (
        _boxes(rows, n) if is_boxed else _blocks(len(rows), many)
        for rows, n, many in ((others, CLOSE_TESTS, NEAR_TESTS), (known, CLOSE_ROWS, NEAR_ROWS))
    )
    squares, of_tests = (np.einsum("ij,ij->i", rows, rows) for rows in (known, others))
    low, high = (np.array([ends(known[own], axis=0) for own in blocks]) for ends in (np.min, np.max))
    slack = ROUNDED * float(squares.max(initial=0.0) + of_tests.max(initial=0.0))
    # The product of (-2x, 1) and (y, y'y) is a squared distance up to x'x, which all rows share.
    points = np.column_stack([-2.0 * others, np.ones(len(test), np.float32)])
    prepared = [np.column_stack([known[own], squares[own]]).T for own in blocks]
    for rows in tests:
        check()
        own, near, numbers = points[rows], distance[rows], nearest[rows]
        apart = np.zeros(len(blocks))
        if is_boxed:
            gap = np.maximum(low - others[rows].max(axis=0), others[rows].min(axis=0) - high)
            apart = (np.maximum(gap, 0.0) ** 2).sum(axis=1) - slack
        for block in np.argsort(apart, kind="stable"):
            if apart[block] > (near[:, -1] + of_tests[rows]).max():
                break
            keep_nearest(own @ prepared[block], blocks[block], near, numbers)
        distance[rows], nearest[rows] = near, numbers
    return nearest


def _n_directions(X: Singles) -> float:
    """Return how many columns of equal variance vary as much as these: the square of their sum by that of squares."""
    variance = X.var(axis=0, dtype=np.float64)
    return float(variance.sum() ** 2 / max((variance**2).sum(), 1e-300))


def _blocks(n_rows: int, most: int) -> list[Ints]:
    """Cut rows into blocks of at most so many, as they come."""
    return [np.arange(first, min(first + most, n_rows)) for first in range(0, n_rows, most)]


def _boxes(X: Singles, most: int) -> list[Ints]:
    """Cut rows into blocks of rows that lie together, by halves along the column that varies the most."""
    waiting, found = [np.arange(len(X))], []
    while waiting:
        rows = waiting.pop()
        if len(rows) <= most:
            found.append(np.sort(rows))
            continue
        half = len(rows) // 2
        order = np.argpartition(X[rows, X[rows].var(axis=0).argmax()], half)
        waiting += [rows[order[:half]], rows[order[half:]]]
    return found


def mean_of_nearest(train: Train, nearest: Ints, prior: Floats | None = None) -> Floats:
    """Return the mean target of nearest rows, with the prior as one row more.

    Parameters
    ----------
    train : Train
        Rows with targets.
    nearest : ndarray of shape (n_test, k)
        Nearest rows.
    prior : ndarray or None, default=None
        As `Train.prior`, where the rows are some of many; None for that of the rows.

    Returns
    -------
    ndarray of shape (n_test, n_classes), or (n_test,) for numbers
    """
    prior = train.prior if prior is None else prior
    return _mean_target(nearest, train.y, train.weight, prior, train.n_classes > 0)


@of_rows
def _mean_target(nearest: Ints, y: NDArray[Any], weights: Floats | None, prior: Floats, are_classes: bool) -> Floats:
    weight = np.ones(nearest.shape) if weights is None else weights[nearest]
    mass = 1.0 + weight.sum(axis=1)
    if not are_classes:
        return (prior[0] + np.einsum("ij,ij->i", weight, y[nearest])) / mass
    totals, numbers = np.tile(prior, (len(nearest), 1)), np.arange(len(nearest))
    for column, rows in enumerate(nearest.T):
        totals[numbers, y[rows]] += weight[:, column]
    return totals / mass[:, np.newaxis]


def near_names(space: str) -> tuple[dict[str, int], dict[str, tuple[float, float]]]:
    """Return the votes of nearest rows, and kernel ridge regressions of them, by their names in a space."""
    means = {f"{k} neighbours, {space}": k for k in N_NEIGHBORS}
    return means, {f"local ridge {width}, {space}": (width, penalty) for width, penalty in LOCAL_FITS}


def near_learners(
    train: Train, test: NDArray[Any], means: dict[str, int], ridges: dict[str, tuple[float, float]], n_local: int
) -> dict[str, Floats]:
    """Return what is asked for of means of nearest rows, and of kernel ridge regression of them.

    Parameters
    ----------
    train : Train
        Rows with targets.
    test : ndarray of shape (n_test, d)
        Rows to predict.
    means : dict of str to int
        How many nearest rows there are in a mean, for each learner.
    ridges : dict of str to (float, float)
        Width and penalty of local ridge regression, for each learner.
    n_local : int
        Nearest rows that it is fitted to.

    Returns
    -------
    dict of str to ndarray
    """
    means = {name: k for name, k in means.items() if train.wants(name)}
    ridges = {name: fit for name, fit in ridges.items() if train.wants(name)}
    n_nearest = max([0, *means.values(), *(n_local for _ in ridges)])
    if not n_nearest:
        return {}
    nearest = nearest_rows(single(train.X), test, n_nearest, check=train.check)
    n_nearest = min(n_nearest, len(train.X))
    found = {name: mean_of_nearest(train, nearest[:, 0 : min(k, n_nearest)]) for name, k in means.items()}
    for name, (width, penalty) in ridges.items():
        found[name] = local_ridge(train, test, nearest[:, 0 : min(n_local, n_nearest)], width, penalty)
    return found


def local_ridge(
    train: Train,
    test: NDArray[Any],
    nearest: Ints,
    width: float = LOCAL_WIDTH,
    penalty: float = LOCAL_PENALTY,
    prior: Floats | None = None,
) -> Floats:
    """Return kernel ridge regression for each test row, fitted to its nearest rows alone.

    Far rows have small weights in kernel ridge regression, so this comes close to that of all rows.

    Parameters
    ----------
    train : Train
        Rows with targets.
    test : ndarray of shape (n_test, d)
        Rows to predict.
    nearest : ndarray of shape (n_test, k)
        Their nearest rows.
    width, penalty : float
        Width of the kernel, as a share of the median distance between rows, and what is added to its diagonal for a
        row of weight 1.
    prior : ndarray or None, default=None
        As for `mean_of_nearest`.

    Returns
    -------
    ndarray of shape (n_test, n_classes), or (n_test,) for numbers
    """
    known = single(train.X)
    scale = -0.5 / (width**2 * typical_distance(known[:LOCAL_SAMPLE]))
    middle = single(train.prior if prior is None else prior)
    penalties = single(penalty / np.maximum(train.weights, LIGHTEST))
    codes = train.y.astype(np.int32) if train.n_classes else np.zeros(len(train.y), np.int32)
    values = np.ones(len(codes), np.float32) if train.n_classes else single(train.y)
    predicted = _fitted_nearby(test, nearest, known, scale, penalties, codes, values, middle, check=train.check)
    return train.within(predicted, LEAST)


@of_rows
def _fitted_nearby(
    test: NDArray[Any],
    nearest: Ints,
    known: Singles,
    scale: float,
    penalties: Singles,
    codes: NDArray[np.int32],
    values: Singles,
    prior: Singles,
    check: Callable[[], None] = never_stop,
) -> Floats:
    """Return kernel ridge regression of the nearest rows of each test row."""
    others, nearest = single(test), np.ascontiguousarray(nearest)
    if others.shape[1] != known.shape[1] or nearest.max(initial=0) >= len(known):
        raise ValueError("nearest rows are looked for among other rows than these")
    predicted = np.empty((len(test), len(prior)), np.float32)
    for first in range(0, len(test), LOCAL_BLOCK):
        check()
        rows = slice(first, first + LOCAL_BLOCK)
        of_block = others[rows], nearest[rows], np.float32(scale)
        fit_nearest(known, *of_block, penalties, codes, values, prior, predicted[rows])
    return np.asarray(predicted + prior, np.float64)
