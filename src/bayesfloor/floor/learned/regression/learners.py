"""Fast, different learners of numbers: rows with targets in, predictions for other rows out.

Learners that share work form a group. A group is a function ``(rows, test, seed) -> {name: prediction}``; no group is
good everywhere, and the stack (`bayesfloor.floor.learned.regression.stacking`) finds out which are good here::

    linear      the mean, ridge regression, the lasso, ridge regression with squares and products
    additive    sums of smooth functions of one feature, of rough ones, of functions of two, of effects of categories
    neighbours  means of 5, 15 and 50 nearest rows
    kernels     ridge regression on kernels of landmarks at three widths
    gradients   the same in a space scaled, or turned, by the gradients of what was learned before
    trees       extremely randomised trees; neighbours and kernels in a space scaled by their importances
    boosting    gradient boosting over histograms
    unit        kernels and neighbours where columns keep a unit that they share, as pixels do

With many rows each learner bounds its own work: models of few parameters by a sample, kernels by their landmarks.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from threadpoolctl import ThreadpoolController

from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.supervised_features import SupervisedFeatures
from bayesfloor.floor.learned.boosting_kernels import MOST_SEEN
from bayesfloor.floor.learned.local_learners import nearest_rows, share_a_unit
from bayesfloor.floor.learned.regression.boosting_kernels import boost_numbers
from bayesfloor.floor.learned.regression.lasso_kernels import lasso_path
from bayesfloor.floor.learned.regression.training_rows import RidgeFit, Rows, fit_ridge, means_of
from bayesfloor.floor.learned.regression.tree_kernels import grow_number_trees
from bayesfloor.floor.learned.table_learners import (
    MOST_LEVELS,
    RATE,
    RIDGE,
    ROUNDS_AT_ONCE,
    bins_of,
    n_leaves_of,
)
from bayesfloor.floor.learned.training_rows import Codes, as_given, distances_between, squared_distances
from bayesfloor.runtime.arrays import Bools, Floats, Ints

Group = Callable[[Rows, Floats, int], dict[str, Floats]]
Singles = NDArray[np.float32]

#: Most rows of models with few parameters: they gain little from more.
SAMPLE_ROWS = 20_000
#: Most columns of features that ridge regression is fitted to: the cost grows with their cube.
MOST_COLUMNS = 400
#: Landmarks of a column in additive models, and their widths in standard deviations: smooth and rough.
SMOOTH, ROUGH = (8, 1.0), (16, 0.25)
#: Features of which pairs are taken, the landmarks of each, and their width.
PAIRED, PAIR_BUMPS, PAIR_WIDTH = 7, 4, 1.0
#: Features of which squares and products are taken.
MULTIPLIED = 24
#: Standard deviations beyond which additive models are constant.
FARTHEST_BUMP = 4.0
#: Penalties that the lasso is fitted with, sweeps for each, and its most features.
N_LASSO, LASSO_SWEEPS, MOST_LASSO = 30, 50, 1000
#: Numbers of neighbours.
N_NEIGHBORS = (5, 15, 50)
#: Landmarks of kernels at the least and at the most; rows times squared landmarks that lie between.
FEWEST_LANDMARKS, MOST_LANDMARKS, LANDMARK_WORK = 300, 300, 1.2e9
#: Widths of kernels, as shares of the median distance between rows.
WIDTHS = (0.3, 0.7, 1.5)
#: Widths in spaces scaled by what was learned; the better one by generalised cross-validation is taken.
SCALED_WIDTHS = (0.5, 1.2)
#: Landmarks while gradients are learned, rows that they are taken at, and rounds.
GRADIENT_LANDMARKS, GRADIENT_ROWS, GRADIENT_ROUNDS = 200, 1000, 2
#: Most features whose gradients are taken.
MOST_GRADIENTS = 256
#: Trees of the ensemble, and the fewest where rows and features are many.
N_TREES, FEWEST_TREES = 80, 20
#: Rows times features that so many trees are grown for; with more of them there are fewer trees.
TREE_WORK = 250_000
#: Rows in nodes of shallow trees, and trees between two checks for cancellation.
MIN_ROWS, TREES_AT_ONCE = 5, 5
#: Features of most importance that the scaled space has.
MOST_SCALED = 128
#: Rounds of boosting, and most columns drawn for each tree.
N_ROUNDS, BOOSTED_COLUMNS = 100, 30
#: Rows up to which boosting is our own, whose trees see 8191 rows at the most; values that bound the rows of the other.
OWN_BOOSTING, BOOSTED_VALUES = 10_000, 8e8


def linear(rows: Rows, test: Floats, seed: int) -> dict[str, Floats]:
    """Return the mean, and linear models, also of squares and products."""
    rows = rows.first(SAMPLE_ROWS)
    found = {"mean": np.zeros(len(test)), "ridge": _ridge(rows.X, test, rows), "lasso": _lasso(rows, test)}
    d = rows.X.shape[1]
    used = np.arange(d) if d <= MULTIPLIED else _marginals(rows)[:MULTIPLIED]
    i, j = np.triu_indices(len(used))
    known, others = (
        np.column_stack([side, side[:, used[i]] * side[:, used[j]]]) for side in (rows.X, _held(test, rows.X))
    )
    if known.shape[1] > MOST_COLUMNS:
        kept = np.concatenate([used, np.arange(d, known.shape[1])])
        known, others = known[:, kept], others[:, kept]
    return found | {"quadratic ridge": _ridge(known, others, rows)}


def _held(test: Floats, X: Floats) -> Floats:
    """Return test rows within the range of the training rows: what grows faster than a line goes astray beyond it."""
    return np.clip(test, X.min(axis=0), X.max(axis=0))


def _ridge(known: Any, test: Any, rows: Rows) -> Floats:
    fit = fit_ridge(known, rows)
    return np.asarray(test @ fit.coefficients + fit.offset)


def _marginals(rows: Rows) -> Ints:
    """Return features in the order of how much a line, or a parabola, of each alone tells."""
    squares = rows.X**2
    told = np.zeros(rows.X.shape[1])
    for features in (rows.X, squares - squares.mean(axis=0)):
        spread = features.std(axis=0)
        told += (rows.weight * rows.y @ features / np.where(spread > 1e-9, spread, np.inf)) ** 2
    return np.argsort(-told, kind="stable")


def _lasso(rows: Rows, test: Floats) -> Floats:
    """Return the lasso; generalised cross-validation chooses the penalty, and ridge regression refits what it keeps."""
    n = len(rows.X)
    used = np.arange(rows.X.shape[1])
    if len(used) > MOST_LASSO:
        used = np.sort(_marginals(rows)[:MOST_LASSO])
    X = rows.X[:, used]
    X = (X - rows.weight @ X / rows.weight.sum()) * np.sqrt(rows.weight)[:, np.newaxis]
    y = rows.y * np.sqrt(rows.weight)
    gram, moments = X.T @ X, X.T @ y
    rows.check()
    penalties = float(np.abs(moments).max(initial=0.0)) * np.geomspace(1.0, 1e-3, N_LASSO)
    paths = np.zeros((N_LASSO, len(used)))
    lasso_path(gram, moments, penalties, LASSO_SWEEPS, 1e-3 * float(y @ y) ** 0.5, paths)
    n_kept = np.count_nonzero(paths, axis=1)
    left = y @ y - 2.0 * paths @ moments + np.einsum("pj,jk,pk->p", paths, gram, paths, optimize=True)
    scores = np.where(n_kept < 0.5 * n, left / np.maximum(n - 1.0 - 1.5 * n_kept, 1.0) ** 2, np.inf)
    kept = used[paths[int(scores.argmin())] != 0]
    return _ridge(rows.X[:, kept], test[:, kept], rows) if len(kept) else np.zeros(len(test))


# --- sums of functions of one or two features


def additive(rows: Rows, test: Floats, seed: int) -> dict[str, Floats]:
    """Return sums of functions of one feature, smooth or rough, and of two features."""
    table = rows.table
    rows = rows.first(SAMPLE_ROWS)
    test = _held(test, rows.X)
    smooth = _all_bumps(rows.X, test, *SMOOTH)
    fit = fit_ridge(smooth.known, rows)
    found = {"additive, smooth": smooth.others @ fit.coefficients + fit.offset}
    parts = (smooth.known * fit.coefficients.astype(np.float32)).T
    heights = [parts[smooth.of_column == j].sum(axis=0).var() for j in range(rows.X.shape[1])]
    rows.check()
    found["additive, rough"] = _ridge(*_all_bumps(rows.X, test, *ROUGH)[:2], rows)
    used = np.argsort(-np.array(heights), kind="stable")[:PAIRED]
    if len(used) > 1:
        rows.check()
        bumps = [_bumps(rows.X[:, j], test[:, j], PAIR_BUMPS, PAIR_WIDTH) for j in used]
        pieces = [smooth[:2]] if smooth.known.shape[1] <= MOST_COLUMNS // 2 else []
        for a in range(len(used)):
            for b in range(a):
                known, others = (_products(bumps[a][side], bumps[b][side]) for side in (0, 1))
                pieces.append((known, others))
        known, others = (np.column_stack(side) for side in zip(*pieces, strict=True))
        found["additive, pairs"] = _ridge(known, others, rows)
    if table is not None:
        rows.check()
        known, others = _levels_and_bumps(table, len(rows.X))
        found["additive, levels"] = _ridge(known, others, rows)
    return found


def _products(a: Singles, b: Singles) -> Singles:
    """Return the products of each two columns."""
    return (a[:, :, np.newaxis] * b[:, np.newaxis]).reshape(len(a), -1)


def _levels_and_bumps(table: Codes, n: int) -> tuple[Singles, Singles]:
    """Return a column of 0 and 1 for each frequent value of a category, and bumps of numbers; gaps are the mean."""
    pieces = []
    n_columns = table.train.shape[1]
    for column in range(n_columns):
        known, others = table.train[:n, column], table.test[:, column]
        if table.is_category[column]:
            levels, counts = np.unique(known[~np.isnan(known)], return_counts=True)
            levels = levels[np.argsort(-counts, kind="stable")[: 2 * MOST_COLUMNS // n_columns]]
            pieces.append((_single(known[:, np.newaxis] == levels), _single(others[:, np.newaxis] == levels)))
            continue
        is_there = ~np.isnan(known)
        centre = float(known[is_there].mean()) if is_there.any() else 0.0
        spread = (float(known[is_there].std()) if is_there.any() else 0.0) or 1.0
        known, others = (np.nan_to_num((side - centre) / spread) for side in (known, others))
        pieces.append(_bumps(known, np.clip(others, known.min(), known.max()), *SMOOTH))
    return np.column_stack([known for known, _ in pieces]), np.column_stack([others for _, others in pieces])


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
    known, others = (np.column_stack(side) for side in zip(*pieces, strict=True))
    return Bumps(known, others, of_column)


def _bumps(column: Floats, test: Floats, n_bumps: int, width: float) -> tuple[Singles, Singles]:
    """Return Nystroem features of a Gaussian kernel of one column, with landmarks at its quantiles."""
    column, test = (np.clip(side, -FARTHEST_BUMP, FARTHEST_BUMP) for side in (column, test))
    places = np.rint((len(column) - 1) * (np.arange(n_bumps) + 0.5) / n_bumps).astype(np.int64)
    if n_bumps > 1:
        places[[0, -1]] = 0, len(column) - 1
    centres = np.unique(np.sort(column)[places])
    if len(centres) < 3:
        return _single(column[:, np.newaxis]), _single(test[:, np.newaxis])
    scale = -0.5 / width**2
    kernel = np.exp(scale * (centres[:, np.newaxis] - centres) ** 2)
    kernel[np.diag_indices(len(centres))] += 1e-4
    root = linalg.solve_triangular(linalg.cholesky(kernel, lower=True), np.eye(len(centres)), lower=True).T
    known, others = (_single(np.exp(scale * (side[:, np.newaxis] - centres) ** 2) @ root) for side in (column, test))
    return known, others


# --- neighbours


def neighbours(rows: Rows, test: Floats, seed: int) -> dict[str, Floats]:
    """Return means of 5, 15 and 50 nearest rows."""
    found = means_of_nearest(rows.first(SAMPLE_ROWS), test, N_NEIGHBORS)
    return {f"{k} neighbours": mean for k, mean in found.items()}


def means_of_nearest(rows: Rows, test: Floats, numbers: tuple[int, ...]) -> dict[int, Floats]:
    """Return the means of so many nearest rows, with that of all rows as one more."""
    nearest = nearest_rows(rows.X, test, max(numbers), rows.check)
    y, weight = rows.y[nearest], rows.weight[nearest]
    means = {}
    for k in numbers:
        total = (weight[:, :k] * y[:, :k]).sum(axis=1)
        means[k] = total / (weight[:, :k].sum(axis=1) + 0.5)
    return means


# --- kernels of landmarks


def kernels(rows: Rows, test: Floats, seed: int) -> dict[str, Floats]:
    """Return ridge regression on kernels at several widths."""
    found = {}
    space = Landmarks(rows, rows.X, seed, _n_landmarks(len(rows.X)))
    for width in WIDTHS:
        rows.check()
        found[f"kernel ridge {width}"] = space.fit(width).predict(test)
    return found


def unit(rows: Rows, test: Floats, seed: int) -> dict[str, Floats]:
    """Return kernels and neighbours where all columns keep the unit that they share."""
    in_unit, others = rows._replace(X=rows.X * rows.spread), test * rows.spread
    space = Landmarks(rows, in_unit.X, seed, _n_landmarks(len(rows.X)))
    return {
        "kernel ridge, one unit": space.fit(WIDTHS[1]).predict(others),
        "5 neighbours, one unit": means_of_nearest(in_unit.first(SAMPLE_ROWS), others, (5,))[5],
    }


def _n_landmarks(n: int) -> int:
    return int(np.clip((LANDMARK_WORK / n) ** 0.5, FEWEST_LANDMARKS, MOST_LANDMARKS))


class KernelFit:
    """Ridge regression on kernels of landmarks."""

    def __init__(self, landmarks: Singles, scale: float, fit: RidgeFit, of_landmarks: Floats) -> None:
        self.landmarks, self.scale, self.offset, self.score = landmarks, scale, fit.offset, fit.score
        self.coefficients = of_landmarks

    def predict(self, points: Floats) -> Floats:
        """Return predictions of points in the space of the landmarks."""
        found = np.empty(len(points))
        for first in range(0, len(points), 4096):
            block = slice(first, first + 4096)
            found[block] = _kernel(_single(points[block]), self.landmarks, self.scale) @ self.coefficients
        return found + self.offset

    def gradients(self, points: Floats) -> Floats:
        """Return the gradients of the prediction at points."""
        of_rows = _kernel(_single(points), self.landmarks, self.scale) * self.coefficients
        return 2.0 * self.scale * (points * of_rows.sum(axis=1, keepdims=True) - of_rows @ self.landmarks)


class Landmarks:
    """Random landmarks among rows, in some space, and the distances to them."""

    def __init__(self, rows: Rows, points: Floats, seed: int, n_landmarks: int) -> None:
        n = len(points)
        chosen = np.random.default_rng(seed).permutation(n)[: min(n_landmarks, max(n // 2, 50))]
        self.rows, self.landmarks = rows, _single(points[chosen])
        self.to_rows = squared_distances(_single(points), self.landmarks)
        self.between, self.typical = distances_between(points[chosen])

    def fit(self, width: float) -> KernelFit:
        """Fit ridge regression at a width, a share of the median distance."""
        scale = -0.5 / (width**2 * self.typical)
        kernel = np.exp(scale * self.between)
        kernel[np.diag_indices(len(kernel))] += 1e-5
        factor = linalg.cholesky(kernel, lower=True, check_finite=False)
        inverse = linalg.solve_triangular(factor, np.eye(len(factor)), lower=True, check_finite=False)
        with np.errstate(under="ignore"):
            features = np.exp(np.float32(scale) * self.to_rows) @ inverse.T.astype(np.float32)
        fit = fit_ridge(features, self.rows)
        return KernelFit(self.landmarks, scale, fit, inverse.T @ fit.coefficients)

    def best(self, widths: tuple[float, ...]) -> KernelFit:
        """Return the best fit at several widths, by generalised cross-validation."""
        return min((self.fit(width) for width in widths), key=lambda fit: fit.score)


def _kernel(points: Singles, landmarks: Singles, scale: float) -> Singles:
    distances = squared_distances(points, landmarks)
    with np.errstate(over="ignore", under="ignore"):  # what is farther than float32 holds has a kernel of 0
        distances *= np.float32(scale)
        return np.exp(distances, out=distances)


def gradients(rows: Rows, test: Floats, seed: int) -> dict[str, Floats]:
    """Return kernels in spaces that the gradients of earlier fits scale, or turn (Radhakrishnan et al. 2024).

    With M = mean of ∇f ∇f', points become M^½ x, or are scaled by the square roots of its diagonal: what does not
    change the prediction does not count as distance any more.
    """
    used = np.arange(rows.X.shape[1])
    if len(used) > MOST_GRADIENTS:
        used = np.sort(_marginals(rows)[:MOST_GRADIENTS])
    X, others = rows.X[:, used], test[:, used]
    n_landmarks = _n_landmarks(len(X))
    first = _mean_slopes(rows, X, np.eye(len(used)), seed)
    found = {}
    for name, is_turned in (("kernel ridge, scaled by gradients", False), ("kernel ridge, turned by gradients", True)):
        products, turn = first, np.eye(len(used))
        for number in range(GRADIENT_ROUNDS):
            products = _mean_slopes(rows, X, turn, seed) if number else products
            if not is_turned:
                products = np.diag(np.diag(products))
            total = float(np.trace(products))
            if not total > 0:
                break
            s, axes = linalg.eigh(products / total)
            turn = (axes * np.sqrt(np.maximum(s, 0.0))) @ axes.T
        rows.check()
        points = X @ turn
        if not float(points.var(axis=0).sum()) > 0:
            points, turn = X, np.eye(len(used))
        found[name] = Landmarks(rows, points, seed, n_landmarks).best(SCALED_WIDTHS).predict(others @ turn)
    return found


def _mean_slopes(rows: Rows, X: Floats, turn: Floats, seed: int) -> Floats:
    """Return the mean of ∇f ∇f' of a kernel fit in a space."""
    rows.check()
    points = X @ turn
    slopes = Landmarks(rows, points, seed, GRADIENT_LANDMARKS).fit(1.0).gradients(points[:GRADIENT_ROWS]) @ turn.T
    return slopes.T @ slopes / len(slopes)


