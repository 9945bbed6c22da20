"""Kernels: gradient boosting of trees over histograms (Friedman 2001; Ke et al. 2017), for many small fits.

A split is a word of 64 bits. For a category, bin b goes to the left where bit b is set. For a number, bins from 1 up to
the low byte of the word go to the left, and gaps, in bin 0, where the next bit is set.

What a histogram adds up is a word as well. From the top: 29 bits of the first derivative, rounded and signed, 22 bits
of the second, and 13 bits that count rows. Where more rows are added up, both derivatives have 32 bits, rounded up or
down at random so that sums are right in the mean, and four times the second one stands for the rows: as it is at most
1/4, there are at least so many. One addition takes the place of three, and sums are exact whatever their order.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.learn.decision_tree_kernels import next_random
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.kernels import kernel

#: Most bins of a number, which are bytes, and of a category: the bits of a word.
MOST_BINS, MOST_OF_CATEGORY = 256, 64
#: Most nodes of a tree: the leaf of a row is a byte.
MOST_NODES = 256
#: Bits that count rows, with few of them and with many. Histograms can add up MOST_SEEN of few, and 2**24 - 1 of many.
COUNT_BITS, UNCOUNTED = 13, 0
MOST_SEEN = 2**COUNT_BITS - 1
#: Rows of the mean gradient that each bin of a category is given before the bins are put in order.
_SMOOTHING = 10.0
#: Rows that go down a tree side by side.
_ABREAST = 16
#: A word of ones.
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Columns(NamedTuple):
    """Training rows in bins.

    Attributes
    ----------
    of_rows, of_columns : ndarray of shape (n, d) and (d, n)
        The bins, row by row and column by column. Gaps of numbers are in bin 0.
    n_bins, is_category : ndarray of shape (d,)
        Bins of each column, and whether they have no order.
    """

    of_rows: NDArray[np.uint8]
    of_columns: NDArray[np.uint8]
    n_bins: Ints
    is_category: Bools


class Trees(NamedTuple):
    """The nodes of trees, in arrays of shape (n_rounds, n_scores, n_nodes), or (n_scores, n_nodes) of a single round.

    Attributes
    ----------
    column : ndarray of int
        The column that splits a node, -1 for a leaf.
    left : ndarray of uint64
        The bins that go to the left.
    child : ndarray of int
        The first of two children, which lie behind the node and next to each other.
    value : ndarray of float
        What a leaf adds to the score.
    """

    column: Ints
    left: NDArray[np.uint64]
    child: Ints
    value: Floats

    @classmethod
    def unsplit(cls, n_rounds: int, n_scores: int, n_leaves: int) -> "Trees":
        """Return trees that are leaves, with room for more."""
        shape = n_rounds, n_scores, 2 * n_leaves
        return cls(np.full(shape, -1), np.zeros(shape, np.uint64), np.zeros(shape, np.int64), np.zeros(shape))

    def at(self, rounds: int | slice) -> "Trees":
        """Return those of some rounds, which are views."""
        return Trees(self.column[rounds], self.left[rounds], self.child[rounds], self.value[rounds])


@kernel
def boost(columns, y, weight, n_classes, rate, ridge, min_rows, n_tried, n_seen, state, features, scores, trees):
    """Add up trees, each grown leaf by leaf to the gradient of a loss: the log-loss of a class, or half a square.

    Parameters
    ----------
    columns : Columns
        The training rows.
    y, weight : ndarray of shape (n,)
        Their classes or numbers, and what each row counts.
    n_classes : int
        Number of classes; 0 for numbers.
    rate, ridge : float
        Share of each step that is taken; penalty of its square, in units of the second derivative.
    min_rows, n_tried, n_seen : int
        Rows in a leaf at the least; columns and rows drawn for each tree.
    state : ndarray of shape (1,) of uint64
        State of the random draws; goes on where the last call left it.
    features : ndarray of shape (d,)
        The columns, in the order of the last draws: part of that state.
    scores : ndarray of shape (n, n_scores)
        Log-odds of the second of two classes, scores of each of several, or predictions; the trees are added to them.
    trees : Trees
        One for each round and each column of the scores, from `Trees.unsplit`; grown here.
    """
    n, n_scores = scores.shape
    probability, slopes = np.empty((n if n_classes > 0 else 0, n_scores)), np.empty(n, np.int64)
    seen, leaves = np.empty(n_seen, np.uint32), np.empty(scores.shape, np.uint8)
    sums = np.empty((trees.column.shape[2] // 2, n_tried, columns.n_bins.max()), np.int64)
    heaviest = weight.max()
    for number in range(trees.column.shape[0]):
        tree = round_of(trees, number)
        softmax_rows(scores, probability)
        draw_rows(n, state, seen)
        for k in range(n_scores):
            draw_first(features, n_tried, state)
            units = slopes_of(scores, probability, y, weight, heaviest, n_classes, k, slopes)
            grow_tree(columns, features, seen, slopes, units, rate, ridge, min_rows, sums, tree, k, leaves)
        if n_seen < n:
            find_leaves(columns.of_rows, columns.is_category, tree, leaves)
        add_values(leaves, tree.value, scores)


@kernel
def round_of(trees, number):
    """Return the trees of a round."""
    return Trees(trees.column[number], trees.left[number], trees.child[number], trees.value[number])


@kernel
def slopes_of(scores, probability, y, weight, heaviest, n_classes, k, slopes):
    """Write the derivatives of all rows as words; return the units that bound them by 1 and 1/4."""
    if n_classes > 0:
        label = 1 if scores.shape[1] == 1 else k
        for i in range(y.shape[0]):
            p, share = probability[i, k], weight[i] / heaviest
            slopes[i] = packed(share * (p - 1.0 if y[i] == label else p), share * p * (1.0 - p), COUNT_BITS, 0.5)
        return heaviest, heaviest
    first_unit, second_unit = 1e-300, 4.0 * heaviest
    for i in range(y.shape[0]):
        first_unit = max(first_unit, weight[i] * abs(scores[i, 0] - y[i]))
    for i in range(y.shape[0]):
        slopes[i] = packed(weight[i] * (scores[i, 0] - y[i]) / first_unit, weight[i] / second_unit, COUNT_BITS, 0.5)
    return first_unit, second_unit


@kernel
def grow_tree(columns, features, seen, slopes, units, rate, ridge, min_rows, sums, tree, k, leaves):
    """Grow a tree leaf by leaf, the best split of all leaves first.

    Parameters
    ----------
    columns, rate, ridge, min_rows
        As for `boost`.
    features : ndarray of shape (d,)
        The columns; those that are tried are the first.
    seen : ndarray of shape (n_seen,)
        The rows that the tree is grown to.
    slopes, units : ndarray of shape (n,) and (float, float)
        Derivatives of all training rows, as words, and the units of these.
    sums : ndarray of shape (n_leaves, n_tried, n_bins)
        Room for the histograms of leaves.
    tree, k : Trees and int
        The trees of a round, and which of them is grown.
    leaves : ndarray of shape (n, n_scores)
        The leaves of the rows that were seen; written.
    """
    of_rows, of_columns, n_bins, is_category = columns
    n_leaves, n_nodes, first_unit, second_unit = sums.shape[0], tree.column.shape[1], units[0], units[1]
    ridge /= second_unit
    order, aside, tried = seen.copy(), np.empty_like(seen), features[: sums.shape[1]]
    start, stop = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)  # where the rows of nodes lie
    node_of, gain = np.zeros(n_leaves, np.int64), np.empty(n_leaves)
    column, left = np.empty(n_leaves, np.int64), np.empty(n_leaves, np.uint64)
    stop[0] = order.shape[0]
    add_up(of_rows, slopes, tried, order, 0, stop[0], sums[0])
    n_grown, leaf = 1, 0
    while n_grown < n_leaves:
        for each in range(leaf, n_grown, max(n_grown - 1 - leaf, 1)):  # the first leaf, or the two that are new
            gain[each], column[each], left[each], _ = best_column(
                sums[each], tried, n_bins, is_category, ridge, min_rows, COUNT_BITS
            )
        leaf, first = int(gain[:n_grown].argmax()), 2 * n_grown - 1
        if not gain[leaf] > 0:
            break
        node = node_of[leaf]
        tree.column[k, node], tree.left[k, node], tree.child[k, node] = column[leaf], left[leaf], first
        split_node(of_columns, is_category, tree, k, node, order, start, stop, aside)
        # the smaller child is counted anew; the larger one takes what is left of its parent
        small = first if stop[first] - start[first] < stop[first + 1] - start[first + 1] else first + 1
        node_of[n_grown], node_of[leaf] = small, 2 * first + 1 - small
        add_up(of_rows, slopes, tried, order, start[small], stop[small], sums[n_grown])
        sums[leaf] -= sums[n_grown]
        n_grown += 1
    for each in range(n_grown):
        of_first, of_second, _ = unpacked(sums[each, 0].sum(), COUNT_BITS)
        tree.value[k, node_of[each]] = -rate * first_unit * of_first / (second_unit * (of_second + ridge))
    write_leaves(tree.column[k], order, start, stop, leaves[:, k])


@kernel
def first_units(count_bits):
    """Return the units of first derivatives, which are at most 1."""
    return np.float64(1 << (7 if count_bits == UNCOUNTED else 15))


@kernel
def second_units(count_bits):
    """Return the units of second derivatives, which are at most 1/4."""
    return np.float64(1 << (10 if count_bits == UNCOUNTED else 11))


@kernel
def places(count_bits):
    """Return what reads a word: shift of the first derivative, masks of the second and of rows, shift of rows."""
    if count_bits == UNCOUNTED:
        return 32, 0xFFFFFFFF, 0xFFFFFFFF, 8
    return count_bits + 22, 0x3FFFFF, (1 << count_bits) - 1, 0


@kernel
def packed(first, second, count_bits, up):
    """Write the derivatives of one row as a word; what is above a whole unit by 1 - `up` or more is rounded up."""
    units = int(second * second_units(count_bits) + up)
    first_in_units = np.int64(np.floor(first * first_units(count_bits) + up))
    if count_bits == UNCOUNTED:
        return (first_in_units << 32) + units
    return (first_in_units << (count_bits + 22)) + (max(units, 1) << count_bits) + 1


@kernel
def count_of(word, count_bits):
    """Read how many rows are in a sum of words, at the least."""
    _, _, mask, shift = places(count_bits)
    return (word & mask) >> shift


@kernel
def unpacked(word, count_bits):
    """Read a sum of words: first derivative, second derivative, rows."""
    of_first, mask, _, _ = places(count_bits)
    first = (word >> of_first) / first_units(count_bits)
    return first, ((word >> count_bits) & mask) / second_units(count_bits), count_of(word, count_bits)


@kernel
def goes_left(word, b, is_category):
    """Tell whether a bin goes to the left in a split."""
    if is_category:
        return (word >> np.uint64(b)) & np.uint64(1) == 1
    if b == 0:
        return word >= np.uint64(MOST_BINS)
    return np.uint64(b) <= word & np.uint64(0xFF)


@kernel
def draw_first(items, n_drawn, state):
    """Move so many items, drawn at random, to the front."""
    for i in range(n_drawn):
        pick = i + np.int64(next_random(state) * (items.shape[0] - i))
        item = items[pick]
        items[pick] = items[i]
        items[i] = item


@kernel
def draw_rows(n, state, drawn):
    """Draw some of n rows at random, in order (Knuth's selection sampling)."""
    n_drawn, wanted = 0, drawn.shape[0]
    for row in range(n):
        if next_random(state) * (n - row) < wanted - n_drawn:
            drawn[n_drawn] = row
            n_drawn += 1


@kernel
def softmax_rows(scores, probability):
    """Turn scores into probabilities; a single score is a log-odds."""
    # `write_probabilities`, in float32, takes a third of the time with several scores, but other bits come of it
    n, n_scores = probability.shape
    for i in range(n):
        if n_scores == 1:
            probability[i, 0] = 1.0 / (1.0 + np.exp(-scores[i, 0]))
            continue
        top = scores[i, 0]
        for k in range(1, n_scores):
            top = max(top, scores[i, k])
        total = 0.0
        for k in range(n_scores):
            probability[i, k] = np.exp(scores[i, k] - top)
            total += probability[i, k]
        for k in range(n_scores):
            probability[i, k] /= total


@kernel
def split_node(bins, is_category, tree, k, node, order, start, stop, aside):
    """Put the rows of a node that was split in the order of its children; bins lie column by column."""
    column, left, child = tree.column[k, node], tree.left[k, node], tree.child[k, node]
    own, is_named, middle, n_aside = bins[column], is_category[column], start[node], 0
    for p in range(start[node], stop[node]):  # without a branch that nobody can foresee
        row = order[p]
        is_left = 1 if goes_left(left, own[row], is_named) else 0
        order[middle] = aside[n_aside] = row
        middle += is_left
        n_aside += 1 - is_left
    order[middle : stop[node]] = aside[:n_aside]
    start[child], stop[child] = start[node], middle
    start[child + 1], stop[child + 1] = middle, stop[node]


@kernel
def write_leaves(column_of, order, start, stop, leaves):
    """Write the leaf of each row, where rows are in the order of the nodes of a tree."""
    for node in range(column_of.shape[0]):
        if column_of[node] < 0:
            for p in range(start[node], stop[node]):
                leaves[order[p]] = node


@kernel
def add_up(bins, words, features, order, start, stop, sums):
    """Add up the words of some rows in each bin of some columns: (n_features, n_bins)."""
    sums[:] = 0
    n_features, columns = np.uint64(features.shape[0]), features.astype(np.uint64)
    p = start
    while p + 3 < stop:  # four rows at a time: while one is waited for, others are added
        row, second = np.uint64(order[p]), np.uint64(order[p + 1])
        third, fourth = np.uint64(order[p + 2]), np.uint64(order[p + 3])
        word, of_second, of_third, of_fourth = words[row], words[second], words[third], words[fourth]
        for t in range(n_features):
            column = columns[t]
            sums[t, bins[row, column]] += word
            sums[t, bins[second, column]] += of_second
            sums[t, bins[third, column]] += of_third
            sums[t, bins[fourth, column]] += of_fourth
        p += 4
    while p < stop:
        row = np.uint64(order[p])
        word = words[row]
        for t in range(n_features):
            sums[t, bins[row, columns[t]]] += word
        p += 1


@kernel
def find_leaves(bins, is_category, tree, leaves):
    """Find the leaf that each row is in, in the trees of one round.

    Parameters
    ----------
    bins : ndarray of shape (n, d) of uint8
        The bins of each row.
    is_category : ndarray of shape (d,)
        Which columns hold codes.
    tree : Trees
        Those of the round.
    leaves : ndarray of shape (n, n_scores) of uint8
        The nodes of the leaves; written.
    """
    n, n_nodes = bins.shape[0], tree.column.shape[1]
    # a leaf is its own child, so that all rows can take as many steps; several rows do at a time
    column, child = np.empty(n_nodes, np.uint64), np.empty(n_nodes, np.uint64)
    to_left, depth_of = np.empty((n_nodes, 4), np.uint64), np.empty(n_nodes, np.int64)
    at = np.empty(_ABREAST, np.uint64)
    for k in range(leaves.shape[1]):
        depth_of[:], depth = 0, 0
        for node in range(n_nodes):
            j, below = tree.column[k, node], tree.child[k, node]
            if j < 0:
                column[node], child[node], to_left[node] = 0, node, _ALL
                continue
            column[node], child[node] = j, below
            write_bits(tree.left[k, node], is_category[j], to_left[node])
            depth_of[below] = depth_of[below + 1] = depth_of[node] + 1
            depth = max(depth, depth_of[node] + 1)
        for start in range(0, n, _ABREAST):
            stop = min(start + _ABREAST, n)
            at[:] = np.uint64(0)
            for _ in range(depth):
                for p in range(np.uint64(stop - start)):
                    node = at[p]
                    own = np.uint64(bins[np.uint64(start) + p, column[node]])
                    bits = to_left[node, own >> np.uint64(6)]
                    at[p] = child[node] + np.uint64(1) - ((bits >> (own & np.uint64(63))) & np.uint64(1))
            for p in range(stop - start):
                leaves[start + p, k] = at[p]


@kernel
def write_bits(word, is_category, bits):
    """Write which of 256 bins go to the left in a split: one lookup is faster than `goes_left` in many rows."""
    bits[:] = word
    if not is_category:
        cut = int(word & np.uint64(0xFF))
        for part in range(4):
            bits[part] = _ALL >> np.uint64(max(63 + 64 * part - cut, 0)) if cut >= 64 * part else np.uint64(0)
        bits[0] = bits[0] & ~np.uint64(1) | word >> np.uint64(8)


@kernel
def add_values(leaves, value, scores):
    """Add the values of leaves, an array of shape (n_scores, n_nodes), to the scores of the rows that are in them."""
    for i in range(leaves.shape[0]):
        for k in range(leaves.shape[1]):
            scores[i, k] += value[k, leaves[i, k]]


@kernel
def add_trees(bins, is_category, trees, scores):
    """Add the values of trees to the scores of rows, whose bins lie row by row."""
    leaves = np.empty(scores.shape, np.uint8)
    for number in range(trees.column.shape[0]):
        tree = round_of(trees, number)
        find_leaves(bins, is_category, tree, leaves)
        add_values(leaves, tree.value, scores)


@kernel
def best_column(sums, features, n_bins, is_category, ridge, min_rows, count_bits):
    """Find the best split of a leaf, from its histograms.

    Returns
    -------
    gain, column : float and int
        0 and -1 where there is none.
    left : uint64
        The bins that go to the left.
    sum_of_left : int
        What they add up to.
    """
    best, column, left, sum_of_left, total = 1e-9, -1, np.uint64(0), 0, sums[0].sum()
    if count_of(total, count_bits) >= 2 * min_rows:
        for t in range(sums.shape[0]):
            f = features[t]
            if is_category[f]:
                gain, bins, of_bins = best_levels(sums[t, : n_bins[f]], total, ridge, min_rows, count_bits)
            else:
                gain, bins, of_bins = best_cut(sums[t, : n_bins[f]], total, ridge, min_rows, count_bits)
            if gain > best:
                best, column, left, sum_of_left = gain, f, bins, of_bins
    return (best if column >= 0 else 0.0), column, left, sum_of_left


@kernel
def best_cut(cells, total, ridge, min_rows, count_bits):
    """Find the best split of a leaf by a number; return its gain, the bins that go to the left, and their sum.

    Derivatives stay in the units of the words, and so does the ridge penalty: powers of 2, which round nothing.
    """
    second_unit = second_units(count_bits)
    of_first, of_second, mask, of_rows = places(count_bits)
    ridge *= second_unit
    min_rows <<= of_rows
    g, h = np.float64(total >> of_first), np.float64((total >> count_bits) & of_second) + 2.0 * ridge
    n, n_bins = total & mask, cells.shape[0]
    of_leaf = g * g / (h - ridge)
    best, cut, gaps, sum_of_best = of_leaf, np.int64(0), 0, 0
    has_gaps = cells[0] != 0
    # Case 1: gaps go with the low numbers. Case 2: they go with the high ones.
    for case in range(2 if has_gaps else 1):
        sum_of_left = 0
        for b in range(np.uint64(case), np.uint64(n_bins)):
            sum_of_left += cells[b]
            n_left = sum_of_left & mask
            if n_left < min_rows:
                continue
            if n - n_left < min_rows:
                break
            g_left = np.float64(sum_of_left >> of_first)
            of_left = np.float64((sum_of_left >> count_bits) & of_second) + ridge
            of_right, g_right = h - of_left, g - g_left
            gain = g_left * g_left * of_right + g_right * g_right * of_left
            # a division for the best ones alone; an empty bin has the gain of the one before, up to rounding
            if gain > best * of_left * of_right and cells[b] != 0:
                best, cut, sum_of_best = gain / (of_left * of_right), np.int64(b), sum_of_left
                gaps = MOST_BINS if case == 0 and has_gaps else 0
    left = np.uint64(gaps | cut)
    if cut > 0:  # bins between that no row is in go with the nearer side: other rows may be there
        above = cut + 1
        while above < n_bins and cells[above] == 0:
            above += 1
        # where gaps alone are to the right, no number is: all go to the left
        left = np.uint64(gaps | (cut + (above - cut - 1) // 2 if above < n_bins else MOST_BINS - 1))
    return (best - of_leaf) * (second_unit / first_units(count_bits) ** 2), left, sum_of_best


@kernel
def order_by_mean(cells, total, count_bits):
    """Put the bins of a category in the order of their mean gradient, in which the best split is a cut."""
    first, second, count = unpacked(total, count_bits)
    share = _SMOOTHING / max(count, 1)
    mean, order = np.empty(cells.shape[0]), np.empty(cells.shape[0], np.int64)
    for b in range(cells.shape[0]):
        g, h, _ = unpacked(cells[b], count_bits)
        bend = h + share * second
        mean[b] = (g + share * first) / (bend if bend > 0.0 else 1.0)  # second derivatives may all round to 0
        place = b
        while place > 0 and mean[order[place - 1]] > mean[b]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = b
    return order


@kernel
def best_levels(cells, total, ridge, min_rows, count_bits):
    """Find the best split of a leaf by a category; return its gain, the bins that go to the left, and their sum."""
    g, h, n = unpacked(total, count_bits)
    of_leaf = g**2 / (h + ridge)
    best, best_left, sum_of_best = of_leaf, np.uint64(0), 0
    sum_of_left, left = 0, np.uint64(0)
    for b in order_by_mean(cells, total, count_bits):
        if cells[b] == 0:
            continue
        sum_of_left += cells[b]
        left |= np.uint64(1) << np.uint64(b)
        n_left = count_of(sum_of_left, count_bits)
        if n - n_left < min_rows:
            break
        if n_left < min_rows:
            continue
        g_left, h_left, _ = unpacked(sum_of_left, count_bits)
        of_left, of_right = h_left + ridge, h - h_left + ridge
        gain = g_left**2 * of_right + (g - g_left) ** 2 * of_left
        if gain > best * of_left * of_right:
            best, best_left, sum_of_best = gain / (of_left * of_right), left, sum_of_left
    return best - of_leaf, best_left, sum_of_best
