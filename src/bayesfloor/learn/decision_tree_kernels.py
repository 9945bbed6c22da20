"""Kernels: extremely randomised trees (Geurts, Ernst and Wehenkel 2006) of a matrix of targets.

The squared error summed over indicators of classes is the Gini impurity. Rows of a class stand together, so that their
indicators need not be multiplied: the rows of a node are *stretches*, and each has one column of targets to itself. A
number is one stretch of all rows.
"""

import numpy as np

from bayesfloor.runtime.hash_kernels import GOLDEN
from bayesfloor.runtime.hash_kernels import compiled_mix64 as mix64
from bayesfloor.runtime.kernels import kernel

#: Rows up to which it is faster to go through them than to halve them.
SHORT = 16


@kernel
def next_random(state):
    """Advance a splitmix64 generator of one word and return a number in [0, 1)."""
    state[0] += GOLDEN
    return np.float64(mix64(state[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


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
def sums_up_to(values, targets, weights, start, stop, cut):
    """Count the values from start to stop that are at most the cut, and add up their targets and weights."""
    count, of_targets, of_weights = 0, 0.0, 0.0
    for p in range(np.uint64(start), np.uint64(stop)):
        is_below = 1.0 if values[p] <= cut else 0.0
        count += 1 if values[p] <= cut else 0
        of_targets += is_below * targets[p]
        of_weights += is_below * weights[p]
    return count, of_targets, of_weights


@kernel
def end_of_stretch(codes, order, start, stop):
    """Return where the rows of the class of the first row end, among rows that stand class by class."""
    label = codes[order[start]]
    if codes[order[stop - 1]] == label:
        return stop
    if stop - start <= SHORT:
        start += 1
        while codes[order[start]] == label:
            start += 1
        return start
    start += 1
    while start < stop:
        middle = (start + stop) >> 1
        if codes[order[middle]] <= label:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def move_apart(column, cut, order, start, stop, aside):
    """Put the rows of a node that are at most the cut before the others, and return where these begin."""
    middle = start
    n_aside = 0
    for p in range(start, stop):
        row = order[p]
        if column[row] <= cut:
            order[middle] = row
            middle += 1
        else:
            aside[n_aside] = row
            n_aside += 1
    for p in range(n_aside):
        order[middle + p] = aside[p]
    return middle


@kernel
def add_shares(gains, importance):
    """Add the gains of features, as shares of their sum, to their importances."""
    total = 0.0
    for f in range(gains.shape[0]):
        total += gains[f]
    if total > 0:
        for f in range(gains.shape[0]):
            importance[f] += gains[f] / total


@kernel
def add_means(test, feature, threshold, child, first, last, min_rows, codes, targets, weight, is_counted, order, means):
    """Add what a tree says of the test rows: in the leaf of each, and in the last node above it with so many rows."""
    # One body, although it has two ideas: to hand on a dozen arrays for each row takes longer than a short node.
    for i in range(test.shape[0]):
        node, large = np.int64(0), np.int64(0)
        while feature[node] >= 0:
            node = np.int64(child[node]) + (0 if test[i, feature[node]] <= threshold[node] else 1)
            if last[node] - first[node] >= min_rows:
                large = node
        for kind in range(means.shape[0]):
            start, stop = np.int64(first[node]), np.int64(last[node])
            if not is_counted:
                mass = 0.0
                for p in range(start, stop):
                    mass += weight[order[p]]
                for p in range(start, stop):
                    row = order[p]
                    means[kind, i, codes[row]] += weight[row] * targets[row] / mass
            else:
                share = 1.0 / (stop - start)
                while feature[node] < 0 and start < stop:  # the rows of a leaf still stand class by class
                    end = end_of_stretch(codes, order, start, stop)
                    means[kind, i, codes[order[start]]] += share * (end - start)
                    start = end
                for p in range(start, stop):
                    means[kind, i, codes[order[p]]] += share
            node = large


@kernel
def add_means_of_forest(
    test, feature, threshold, child, first, last, sizes, min_rows, codes, targets, weight, is_counted, order, means
):
    """Add what trees say of the test rows, whose nodes and rows stand one tree after the other."""
    a, n = 0, codes.shape[0]
    for tree in range(sizes.shape[0]):
        b = a + sizes[tree]
        add_means(
            test, feature[a:b], threshold[a:b], child[a:b], first[a:b], last[a:b], min_rows, codes, targets, weight,
            is_counted, order[tree * n : (tree + 1) * n], means,
        )  # fmt: skip
        a = b


@kernel
def grow_trees(
    columns,
    codes,
    targets,
    weight,
    is_counted,
    test,
    n_trees,
    n_tries,
    n_looked_at,
    min_leaf,
    min_rows,
    state,
    features,
    means,
    importance,
    n_grown,
    feature_of,
    threshold_of,
    child_of,
    first_of,
    last_of,
    order_of,
):
    """Grow trees one after the other, and add up what their leaves say of the test rows.

    Parameters
    ----------
    columns : ndarray of shape (d, n)
        Training rows, a feature in each row.
    codes : ndarray of shape (n,) of int32
        The column of targets that a row has something in: its class, or 0.
    targets, weight : ndarray of shape (n,)
        What it has there, and what the row counts.
    is_counted : bool
        Whether all of these are 1, so that rows can be counted.
    test : ndarray of shape (n_test, d)
        Rows to predict.
    n_trees, n_tries : int
        Trees; features that vary to try at each node.
    n_looked_at : int
        Rows at the least that a split is chosen by; a node of twice as many looks at every other one.
    min_leaf, min_rows : int
        Rows at the least in a leaf, and in the nodes that the shallow prediction is made from.
    state : ndarray of shape (1,) of uint64
        State of the random draws; goes on where the last call left it.
    features : ndarray of shape (d,)
        The features, in the order of the last draws: part of that state.
    means : ndarray of shape (1 or 2, n_test, n_targets)
        Means of the targets are added here: in the leaf of a row and, behind them, in the last node above it of
        `min_rows` rows.
    importance : ndarray of shape (d,)
        Falls in squared error in nodes of twice `min_rows` rows are added here, as shares of each tree's.
    n_grown : ndarray of shape (n_kept,)
        Nodes of the trees. There are as many places as trees that are kept, or one that all are grown in.
    feature_of, threshold_of, child_of, first_of, last_of : ndarray of shape (n_kept, n_nodes)
        The feature of each node, -1 for a leaf; its cut; the left one of its children; where its rows begin and end.
    order_of : ndarray of shape (n_kept, n) of uint32
        The rows, in the order of leaves.

    Notes
    -----
    Nodes are split depth first, so that the rows of small nodes stay in the processor's cache. A feature that was found
    constant is not looked at again further down. What is tried at a node stays in one function: the arrays of a node
    would be handed on for each of them, which counts references.
    """
    # One body, although it is long: each part of the loop over nodes would take a dozen of its arrays and counters.
    d, n = columns.shape
    n_targets = means.shape[2]
    most = feature_of.shape[1]
    waiting_node = np.empty(most // 2 + 2, np.int32)
    waiting_constant = np.empty(most // 2 + 2, np.int32)
    by_class = np.empty(n, np.uint32)
    order_by_class(codes, n_targets, by_class)
    aside = np.empty(n, np.uint32)
    values = np.empty(n, columns.dtype)
    n_summed = 0 if is_counted else n
    near, heavy = np.empty(n_summed), np.empty(n_summed)
    ends = np.empty(n_targets, np.int64)
    sums = np.empty(n_targets)
    gains = np.empty(d)
    for tree in range(n_trees):
        place = tree % n_grown.shape[0]
        feature, threshold, child = feature_of[place], threshold_of[place], child_of[place]
        first, last, order = first_of[place], last_of[place], order_of[place]
        gains[:] = 0.0
        for i in range(n):
            order[i] = by_class[i]
        n_nodes = 1
        n_waiting = 1
        first[0], last[0] = 0, n
        waiting_node[0], waiting_constant[0] = 0, 0
        while n_waiting > 0:
            n_waiting -= 1
            node = np.int64(waiting_node[n_waiting])
            n_constant = np.int64(waiting_constant[n_waiting])
            start, stop = np.int64(first[node]), np.int64(last[node])
            size = stop - start
            feature[node] = -1
            if size < 2 * min_leaf:
                continue
            # one row in `stride` is looked at: the rows of the node's q-th look are start + q * stride
            stride = max(size // n_looked_at, 1)
            n_seen = (size + stride - 1) // stride
            n_stretches = 0
            after = start
            while after < stop:
                after = end_of_stretch(codes, order, after, stop)
                ends[n_stretches] = (after - start + stride - 1) // stride
                n_stretches += 1
            mass, squares = 0.0, 0.0
            begin = 0
            if is_counted:
                if n_stretches == 1:
                    continue
                mass = np.float64(n_seen)
                for c in range(n_stretches):
                    sums[c] = ends[c] - begin
                    squares += sums[c] ** 2
                    begin = ends[c]
            else:
                lowest, highest = np.inf, -np.inf
                for c in range(n_stretches):
                    sums[c] = 0.0
                    for p in range(begin, ends[c]):
                        row = order[start + p * stride]
                        near[p], heavy[p] = weight[row] * targets[row], weight[row]
                        sums[c] += near[p]
                        mass += heavy[p]
                        lowest, highest = min(lowest, targets[row]), max(highest, targets[row])
                    squares += sums[c] ** 2
                    begin = ends[c]
                if n_stretches == 1 and not lowest < highest:
                    continue
            best = -np.inf
            tries = 0
            drawn = n_constant
            while tries < n_tries and drawn < d:
                pick = drawn + np.int64(next_random(state) * (d - drawn))
                f = features[pick]
                features[pick] = features[drawn]
                features[drawn] = f
                drawn += 1
                low = high = columns[f, order[start]]
                for q in range(np.uint64(n_seen)):
                    value = columns[f, order[start + q * stride]]
                    values[q] = value
                    low = min(low, value)
                    high = max(high, value)
                if not low < high:
                    if stride == 1:
                        # The first places hold what is constant; no node but those below this one moves it from there.
                        features[drawn - 1] = features[n_constant]
                        features[n_constant] = f
                        n_constant += 1
                    continue
                tries += 1
                cut = values.dtype.type(np.float64(low) + next_random(state) * (np.float64(high) - np.float64(low)))
                if not cut < high:
                    cut = low
                n_below, mass_below = 0, 0.0
                of_below, of_above = 0.0, 0.0
                begin = 0
                for c in range(n_stretches):
                    if is_counted:
                        found = count_up_to(values, begin, ends[c], cut)
                        below = np.float64(found)
                        mass_below += below
                    else:
                        found, below, heavy_below = sums_up_to(values, near, heavy, begin, ends[c], cut)
                        mass_below += heavy_below
                    n_below += found
                    of_below += below**2
                    of_above += (sums[c] - below) ** 2
                    begin = ends[c]
                if n_below < min_leaf or n_seen - n_below < min_leaf:
                    continue
                gain = of_below / mass_below + of_above / (mass - mass_below) - squares / mass
                if gain > best:
                    best = gain
                    feature[node] = f
                    threshold[node] = cut
            if feature[node] < 0:
                continue
            f, cut = feature[node], threshold[node]
            if size >= 2 * min_rows:  # splits of a few rows fit noise
                gains[f] += max(best, 0.0) * stride
            middle = move_apart(columns[f], cut, order, start, stop, aside)
            child[node] = n_nodes
            first[n_nodes], last[n_nodes] = start, middle
            first[n_nodes + 1], last[n_nodes + 1] = middle, stop
            for side in range(2):
                waiting_node[n_waiting], waiting_constant[n_waiting] = n_nodes + side, n_constant
                n_waiting += 1
            n_nodes += 2
        n_grown[place] = n_nodes
        add_shares(gains, importance)
        add_means(
            test, feature, threshold, child, first, last, min_rows, codes, targets, weight, is_counted, order, means
        )
