"""Do labels given the columns follow one law in both tables?

If they do, whether a row is new says nothing about its label beside its columns. So what is left of both is compared::

    d = is new  - chance of being new, by the columns
    r = label   - what is expected of it, by the columns         of each class or of a number

Both expectations are predicted by models that have not seen the row, from the rows of both tables. The mean of d r is
then 0, even if one of the two expectations is somewhat wrong (Shah and Peters 2020). Products with each column find
labels that moved up at one end of a column and down at the other, and the squares of what is left of a number find
noise that grew. All of these means are compared with 0 at once, by
their largest size under signs dealt out at random, to rows or to groups of rows.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from bayesfloor.choose.drifting.permutations import share_as_large
from bayesfloor.data.folds import grouped_folds, stratified_folds
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.training_sets import mean_and_spread, training_set
from bayesfloor.learn.learner import fit_predict
from bayesfloor.learn.registry import CLASS_LEARNERS, NUMBER_LEARNERS, allowed
from bayesfloor.runtime.arrays import Bools, Floats, Ints

#: Families of learners that are mixed, of classes and of numbers.
_OF_CLASSES = ("gaussian", "logistic", "kernels", "boosting")
_OF_NUMBERS = ("linear", "additive", "kernels", "boosting")
#: Folds, rows that are looked at, and deals of signs.
_N_FOLDS, _MOST_ROWS, _N_DEALS = 5, 10_000, 999
#: Columns that labels may move along.
_MOST_COLUMNS = 40
#: Chances of being new outside of which a row has no counterpart in the other table.
_COMMON = (0.02, 0.98)
#: Evidence below which nothing can be told, as a share of that of tables with the same columns.
_LEAST_OVERLAP = 0.05


@dataclass(frozen=True)
class LabelTest:
    """Whether labels given the columns moved; see `TargetDrift`."""

    p_value: float | None
    overlap: float


def labels_given_columns(problem: Problem, is_new: Bools, scores: Floats, seed: int) -> LabelTest:
    """Test whether labels given the columns follow one law in both tables.

    Parameters
    ----------
    problem : Problem
        The rows of both tables with their labels, in random order.
    is_new : ndarray of shape (n_rows,)
        Which rows are of the new table.
    scores : ndarray of shape (n_rows, n_scores)
        Directions that labels may move along, with mean 0 and variance 1.
    seed : int
        Seed.

    Returns
    -------
    LabelTest
    """
    rows = np.arange(min(len(is_new), _MOST_ROWS))
    problem, is_new, scores = problem.take(rows), is_new[rows], scores[rows, :_MOST_COLUMNS]
    share = float(is_new.mean())
    if not _N_FOLDS <= is_new.sum() <= len(is_new) - _N_FOLDS:
        return LabelTest(None, 0.0)
    codes = is_new.astype(np.int64)
    keys = np.arange(len(rows), dtype=np.uint64)
    if problem.groups is None:
        folds = stratified_folds(2 * problem.codes + codes, _N_FOLDS, keys)
    else:
        folds = grouped_folds(codes, problem.groups, _N_FOLDS, keys, spread_classes=True)
    origin = Problem(problem.X, np.arange(2), codes, groups=problem.groups, tabular=problem.tabular)
    expected = cross_predicted(origin, folds, seed)[:, 1]
    overlap = float(np.mean(expected * (1.0 - expected)) / (share * (1.0 - share)))
    common = (expected > _COMMON[0]) & (expected < _COMMON[1])
    if overlap < _LEAST_OVERLAP or not _N_FOLDS <= is_new[common].sum() <= common.sum() - _N_FOLDS:
        return LabelTest(None, overlap)
    left, squares = _residuals(problem, folds, seed)
    along = np.column_stack([np.ones(len(rows)), scores])
    of_labels = (left[:, :, np.newaxis] * along[:, np.newaxis, :]).reshape(len(rows), -1)
    products = ((is_new - expected)[:, np.newaxis] * np.hstack([of_labels, squares]))[common]
    if problem.groups is not None:
        groups = np.unique(problem.groups[common], return_inverse=True)[1]
        products = np.eye(int(groups.max()) + 1)[groups].T @ products
    return LabelTest(largest_mean(products, seed), overlap)


def largest_mean(products: Floats, seed: int) -> float:
    """Return the p-value of the largest mean of some columns, in units of its error, against means of 0."""
    size = np.sqrt((products**2).sum(axis=0))
    scaled = products[:, size > 0] / size[size > 0]
    if not scaled.shape[1]:
        return 1.0
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (1 + _N_DEALS, len(scaled)))
    signs[0] = 1.0
    return float(share_as_large(np.abs(signs @ scaled).max(axis=1))[0])


def _residuals(problem: Problem, folds: Ints, seed: int) -> tuple[Floats, Floats]:
    """Return what is left of labels, a column for each class or for a number, and what is left of a number's square."""
    predicted = cross_predicted(problem, folds, seed)
    if problem.task == "classification":
        return np.eye(len(problem.classes))[problem.codes] - predicted, np.empty((len(predicted), 0))
    left = (problem.y[:, np.newaxis] - predicted) / max(float(problem.y.std()), 1e-300)
    squares = Problem.of_numbers(problem.X, left[:, 0] ** 2, groups=problem.groups, tabular=problem.tabular)
    return left, left**2 - cross_predicted(squares, folds, seed)


def cross_predicted(problem: Problem, folds: Ints, seed: int) -> Floats:
    """Predict each row from the other folds, by the mixture of learners that does best on all of them.

    Returns
    -------
    ndarray of shape (n_rows, n_classes), or (n_rows, 1) for numbers
    """
    of_classes = problem.task == "classification"
    if of_classes:
        families = allowed({name: CLASS_LEARNERS[name] for name in _OF_CLASSES})
    else:
        families = allowed({name: NUMBER_LEARNERS[name] for name in _OF_NUMBERS})
    found: dict[str, Floats] = {}
    width = len(problem.classes) if of_classes else 1
    for fold in range(int(folds.max()) + 1):
        known, tested = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        train, rows = training_set(problem, known, tested)
        mean, spread = (0.0, 1.0) if of_classes else mean_and_spread(problem, known)
        for family in families.values():
            for name, values in fit_predict(family, train, None, seed, rows).items():
                of_learner = found.setdefault(name, np.empty((len(folds), width)))
                of_learner[tested] = np.reshape(values, (len(tested), width)) * spread + mean
    targets = np.eye(width)[problem.codes] if of_classes else problem.y[:, np.newaxis]
    weights = nnls(np.column_stack([values.ravel() for values in found.values()]), targets.ravel())[0]
    mixed = np.tensordot(weights, list(found.values()), axes=1)
    if not of_classes:
        return np.asarray(mixed)
    mixed = np.clip(mixed, 1e-6, None)
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))
