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
#: Least probability that local ridge regression gives a class, before all are divided by their sum.
LEAST = 1e-3
#: Least weight of a row in local ridge regression.
LIGHTEST = 1e-6
#: Rows whose distances tell the median, and test rows between two checks for cancellation.
LOCAL_SAMPLE, LOCAL_BLOCK = 500, 1024
#: Test rows and training rows in a block of distances, which stays in the cache.
NEAR_TESTS, NEAR_ROWS = 256, 2048


@of_rows
def nearest_rows(X: NDArray[Any], test: NDArray[Any], k: int, check: Callable[[], None] = never_stop) -> Ints:
    """Return the numbers of the k nearest rows of X for each test row, the nearest first; `check` as in `Train`."""
    k = min(k, len(X))
    distance, nearest = np.full((len(test), k), np.inf, np.float32), np.zeros((len(test), k), np.int64)
    # The product of (-2x, 1) and (y, y'y) is a squared distance up to x'x, which all rows share.
    points = np.column_stack([-2.0 * single(test), np.ones(len(test), np.float32)])
    for first in range(0, len(X), NEAR_ROWS):
        check()
        known = single(X[first : first + NEAR_ROWS])
        known = np.column_stack([known, np.einsum("ij,ij->i", known, known)])
        for row in range(0, len(test), NEAR_TESTS):
            rows = slice(row, row + NEAR_TESTS)
            keep_nearest(points[rows] @ known.T, first, distance[rows], nearest[rows])
    return nearest


def mean_of_nearest(train: Train, nearest: Ints) -> Floats:
    """Return the mean target of nearest rows, with the prior as one row more.

    Parameters
    ----------
    train : Train
        Rows with targets.
    nearest : ndarray of shape (n_test, k)
        Nearest rows.

    Returns
    -------
    ndarray of shape (n_test, n_classes), or (n_test,) for numbers
    """
    return _mean_target(nearest, train.y, train.weight, train.prior, train.n_classes > 0)


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
    train: Train, test: NDArray[Any], nearest: Ints, width: float = LOCAL_WIDTH, penalty: float = LOCAL_PENALTY
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

    Returns
    -------
    ndarray of shape (n_test, n_classes), or (n_test,) for numbers
    """
    known = single(train.X)
    scale = -0.5 / (width**2 * typical_distance(known[:LOCAL_SAMPLE]))
    prior = train.prior.astype(np.float32)
    targets, penalties = train.targets(kind=np.float32) - prior, penalty / np.maximum(train.weights, LIGHTEST)
    predicted = _fitted_nearby(test, nearest, known, scale, single(penalties), targets, prior, check=train.check)
    return train.within(predicted, LEAST)


@of_rows
def _fitted_nearby(
    test: NDArray[Any],
    nearest: Ints,
    known: Singles,
    scale: float,
    penalties: Singles,
    targets: Singles,
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
        fit_nearest(known, others[rows], nearest[rows], np.float32(scale), penalties, targets, predicted[rows])
    return np.asarray(predicted + prior, np.float64)
