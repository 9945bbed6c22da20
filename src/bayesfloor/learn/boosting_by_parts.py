"""Gradient boosting of any number of rows, in parts.

Trees are grown to histograms that are added up over some of the parts, and their leaves get values from all rows: sums
of derivatives, which parts add up by themselves. All sums are of integers: the order of parts does not matter. A
round::

    some parts in turn: histograms of new nodes ──▶ here: best splits      several times, until the trees have grown
    every part: leaf of each row, sums by leaf  ──▶ here: values of leaves

The node with the largest gain is split first (Shi 2007), and with it those whose gain is not much smaller: a tree of
127 leaves takes some sixteen steps.

The scores of the rows stay with their part. They follow from the trees, so that a part which was lost finds them again.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.row_parts import RowPart
from bayesfloor.learn.boosting import RIDGE, BoostedColumns, FittedBoosting, bins_by, cuts_of, prior_scores
from bayesfloor.learn.boosting_kernels import (
    MOST_BINS,
    UNCOUNTED,
    Trees,
    add_trees,
    add_up,
    add_values,
    best_column,
    count_of,
    find_leaves,
    split_node,
    write_leaves,
)
from bayesfloor.learn.boosting_part_kernels import LEAF_UNIT, sum_by_leaf, write_derivatives
from bayesfloor.learn.learner import Fitted, Learner, Look, Output, Rows
from bayesfloor.learn.parts import PartPool, Shared
from bayesfloor.learn.training_rows import Train
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.threads import WorkerPool

#: Name of the learner.
NAME = "boosting of all rows"
#: Trees of all classes together, at the least and at the most, and rows for each tree in between.
FEWEST_TREES, MOST_TREES, ROWS_OF_TREE = 450, 700, 1000
#: Rounds at the least.
FEWEST_ROUNDS = 40
#: Share of each step that is taken, at the least and at the most, and what the shares of all rounds add up to between.
RATE, LARGE_RATE, ALL_RATES = 0.15, 0.25, 22.0
#: Longest step of the score of a class, before a share of it is taken. Where a class is rare, second derivatives nearly
#: vanish, and steps without a bound may diverge.
MOST_STEP = 4.0
#: Leaves of a tree, and rows in each at the least.
N_LEAVES, MIN_ROWS = 127, 20
#: Most columns drawn for each tree.
MOST_COLUMNS = 30
#: Rows that each tree is grown to at the least, rows times scores alike, the share of all rows, and how many times the
#: least at the most: they are in memory.
GROWN_ROWS, GROWN_SCORES, GROWN_SHARE, MOST_GROWN = 2**20, 2**22, 0.25, 4
#: Share of the largest gain from which nodes are split at the same time.
AT_ONCE = 0.35
#: Root mean squares of numbers above which a difference counts no more for where trees are split.
CLIPPED = 6.0
#: Rows in memory from which all of them are boosted: of fewer, `bayesfloor.learn.boosting` makes as much.
MANY_ROWS = 20_000
#: Rows of all trees together: with very many classes some parts are left out.
ROWS_OF_TREES = 8_000_000_000


class BoostedTarget(NamedTuple):
    """What is boosted: the number of classes, 0 for numbers, and the score of every row before the first round."""

    n_classes: int
    start: Floats


class Round(NamedTuple):
    """What parts are told of a round.

    Attributes
    ----------
    key : str
        Names the training set.
    trees : Trees
        Those of the rounds before.
    is_category : ndarray of shape (n_columns,)
        Which columns of bins hold codes.
    target : BoostedTarget
        What is boosted.
    unit : float
        That of first derivatives of numbers.
    seed : int
        Seeds the rounding of derivatives.
    """

    key: str
    trees: Trees
    is_category: Bools
    target: BoostedTarget
    unit: float
    seed: int


def boosted_target(prior: Floats, n_classes: int) -> BoostedTarget:
    """Return where boosting starts: at the shares of the classes, or at the mean of the numbers."""
    return BoostedTarget(n_classes, prior_scores(prior) if n_classes else prior)


def boost_parts(
    pool: PartPool,
    numbers: Sequence[int],
    target: BoostedTarget,
    is_category: Bools,
    seed: int,
    check: Callable[[], None] | None = None,
) -> Trees:
    """Boost some parts, and return the trees.

    Parameters
    ----------
    pool : PartPool
        The parts.
    numbers : sequence of int
        Those to train on.
    target : BoostedTarget
        As from `boosted_target`.
    is_category : ndarray of shape (n_columns,)
        Which columns of bins hold codes.
    seed : int
        Seeds the draws of columns, and the rounding of derivatives.
    check : callable or None, default=None
        Called before each round; raises where the work has been given up. None for that of the pool.

    Returns
    -------
    Trees
    """
    n_classes, start = target
    n_scores = len(start)
    n_rounds, rate = _pace(sum(pool.parts[number].n_rows for number in numbers), n_scores)
    numbers = _affordable(pool, numbers, n_rounds * n_scores)
    trees = Trees.unsplit(n_rounds, n_scores, N_LEAVES)
    key = f"boosting {seed} {numbers[0]} {len(numbers)}"
    turns = _turns(pool, numbers, n_scores)
    mean_square, rng = 1.0, np.random.default_rng(seed)
    for number in range(n_rounds):
        (check or pool.pool.check)()
        unit, tree = CLIPPED * mean_square**0.5, trees.at(number)
        current = pool.share(Round(key, trees.at(slice(number)), is_category, target, unit, seed + number))
        last = _grow(pool, turns[number % len(turns)], current, tree, rng)
        sums = LEAF_UNIT * pool.added_up(sums_of_leaves, numbers, current, tree, *last)
        steps = -sums[..., 0] / (sums[..., 1] + RIDGE)
        tree.value[:] = values = rate * (np.clip(steps, -MOST_STEP, MOST_STEP) if n_classes else steps)
        if not n_classes:  # the sum of squares after the step, from the sums before it
            change = (2.0 * values * sums[..., 0] + values**2 * sums[..., 1]).sum() / sums[..., 1].sum()
            mean_square = max(mean_square + change, 1e-12)
    pool.run(forget, numbers, key)
    return trees


class BoostingOfParts(Learner):
    """Gradient boosting of many rows in memory: the same as of rows on disk."""

    name = NAME
    outputs = (Output(NAME, "tree"),)

    def suited(self, look: Look) -> Learner | None:
        """Return the learner for many rows."""
        return self if look.n_rows >= MANY_ROWS else None

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Boost trees, part by part."""
        known, columns = BoostedColumns.of_train(train)
        cuts = tuple(cuts_of(known[:, j], bool(columns.is_category[j])) for j in range(known.shape[1]))
        bins = np.ascontiguousarray(bins_by(known, cuts, columns.is_category).T)
        y = train.codes if train.n_classes else train.y
        none = np.empty((len(y), 0), np.float32)
        step = limits().part_rows
        parts = [RowPart(none, bins[at : at + step], y[at : at + step]) for at in range(0, len(y), step)]
        target = boosted_target(train.prior, train.n_classes)
        pool = PartPool(parts, WorkerPool(1))
        trees = boost_parts(pool, range(len(parts)), target, columns.is_category, seed, train.check)
        return FittedBoosting(NAME, columns, cuts, target.start, *trees, train.n_classes > 0)


