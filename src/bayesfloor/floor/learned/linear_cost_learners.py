"""Learners for many rows: their cost grows no faster than the rows, up to a logarithm.

The contract is that of `bayesfloor.floor.learned.learners`. Rows come in float32 and in random order, so the first of
them are a random sample::

    simple      prior, LDA, QDA, Gaussian naive Bayes and logistic regression of a sample: they have few parameters
    deep trees  randomised trees with pure leaves; neighbours, and kernel ridge regression of the nearest rows and of
                landmarks, where their importances scale features
    unit        neighbours, and kernel ridge regression of them, where columns keep a unit that they share, as pixels do
    boosting    scikit-learn's histogram boosting, of a sample where classes and features are many
    network     a small network, where columns are 0 or 1
"""

from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg.blas import ssyrk
from threadpoolctl import ThreadpoolController

from bayesfloor.data.prepared_table import TabularView
from bayesfloor.data.target_encoding import classes_to_encode
from bayesfloor.floor.learned.gaussian_learners import gaussian
from bayesfloor.floor.learned.gradient_learners import is_mostly_binary, logistic, n_epochs, network
from bayesfloor.floor.learned.learners import Group
from bayesfloor.floor.learned.linear_cost_kernels import grow_deep_trees, keep_nearest
from bayesfloor.floor.learned.local_learners import local_ridge, share_a_unit, votes_of
from bayesfloor.floor.learned.table_learners import shares_of
from bayesfloor.floor.learned.training_rows import Train, components, distances_between, narrow, squared_distances
from bayesfloor.runtime.arrays import Bools, Floats, Ints

Ranks = NDArray[np.uint16]

#: Most rows for discriminants, and for logistic regression: models of few parameters gain nothing from more.
GAUSSIAN_ROWS, LOGISTIC_ROWS = 20_000, 50_000
#: Trees, at the least and at the most, and the rows of all of them together that lie between.
FEWEST_TREES, MOST_TREES, TREE_ROWS = 16, 60, 6_000_000
#: Rows of a node that a cut is chosen by; a larger node is looked at in part.
LOOKED_AT = 2048
#: Different values of a feature that trees tell apart: those of 16 bits.
MOST_RANKS = 65_536
#: Numbers of neighbours that vote.
N_NEIGHBORS = (1, 5, 15)
#: Landmarks at the least and at the most; rows times squared landmarks that lie between, which is the cost.
FEWEST_LANDMARKS, MOST_LANDMARKS, LANDMARK_WORK = 200, 1000, 5e10
#: Width of the kernel, as a share of the median distance between landmarks.
LANDMARK_WIDTH = 0.5
#: Nearest rows that local ridge regression is fitted to; its widths, as shares of the median distance, and penalties.
LOCAL_ROWS, LOCAL_FITS = 64, ((0.25, 0.3), (0.5, 0.01))
#: Ridge penalties to choose from, as multiples of the rows.
PENALTIES = (1e-7, 1e-5, 1e-3)
#: Every so many-th row is held out for that choice.
HELD_OUT = 10
#: Rows in a block of landmark features; test rows and training rows in one of distances, which stays in the cache.
BLOCK, NEAR_TESTS, NEAR_ROWS = 4096, 256, 2048
#: Rows of all passes of the network together.
NETWORK_ROWS = 1_000_000
#: Rounds of boosting, at the least and at the most; its trees, which lie between; values of all trees, which bound
#: its rows.
FEWEST_ROUNDS, MOST_ROUNDS, BOOSTED_TREES, BOOSTED_VALUES = 20, 100, 400, 8e8
#: Most values of a category that boosting takes as one.
MOST_LEVELS = 255


