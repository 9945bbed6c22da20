"""Kernels: gradient boosting of rows that are in parts, of which each adds up its own.

Words, splits and nodes are those of `bayesfloor.learn.boosting_kernels`; here bins lie row by row.
"""

import math

import numpy as np

from bayesfloor.learn.boosting_kernels import MOST_BINS, MOST_OF_CATEGORY, UNCOUNTED, goes_left, packed
from bayesfloor.learn.decision_tree_kernels import next_random
from bayesfloor.runtime.kernels import kernel

#: Rows whose probabilities are computed at a time, and rows that go down a tree side by side.
_AT_ONCE, _ABREAST = 1024, 16
#: The Taylor series of 2**x, which for x up to 1/2 has an error of 5e-9, and the logarithm of e to base 2.
_TWO = tuple(np.float32(math.log(2.0) ** k / math.factorial(k)) for k in range(8))
_LOG2_E = np.float32(math.log2(math.e))
#: The unit of derivatives that are added up in leaves, its inverse, and the largest derivative of a number.
LEAF_UNIT, _LEAF_UNITS, MOST_SLOPE = 2.0**-30, 2.0**30, 2.0**22


@kernel
def write_probabilities(scores, probabilities):
    """Turn scores of at most 1024 rows into probabilities, of shape (n_scores, n); a single score is a log-odds.

    The loops have no branches and call no functions, so that several rows are computed at a time.
    """
    n, n_scores = scores.shape
    top, total = np.empty(n, np.float32), np.zeros(n, np.float32)
    bits = np.empty(n, np.int32)
    power = bits.view(np.float32)
    top[:] = np.float32(0.0 if n_scores == 1 else -np.inf)
    for k in range(n_scores):
        for i in range(n):
            probabilities[k, i] = scores[i, k]
            top[i] = max(top[i], probabilities[k, i])
    for k in range(n_scores):
        _write_powers(probabilities[k, :n], top, bits)
        for i in range(n):
            probabilities[k, i] *= power[i]
            total[i] += probabilities[k, i]
    if n_scores == 1:
        other = np.zeros(n, np.float32)
        _write_powers(other, top, bits)
        for i in range(n):
            total[i] += other[i] * power[i]
    for k in range(n_scores):
        for i in range(n):
            probabilities[k, i] /= total[i]


@kernel
def _write_powers(values, top, bits):
    """Turn values into exponentials of what they are below the top one: into factors, and the bits of powers of 2."""
    for i in range(values.shape[0]):
        x = max((values[i] - top[i]) * _LOG2_E, np.float32(-126.0))
        whole = np.rint(x)
        bits[i] = (np.int32(whole) + np.int32(127)) << np.int32(23)
        x -= whole
        factor = _TWO[6] + x * _TWO[7]
        factor = _TWO[4] + x * (_TWO[5] + x * factor)
        factor = _TWO[2] + x * (_TWO[3] + x * factor)
        values[i] = _TWO[0] + x * (_TWO[1] + x * factor)


@kernel
def write_derivatives(scores, y, n_classes, unit, state, words):
    """Write the derivatives of all rows as words, in an array of shape (n_scores, n).

    `unit` is that of first derivatives of numbers: what is above it counts as much as it. Those of classes are at most
    1. `state` is that of random draws.
    """
    n, n_scores = scores.shape
    probabilities = np.empty((n_scores, _AT_ONCE), np.float32)
    for start in range(0, n, _AT_ONCE):
        stop = min(start + _AT_ONCE, n)
        if n_classes > 0:
            write_probabilities(scores[start:stop], probabilities)
        for i in range(start, stop):
            for k in range(n_scores):
                if n_classes > 0:
                    p = np.float64(probabilities[k, i - start])
                    first = p - (1.0 if y[i] == (1 if n_scores == 1 else k) else 0.0)
                    second = p * (1.0 - p)
                else:
                    first, second = min(1.0, max(-1.0, (scores[i, 0] - y[i]) / unit)), np.float64(0.25)
                words[k, i] = packed(first, second, UNCOUNTED, next_random(state))


@kernel
def put_in_order(nodes, order, start, stop):
    """Put rows in the order of their nodes, each below `len(start)`, and write where those of each node lie."""
    stop[:] = 0
    for node in nodes:
        stop[node] += 1
    at = 0
    for node in range(stop.shape[0]):
        start[node] = at
        at += stop[node]
        stop[node] = start[node]
    for row in range(nodes.shape[0]):
        node = nodes[row]
        order[stop[node]] = row
        stop[node] += 1


@kernel
def write_columns(bins, columns):
    """Write bins column by column: where rows of a node are far apart, one column of them is still near."""
    n, d = bins.shape
    for start in range(0, n, _AT_ONCE):
        stop = min(start + _AT_ONCE, n)
        for j in range(d):
            for i in range(start, stop):
                columns[j, i] = bins[i, j]


@kernel
def split_nodes(columns, is_category, split, column_of, left_of, child_of, order, start, stop, aside):
    """Put the rows of some nodes in the order of their children."""
    to_left = np.empty(MOST_BINS, np.int64)
    for node in split:
        column = column_of[node]
        bins = columns[column]
        for b in range(MOST_OF_CATEGORY if is_category[column] else MOST_BINS):
            to_left[b] = goes_left(left_of[node], b, is_category[column])
        middle, n_aside = start[node], 0
        for p in range(start[node], stop[node]):  # without a branch that nobody can foresee
            row = order[p]
            is_left = to_left[bins[row]]
            order[middle] = aside[n_aside] = row
            middle += is_left
            n_aside += 1 - is_left
        for p in range(n_aside):
            order[middle + p] = aside[p]
        start[child_of[node]], stop[child_of[node]] = start[node], middle
        start[child_of[node] + 1], stop[child_of[node] + 1] = middle, stop[node]


