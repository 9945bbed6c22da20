"""Ensembles of extremely randomised decision trees, for classes and numbers."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.learn.decision_tree_kernels import add_means_of_forest, grow_trees
from bayesfloor.learn.learner import Fitted, Given, Rows
from bayesfloor.learn.records import Record, record, require
from bayesfloor.learn.training_rows import Space, TargetMeans, Train, target_means, within
from bayesfloor.runtime.arrays import Floats, Ints

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
    forest : Forest or None
        The trees, where they are kept.
    """

    deep: Floats
    shallow: Floats
    importance: Floats
    forest: "Forest | None" = None

    def fitted(self, train: Train, outputs: dict[str, int]) -> Fitted:
        """Name what the trees predict: 0 for deep trees, -1 for shallow ones."""
        if self.forest is None:
            return Given({name: (self.deep, self.shallow)[kind] for name, kind in outputs.items()})
        return FittedForest(self.forest, outputs, train.n_classes > 0)


@record
class Forest(Record):
    """Trees, and the rows in their leaves.

    Attributes
    ----------
    feature, threshold, child : ndarray of shape (n_nodes,)
        Of all trees, one after the other: where a node is split, and the first of its two children in the same tree; a
        leaf has the feature -1.
    first, last : ndarray of shape (n_nodes,)
        The rows of each node, as places in `order`.
    order : ndarray of shape (n_trees * n,)
        The rows in the order of the leaves of each tree.
    sizes : ndarray of shape (n_trees,)
        Nodes of each tree.
    codes, targets, weight : ndarray of shape (n,)
        The column of the target that each row has a value in, the value, and what the row counts.
    is_counted : bool
        Whether all rows count the same, and values are 1.
    n_targets, n_features : int
        Columns of the target and of the rows.
    min_rows : int
        Rows of the nodes that shallow trees predict by.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[Any]
    child: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    order: NDArray[np.uint32]
    sizes: Ints
    codes: NDArray[np.int32]
    targets: Floats
    weight: Floats
    is_counted: bool
    n_targets: int
    n_features: int
    min_rows: int

    def check(self) -> None:
        """Every node leads on to nodes behind it, and every leaf to rows that are there, of targets that are there."""
        n, nodes = len(self.codes), (self.feature, self.threshold, self.child, self.first, self.last)
        require(self.threshold.dtype in (np.float32, np.uint16) and all(each.ndim == 1 for each in nodes))
        require(n and len(self.targets) == len(self.weight) == n)
        require(len(self.sizes) and (self.sizes > 0).all() and len({len(each) for each in nodes}) == 1)
        require(self.sizes.sum() == len(self.feature) and len(self.order) == n * len(self.sizes))
        require((self.order < n).all() and (self.codes >= 0).all() and (self.codes < self.n_targets).all())
        require((self.feature >= -1).all() and (self.feature < self.n_features).all())
        require((self.first >= 0).all() and (self.first < self.last).all() and (self.last <= n).all())
        node = np.concatenate([np.arange(size) for size in self.sizes])
        is_split, size = self.feature >= 0, np.repeat(self.sizes, self.sizes)
        require((self.child[is_split] > node[is_split]).all() and (self.child[is_split] + 1 < size[is_split]).all())

    def means(self, test: NDArray[Any]) -> Floats:
        """Return the mean targets in the leaves that rows are in, and in nodes above them of more rows."""
        others = np.ascontiguousarray(test, self.threshold.dtype)
        if others.shape[1] != self.n_features:
            raise ValueError(f"trees of {self.n_features} features are given {others.shape[1]}")
        means = np.zeros((2 if self.min_rows > 1 else 1, len(others), self.n_targets))
        nodes = self.feature, self.threshold, self.child, self.first, self.last
        of_rows = self.codes, self.targets, self.weight, self.is_counted, self.order
        add_means_of_forest(others, *nodes, self.sizes, self.min_rows, *of_rows, means)
        return means / len(self.sizes)


@record
class FittedForest(Fitted):
    """Predictions of deep and of shallow trees.

    Attributes
    ----------
    forest : Forest
        The trees.
    outputs : dict of str to int
        The outputs: 0 for deep trees, -1 for shallow ones.
    are_classes : bool
        Whether targets are classes.
    """

    forest: Forest
    outputs: dict[str, int]
    are_classes: bool

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the means of the trees."""
        means = self.forest.means(rows.X)
        return {name: within(means[kind], 0.0, self.are_classes) for name, kind in self.outputs.items()}