# --- trees


def trees(rows: Rows, test: Floats, seed: int) -> dict[str, Floats]:
    """Return randomised trees, and neighbours and kernels where features are scaled by their importance."""
    deep, shallow, importance = grow_ensemble(rows, rows.X, test, seed)
    used = np.sort(np.argsort(-importance, kind="stable")[:MOST_SCALED])
    scaled, others = rows._replace(X=rows.X[:, used] * importance[used]), test[:, used] * importance[used]
    found = {
        "trees": shallow,
        "deep trees": deep,
        "15 neighbours, scaled": means_of_nearest(scaled.first(5 * SAMPLE_ROWS), others, (15,))[15],
        "kernel ridge, scaled": Landmarks(rows, scaled.X, seed, _n_landmarks(len(rows.X)))
        .best(SCALED_WIDTHS)
        .predict(others),
    }
    if rows.table is not None:
        found["trees of means"] = grow_ensemble(rows, *_encoded(rows, rows.table), seed)[1]
    return found


def grow_ensemble(rows: Rows, known: Floats, test: Floats, seed: int) -> tuple[Floats, Floats, Floats]:
    """Grow extremely randomised trees; return predictions of deep and shallow ones, and importances of at most 1."""
    d = known.shape[1]
    n_trees = max(FEWEST_TREES, min(N_TREES, N_TREES * TREE_WORK // known.size))
    deep, shallow, importance = np.zeros(len(test)), np.zeros(len(test)), np.zeros(d)
    n_tries = min(d, max(10, min(d // 2, 40)))
    columns, others = _single(known.T), _single(test)
    state, features = np.array([seed], np.uint64), np.arange(d)
    n_rounds = n_trees // TREES_AT_ONCE
    for _ in range(n_rounds):
        rows.check()
        grow_number_trees(
            columns,
            rows.y,
            rows.weight,
            others,
            TREES_AT_ONCE,
            n_tries,
            MIN_ROWS,
            state,
            features,
            deep,
            shallow,
            importance,
        )
    if not importance.max() > 0:
        importance[:] = 1.0
    n_grown = n_rounds * TREES_AT_ONCE
    return deep / n_grown, shallow / n_grown, importance / importance.max()


def _encoded(rows: Rows, table: Any) -> tuple[Floats, Floats]:
    """Return the columns of a table as numbers: mean targets for categories, and gaps below all others."""
    pieces = []
    for column in range(table.train.shape[1]):
        if table.is_category[column]:
            pieces.append(means_of(table, column, rows))
        else:
            known, others = table.train[:, column], table.test[:, column]
            low = float(np.nanmin(known, initial=0.0))
            width = max(float(np.nanmax(known, initial=0.0)) - low, 1e-300)
            known, others = (np.where(np.isnan(side), -1.0, (side - low) / width) for side in (known, others))
            pieces.append((known, others))
    known, others = (np.column_stack(side) for side in zip(*pieces, strict=True))
    return known, others


def boosting(rows: Rows, test: Floats, seed: int) -> dict[str, Floats]:
    """Return gradient boosting over histograms: our own for few rows, scikit-learn's for many."""
    if len(rows.X) > OWN_BOOSTING:
        return {"boosting": _boost_many(rows, test, seed)}
    known, others, is_category = _columns_to_boost(rows, test, MOST_LEVELS)
    bins = np.vstack([bins_of(known[:, j], others[:, j], bool(is_category[j])) for j in range(known.shape[1])])
    n, d = known.shape
    scores = np.zeros(bins.shape[1])
    sizes = min(20, max(3, n // 50)), min(d, BOOSTED_COLUMNS), min(n, MOST_SEEN)
    state = np.array([seed], np.uint64), np.arange(d)
    of_columns = bins, 1 + bins.max(axis=1).astype(np.int64), is_category, rows.y, rows.weight
    for _ in range(N_ROUNDS // ROUNDS_AT_ONCE):
        rows.check()
        boost_numbers(*of_columns, ROUNDS_AT_ONCE, n_leaves_of(n), RATE, RIDGE, *sizes, *state, scores)
    return {"boosting": scores[n:]}


def _boost_many(rows: Rows, test: Floats, seed: int) -> Floats:
    """Return scikit-learn's histogram boosting, of as many rows as its work allows."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    known, others, is_category = _columns_to_boost(rows, test, 255)
    n = int(min(len(known), max(BOOSTED_VALUES / (N_ROUNDS * known.shape[1]), OWN_BOOSTING)))
    model = HistGradientBoostingRegressor(
        max_iter=N_ROUNDS,
        l2_regularization=1.0,
        categorical_features=is_category if is_category.any() else None,
        early_stopping=False,
        random_state=seed % 2**32,
    )
    rows.check()
    with _controller().limit(limits=1, user_api="openmp"):  # learners run side by side, each in a thread of its own
        model.fit(known[:n], rows.y[:n], sample_weight=rows.weight[:n])
        return np.asarray(model.predict(others), np.float64)


def _columns_to_boost(rows: Rows, test: Floats, most_levels: int) -> tuple[Floats, Floats, Bools]:
    """Return what boosting is given: codes of categories, or mean targets in those of many values."""
    table = rows.table
    if table is None:
        return rows.X, test, np.zeros(test.shape[1], bool)
    pieces, is_category = [], []
    for column in range(table.train.shape[1]):
        known, others = (side[:, column] for side in (table.train, table.test))
        if not np.isfinite(known).any():
            continue  # an empty column, which scikit-learn does not take
        is_coded = bool(table.is_category[column])
        if is_coded and max(np.nanmax(known), np.nanmax(others, initial=0.0)) >= most_levels:
            known, others = means_of(table, column, rows)
            is_coded = False
        pieces.append((known, others))
        is_category.append(is_coded)
    if not pieces:
        return rows.X, test, np.zeros(test.shape[1], bool)
    known, others = (np.column_stack(side) for side in zip(*pieces, strict=True))
    return known, others, np.array(is_category)


@cache
def _controller() -> ThreadpoolController:
    """Look once for the libraries whose threads can be limited; scikit-learn's own are loaded by then."""
    return ThreadpoolController()


def _single(X: Any) -> Singles:
    """Return numbers in single precision, in rows of memory."""
    return np.ascontiguousarray(X, np.float32)


#: The learners of each group, by the names that appear in results.
NAMES: dict[str, tuple[str, ...]] = {
    "linear": ("mean", "ridge", "lasso", "quadratic ridge"),
    "additive": ("additive, smooth", "additive, rough", "additive, pairs", "additive, levels"),
    "neighbours": tuple(f"{k} neighbours" for k in N_NEIGHBORS),
    "kernels": tuple(f"kernel ridge {width}" for width in WIDTHS),
    "gradients": ("kernel ridge, scaled by gradients", "kernel ridge, turned by gradients"),
    "trees": ("trees", "deep trees", "15 neighbours, scaled", "kernel ridge, scaled", "trees of means"),
    "boosting": ("boosting",),
    "unit": ("kernel ridge, one unit", "5 neighbours, one unit"),
}

GROUPS: dict[str, Group] = {
    "linear": linear,
    "additive": additive,
    "neighbours": neighbours,
    "kernels": kernels,
    "gradients": gradients,
    "trees": trees,
    "boosting": boosting,
    "unit": unit,
}


def groups_for(
    X: Floats, tabular: TabularView | None = None, supervised: SupervisedFeatures | None = None
) -> dict[str, Group]:
    """Return the groups that have something to say about rows; columns have to share a unit for one of them."""
    has_unit = tabular is None and supervised is None and share_a_unit(X)
    return {name: group for name, group in GROUPS.items() if name != "unit" or has_unit}


def group_of(name: str, estimator: Any) -> Group:
    """Make a group of one of a scikit-learn regressor."""

    def learn(rows: Rows, test: Floats, seed: int) -> dict[str, Floats]:
        from sklearn.base import clone  # takes a second to load, and only learners of a caller need it
        from sklearn.utils.validation import has_fit_parameter

        fitted = clone(estimator)
        if fitted.get_params(deep=False).get("random_state", 0) is None:
            fitted.set_params(random_state=seed % 2**32)
        weighted = has_fit_parameter(fitted, "sample_weight") and not np.all(rows.weight == 1.0)
        keywords = {"sample_weight": rows.weight} if weighted else {}
        fitted.fit(as_given(rows.X, rows.given_columns), rows.y.copy(), **keywords)  # which may change its rows
        predicted = fitted.predict(as_given(test, rows.given_columns))
        return {name: np.asarray(predicted, np.float64).reshape(len(test))}

    return learn
