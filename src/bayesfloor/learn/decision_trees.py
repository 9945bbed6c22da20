"""Ensembles of extremely randomised decision trees, for classes and numbers."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.learn.decision_tree_kernels import add_means, grow_trees
from bayesfloor.learn.later import Later, beside, of_rows
from bayesfloor.learn.training_rows import Codes, Train, encoded
from bayesfloor.runtime.arrays import Floats

#: Rows at the least that a split is chosen by; a node of twice as many looks at every other one.
LOOKED_AT = 256
#: Fewest rows in the nodes that shallow trees predict by.
MIN_ROWS = 5
#: Trees between two checks for cancellation.
TREES_AT_ONCE = 5
#: Share of the trees that importances are taken from, and how many these are at the least: more change no distance.
IMPORTANT_SHARE, FEWEST_IMPORTANT = 0.25, 10


class Grown(NamedTuple):
    """What an ensemble of trees says.

    Attributes
    ----------
    deep, shallow : ndarray of shape (n_test, n_classes), or (n_test,) for numbers
        Mean targets: in leaves, and in nodes of `MIN_ROWS` rows or more.
    importance : ndarray of shape (d,)
        Importance of each feature, at most 1.
    """

    deep: Floats
    shallow: Floats
    importance: Floats


def grow_ensemble(
    train: Train,
    test: NDArray[Any],
    seed: int,
    n_trees: int,
    min_leaf: int | None = None,
    n_tries: int | None = None,
    min_rows: int = MIN_ROWS,
    n_looked_at: int = LOOKED_AT,
) -> Grown:
    """Grow extremely randomised trees.

    Parameters
    ----------
    train : Train
        Rows with targets; features are floats, or ranks of 16 bits.
    test : ndarray of shape (n_test, d)
        Rows to predict; none where importances alone are wanted, which takes fewer trees.
    seed : int
        Seeds the draws.
    n_trees : int
        Trees.
    min_leaf : int or None, default=None
        Rows in a leaf at the least; None for 1 of classes and 2 of numbers.
    n_tries : int or None, default=None
        Features that vary to try at each node; None for a third of them for classes and half of them for numbers, at
        least 10 and at most 30 or 40.
    min_rows : int, default=MIN_ROWS
        Rows of the nodes that shallow trees predict by; with 1, these are the deep ones.
    n_looked_at : int, default=LOOKED_AT
        Rows that a split is chosen by.

    Returns
    -------
    Grown
    """
    if train.weight is not None and not train.weight.all():  # a leaf of rows that do not count would have no mean
        counts = train.weight > 0
        train = train._replace(X=train.X[counts], y=train.y[counts], weight=train.weight[counts])
    d = train.X.shape[1]
    min_leaf = min_leaf or (1 if train.n_classes else 2)
    if n_tries is None:
        n_tries = min(d, max(10, min(d // 3, 30) if train.n_classes else min(d // 2, 40)))
    kind: Any = np.uint16 if train.X.dtype == np.uint16 else np.float32
    is_kept = isinstance(test, Later)
    columns, others = (
        np.ascontiguousarray(train.X.T, kind),
        np.ascontiguousarray(train.X[:0] if is_kept else test, kind),
    )
    n_targets, is_counted = max(train.n_classes, 1), train.n_classes > 0 and train.weight is None
    codes = train.y.astype(np.int32) if train.n_classes else np.zeros(len(train.y), np.int32)
    weight = train.weights
    targets = np.ones(len(codes)) if train.n_classes else train.y
    n_kinds = 2 if min_rows > 1 else 1
    means, importance = np.zeros((n_kinds, len(others), n_targets)), np.zeros(d)
    state, features = np.array([seed], np.uint64), np.arange(d)
    n_important = min(max(int(IMPORTANT_SHARE * n_trees), FEWEST_IMPORTANT), n_trees)
    of_others = np.zeros(d)
    places = _places_for(TREES_AT_ONCE if is_kept else 1, len(codes), min_leaf, kind)
    kept: list[tuple[NDArray[Any], ...]] = []
    grown = 0
    while grown < (n_trees if is_kept or len(others) else n_important):
        train.check()
        is_important = grown < n_important
        n_now = min(TREES_AT_ONCE, (n_important if is_important else n_trees) - grown)
        grow_trees(
            columns, codes, targets, weight, is_counted, others, n_now, n_tries, n_looked_at, min_leaf, min_rows,
            state, features, means, importance if is_important else of_others, *places,
        )  # fmt: skip
        grown += n_now
        if is_kept:
            n_nodes, *of_nodes, orders = places
            of_trees = [[each[tree, : n_nodes[tree]].copy() for each in of_nodes] for tree in range(n_now)]
            kept += [(*of_tree, orders[tree].copy()) for tree, of_tree in enumerate(of_trees)]
    if not importance.max() > 0:
        importance[:] = 1.0
    if is_kept:
        feature, threshold, child, first, last, order = (np.concatenate(each) for each in zip(*kept, strict=True))
        sizes = np.array([len(of_tree[0]) for of_tree in kept])
        nodes = feature, threshold, child, first, last, order
        both = _means_of_trees(test, *nodes, sizes, codes, targets, weight, is_counted, n_targets, d, min_rows, n_kinds)
        deep, shallow = (train.within(_of_kind(both, number), 0.0) for number in (0, n_kinds - 1))
        return Grown(deep, shallow, importance / importance.max())
    deep, shallow = (train.within(found / n_trees, 0.0) for found in (means[0], means[-1]))
    return Grown(deep, shallow, importance / importance.max())


def _places_for(n_trees: int, n_rows: int, min_leaf: int, kind: Any) -> tuple[NDArray[Any], ...]:
    """Return arrays that trees are grown in: how many nodes each has, the nodes, and the order of the rows."""
    most = n_trees, 2 * (n_rows // min_leaf) + 3
    feature, child, first, last = (np.zeros(most, np.int32) for _ in range(4))
    threshold, order = np.zeros(most, kind), np.zeros((n_trees, n_rows), np.uint32)
    return np.zeros(n_trees, np.int64), feature, threshold, child, first, last, order


@of_rows
def _of_kind(means: Floats, kind: int) -> Floats:
    """Return the means of deep trees, or of shallow ones."""
    return means[kind]


@of_rows
def _means_of_trees(
    test: NDArray[Any],
    feature: NDArray[Any],
    threshold: NDArray[Any],
    child: NDArray[Any],
    first: NDArray[Any],
    last: NDArray[Any],
    order: NDArray[Any],
    sizes: NDArray[Any],
    codes: NDArray[Any],
    targets: Floats,
    weight: Floats,
    is_counted: bool,
    n_targets: int,
    n_features: int,
    min_rows: int,
    n_kinds: int,
) -> Floats:
    """Return the mean targets in the leaves that rows are in, and in nodes above them of more rows."""
    others = np.ascontiguousarray(test, threshold.dtype)
    if others.shape[1] != n_features:
        raise ValueError(f"trees of {n_features} features are given {others.shape[1]}")
    means, stop, n = np.zeros((n_kinds, len(others), n_targets)), 0, len(codes)
    for tree, size in enumerate(sizes):
        own = slice(stop, stop + size)
        nodes = [each[own] for each in (feature, threshold, child, first, last)]
        of_tree = order[tree * n : (tree + 1) * n]
        add_means(others, *nodes, min_rows, codes, targets, weight, is_counted, of_tree, means)
        stop += size
    return means / len(sizes)


def numbers_of_table(train: Train, table: Codes) -> tuple[Floats, Floats]:
    """Return the columns of a table as trees take them: targets in categories, and gaps below all numbers.

    Parameters
    ----------
    train : Train
        The training rows.
    table : Codes
        Their columns as codes.

    Returns
    -------
    train, test : ndarray of shape (n, n_columns)
    """
    pieces = []
    for column in range(table.train.shape[1]):
        if table.is_category[column]:
            pieces.append(encoded(table, column, train))
            continue
        known, others = table.train[:, column], table.test[:, column]
        low, high = float(np.nanmin(known, initial=np.inf)), float(np.nanmax(known, initial=-np.inf))
        if not low < high:
            low, high = (low, low + 1.0) if low == high else (0.0, 1.0)
        pieces.append((_gaps_below(known, low, high), _gaps_below(others, low, high)))
    known, others = (beside(*side) for side in zip(*pieces, strict=True))
    return known, others


@of_rows
def _gaps_below(values: Floats, low: float, high: float) -> Floats:
    """Scale numbers by their range in training, and put gaps below them."""
    return np.where(np.isnan(values), -1.0, (values - low) / (high - low))
