"""Linear and additive families of numbers: few parameters, or functions of one or two features that add up."""

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from bayesfloor.learn.lasso_kernels import lasso_path
from bayesfloor.learn.later import beside, of_rows, repeated
from bayesfloor.learn.ridge import fit_ridge, landmark_factor
from bayesfloor.learn.training_rows import Codes, Singles, Train, most_telling, single
from bayesfloor.runtime.arrays import Floats, Ints

#: Most rows of models with few parameters: they gain little from more.
SAMPLE_ROWS = 20_000
#: Most columns of features that ridge regression is fitted to: the cost grows with their cube.
MOST_COLUMNS = 400
#: Landmarks of a column in additive models, and their widths in standard deviations: smooth and rough.
SMOOTH, ROUGH = (8, 1.0), (16, 0.25)
#: Added to the diagonal of the kernel of a column's landmarks.
BUMP_JITTER = 1e-4
#: Features of which pairs are taken, the landmarks of each, and their width.
PAIRED, PAIR_BUMPS, PAIR_WIDTH = 7, 4, 1.0
#: Features of which squares and products are taken.
MULTIPLIED = 24
#: Standard deviations beyond which additive models are constant.
FARTHEST_BUMP = 4.0
#: Penalties that the lasso is fitted with, sweeps for each, and its most features.
N_LASSO, LASSO_SWEEPS, MOST_LASSO = 30, 50, 1000


