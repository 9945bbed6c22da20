"""Kernels: randomised trees of ranks, grown to pure leaves, and nearest rows, kept block by block."""

import numpy as np

from bayesfloor.floor.learned.tree_kernels import next_random, order_by_class
from bayesfloor.runtime.kernels import kernel


@kernel
def extremes(values, n):
    """Return the extremes of the first n values."""
    low = values[0]
    high = values[0]
    for p in range(np.uint64(n)):
        low = min(low, values[p])
        high = max(high, values[p])
    return low, high


@kernel
def end_of_class(codes, order, start, stop, label):
    """Return where the rows of classes up to a label end, among rows that stand class by class."""
    while start < stop:
        middle = (start + stop) >> 1
        if codes[order[middle]] <= label:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def grow_deep_trees(columns, codes, n_classes, test, n_trees, n_tries, n_looked_at, state, probability, importance):
    """Grow trees one after the other, and add up what their leaves say of the test rows.

    Parameters
    ----------
    columns : ndarray of shape (d, n) of uint16
        Ranks of the training rows, a feature in each row.
    codes : ndarray of shape (n,) of int32
        Their classes.
    n_classes : int
        Number of classes.
    test : ndarray of shape (n_test, d) of uint16
        Rows to predict.
    n_trees, n_tries : int
        Trees; features that vary to try at each node.
    n_looked_at : int
        Rows of a larger node that a cut is chosen by: evenly spaced ones, so as many of each class as its share.
    state : ndarray of shape (1,) of uint64
        State of the random draws; goes on where the last call left it.
    probability : ndarray of shape (n_test, n_classes)
        Shares of the classes in the leaves are added here.
    importance : ndarray of shape (d,)
        Falls in Gini impurity are added here, as shares of each tree's.

    Notes
    -----
    Nodes are split depth first, so that the rows of small nodes stay in the processor's cache. The rows of a node stand
    together, class by class. A feature that was found constant is not looked at again further down.
    """
    d, n = columns.shape
    most = 2 * n + 1
    feature = np.empty(most, np.int32)
    threshold = np.empty(most, np.uint16)
    child = np.empty(most, np.int32)  # the left child of a node, or the first row of a leaf
    last = np.empty(most, np.int32)
    depth_first = np.empty((most // 2 + 2, 4), np.int32)  # node, first and last row, number of constant features
    by_class, order = np.empty(n, np.int32), np.empty(n, np.int32)
    order_by_class(codes, n_classes, by_class)
    aside = np.empty(n, np.int32)
    values = np.empty(n, np.uint16)
    features = np.arange(d)
    ends = np.empty(n_classes, np.int64)
    counts = np.empty(n_classes)
    gains = np.empty(d)
    for _ in range(n_trees):
        gains[:] = 0.0
        for p in range(n):
            order[p] = by_class[p]
        n_nodes = 1
        waiting = 1
        depth_first[0, 0], depth_first[0, 1], depth_first[0, 2], depth_first[0, 3] = 0, 0, n, 0
        while waiting > 0:
            waiting -= 1
            node = depth_first[waiting, 0]
            start = np.int64(depth_first[waiting, 1])
            stop = np.int64(depth_first[waiting, 2])
            n_constant = np.int64(depth_first[waiting, 3])
            feature[node] = -1
            child[node] = start
            last[node] = stop
            if codes[order[start]] == codes[order[stop - 1]]:
                continue
            step = max((stop - start) // n_looked_at, 1)
            size = (stop - start + step - 1) // step
            # Rows that are looked at, by class
            if step == 1 and size < 4 * n_classes:
                ends[:] = 0
                for p in range(start, stop):
                    ends[codes[order[p]]] += 1
                end = 0
                for k in range(n_classes):
                    end += ends[k]
                    ends[k] = end
            else:
                after = start
                for k in range(n_classes):
                    after = end_of_class(codes, order, after, stop, k)
                    ends[k] = (after - start + step - 1) // step
            squares = 0.0
            begin = 0
            for k in range(n_classes):
                counts[k] = ends[k] - begin
                squares += counts[k] ** 2
                begin = ends[k]
            best = -1.0
            tries = 0
            drawn = n_constant
            while drawn < d and tries < n_tries:
                pick = drawn + np.int64(next_random(state) * (d - drawn))
                f = features[pick]
                features[pick] = features[drawn]
                features[drawn] = f
                drawn += 1
                column = columns[f]
                for p in range(size):
                    values[p] = column[order[start + p * step]]
                low, high = extremes(values, size)
                if low == high:
                    if step == 1:
                        # The first places hold what is constant; no node but those below this one moves it from there.
                        features[drawn - 1] = features[n_constant]
                        features[n_constant] = f
                        n_constant += 1
                    continue
                tries += 1
                cut = np.uint16(np.int64(low) + np.int64(next_random(state) * (np.int64(high) - np.int64(low))))
                n_below = 0
                of_below = 0.0
                of_above = 0.0
                begin = 0
                for k in range(n_classes):
                    found = 0
                    for p in range(np.uint64(begin), np.uint64(ends[k])):
                        found += 1 if values[p] <= cut else 0
                    begin = ends[k]
                    n_below += found
                    of_below += np.float64(found) ** 2
                    of_above += (counts[k] - found) ** 2
                gain = of_below / n_below + of_above / (size - n_below) - squares / size
                if gain > best:
                    best = gain
                    feature[node] = f
                    threshold[node] = cut
            if feature[node] < 0:
                continue  # rows of different classes that are equal in all features
            f, cut = feature[node], threshold[node]
            gains[f] += max(best, 0.0) * step
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
            child[node] = n_nodes
            for side in range(2):
                depth_first[waiting, 0] = n_nodes + side
                depth_first[waiting, 1] = start if side == 0 else i
                depth_first[waiting, 2] = i if side == 0 else stop
                depth_first[waiting, 3] = n_constant
                waiting += 1
            n_nodes += 2
        total = 0.0
        for f in range(d):
            total += gains[f]
        if total > 0:
            for f in range(d):
                importance[f] += gains[f] / total
        for t in range(test.shape[0]):
            leaf = np.int64(0)
            while feature[leaf] >= 0:
                leaf = np.int64(child[leaf]) + (0 if test[t, feature[leaf]] <= threshold[leaf] else 1)
            start, stop = np.int64(child[leaf]), np.int64(last[leaf])
            size = stop - start
            while start < stop:
                label = codes[order[start]]
                after = end_of_class(codes, order, start, stop, label)
                probability[t, label] += (after - start) / size
                start = after


@kernel
def keep_nearest(distances, first, nearest, rows):
    """Update the nearest rows of each test row with a block of others.

    Parameters
    ----------
    distances : ndarray of shape (n_test, n)
        Distances from test rows.
    first : int
        Number of the first of the others.
    nearest, rows : ndarray of shape (n_test, k)
        Distances and numbers of the nearest so far, ascending; changed in place.
    """
    n_test, n = distances.shape
    k = nearest.shape[1]
    for i in range(n_test):
        farthest = nearest[i, k - 1]
        for p in range(n):
            if distances[i, p] < farthest:
                place = k - 1
                while place > 0 and nearest[i, place - 1] > distances[i, p]:
                    nearest[i, place] = nearest[i, place - 1]
                    rows[i, place] = rows[i, place - 1]
                    place -= 1
                nearest[i, place] = distances[i, p]
                rows[i, place] = first + p
                farthest = nearest[i, k - 1]