def grow_ensemble(
    train: Train,
    test: NDArray[Any] | None,
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
    test : ndarray of shape (n_test, d) or None
        Rows to predict; none where importances alone are wanted, which takes fewer trees. None to keep the trees.
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
    is_kept = test is None
    columns = np.ascontiguousarray(train.X.T, kind)
    others = np.ascontiguousarray(train.X[:0] if test is None else test, kind)
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
    forest = None
    if is_kept:
        feature, threshold, child, first, last, order = (np.concatenate(each) for each in zip(*kept, strict=True))
        sizes = np.array([len(of_tree[0]) for of_tree in kept])
        nodes = feature, threshold, child, first, last, order, sizes
        forest = Forest(*nodes, codes, targets, weight, is_counted, n_targets, d, min_rows)
    deep, shallow = (train.within(found / n_trees, 0.0) for found in (means[0], means[-1]))
    return Grown(deep, shallow, importance / importance.max(), forest)


def _places_for(n_trees: int, n_rows: int, min_leaf: int, kind: Any) -> tuple[NDArray[Any], ...]:
    """Return arrays that trees are grown in: how many nodes each has, the nodes, and the order of the rows."""
    most = n_trees, 2 * (n_rows // min_leaf) + 3
    feature, child, first, last = (np.zeros(most, np.int32) for _ in range(4))
    threshold, order = np.zeros(most, kind), np.zeros((n_trees, n_rows), np.uint32)
    return np.zeros(n_trees, np.int64), feature, threshold, child, first, last, order


@record
class TableNumbers(Space):
    """The columns of a table as trees take them: targets in categories, and gaps below all numbers.

    Attributes
    ----------
    ranges : ndarray of shape (n_columns, 2)
        Lower and upper end of numbers.
    means : tuple of (TargetMeans or None)
        Of categories.
    """

    ranges: Floats
    means: tuple[TargetMeans | None, ...]

    @classmethod
    def of_train(cls, train: Train) -> tuple[Floats, "TableNumbers"]:
        """Return the columns of training rows, and how to get those of others."""
        assert train.table is not None
        pieces: list[Floats] = []
        ranges, of_columns = np.zeros((train.table.values.shape[1], 2)), []
        for column, values in enumerate(train.table.values.T):
            means = None
            if train.table.is_category[column]:
                known, means = target_means(values, train)
            else:
                low, high = float(np.nanmin(values, initial=np.inf)), float(np.nanmax(values, initial=-np.inf))
                if not low < high:
                    low, high = (low, low + 1.0) if low == high else (0.0, 1.0)
                ranges[column] = low, high
                known = _gaps_below(values, low, high)
            pieces.append(known)
            of_columns.append(means)
        return np.column_stack(pieces), cls(ranges, tuple(of_columns))

    def of(self, rows: Floats) -> Floats:
        """Return the columns of rows."""
        pieces = [
            _gaps_below(values, low, high) if means is None else means.of(values)
            for values, (low, high), means in zip(rows.T, self.ranges, self.means, strict=True)
        ]
        return np.column_stack(pieces)


def _gaps_below(values: Floats, low: float, high: float) -> Floats:
    """Scale numbers by their range in training, and put gaps below them."""
    return np.where(np.isnan(values), -1.0, (values - low) / (high - low))
