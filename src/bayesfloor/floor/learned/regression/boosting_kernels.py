"""Kernels: gradient boosting of trees over histograms, for a target of numbers and many small fits.

The words that histograms add up are those of `bayesfloor.floor.learned.boosting_kernels`: residuals are divided by the
largest, and weights by four times the largest, so that they fit.
"""

import numpy as np

from bayesfloor.floor.learned.boosting_kernels import (
    MOST_BINS,
    add_up,
    best_column,
    draw_first,
    draw_rows,
    packed,
    unpacked,
)
from bayesfloor.runtime.kernels import kernel


@kernel
def boost_numbers(
    bins,
    n_bins,
    is_category,
    y,
    weight,
    n_rounds,
    n_leaves,
    rate,
    ridge,
    min_rows,
    n_tried,
    n_seen,
    state,
    features,
    scores,
):
    """Add up trees, each grown leaf by leaf to the residuals.

    Parameters
    ----------
    bins, n_bins, is_category, n_rounds, n_leaves, rate, min_rows, n_tried, n_seen, state, features
        As for `bayesfloor.floor.learned.boosting_kernels.boost`.
    y, weight : ndarray of shape (n,)
        Targets of the training rows, and what each row counts.
    ridge : float
        Penalty of the square of a step, in rows.
    scores : ndarray of shape (n_all,)
        Predictions; the trees are added to them.
    """
    n, n_all = y.shape[0], bins.shape[1]
    slopes, near = np.empty(n, np.int64), np.empty(n_seen, np.int64)
    seen, order, aside = np.empty(n_seen, np.uint32), np.empty(n_seen, np.uint32), np.empty(n_seen, np.uint32)
    sums = np.empty((n_leaves, n_tried, MOST_BINS), np.int64)
    totals = np.empty(n_leaves, np.int64)
    start, stop, node_of = np.empty(n_leaves, np.int64), np.empty(n_leaves, np.int64), np.empty(n_leaves, np.int64)
    gain, column, to_left = np.empty(n_leaves), np.empty(n_leaves, np.int64), np.empty(n_leaves, np.uint64)
    split_column, split_left = np.empty(2 * n_leaves, np.int64), np.empty(2 * n_leaves, np.uint64)
    child, value = np.empty(2 * n_leaves, np.int64), np.empty(2 * n_leaves)
    heaviest = weight.max()
    penalty = 0.25 * ridge / heaviest
    for _ in range(n_rounds):
        largest = 1e-300
        for i in range(n):
            largest = max(largest, weight[i] * abs(scores[i] - y[i]))
        for i in range(n):
            slopes[i] = packed(weight[i] * (scores[i] - y[i]) / largest, 0.25 * weight[i] / heaviest)
        draw_rows(n, state, seen)
        draw_first(features, n_tried, state)
        order[:] = seen
        start[0], stop[0], node_of[0], split_column[0] = 0, n_seen, 0, -1
        totals[0] = add_up(bins, n_bins, features, order, slopes, near, sums[0])
        gain[0], column[0], to_left[0] = best_cut(sums[0], totals[0], features, n_bins, is_category, penalty, min_rows)
        n_grown, n_nodes = 1, 1
        while n_grown < n_leaves:
            leaf = int(np.argmax(gain[:n_grown]))
            if not gain[leaf] > 0:
                break
            new = n_grown
            middle, n_aside = start[leaf], 0
            of_column = bins[column[leaf]]
            for p in range(start[leaf], stop[leaf]):
                row = order[p]
                if (to_left[leaf] >> np.uint64(of_column[row])) & np.uint64(1):
                    order[middle] = row
                    middle += 1
                else:
                    aside[n_aside] = row
                    n_aside += 1
            order[middle : stop[leaf]] = aside[:n_aside]
            node = node_of[leaf]
            split_column[node], split_left[node], child[node] = column[leaf], to_left[leaf], n_nodes
            split_column[n_nodes : n_nodes + 2] = -1
            # the smaller child is counted anew; the larger one takes what is left of its parent
            if middle - start[leaf] < stop[leaf] - middle:
                start[new], stop[new], node_of[new] = start[leaf], middle, n_nodes
                start[leaf], node_of[leaf] = middle, n_nodes + 1
            else:
                start[new], stop[new], node_of[new] = middle, stop[leaf], n_nodes + 1
                stop[leaf], node_of[leaf] = middle, n_nodes
            totals[new] = add_up(bins, n_bins, features, order[start[new] : stop[new]], slopes, near, sums[new])
            totals[leaf] -= totals[new]
            for t in range(n_tried):
                for b in range(n_bins[features[t]]):
                    sums[leaf, t, b] -= sums[new, t, b]
            for each in (leaf, new):
                gain[each], column[each], to_left[each] = best_cut(
                    sums[each], totals[each], features, n_bins, is_category, penalty, min_rows
                )
            n_nodes += 2
            n_grown += 1
        for leaf in range(n_grown):
            first, second, _ = unpacked(totals[leaf])
            value[node_of[leaf]] = -rate * largest * first / (4.0 * heaviest * (second + penalty))
        for i in range(n_all):
            node = 0
            while split_column[node] >= 0:
                is_left = (split_left[node] >> np.uint64(bins[split_column[node], i])) & np.uint64(1)
                node = child[node] + (0 if is_left else 1)
            scores[i] += value[node]


@kernel
def best_cut(sums, total, features, n_bins, is_category, ridge, min_rows):
    """Return the best split of a leaf, as `best_column` does, with bins of numbers that no row of the leaf is in.

    These go with the nearer of the bins that rows are in: other rows may well be in them.
    """
    gain, column, left = best_column(sums, total, features, n_bins, is_category, ridge, min_rows)
    if column < 0 or is_category[column]:
        return gain, column, left
    t = 0
    while features[t] != column:
        t += 1
    cells = sums[t]
    lower, upper = 0, n_bins[column]
    for b in range(1, n_bins[column]):
        if cells[b] != 0:
            if (left >> np.uint64(b)) & np.uint64(1):
                lower = b
            else:
                upper = b
                break
    for b in range(1, (lower + upper) // 2 + 1):
        left |= np.uint64(1) << np.uint64(b)
    return gain, column, left