def simple(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return discriminants, naive Bayes and logistic regression of a sample of the rows."""
    found: dict[str, Floats] = {}
    for group, n_rows in ((gaussian, GAUSSIAN_ROWS), (logistic, LOGISTIC_ROWS)):
        X, codes = train.X[:n_rows].astype(np.float64), train.codes[:n_rows]
        sample, others = narrow(train._replace(X=X, codes=codes, table=None), test.astype(np.float64))
        train.check()
        found |= group(sample, others, seed)
    return found


def network_of_sample(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return a small network, of as many rows as its passes over them allow."""
    n_rows = NETWORK_ROWS // n_epochs(train.X.shape[1])
    return network(train._replace(X=train.X[:n_rows], codes=train.codes[:n_rows], table=None), test, seed)


def boosting(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return scikit-learn's histogram boosting, of as many rows as its work allows."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    seen = np.unique(train.codes)
    probability = np.zeros((len(test), train.n_classes))
    if len(seen) < 2:
        probability[:, seen] = 1.0
        return {"boosting": probability}
    known, others, is_category = _columns_to_boost(train, test)
    trees_in_round = len(seen) if len(seen) > 2 else 1
    n_rounds = int(np.clip(BOOSTED_TREES // trees_in_round, FEWEST_ROUNDS, MOST_ROUNDS))
    n_rows = int(max(BOOSTED_VALUES / (n_rounds * trees_in_round * known.shape[1]), 5000))
    model = HistGradientBoostingClassifier(
        learning_rate=0.15,
        max_iter=n_rounds,
        l2_regularization=1.0,
        categorical_features=is_category if is_category.any() else None,
        early_stopping=False,
        random_state=seed % 2**32,
    )
    train.check()
    with _controller().limit(limits=1, user_api="openmp"):  # learners run side by side, each in a thread of its own
        model.fit(known[:n_rows], train.codes[:n_rows])
        probability[:, model.classes_] = model.predict_proba(others)
    return {"boosting": probability}


def _columns_to_boost(train: Train, test: Floats) -> tuple[Floats, Floats, Bools]:
    """Return what boosting is given: codes of categories, or the shares of the classes in those of many values."""
    table = train.table
    if table is None:
        return train.X, test, np.zeros(test.shape[1], bool)
    used = classes_to_encode(train.codes, train.n_classes)
    pieces, is_category = [], []
    for column in range(table.train.shape[1]):
        known, others = (side[:, column, np.newaxis] for side in (table.train, table.test))
        if not np.isfinite(known).any():
            continue  # an empty column, which scikit-learn does not take
        is_coded = bool(table.is_category[column])
        if is_coded and max(np.nanmax(known), np.nanmax(others, initial=0.0)) >= MOST_LEVELS:
            known, others = shares_of(table, column, train, used)
            is_coded = False
        pieces.append((known, others))
        is_category += known.shape[1] * [is_coded]
    if not pieces:
        return train.X, test, np.zeros(test.shape[1], bool)
    known, others = (np.hstack(side) for side in zip(*pieces, strict=True))
    return known, others, np.array(is_category)


@cache
def _controller() -> ThreadpoolController:
    """Look once for the libraries whose threads can be limited; scikit-learn's own are loaded by then."""
    return ThreadpoolController()


# --- trees, and distances by their importances


def deep_trees(train: Train, test: Floats, seed: int, n_rows: int | None = None) -> dict[str, Floats]:
    """Return deep trees, and neighbours and kernel ridge regression where features are scaled by their importance.

    Parameters
    ----------
    train : Train
        Rows with labels.
    test : ndarray of shape (n_test, d)
        Rows to predict.
    seed : int
        Seeds trees and landmarks.
    n_rows : int or None, default=None
        Rows that bound the work, those of all if this is one of several training sets: fewer rows must not have more
        trees, or their error would not tell what the rows are worth. None for those of `train`.

    Returns
    -------
    dict of str to ndarray of shape (n_test, n_classes)
    """
    n_rows = len(train.X) if n_rows is None else n_rows
    n_trees = int(np.clip(TREE_ROWS // n_rows, FEWEST_TREES, MOST_TREES))
    n_landmarks = int(np.clip((LANDMARK_WORK / n_rows) ** 0.5, FEWEST_LANDMARKS, MOST_LANDMARKS))
    probability, importance = _grow(*_ranks_of(train.X, test), train, n_trees, seed)
    found = {"deep trees": probability}
    if train.table is not None:
        found["deep trees of shares"] = _grow(*_ranks_of_table(train), train, n_trees, seed)[0]
    scale = importance / importance.max() if importance.max() > 0 else np.ones(len(importance))
    points, others = components(train.X, test, scale)
    scaled = train._replace(X=points, table=None)
    found |= {f"{name}, scaled": votes for name, votes in local_learners(scaled, others).items()}
    return found | {"landmark ridge": landmark_ridge(scaled, others, n_landmarks, seed)}


def unit(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return neighbours and local ridge regression in the unit that columns share."""
    points, others = components(train.X, test, np.asarray(train.spread))
    in_unit = train._replace(X=points, table=None)
    return {f"{name}, one unit": votes for name, votes in local_learners(in_unit, others).items()}


def local_learners(train: Train, test: Floats) -> dict[str, Floats]:
    """Return the votes of nearest rows, and kernel ridge regression of them."""
    nearest = nearest_rows(train, test, LOCAL_ROWS)
    found = {f"{k} neighbours": votes_of(nearest[:, :k], train) for k in N_NEIGHBORS}
    for width, penalty in LOCAL_FITS:
        found[f"local ridge {width}"] = local_ridge(train, test, nearest, width, penalty)
    return found


def _grow(columns: Ranks, test: Ranks, train: Train, n_trees: int, seed: int) -> tuple[Floats, Floats]:
    """Grow trees; return their probabilities and the importances of the features."""
    d = len(columns)
    probability, importance = np.zeros((len(test), train.n_classes)), np.zeros(d)
    n_tries = min(d, max(10, round(d**0.5)))
    codes, state = train.codes.astype(np.int32), np.array([seed], np.uint64)
    for _ in range(n_trees):
        train.check()
        grow_deep_trees(columns, codes, train.n_classes, test, 1, n_tries, LOOKED_AT, state, probability, importance)
    return probability, importance


def _ranks_of(X: Floats, test: Floats) -> tuple[Ranks, Ranks]:
    """Return the ranks of the values of each feature among the different ones, feature by feature, and of test rows.

    A value between two others gets the rank of the nearer one.
    """
    columns = np.empty(X.shape[::-1], np.uint16)
    others = np.empty(test.shape, np.uint16)
    for j in range(X.shape[1]):
        columns[j], others[:, j] = _ranks(X[:, j], test[:, j])
    return columns, others


def _ranks(values: Floats, test: Floats) -> tuple[Ints, Ints]:
    known = np.unique(values)
    if len(known) > MOST_RANKS:
        known = known[np.linspace(0, len(known) - 1, MOST_RANKS).astype(np.int64)]
    middles = known[:-1] + (known[1:] - known[:-1]) / 2
    return np.searchsorted(middles, values), np.searchsorted(middles, test)


def _ranks_of_table(train: Train) -> tuple[Ranks, Ranks]:
    """Return the same of the columns of a table: shares of classes in categories, and gaps below all numbers."""
    table = train.table
    assert table is not None
    used = classes_to_encode(train.codes, train.n_classes)
    pieces = []
    for column in range(table.train.shape[1]):
        if table.is_category[column]:
            known, others = shares_of(table, column, train, used)
        else:
            known, others = table.train[:, column, np.newaxis], table.test[:, column, np.newaxis]
            low = np.nanmin(known, initial=0.0) - 1.0
            known, others = (np.where(np.isnan(side), low, side) for side in (known, others))
        pieces.append(_ranks_of(known, others))
    return np.vstack([columns for columns, _ in pieces]), np.hstack([others for _, others in pieces])


def nearest_rows(train: Train, test: Floats, k: int) -> Ints:
    """Return the numbers of the k nearest training rows of each test row, the nearest first."""
    k = min(k, len(train.X))
    distance = np.full((len(test), k), np.inf, np.float32)
    nearest = np.zeros((len(test), k), np.int64)
    # The product of (-2x, 1) and (y, y'y) is a squared distance up to x'x, which all rows share.
    points = np.column_stack([-2.0 * test, np.ones(len(test), test.dtype)])
    for first in range(0, len(train.X), NEAR_ROWS):
        train.check()
        known = train.X[first : first + NEAR_ROWS]
        known = np.column_stack([known, np.einsum("ij,ij->i", known, known)])
        for row in range(0, len(test), NEAR_TESTS):
            rows = slice(row, row + NEAR_TESTS)
            keep_nearest(points[rows] @ known.T, first, distance[rows], nearest[rows])
    return nearest


def landmark_ridge(train: Train, test: Floats, n_landmarks: int, seed: int) -> Floats:
    """Regress indicators of the classes on RBF features of random landmarks.

    The penalty is the best of `PENALTIES` on rows that are held out.

    Parameters
    ----------
    train : Train
        Rows with labels.
    test : ndarray of shape (n_test, d)
        Rows to predict.
    n_landmarks : int
        How many landmarks, at most.
    seed : int
        Draws them.

    Returns
    -------
    ndarray of shape (n_test, n_classes)
    """
    n = len(train.X)
    landmarks = train.X[np.random.default_rng(seed).permutation(n)[: min(n_landmarks, n // 4)]]
    between, typical = distances_between(landmarks.astype(np.float64))
    scale = -0.5 / (LANDMARK_WIDTH**2 * typical)
    kernel = np.exp(scale * between)
    held_out = np.arange(n) % HELD_OUT == 0
    kept, left_out = (_moments(train, rows, landmarks, scale) for rows in (~held_out, held_out))
    features, expected = _features(train.X[held_out], landmarks, scale), train.one_hot[held_out]
    best, lowest = PENALTIES[0], np.inf
    for penalty in PENALTIES:
        train.check()
        predicted = features @ _solved(*kept, kernel, penalty * n).astype(np.float32) + train.prior
        loss = float(((predicted - expected) ** 2).sum())
        if loss < lowest:
            best, lowest = penalty, loss
    coefficients = _solved(kept[0] + left_out[0], kept[1] + left_out[1], kernel, best * n).astype(np.float32)
    predicted = _features(test, landmarks, scale) @ coefficients + train.prior
    return np.clip(predicted, 0.5 / (n + 1.0), None)


def _features(X: Floats, landmarks: Floats, scale: float) -> Floats:
    distances = squared_distances(X, landmarks)
    distances *= np.float32(scale)
    return np.exp(distances, out=distances)


def _moments(train: Train, rows: Bools, landmarks: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return the products of the features with each other (upper triangle), and with the classes, summed over rows."""
    X, codes = train.X[rows], train.codes[rows]
    squares = np.zeros((len(landmarks), len(landmarks)))
    products = np.zeros((len(landmarks), train.n_classes))
    for first in range(0, len(X), BLOCK):
        train.check()
        features = _features(X[first : first + BLOCK], landmarks, scale)
        squares += ssyrk(1.0, features.T, lower=0)
        targets = np.eye(train.n_classes, dtype=np.float32)[codes[first : first + BLOCK]]
        products += features.T @ (targets - train.prior.astype(np.float32))
    return squares, products


def _solved(squares: Floats, products: Floats, kernel: Floats, penalty: float) -> Floats:
    """Solve (squares + penalty kernel) c = products; a little more is added to the diagonal until that can be done."""
    matrix = squares + penalty * kernel
    diagonal = np.diag_indices(len(matrix))
    added = 1e-7 * float(matrix[diagonal].max())
    while True:
        matrix[diagonal] += added
        try:
            return linalg.cho_solve((linalg.cholesky(matrix), False), products)
        except linalg.LinAlgError:  # rounding to float32 made it indefinite
            added *= 10.0


#: Groups of learners for many rows.
LINEAR_GROUPS: dict[str, Group] = {
    "simple": simple,
    "deep trees": deep_trees,
    "unit": unit,
    "boosting": boosting,
    "network": network_of_sample,
}


def linear_groups_for(X: Floats, tabular: TabularView | None, n_rows: int) -> dict[str, Group]:
    """Return the groups that have something to say about rows, whatever their labels; `n_rows` bounds their work."""
    wanted = {"unit": tabular is None and share_a_unit(X), "network": is_mostly_binary(X)}
    groups = LINEAR_GROUPS | {"deep trees": partial(deep_trees, n_rows=n_rows)}
    return {name: group for name, group in groups.items() if wanted.get(name, True)}