@kernel
def write_leaves(column_of, order, start, stop, leaves):
    """Write the leaf of each row, where rows are in the order of the nodes of a tree."""
    for node in range(column_of.shape[0]):
        if column_of[node] < 0:
            for p in range(start[node], stop[node]):
                leaves[order[p]] = node


@kernel
def add_up_rows(bins, words, features, wanted, order, start, stop, sums):
    """Add up the words of the rows of some nodes, in each bin of some columns: (n_wanted, n_features, n_bins)."""
    sums[:] = 0
    n_features = np.uint64(features.shape[0])
    columns = features.astype(np.uint64)
    for place in range(wanted.shape[0]):
        of_node, p, last = sums[place], start[wanted[place]], stop[wanted[place]]
        while p + 3 < last:  # four rows at a time: while one is waited for, others are added
            row, second = np.uint64(order[p]), np.uint64(order[p + 1])
            third, fourth = np.uint64(order[p + 2]), np.uint64(order[p + 3])
            word, of_second, of_third, of_fourth = words[row], words[second], words[third], words[fourth]
            for t in range(n_features):
                column = columns[t]
                of_node[t, bins[row, column]] += word
                of_node[t, bins[second, column]] += of_second
                of_node[t, bins[third, column]] += of_third
                of_node[t, bins[fourth, column]] += of_fourth
            p += 4
        while p < last:
            row = np.uint64(order[p])
            word = words[row]
            for t in range(n_features):
                of_node[t, bins[row, columns[t]]] += word
            p += 1


@kernel
def find_leaves(bins, is_category, column_of, left_of, child_of, nodes):
    """Find the leaf that each row is in, in the trees of one round.

    Parameters
    ----------
    bins : ndarray of shape (n, d) of uint8
        The bins of each row, row by row.
    is_category, column_of, left_of, child_of
        Which columns hold codes, and the trees: column, bins to the left and first child of each node.
    nodes : ndarray of shape (n, n_scores) of uint8
        The nodes of the leaves; written.
    """
    n, n_nodes = bins.shape[0], column_of.shape[1]
    # a leaf is its own child, so that all rows can take as many steps; several rows do at a time
    column, child = np.empty(n_nodes, np.uint64), np.empty(n_nodes, np.uint64)
    to_left, depth_of = np.empty(4 * n_nodes, np.uint64), np.empty(n_nodes, np.int64)
    at = np.empty(_ABREAST, np.uint64)
    for k in range(column_of.shape[0]):
        depth_of[0], depth = 0, 0
        to_left[:] = np.uint64(0xFFFFFFFFFFFFFFFF)
        for node in range(n_nodes):
            j, below = column_of[k, node], child_of[k, node]
            if j < 0:
                column[node], child[node] = 0, node
                continue
            column[node], child[node] = j, below
            for b in range(MOST_OF_CATEGORY if is_category[j] else MOST_BINS):
                if not goes_left(left_of[k, node], b, is_category[j]):
                    to_left[4 * node + (b >> 6)] &= ~(np.uint64(1) << np.uint64(b & 63))
            depth_of[below] = depth_of[below + 1] = depth_of[node] + 1
            depth = max(depth, depth_of[node] + 1)
        for start in range(0, n, _ABREAST):
            stop = min(start + _ABREAST, n)
            at[:] = np.uint64(0)
            for _ in range(depth):
                for p in range(np.uint64(stop - start)):
                    node = at[p]
                    own = np.uint64(bins[np.uint64(start) + p, column[node]])
                    word = to_left[(node << np.uint64(2)) + (own >> np.uint64(6))]
                    at[p] = child[node] + np.uint64(1) - ((word >> (own & np.uint64(63))) & np.uint64(1))
            for p in range(stop - start):
                nodes[start + p, k] = at[p]


@kernel
def add_values(nodes, value_of, scores):
    """Add the values of leaves, an array of shape (n_scores, n_nodes), to the scores of the rows that are in them."""
    for i in range(nodes.shape[0]):
        for k in range(nodes.shape[1]):
            scores[i, k] += value_of[k, nodes[i, k]]


@kernel
def sum_by_leaf(nodes, y, n_classes, scores, sums):
    """Add up the first and second derivatives of the rows of each leaf, in an array of shape (n_scores, n_nodes, 2).

    They are integers, in units of `LEAF_UNIT`, so that the order of rows and parts does not matter.
    """
    n, n_scores = scores.shape
    probabilities = np.empty((n_scores, _AT_ONCE), np.float32)
    for start in range(0, n, _AT_ONCE):
        stop = min(start + _AT_ONCE, n)
        if n_classes > 0:
            write_probabilities(scores[start:stop], probabilities)
        for k in range(n_scores):
            own = 1 if n_scores == 1 else k
            for i in range(start, stop):
                node = nodes[i, k]
                if n_classes > 0:
                    p = np.float64(probabilities[k, i - start])
                    first, second = p - np.float64(y[i] == own), p * (1.0 - p)
                else:
                    first, second = min(MOST_SLOPE, max(-MOST_SLOPE, scores[i, 0] - y[i])), np.float64(1.0)
                sums[k, node, 0] += np.int64(np.rint(first * _LEAF_UNITS))
                sums[k, node, 1] += np.int64(np.rint(second * _LEAF_UNITS))
