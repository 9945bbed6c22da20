"""Kernels: extremely randomised trees (Geurts, Ernst and Wehenkel 2006) of a target of numbers."""

import numpy as np

from bayesfloor.floor.learned.tree_kernels import lowest_and_highest, next_random
from bayesfloor.runtime.kernels import kernel

#: Rows at the least that a split is chosen by; a node of twice as many looks at every other one.
FEWEST_SEEN = 256


@kernel
def grow_number_trees(columns, y, weight, test, n_trees, n_tries, min_rows, state, features, deep, shallow, importance):
    """Grow trees one after the other, and add up what their leaves say of the test rows.

    Parameters
    ----------
    columns : ndarray of shape (d, n)
        Training rows, a feature in each row.
    y, weight : ndarray of shape (n,)
        Their targets, and what each row counts.
    test : ndarray of shape (n_test, d)
        Rows to predict.
    n_trees, n_tries : int
        Trees; features that vary to try at each node.
    min_rows : int
        Rows at the least in the nodes that the shallow prediction is made from; leaves of the deep one have two.
    state : ndarray of shape (1,) of uint64
        State of the random draws; goes on where the last call left it.
    features : ndarray of shape (d,)
        The features, in the order of the last draws: part of that state.
    deep, shallow : ndarray of shape (n_test,)
        Means are added here: of the leaf of a row, and of the last node above it of `min_rows` rows.
    importance : ndarray of shape (d,)
        Falls of the squared error in nodes of twice `min_rows` rows are added here, as shares of each tree's.
    """
    d, n = columns.shape
    most = 2 * n + 3
    feature = np.empty(most, np.int64)
    threshold = np.empty(most, columns.dtype)
    left = np.empty(most, np.int64)
    first = np.empty(most, np.int64)
    last = np.empty(most, np.int64)
    mean = np.empty(most)
    order = np.empty(n, np.uint32)
    aside = np.empty(n, np.uint32)
    values = np.empty(n, columns.dtype)
    targets = np.empty(n)
    weights = np.empty(n)
    constants = np.zeros((most, d // 8 + 1), np.uint8)  # bits of the features that are known not to vary in a node
    gains = np.empty(d)
    for _ in range(n_trees):
        gains[:] = 0.0
        for i in range(n):
            order[i] = i
        n_nodes = 1
        first[0], last[0] = 0, n
        constants[0] = 0
        node = 0
        while node < n_nodes:
            start, stop = first[node], last[node]
            size = stop - start
            total, mass = 0.0, 0.0
            for p in range(start, stop):
                row = order[p]
                total += weight[row] * y[row]
                mass += weight[row]
            mean[node] = total / mass
            stride = max(size // FEWEST_SEEN, 1)
            n_seen = (size + stride - 1) // stride
            total, mass = 0.0, 0.0
            low_target, high_target = np.inf, -np.inf
            for q in range(np.uint64(n_seen)):
                row = order[start + q * stride]
                targets[q] = weight[row] * y[row]
                weights[q] = weight[row]
                total += targets[q]
                mass += weights[q]
                low_target, high_target = min(low_target, y[row]), max(high_target, y[row])
            feature[node] = -1
            best = 1e-12 * size
            tries = 0
            drawn = 0
            while low_target < high_target and size >= 4 and tries < n_tries and drawn < d:
                pick = drawn + np.int64(next_random(state) * (d - drawn))
                f = features[pick]
                features[pick] = features[drawn]
                features[drawn] = f
                drawn += 1
                if constants[node, f >> 3] >> (f & 7) & 1:
                    continue
                column = columns[f]
                for q in range(np.uint64(n_seen)):
                    values[q] = column[order[start + q * stride]]
                low, high = lowest_and_highest(values, n_seen)
                if not low < high:
                    if stride == 1:
                        constants[node, f >> 3] |= np.uint8(1 << (f & 7))
                    continue
                tries += 1
                cut = low + values.dtype.type(next_random(state)) * (high - low)
                if not cut < high:
                    cut = low
                n_below = 0
                below, mass_below = 0.0, 0.0
                for q in range(np.uint64(n_seen)):
                    is_below = 1.0 if values[q] <= cut else 0.0
                    n_below += 1 if values[q] <= cut else 0
                    below += is_below * targets[q]
                    mass_below += is_below * weights[q]
                if n_below < 2 or n_seen - n_below < 2:
                    continue
                above, mass_above = total - below, mass - mass_below
                gain = stride * (below**2 / mass_below + above**2 / mass_above - total**2 / mass)
                if gain > best:
                    best = gain
                    feature[node] = f
                    threshold[node] = cut
            if feature[node] >= 0:
                f, cut = feature[node], threshold[node]
                if size >= 2 * min_rows:  # splits of a few rows fit noise
                    gains[f] += best
                column = columns[f]
                i = start
                n_aside = 0
                for p in range(start, stop):
                    row = order[p]
                    if column[row] <= cut:
                        order[i] = row
                        i += 1
                    else:
                        aside[n_aside] = row
                        n_aside += 1
                for p in range(n_aside):
                    order[i + p] = aside[p]
                for byte in range(constants.shape[1]):
                    constants[n_nodes, byte] = constants[n_nodes + 1, byte] = constants[node, byte]
                left[node] = n_nodes
                first[n_nodes], last[n_nodes] = start, i
                first[n_nodes + 1], last[n_nodes + 1] = i, stop
                n_nodes += 2
            node += 1
        total = 0.0
        for f in range(d):
            total += gains[f]
        if total > 0:
            for f in range(d):
                importance[f] += gains[f] / total
        for i in range(test.shape[0]):
            node = 0
            large = 0
            while feature[node] >= 0:
                step = 0 if test[i, feature[node]] <= threshold[node] else 1
                node = left[node] + step
                if last[node] - first[node] >= min_rows:
                    large = node
            deep[i] += mean[node]
            shallow[i] += mean[large]
