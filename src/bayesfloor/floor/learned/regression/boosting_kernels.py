"""Kernels: gradient boosting of trees over histograms, for a target of numbers and many small fits.

The words that histograms add up are those of `bayesfloor.floor.learned.boosting_kernels`: residuals are divided by the
largest, and weights by four times the largest, so that they fit.
"""

import numpy as np

from bayesfloor.floor.learned.boosting_kernels import (
    add_tree,
    arrays_of_tree,
    draw_first,
    draw_rows,
    grow_tree,
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
    n = y.shape[0]
    slopes, seen = np.empty(n, np.int64), np.empty(n_seen, np.uint32)
    work, value = arrays_of_tree(n_seen, n_tried, n_leaves), np.empty(2 * n_leaves)
    heaviest = 0.0
    for i in range(n):
        heaviest = max(heaviest, weight[i])
    penalty = 0.25 * ridge / heaviest
    for _ in range(n_rounds):
        largest = 1e-300
        for i in range(n):
            largest = max(largest, weight[i] * abs(scores[i] - y[i]))
        for i in range(n):
            slopes[i] = packed(weight[i] * (scores[i] - y[i]) / largest, 0.25 * weight[i] / heaviest)
        draw_rows(n, state, seen)
        draw_first(features, n_tried, state)
        n_grown = grow_tree(bins, n_bins, is_category, features, seen, slopes, penalty, min_rows, work)
        totals, node_of = work[4], work[7]
        for leaf in range(n_grown):
            first, second, _ = unpacked(totals[leaf])
            value[node_of[leaf]] = -rate * largest * first / (4.0 * heaviest * (second + penalty))
        add_tree(bins, is_category, work, value, scores)
