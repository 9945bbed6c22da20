"""Families for many rows: their cost grows no faster than the rows, up to a logarithm.

The contract is that of `bayesfloor.learn.families`. Rows come in float32 and in random order, so the first of them are
a random sample::

    simple      prior, LDA, QDA, Gaussian naive Bayes and logistic regression of a sample: they have few parameters
    deep trees  randomised trees with pure leaves; neighbours, and kernel ridge regression of the nearest rows and of
                landmarks, where their importances scale features
    unit        neighbours, and kernel ridge regression of them, where columns keep a unit that they share, as pixels do
    landmarks   the landmark model of `LandmarkClassifier`
    boosting    gradient boosting over histograms, of a sample of the rows and of all of them
    network     a small network, where columns are 0 or 1
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.prepared_table import TabularView
from bayesfloor.learn.boosting import boosting
from bayesfloor.learn.boosting_by_parts import MANY_ROWS, NAME, boosting_of_parts
from bayesfloor.learn.decision_trees import Grown, grow_ensemble, numbers_of_table
from bayesfloor.learn.discriminants import gaussian, logistic
from bayesfloor.learn.families import CLASS_LEARNERS, Family
from bayesfloor.learn.landmarks.efforts import EFFORTS
from bayesfloor.learn.landmarks.feature_map import FeatureMap
from bayesfloor.learn.landmarks.fitting import fit_model, order_rows, probabilities_of, scores_of
from bayesfloor.learn.later import as_kind, of_rows, repeated
from bayesfloor.learn.nearest import LOCAL_ROWS, near_learners, near_names
from bayesfloor.learn.network import is_mostly_binary, n_epochs, network
from bayesfloor.learn.ridge import kernel_ridge
from bayesfloor.learn.training_rows import Train, components, narrow, share_a_unit
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.threads import WorkerPool

Ranks = NDArray[np.uint16]

#: Most rows for discriminants, and for logistic regression: models of few parameters gain nothing from more.
GAUSSIAN_ROWS, LOGISTIC_ROWS = 20_000, 50_000
#: Minimum and maximum number of trees; in between, as many as have so many rows together.
FEWEST_TREES, MOST_TREES, TREE_ROWS = 16, 60, 6_000_000
#: Rows of a node that a cut is chosen by; a larger node is looked at in part.
LOOKED_AT = 2048
#: Different values of a feature that trees tell apart: those of 16 bits.
MOST_RANKS = 65_536
#: Minimum and maximum number of landmarks m; in between, as many as keep n·m² within this budget.
FEWEST_LANDMARKS, MOST_LANDMARKS, LANDMARK_WORK = 200, 850, 3e10
#: Width of the kernel, as a share of the median distance between landmarks.
LANDMARK_WIDTH = 0.5
#: Most rows of a landmark model, which takes them in float64.
LANDMARK_ROWS = 200_000
#: Bytes of its features in memory, or those of the rows if these are more; others are computed in each of ten passes.
LANDMARK_BYTES = 2**26
#: Rows of all passes of the network together.
NETWORK_ROWS = 1_000_000


#: The families of models with few parameters, their rows, and their learners.
SIMPLE = (
    (gaussian, GAUSSIAN_ROWS, CLASS_LEARNERS["gaussian"]),
    (logistic, LOGISTIC_ROWS, CLASS_LEARNERS["logistic"]),
)


def simple(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return discriminants, naive Bayes and logistic regression of a sample of the rows."""
    found: dict[str, Floats] = {}
    train = train.drawn_by_weight()
    for family, n_rows, names in SIMPLE:
        if not train.wants(*names):
            continue
        some = train.first(n_rows)
        sample, others = narrow(some._replace(X=some.X.astype(np.float64)), as_kind(test, "float64"))
        train.check()
        found |= family(sample, others, seed)
    return found