def linear(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return the mean, and linear models, also of squares and products."""
    train = train.first(SAMPLE_ROWS)
    return train.asked_for({
        "mean": lambda: repeated(test, np.array(0.0)),
        "ridge": lambda: _ridge(train.X, test, train),
        "lasso": lambda: _lasso(train, test),
        "quadratic ridge": lambda: _quadratic_ridge(train, test),
    })  # fmt: skip


def _quadratic_ridge(train: Train, test: Floats) -> Floats:
    """Return ridge regression with squares and products."""
    d = train.X.shape[1]
    used = np.arange(d) if d <= MULTIPLIED else most_telling(train)[:MULTIPLIED]
    i, j = np.triu_indices(len(used))
    known, others = (_with_products(side, used[i], used[j]) for side in (train.X, _held(test, train.X)))
    if known.shape[1] > MOST_COLUMNS:
        kept = np.concatenate([used, np.arange(d, known.shape[1])])
        known, others = known[:, kept], others[:, kept]
    return _ridge(known, others, train)


@of_rows
def _with_products(rows: Floats, first: Ints, second: Ints) -> Floats:
    """Return rows with products of some of their columns."""
    return np.column_stack([rows, rows[:, first] * rows[:, second]])


def _held(test: Floats, X: Floats) -> Floats:
    """Return test rows within the range of the training rows: what grows faster than a line goes astray beyond it."""
    return held_between(test, X.min(axis=0), X.max(axis=0))


@of_rows
def held_between(rows: Floats, low: Floats | float, high: Floats | float) -> Floats:
    """Return rows within a range."""
    return np.clip(rows, low, high)


def _ridge(known: Any, test: Any, train: Train) -> Floats:
    return train.within(fit_ridge(known, train).predict(test), 0.0)


def _lasso(train: Train, test: Floats) -> Floats:
    """Return the lasso; generalised cross-validation chooses the penalty, and ridge regression refits what it keeps."""
    n = len(train.X)
    used = np.arange(train.X.shape[1])
    if len(used) > MOST_LASSO:
        used = np.sort(most_telling(train)[:MOST_LASSO])
    X = train.X[:, used]
    weight = train.weights
    X = (X - weight @ X / weight.sum()) * np.sqrt(weight)[:, np.newaxis]
    y = train.y * np.sqrt(weight)
    gram, moments = X.T @ X, X.T @ y
    train.check()
    penalties = float(np.abs(moments).max(initial=0.0)) * np.geomspace(1.0, 1e-3, N_LASSO)
    paths = np.zeros((N_LASSO, len(used)))
    lasso_path(gram, moments, penalties, LASSO_SWEEPS, 1e-3 * float(y @ y) ** 0.5, paths)
    n_kept = np.count_nonzero(paths, axis=1)
    left = y @ y - 2.0 * paths @ moments + np.einsum("pj,jk,pk->p", paths, gram, paths, optimize=True)
    scores = np.where(n_kept < 0.5 * n, left / np.maximum(n - 1.0 - 1.5 * n_kept, 1.0) ** 2, np.inf)
    kept = used[paths[int(scores.argmin())] != 0]
    return _ridge(train.X[:, kept], test[:, kept], train) if len(kept) else repeated(test, np.array(0.0))


# --- sums of functions of one or two features


def additive(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return sums of functions of one feature, smooth or rough, and of two features."""
    train = train.first(SAMPLE_ROWS)
    held = _held(test, train.X)
    found = {}
    if train.wants("additive, smooth", "additive, pairs"):
        found = _smooth_and_pairs(train, held)
    train.check()
    if train.wants("additive, rough"):
        found["additive, rough"] = _ridge(*_all_bumps(train.X, held, *ROUGH)[:2], train)
    if train.table is not None and train.wants("additive, levels"):
        train.check()
        known, others = _levels_and_bumps(train.table)
        found["additive, levels"] = _ridge(known, others, train)
    return found


def _smooth_and_pairs(train: Train, test: Floats) -> dict[str, Floats]:
    """Return sums of smooth functions, and of those and functions of pairs of the features that vary them most."""
    smooth = _all_bumps(train.X, test, *SMOOTH)
    fit = fit_ridge(smooth.known, train)
    found = train.asked_for({"additive, smooth": lambda: train.within(fit.predict(smooth.others), 0.0)})
    if train.X.shape[1] < 2 or not train.wants("additive, pairs"):
        return found
    heights = np.empty(train.X.shape[1])
    for j in range(len(heights)):
        own = smooth.of_column == j
        heights[j] = (smooth.known[:, own] @ fit.coefficients[own]).var(axis=0).sum()
    used = np.argsort(-heights, kind="stable")[:PAIRED]
    train.check()
    bumps = [_bumps(train.X[:, j], test[:, j], PAIR_BUMPS, PAIR_WIDTH) for j in used]
    pieces = [smooth[:2]] if smooth.known.shape[1] <= MOST_COLUMNS // 2 else []
    for a in range(len(used)):
        for b in range(a):
            known, others = (_products(bumps[a][side], bumps[b][side]) for side in (0, 1))
            pieces.append((known, others))
    known, others = (beside(*side) for side in zip(*pieces, strict=True))
    return found | {"additive, pairs": _ridge(known, others, train)}


@of_rows
def _products(a: Singles, b: Singles) -> Singles:
    """Return the products of each two columns."""
    return (a[:, :, np.newaxis] * b[:, np.newaxis]).reshape(len(a), -1)


def _levels_and_bumps(table: Codes) -> tuple[Singles, Singles]:
    """Return a column of 0 and 1 for each frequent value of a category, and bumps of numbers; gaps are the mean."""
    pieces = []
    n_columns = table.train.shape[1]
    for column in range(n_columns):
        known, others = table.train[:, column], table.test[:, column]
        if table.is_category[column]:
            levels, counts = np.unique(known[~np.isnan(known)], return_counts=True)
            levels = levels[np.argsort(-counts, kind="stable")[: 2 * MOST_COLUMNS // n_columns]]
            pieces.append((_is_level(known, levels), _is_level(others, levels)))
            continue
        is_there = ~np.isnan(known)
        centre = float(known[is_there].mean()) if is_there.any() else 0.0
        spread = (float(known[is_there].std()) if is_there.any() else 0.0) or 1.0
        known, others = (_without_gaps(side, centre, spread) for side in (known, others))
        pieces.append(_bumps(known, held_between(others, known.min(), known.max()), *SMOOTH))
    return beside(*(known for known, _ in pieces)), beside(*(others for _, others in pieces))


@of_rows
def _is_level(values: Floats, levels: Floats) -> Singles:
    """Return a column of 0 and 1 for each of some values."""
    return single(values[:, np.newaxis] == levels)


@of_rows
def _without_gaps(values: Floats, centre: float, spread: float) -> Floats:
    """Standardise numbers; gaps are the mean."""
    return np.nan_to_num((values - centre) / spread)


class Bumps(NamedTuple):
    """Features of each column, and the column of each feature."""

    known: Singles
    others: Singles
    of_column: Ints


def _all_bumps(X: Floats, test: Floats, n_bumps: int, width: float) -> Bumps:
    """Return bumps of all columns, fewer of each where columns are many."""
    n_each = max(min(n_bumps, MOST_COLUMNS // X.shape[1]), 1)
    pieces = [_bumps(X[:, j], test[:, j], n_each, width) for j in range(X.shape[1])]
    of_column = np.repeat(np.arange(X.shape[1]), [known.shape[1] for known, _ in pieces])
    known, others = (beside(*side) for side in zip(*pieces, strict=True))
    return Bumps(known, others, of_column)


def _bumps(column: Floats, test: Floats, n_bumps: int, width: float) -> tuple[Singles, Singles]:
    """Return Nystroem features of a Gaussian kernel of one column, with landmarks at its quantiles."""
    column, test = (held_between(side, -FARTHEST_BUMP, FARTHEST_BUMP) for side in (column, test))
    places = np.rint((len(column) - 1) * (np.arange(n_bumps) + 0.5) / n_bumps).astype(np.int64)
    if n_bumps > 1:
        places[[0, -1]] = 0, len(column) - 1
    centres = np.unique(np.sort(column)[places])
    if len(centres) < 3:
        return _one_column(column), _one_column(test)
    scale = -0.5 / width**2
    factor = landmark_factor((centres[:, np.newaxis] - centres) ** 2, scale, BUMP_JITTER)
    root = linalg.solve_triangular(factor, np.eye(len(centres)), lower=True).T
    known, others = (_bumps_of(side, centres, scale, root) for side in (column, test))
    return known, others


@of_rows
def _one_column(values: Floats) -> Singles:
    """Return values as a matrix of one column."""
    return single(values[:, np.newaxis])


@of_rows
def _bumps_of(values: Floats, centres: Floats, scale: float, root: Floats) -> Singles:
    """Return kernels of landmarks, as features whose penalty is that of the kernel's own space."""
    return single(np.exp(scale * (values[:, np.newaxis] - centres) ** 2) @ root)
