"""Gradient boosting of any number of rows, in parts.

A tree is grown to the rows of one part, and its leaves get their values from all rows: sums of
derivatives, which parts add up by themselves. Where a tree is cut matters little, and what its leaves say matters a
lot. A round reads each part once::

    one part in turn: grow trees ──▶ every part: leaf of each row, sums by leaf ──▶ here: values ──▶ next round

The scores of the rows stay with their part. They follow from the trees, so that a part which was lost finds them again.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.row_parts import RowPart
from bayesfloor.learn.boosting import RIDGE, shares_of
from bayesfloor.learn.boosting_kernels import (
    MOST_OF_WIDE,
    add_values,
    arrays_of_tree,
    find_leaves,
    grow_round,
    sum_by_leaf,
)
from bayesfloor.learn.parts import PartPool
from bayesfloor.runtime.arrays import Bools, Floats

#: Trees of all classes together, and rounds, at the least and at the most.
N_TREES, FEWEST_ROUNDS, MOST_ROUNDS = 450, 40, 150
#: Rounds below which larger steps are taken, and the share of each step there and with more rounds.
FEW_ROUNDS, LARGE_RATE, RATE = 100, 0.25, 0.15
#: Leaves of a tree, and rows in each at the least among those that it is grown to.
N_LEAVES, MIN_ROWS = 127, 20
#: Most columns drawn for each tree.
MOST_COLUMNS = 30
#: Rows of all trees together: with very many classes some parts are left out.
ROWS_OF_TREES = 8_000_000_000

#: Columns, bins to the left and children of the nodes of the trees of each round, and values: (n_rounds, n_scores, …).
Trees = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64], Floats]


class BoostedTarget(NamedTuple):
    """What is boosted: the number of classes, 0 for numbers, and the score of every row before the first round."""

    n_classes: int
    start: Floats


def boosted_target(prior: Floats, n_classes: int) -> BoostedTarget:
    """Return where boosting starts: at the shares of the classes, or at the mean of the numbers."""
    if not n_classes:
        return BoostedTarget(0, prior)
    scores = np.log(prior)
    return BoostedTarget(n_classes, scores if n_classes > 2 else scores[1:] - scores[:1])


def boost_parts(
    pool: PartPool,
    numbers: Sequence[int],
    target: BoostedTarget,
    is_category: Bools,
    tested: NDArray[np.uint8],
    seed: int,
) -> Floats:
    """Return what boosting of some parts predicts for other rows.

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
    tested : ndarray of shape (n_tested, n_columns), uint8
        Bins of the rows to predict.
    seed : int
        Seeds the draws of rows and columns.

    Returns
    -------
    ndarray of shape (n_tested, n_classes), or (n_tested, 1) for numbers
    """
    n_classes, start = target
    n_scores = len(start)
    n_rounds = min(MOST_ROUNDS, max(FEWEST_ROUNDS, N_TREES // n_scores))
    rate = RATE if n_rounds >= FEW_ROUNDS else LARGE_RATE
    numbers = _affordable(pool, numbers, n_rounds * n_scores)
    shape = n_rounds, n_scores, 2 * N_LEAVES
    trees: Trees = np.full(shape, -1), np.zeros(shape, np.uint64), np.zeros(shape, np.int64), np.zeros(shape)
    scores, nodes = np.tile(start, (len(tested), 1)), np.empty((len(tested), n_scores), np.uint8)
    mark = f"boosting {seed} {numbers[0]} {len(numbers)}"
    for number in range(n_rounds):
        known = mark, tuple(each[:number] for each in trees), is_category, target
        grown = pool.run(grow_on_part, [numbers[number % len(numbers)]], *known, seed + number)[0]
        sums = pool.merged(sums_of_leaves, numbers, np.add, *known, grown)
        for place, each in enumerate((*grown, -rate * sums[..., 0] / (sums[..., 1] + RIDGE))):
            trees[place][number] = each
        find_leaves(tested, is_category, *grown, nodes)
        add_values(nodes, trees[3][number], scores)
    for part in pool.parts:
        part.state.pop(mark, None)
    return shares_of(scores) if n_classes else scores


def _affordable(pool: PartPool, numbers: Sequence[int], n_trees: int) -> Sequence[int]:
    """Leave out parts where there are too many trees for all of them."""
    n_rows = np.cumsum([pool.parts[number].n_rows for number in numbers])
    return numbers[: max(1, int(np.searchsorted(n_rows, ROWS_OF_TREES // n_trees, side="right")))]


def grow_on_part(
    part: RowPart, mark: str, trees: Trees, is_category: Bools, target: BoostedTarget, seed: int
) -> tuple[NDArray[Any], ...]:
    """Grow the trees of the next round to the rows of one part, without values of leaves."""
    scores, _ = _scores_after(part, mark, trees, is_category, target)
    columns = np.ascontiguousarray(part.bins.T)
    d, n = columns.shape
    n_bins = 1 + columns.max(axis=1).astype(np.int64)
    n_tried, n_seen = min(d, MOST_COLUMNS), min(n, MOST_OF_WIDE)
    shape = len(target.start), 2 * N_LEAVES
    nodes = np.full(shape, -1), np.zeros(shape, np.uint64), np.zeros(shape, np.int64)
    work = arrays_of_tree(n_seen, n_tried, N_LEAVES, int(n_bins.max()))
    y, state, features = part.y.astype(np.float64), np.array([seed], np.uint64), np.arange(d)
    grow_round(
        columns, n_bins, is_category, y, target.n_classes, RIDGE, MIN_ROWS, n_tried, n_seen, state, features, scores,
        work, *nodes,
    )  # fmt: skip
    part.state[mark] = len(trees[0]), scores, None
    return nodes


def sums_of_leaves(
    part: RowPart,
    mark: str,
    trees: Trees,
    is_category: Bools,
    target: BoostedTarget,
    grown: tuple[NDArray[Any], ...],
) -> Floats:
    """Return the derivatives in each leaf of the trees that were grown last."""
    scores, nodes = _scores_after(part, mark, trees, is_category, target)
    find_leaves(part.bins, is_category, *grown, nodes)
    sums = np.zeros((*grown[0].shape, 2))
    sum_by_leaf(nodes, part.y, target.n_classes, scores, sums)
    part.state[mark] = len(trees[0]), scores, nodes
    return sums


def _scores_after(
    part: RowPart, mark: str, trees: Trees, is_category: Bools, target: BoostedTarget
) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Return the scores of the rows after some rounds, from those that the part has, and room for the leaves of rows.

    They are taken out of the state of the part: if this is broken off, they are computed anew.
    """
    n_rounds = len(trees[0])
    done, scores, nodes = part.state.pop(mark, (0, None, None))
    if scores is None or done > n_rounds:
        done, scores, nodes = 0, np.tile(target.start.astype(np.float32), (len(part), 1)), None
    are_known = nodes is not None  # the leaves of the round `done`
    if nodes is None:
        nodes = np.empty(scores.shape, np.uint8)
    for number in range(done, n_rounds):
        if not are_known:
            find_leaves(part.bins, is_category, *(each[number] for each in trees[:3]), nodes)
        add_values(nodes, trees[3][number], scores)
        are_known = False
    return scores, nodes