def _pace(n_rows: int, n_scores: int) -> tuple[int, float]:
    """Return the rounds, and the share of each step that is taken."""
    n_trees = min(max(FEWEST_TREES, n_rows // ROWS_OF_TREE), MOST_TREES)
    n_rounds = min(max(FEWEST_ROUNDS, n_trees // n_scores), limits().part_rounds)
    return n_rounds, min(max(RATE, ALL_RATES / n_rounds), LARGE_RATE)


def _affordable(pool: PartPool, numbers: Sequence[int], n_trees: int) -> Sequence[int]:
    """Leave out parts where there are too many trees for all of them."""
    n_rows = np.cumsum([pool.parts[number].n_rows for number in numbers])
    return numbers[: max(1, int(np.searchsorted(n_rows, ROWS_OF_TREES // n_trees, side="right")))]


def _turns(pool: PartPool, numbers: Sequence[int], n_scores: int) -> list[list[int]]:
    """Deal the parts out to turns, of about as many rows as trees are grown to."""
    n_rows = sum(pool.parts[number].n_rows for number in numbers)
    fewest = min(GROWN_ROWS, GROWN_SCORES // n_scores)
    grown = min(max(fewest, GROWN_SHARE * n_rows), MOST_GROWN * fewest)
    n_turns = min(len(numbers), math.ceil(n_rows / grown))
    return [list(numbers[turn::n_turns]) for turn in range(n_turns)]


class _Tree:
    """A tree that grows: nodes that could be split, and what is added up of each.

    A leaf has a place of its own among the sums. When it is split, the larger child takes the place, less what is added
    up of the smaller one.
    """

    def __init__(self, features: Ints, is_category: Bools, nodes: Trees) -> None:
        self.features, self.is_category, self.nodes = features, is_category, nodes
        self.n_bins = np.zeros(len(is_category), np.int64)  # of the columns drawn, those that rows are in
        self.sums = np.empty((N_LEAVES, len(features), MOST_BINS), np.int64)
        self.n_leaves = 0
        self.place_of: dict[int, int] = {}  # of the nodes that are leaves
        # where there is a gain: it, the column, the bins to the left, and whether they have fewer rows, about
        self.splits: dict[int, tuple[float, int, int, bool]] = {}
        self.split: list[int] = []  # nodes that were split last
        self.wanted: list[int] = [0]  # one child of each

    def take(self, sums: NDArray[np.int64]) -> list[int]:
        """Take what was added up of the wanted nodes, and return the nodes that could be split now."""
        for node, of_node in zip(self.wanted, sums, strict=True):
            place = self.n_leaves
            self.n_leaves += 1
            self.sums[place], self.place_of[node] = of_node, place
        if not self.split:
            self.n_bins[self.features] = MOST_BINS - (sums[0] != 0)[:, ::-1].argmax(axis=1)
            return [0]
        for node in self.split:
            first = int(self.nodes.child[node])
            new, other = (first, first + 1) if first in self.place_of else (first + 1, first)
            place = self.place_of.pop(node)
            self.place_of[other] = place
            self.sums[place] -= self.sums[self.place_of[new]]
        return [int(self.nodes.child[node]) + side for node in self.split for side in (0, 1)]

    def find_splits(self, nodes: Sequence[int], penalty: float) -> None:
        """Find the best split of some nodes."""
        columns = self.features, self.n_bins, self.is_category
        for node in nodes:
            sums = self.sums[self.place_of[node]]
            gain, column, left, of_left = best_column(sums, *columns, penalty, MIN_ROWS, UNCOUNTED)
            if column >= 0:
                is_smaller = 2 * count_of(of_left, UNCOUNTED) < count_of(sums[0].sum(), UNCOUNTED)
                self.splits[node] = gain, column, left, is_smaller

    def choose(self) -> None:
        """Split the node with the largest gain, and those that gain not much less, as long as there may be leaves."""
        ranked = sorted(self.splits, key=lambda node: (-self.splits[node][0], node))[: N_LEAVES - self.n_leaves]
        largest = self.splits[ranked[0]][0] if ranked else 0.0
        self.split, self.wanted = [], []
        for node in ranked:
            if self.splits[node][0] < AT_ONCE * largest:
                break
            _, column, left, is_left_smaller = self.splits.pop(node)
            first = 2 * (self.n_leaves + len(self.split)) - 1
            self.nodes.column[node], self.nodes.left[node], self.nodes.child[node] = column, left, first
            self.split.append(node)
            self.wanted.append(first if is_left_smaller else first + 1)
        if self.n_leaves + len(self.split) == N_LEAVES:
            self.wanted = []  # what the last leaves could be split by is of no use


def _grow(
    pool: PartPool, numbers: Sequence[int], current: Shared, nodes: Trees, rng: np.random.Generator
) -> tuple[int, list[Ints]]:
    """Grow the trees of a round, which parts are told of, to some parts.

    Returns
    -------
    n_steps : int
        How many it took.
    split : list of ndarray
        Of each tree, the nodes that were split since the last step.
    """
    is_category, target = current.value.is_category, current.value.target
    penalty = RIDGE if target.n_classes else RIDGE / 4.0
    trees = []
    for k in range(len(target.start)):
        features = np.sort(rng.permutation(len(is_category))[:MOST_COLUMNS])
        trees.append(_Tree(features, is_category, nodes.at(k)))
    step = 0
    while any(tree.wanted for tree in trees):
        plan = [(tree.features, np.array(tree.split, np.int64), np.array(tree.wanted, np.int64)) for tree in trees]
        sums = pool.added_up(sums_of_bins, numbers, current, nodes, plan, step)
        step += 1
        first, tasks = 0, []
        for tree in trees:
            last = first + len(tree.wanted)
            if tree.wanted:
                fresh = tree.take(sums[first:last])
                tasks += [(tree, fresh[start:stop], penalty) for start, stop in pool.pool.shares(len(fresh))]
            else:
                tree.split = []
            first = last
        pool.pool.run(_Tree.find_splits, tasks)
        for tree in trees:
            if tree.wanted:
                tree.choose()
    return step, [np.array(tree.split, np.int64) for tree in trees]


def sums_of_bins(
    part: RowPart, current: Round, nodes: Trees, plan: list[tuple[Ints, Ints, Ints]], step: int
) -> NDArray[np.int64]:
    """Return what some nodes of the trees that grow add up to, in each bin of the columns drawn.

    Parameters
    ----------
    part : RowPart
        The rows.
    current : Round
        What all parts are told of the round.
    nodes : Trees
        Those that grow.
    plan : list of (ndarray, ndarray, ndarray)
        Of each tree, the columns drawn, the nodes that were split since the last step, and those that are wanted.
    step : int
        Steps before this one.

    Returns
    -------
    ndarray of shape (n_wanted, n_drawn, n_bins)
        Sums of words, of one tree after the other.
    """
    n_rounds = len(current.trees.column)
    known, placed = part.state.pop(f"{current.key} tree", (None, None))
    is_known = known == (n_rounds, step)  # a part may be on several workers, of which one did the last steps
    columns, words, *rows = placed if is_known else _placed(part, current, nodes)
    if is_known:
        _split(columns, current, nodes, [split for _, split, _ in plan], *rows)
    order, start, stop = rows
    sums = np.empty((sum(len(wanted) for *_, wanted in plan), len(plan[0][0]), MOST_BINS), np.int64)
    places = iter(sums)
    for k, (features, _, wanted) in enumerate(plan):
        for node in wanted:
            add_up(part.bins, words[k], features, order[k], start[k, node], stop[k, node], next(places))
    part.state[f"{current.key} tree"] = (n_rounds, step + 1), (columns, words, *rows)
    return sums


def _placed(part: RowPart, current: Round, nodes: Trees) -> tuple[NDArray[Any], ...]:
    """Return the bins by column, the derivatives, the rows in the order of nodes, and where those of a node lie."""
    scores, leaves = _scores_after(part, current)
    part.state[current.key] = len(current.trees.column), scores, None
    n, n_scores = scores.shape
    words = np.empty((n_scores, n), np.int64)
    write_derivatives(
        scores, part.y, current.target.n_classes, current.unit, np.array([current.seed], np.uint64), words
    )
    find_leaves(part.bins, current.is_category, nodes, leaves)
    counts = np.array([np.bincount(own, minlength=nodes.column.shape[1]) for own in leaves.T])
    stop = counts.cumsum(axis=1)
    order = np.argsort(leaves.T, axis=1, kind="stable").astype(np.uint32)
    return np.ascontiguousarray(part.bins.T), words, order, stop - counts, stop


def _split(columns: NDArray[np.uint8], current: Round, nodes: Trees, split: list[Ints], *rows: NDArray[Any]) -> None:
    """Put the rows of nodes that were split in the order of their children, in each tree."""
    aside = np.empty(columns.shape[1], np.uint32)
    for k, of_tree in enumerate(split):
        for node in of_tree:
            split_node(columns, current.is_category, nodes, k, node, *(each[k] for each in rows), aside)


def sums_of_leaves(part: RowPart, current: Round, grown: Trees, n_steps: int, split: list[Ints]) -> NDArray[np.int64]:
    """Return the derivatives in each leaf of the trees that were grown last, as `_grow` tells of them.

    They are in units of `LEAF_UNIT`.
    """
    known, placed = part.state.pop(f"{current.key} tree", (None, None))
    scores, leaves = _scores_after(part, current)
    if placed is not None and known == (len(current.trees.column), n_steps):
        columns, _, *rows = placed
        _split(columns, current, grown, split, *rows)
        for k, of_tree in enumerate(zip(grown.column, *rows, strict=True)):
            write_leaves(*of_tree, leaves[:, k])
    else:
        find_leaves(part.bins, current.is_category, grown, leaves)
    sums = np.zeros((*grown.column.shape, 2), np.int64)
    sum_by_leaf(leaves, part.y, current.target.n_classes, scores, sums)
    part.state[current.key] = len(current.trees.column), scores, leaves
    return sums


def _scores_after(part: RowPart, current: Round) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Return the scores of the rows after some rounds, from those that the part has, and room for the leaves of rows.

    They are taken out of the state of the part: if this is broken off, they are computed anew.
    """
    n_rounds = len(current.trees.column)
    done, scores, leaves = part.state.pop(current.key, (0, None, None))
    if scores is None or done > n_rounds:
        done, scores, leaves = 0, np.tile(current.target.start.astype(np.float32), (len(part), 1)), None
    if leaves is not None and done < n_rounds:  # those of the round `done`
        add_values(leaves, current.trees.value[done], scores)
        done += 1
    add_trees(part.bins, current.is_category, current.trees.at(slice(done, None)), scores)
    return scores, np.empty(scores.shape, np.uint8) if leaves is None else leaves


def forget(part: RowPart, key: str) -> None:
    """Let go of what a part kept for a training set."""
    part.state.pop(key, None)
    part.state.pop(f"{key} tree", None)
