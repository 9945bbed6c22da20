"""Kernels: extremely randomised trees (Geurts, Ernst and Wehenkel 2006), grown and asked in one go."""

import numpy as np

from bayesfloor.runtime.hash_kernels import GOLDEN
from bayesfloor.runtime.hash_kernels import compiled_mix64 as mix64
from bayesfloor.runtime.kernels import kernel

#: Rows at the least that a split is chosen by; a node of twice as many looks at every other one.
FEWEST_SEEN = 256


@kernel
def next_random(state):
    """Advance a splitmix64 generator of one word and return a number in [0, 1)."""
    state[0] += GOLDEN
    return np.float64(mix64(state[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel(fastmath={"nnan", "nsz"})
def lowest_and_highest(values, n):
    """Return the extremes of the first n values."""
    low = values[0]
    high = values[0]
    for p in range(np.uint64(n)):
        low = min(low, values[p])
        high = max(high, values[p])
    return low, high


@kernel
def count_up_to(values, start, stop, cut):
    """Count the values from start to stop that are at most the cut."""
    count = 0
    for p in range(np.uint64(start), np.uint64(stop)):
        count += 1 if values[p] <= cut else 0
    return count


@kernel
def order_by_class(codes, n_classes, order):
    """Write the rows into `order`, class by class, those of a class in their own order."""
    place = np.zeros(n_classes + 1, np.int64)
    for i in range(codes.shape[0]):
        place[codes[i] + 1] += 1
    for k in range(n_classes):
        place[k + 1] += place[k]
    for i in range(codes.shape[0]):
        order[place[codes[i]]] = i
        place[codes[i]] += 1


@kernel
def grow_trees(
    columns, codes, n_classes, test, n_trees, n_tries, min_leaf, min_rows, state, features, deep, shallow, importance
):
    """Grow trees one after the other, and add up what their leaves say of the test rows.

    Parameters
    ----------
    columns : ndarray of shape (d, n)
        Training rows, a feature in each row.
    codes : ndarray of shape (n,)
        Their classes.
    n_classes : int
        Number of classes.
    test : ndarray of shape (n_test, d)
        Rows to predict.
    n_trees, n_tries, min_leaf : int
        Trees; features that vary to try at each node; rows in a leaf at the least.
    min_rows : int
        Rows at the least in the nodes that the shallow prediction is made from.
    state : ndarray of shape (1,) of uint64
        State of the random draws; goes on where the last call left it.
    features : ndarray of shape (d,)
        The features, in the order of the last draws: part of that state.
    deep, shallow : ndarray of shape (n_test, n_classes)
        Shares of the classes are added here: in the leaf of a row, and in the last node above it of `min_rows` rows.
    importance : ndarray of shape (d,)
        Falls in Gini impurity in nodes of twice `min_rows` rows are added here, as shares of each tree's.

    Notes
    -----
    The rows of a node stand together, class by class, so that counting a class is a loop without branches.
    """
    d, n = columns.shape
    most = 2 * (n // min_leaf) + 3
    feature = np.empty(most, np.int64)
    threshold = np.empty(most, columns.dtype)
    left = np.empty(most, np.int64)
    first = np.empty(most, np.int64)
    last = np.empty(most, np.int64)
    counts = np.zeros((most, n_classes))
    by_class, order = np.empty(n, np.uint32), np.empty(n, np.uint32)
    order_by_class(codes, n_classes, by_class)
    values = np.empty(n, columns.dtype)
    aside = np.empty(n, np.uint32)
    present = np.empty(n_classes, np.int64)
    ends = np.empty(n_classes, np.int64)
    constants = np.zeros((most, d // 8 + 1), np.uint8)  # bits of the features that are known not to vary in a node
    gains = np.empty(d)
    for _ in range(n_trees):
        gains[:] = 0.0
        for i in range(n):
            order[i] = by_class[i]
        n_nodes = 1
        first[0], last[0] = 0, n
        constants[0] = 0
        counts[0, :] = 0.0
        for i in range(n):
            counts[0, codes[i]] += 1.0
        node = 0
        while node < n_nodes:
            start, stop = first[node], last[node]
            size = stop - start
            # one row in `stride` is looked at, of each class: the rows of the node's q-th look are start + q * stride
            stride = max(size // FEWEST_SEEN, 1)
            n_seen = (size + stride - 1) // stride
            n_present = 0
            squares, begin = 0.0, 0
            for k in range(n_classes):
                if counts[node, k] > 0:
                    begin += int(counts[node, k])
                    present[n_present] = k
                    ends[n_present] = (begin + stride - 1) // stride
                    n_present += 1
            begin = 0
            for c in range(n_present):
                squares += float(ends[c] - begin) ** 2
                begin = ends[c]
            feature[node] = -1
            best = 1e-12 * size
            tries = 0
            drawn = 0
            while n_present > 1 and size >= 2 * min_leaf and tries < n_tries and drawn < d:
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
                begin = 0
                of_below = 0.0
                of_above = 0.0
                for c in range(n_present):
                    found = count_up_to(values, begin, ends[c], cut)
                    n_below += found
                    of_below += float(found) ** 2
                    of_above += float(ends[c] - begin - found) ** 2
                    begin = ends[c]
                if n_below < min_leaf or n_seen - n_below < min_leaf:
                    continue
                gain = stride * (of_below / n_below + of_above / (n_seen - n_below) - squares / n_seen)
                if gain > best:
                    best = gain
                    feature[node] = f
                    threshold[node] = cut
            if feature[node] >= 0:
                f, cut = feature[node], threshold[node]
                if size >= 2 * min_rows:  # splits of a few rows fit noise
                    gains[f] += best
                column = columns[f]
                for k in range(n_classes):
                    counts[n_nodes, k] = 0.0
                    counts[n_nodes + 1, k] = 0.0
                i = start
                n_aside = 0
                p = start
                for c in range(n_present):
                    k = present[c]
                    n_before = i
                    for _ in range(int(counts[node, k])):
                        row = order[p]
                        if column[row] <= cut:
                            order[i] = row
                            i += 1
                        else:
                            aside[n_aside] = row
                            n_aside += 1
                        p += 1
                    counts[n_nodes, k] = i - n_before
                    counts[n_nodes + 1, k] = counts[node, k] - (i - n_before)
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
            size = last[node] - first[node]
            size_of_large = last[large] - first[large]
            for k in range(n_classes):
                deep[i, k] += counts[node, k] / size
                shallow[i, k] += counts[large, k] / size_of_large