def network_of_sample(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return a small network, of as many rows as its passes over them allow."""
    train = train.drawn_by_weight()
    return network(train.first(NETWORK_ROWS // n_epochs(train.X.shape[1])), test, seed)


# --- decision trees, and distances by their importances


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
    found = {}
    if train.table is not None and train.wants("deep trees of shares"):
        known, others = numbers_of_table(train, train.table)
        found["deep trees of shares"] = grow_deep(train._replace(X=known), others, n_trees, seed).deep
    means, ridges = near_names("scaled")
    is_scaled = train.wants(*means, *ridges, "landmark ridge")
    if not (is_scaled or train.wants("deep trees")):
        return found
    grown = grow_deep(train, test if train.wants("deep trees") else train.X[:0], n_trees, seed)
    found = train.asked_for({"deep trees": lambda: grown.deep}) | found
    if not is_scaled:
        return found
    points, others = components(train.X, test, grown.importance)
    scaled = train._replace(X=points, table=None)
    found |= near_learners(scaled, others, means, ridges, LOCAL_ROWS)
    return found | train.asked_for(
        {"landmark ridge": lambda: kernel_ridge(scaled, others, seed, (LANDMARK_WIDTH,), n_landmarks)}
    )


def unit(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return neighbours and local ridge regression in the unit that columns share."""
    means, ridges = near_names("one unit")
    if not train.wants(*means, *ridges):
        return {}
    points, others = components(train.X, test, np.asarray(train.spread))
    return near_learners(train._replace(X=points, table=None), others, means, ridges, LOCAL_ROWS)


def grow_deep(train: Train, test: Floats, n_trees: int, seed: int) -> Grown:
    """Grow trees of ranks to pure leaves."""
    ranks, others = _ranks_of(train.X, test)
    d = len(ranks)
    n_tries = min(d, max(10, round(d**0.5)))
    return grow_ensemble(
        train._replace(X=ranks.T), others, seed, n_trees, n_tries=n_tries, min_rows=1, n_looked_at=LOOKED_AT
    )


def _ranks_of(X: Floats, test: Floats) -> tuple[Ranks, Ranks]:
    """Return the ranks of the values of each feature among the different ones, feature by feature, and of test rows.

    A value between two others gets the rank of the nearer one.
    """
    columns, cuts = np.empty(X.shape[::-1], np.uint16), []
    for j in range(X.shape[1]):
        known = np.unique(X[:, j])
        if len(known) > MOST_RANKS:
            known = known[np.linspace(0, len(known) - 1, MOST_RANKS).astype(np.int64)]
        cuts.append(known[:-1] + (known[1:] - known[:-1]) / 2)
        columns[j] = np.searchsorted(cuts[j], X[:, j])
    return columns, _ranks_between(test, tuple(cuts))


@of_rows
def _ranks_between(test: Floats, cuts: tuple[Floats, ...]) -> Ranks:
    """Return the ranks of the values of rows, from what lies between two ranks."""
    ranks = np.empty(test.shape, np.uint16)
    for j, of_column in enumerate(cuts):
        ranks[:, j] = np.searchsorted(of_column, test[:, j])
    return ranks


def landmarks(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return the probabilities of a landmark model: random features, and multinomial regression on them."""
    if not train.wants("landmark model"):
        return {}
    # the stack has other members; and several sets are trained at the same time
    train = train.first(LANDMARK_ROWS)
    kept_bytes = max(LANDMARK_BYTES, 8 * train.X.size)
    effort = replace(EFFORTS["default"], members=(), kept_bytes=kept_bytes)
    classes, codes = np.unique(train.codes, return_inverse=True)
    if len(classes) < 2:
        return {"landmark model": repeated(test, train.prior)}
    train.check()
    rows = order_rows(np.ascontiguousarray(train.X, np.float64), codes, train.weights, seed, None, effort)
    model = fit_model(rows, len(classes), effort, seed, WorkerPool(1))
    shares = _landmark_shares(test, model.feature_map.to_dict(), model.coefficients, classes, train.n_classes)
    return {"landmark model": shares}


@of_rows
def _landmark_shares(
    test: Floats,
    features: dict[str, Any],
    coefficients: NDArray[np.float32],
    classes: NDArray[Any],
    n_classes: int,
) -> Floats:
    """Return the probabilities of a landmark model; 0 for classes that it has not seen."""
    points = np.ascontiguousarray(test, np.float64)
    scores = scores_of(points, FeatureMap(**features), coefficients, None, WorkerPool(1))
    probability = np.zeros((len(test), n_classes))
    probability[:, classes] = probabilities_of(scores)
    return probability


#: Families for many rows.
LINEAR_FAMILIES: dict[str, Family] = {
    "simple": simple,
    "deep trees": deep_trees,
    "unit": unit,
    "landmarks": landmarks,
    "boosting": boosting,
    NAME: boosting_of_parts,
    "network": network_of_sample,
}


#: The learners of each of them, by the names that appear in results.
LINEAR_LEARNERS: dict[str, tuple[str, ...]] = {
    "simple": tuple(name for _, _, names in SIMPLE for name in names),
    "deep trees": (
        "deep trees",
        "deep trees of shares",
        *(name for kind in near_names("scaled") for name in kind),
        "landmark ridge",
    ),
    "unit": tuple(name for kind in near_names("one unit") for name in kind),
    "landmarks": ("landmark model",),
    "boosting": ("boosting",),
    NAME: (NAME,),
    "network": ("network",),
}


def linear_families_for(X: Floats, tabular: TabularView | None, n_rows: int) -> dict[str, Family]:
    """Return the families that have something to say about rows, whatever their labels; `n_rows` bounds their work."""
    wanted = {"unit": tabular is None and share_a_unit(X), "network": is_mostly_binary(X)}
    wanted[NAME] = n_rows >= MANY_ROWS
    families = LINEAR_FAMILIES | {"deep trees": partial(deep_trees, n_rows=n_rows)}
    return {name: family for name, family in families.items() if wanted.get(name, True)}
