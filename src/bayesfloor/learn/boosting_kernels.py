"""Kernels: gradient boosting of trees over histograms (Friedman 2001; Ke et al. 2017), for many small fits.

A split is a word of 64 bits. For a category, bin b goes to the left where bit b is set. For a number, bins from 1 up to
the low byte of the word go to the left, and gaps, in bin 0, where the next bit is set.

What a histogram adds up is a word as well. From the top: 29 bits of the first derivative, rounded and signed, 22 bits
of the second, and 13 bits that count rows. Where more rows are added up, both derivatives have 32 bits, rounded up or
down at random so that sums are right in the mean, and four times the second one stands for the rows: as it is at most
1/4, there are at least so many. One addition takes the place of three, and sums are exact whatever their order.
"""

import numpy as np

from bayesfloor.learn.decision_tree_kernels import next_random
from bayesfloor.runtime.kernels import kernel

#: Most bins of a number, which are bytes, and of a category: the bits of a word.
MOST_BINS, MOST_OF_CATEGORY = 256, 64
#: Bits that count rows, with few of them and with many. Histograms can add up MOST_SEEN of few, and 2**24 - 1 of many.
COUNT_BITS, UNCOUNTED = 13, 0
MOST_SEEN = 2**COUNT_BITS - 1
#: Rows of the mean gradient that each bin of a category is given before the bins are put in order.
_SMOOTHING = 10.0


@kernel
def boost(
    bins,
    n_bins,
    is_category,
    y,
    weight,
    n_classes,
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
    column_of,
    left_of,
    child_of,
    value_of,
):
    """Add up trees, each grown leaf by leaf to the gradient of a loss: the log-loss of a class, or half a square.

    Parameters
    ----------
    bins : ndarray of shape (d, n_all) of uint8
        The bin of each row, first of all training rows, then of rows to predict. Gaps of numbers are in bin 0.
    n_bins, is_category : ndarray of shape (d,)
        Bins of each column, and whether they have no order.
    y, weight : ndarray of shape (n,)
        Classes or numbers of the training rows, and what each row counts.
    n_classes : int
        Number of classes; 0 for numbers.
    n_rounds, n_leaves : int
        Rounds, of one tree for each column of the scores; leaves of a tree at the most.
    rate, ridge : float
        Share of each step that is taken; penalty of its square, in units of the second derivative.
    min_rows, n_tried, n_seen : int
        Rows in a leaf at the least; columns and rows drawn for each tree.
    state : ndarray of shape (1,) of uint64
        State of the random draws; goes on where the last call left it.
    features : ndarray of shape (d,)
        The columns, in the order of the last draws: part of that state.
    scores : ndarray of shape (n_all, n_scores)
        Log-odds of the second of two classes, scores of each of several, or predictions; the trees are added to them.
    column_of, left_of, child_of, value_of : ndarray of shape (n_rounds, n_scores, 2 * n_leaves)
        Where trees are kept: the column of each node, -1 for a leaf; the bins to the left; the first of two children;
        the value of a leaf. No rounds where none is kept.
    """
    n, n_scores = y.shape[0], scores.shape[1]
    probability, slopes = np.empty((n if n_classes > 0 else 0, n_scores)), np.empty(n, np.int64)
    seen = np.empty(n_seen, np.uint32)
    work, value = arrays_of_tree(n_seen, n_tried, n_leaves, n_bins.max()), np.empty(2 * n_leaves)
    heaviest = 0.0
    for i in range(n):
        heaviest = max(heaviest, weight[i])
    for number in range(n_rounds):
        softmax_rows(scores, probability)
        draw_rows(n, state, seen)
        for k in range(n_scores):
            draw_first(features, n_tried, state)
            first_unit, second_unit = slopes_of(scores, probability, y, weight, heaviest, n_classes, k, slopes)
            penalty = ridge / second_unit
            n_grown = grow_tree(bins, n_bins, is_category, features, seen, slopes, penalty, min_rows, work)
            totals, node_of = work[4], work[7]
            for leaf in range(n_grown):
                first, second, _ = unpacked(totals[leaf], COUNT_BITS)
                value[node_of[leaf]] = -rate * first_unit * first / (second_unit * (second + penalty))
            if n_seen == n:
                add_leaves(n_grown, work, value, scores, k)
            add_tree(bins, is_category, work[11], work[12], work[13], value, scores, k, n if n_seen == n else 0)
            if number < column_of.shape[0]:
                keep_tree(n_grown, work, column_of[number, k], left_of[number, k], child_of[number, k])
                for node in range(2 * n_grown - 1):
                    if work[11][node] < 0:
                        value_of[number, k, node] = value[node]


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
def keep_tree(n_grown, work, column_of, left_of, child_of):
    """Copy the nodes of a tree that was grown."""
    for node in range(2 * n_grown - 1):
        column_of[node] = work[11][node]
        if work[11][node] >= 0:
            left_of[node], child_of[node] = work[12][node], work[13][node]


@kernel
def arrays_of_tree(n_seen, n_tried, n_leaves, most_bins):
    """Return the arrays that a tree is grown in: those of its rows, of its leaves, and of its nodes."""
    return (
        np.empty(n_seen, np.int64),  # 0: derivatives of the rows of a leaf
        np.empty(n_seen, np.uint32),  # 1: rows, in the order of leaves
        np.empty(n_seen, np.uint32),  # 2: rows that go to the right
        np.empty((n_leaves, n_tried, most_bins), np.int64),  # 3: histograms
        np.empty(n_leaves, np.int64),  # 4: what they add up to
        np.empty(n_leaves, np.int64),  # 5, 6: where the rows of a leaf start and stop
        np.empty(n_leaves, np.int64),
        np.empty(n_leaves, np.int64),  # 7: its node
        np.empty(n_leaves),  # 8, 9, 10: the gain of its best split, the column, the bins to the left
        np.empty(n_leaves, np.int64),
        np.empty(n_leaves, np.uint64),
        np.empty(2 * n_leaves, np.int64),  # 11, 12, 13: column of a node, bins to the left, the first of two children
        np.empty(2 * n_leaves, np.uint64),
        np.empty(2 * n_leaves, np.int64),
    )


@kernel
def grow_tree(bins, n_bins, is_category, features, seen, slopes, ridge, min_rows, work):
    """Grow a tree leaf by leaf, the best split of all leaves first, and return how many leaves it has.

    Parameters
    ----------
    bins, n_bins, is_category, ridge, min_rows
        As for `boost`.
    features : ndarray of shape (d,)
        The columns; those that are tried are the first.
    seen : ndarray of shape (n_seen,)
        The rows that the tree is grown to.
    slopes : ndarray of shape (n,)
        Derivatives of all training rows, as words.
    work : tuple of ndarray
        As from `arrays_of_tree`; the tree is written into it.
    """
    near, order, aside, sums, totals, start, stop, node_of, gain, column, to_left = work[:11]
    split_column, split_left, child = work[11:]
    for p in range(seen.shape[0]):
        order[p] = seen[p]
    start[0], stop[0], node_of[0], split_column[0] = 0, seen.shape[0], 0, -1
    totals[0] = total_of(order, 0, seen.shape[0], slopes, near)
    add_up(bins, n_bins, features, order, 0, seen.shape[0], near, sums, 0)
    gain[0], column[0], to_left[0] = best_column(
        sums, 0, totals[0], features, n_bins, is_category, ridge, min_rows, COUNT_BITS
    )
    n_grown, n_nodes = 1, 1
    while n_grown < totals.shape[0]:
        leaf = 0
        for each in range(1, n_grown):
            if gain[each] > gain[leaf]:
                leaf = each
        if not gain[leaf] > 0:
            break
        new = n_grown
        middle, n_aside = start[leaf], 0
        of_column, is_named = bins[column[leaf]], is_category[column[leaf]]
        for p in range(start[leaf], stop[leaf]):
            row = order[p]
            if goes_left(to_left[leaf], of_column[row], is_named):
                order[middle] = row
                middle += 1
            else:
                aside[n_aside] = row
                n_aside += 1
        for p in range(n_aside):
            order[middle + p] = aside[p]
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
        totals[new] = total_of(order, start[new], stop[new], slopes, near)
        totals[leaf] -= totals[new]
        n_nodes += 2
        n_grown += 1
        if n_grown == totals.shape[0]:
            break  # what the last leaves could be split by is of no use
        add_up(bins, n_bins, features, order, start[new], stop[new], near, sums, new)
        for t in range(sums.shape[1]):
            for b in range(n_bins[features[t]]):
                sums[leaf, t, b] -= sums[new, t, b]
        for each in (leaf, new):
            gain[each], column[each], to_left[each] = best_column(
                sums, each, totals[each], features, n_bins, is_category, ridge, min_rows, COUNT_BITS
            )
    return n_grown


@kernel
def add_leaves(n_grown, work, value, scores, k):
    """Add the value of each leaf to the scores of the rows that it was grown to."""
    order, start, stop, node_of = work[1], work[5], work[6], work[7]
    for leaf in range(n_grown):
        of_leaf = value[node_of[leaf]]
        for p in range(start[leaf], stop[leaf]):
            scores[order[p], k] += of_leaf


@kernel
def add_tree(bins, is_category, split_column, split_left, child, value, scores, k, first):
    """Add the value of the leaf that each row is in to its score, from some row on."""
    for i in range(first, scores.shape[0]):
        node = 0
        while split_column[node] >= 0:
            j = split_column[node]
            node = child[node] + (0 if goes_left(split_left[node], bins[j, i], is_category[j]) else 1)
        scores[i, k] += value[node]


@kernel
def add_kept_trees(bins, is_category, column_of, left_of, child_of, value_of, scores):
    """Add the values of trees that were kept to the scores of rows; parameters are those of `boost`."""
    for number in range(column_of.shape[0]):
        for k in range(column_of.shape[1]):
            nodes = column_of[number, k], left_of[number, k], child_of[number, k]
            add_tree(bins, is_category, nodes[0], nodes[1], nodes[2], value_of[number, k], scores, k, 0)


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
def total_of_left(cells, word, is_category):
    """Add up the bins that go to the left in a split."""
    total = 0
    for b in range(MOST_OF_CATEGORY if is_category else cells.shape[0]):
        if goes_left(word, b, is_category):
            total += cells[b]
    return total


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
def total_of(order, start, stop, slopes, near):
    """Add up the derivatives of the rows of a leaf, and put them next to each other."""
    total = 0
    for p in range(start, stop):
        near[p - start] = slopes[order[p]]
        total += near[p - start]
    return total


@kernel
def add_up(bins, n_bins, features, order, start, stop, near, sums, leaf):
    """Add up the derivatives of the rows of a leaf in each bin of the columns drawn."""
    for t in range(sums.shape[1]):
        f = features[t]
        for b in range(n_bins[f]):
            sums[leaf, t, b] = 0
        for p in range(np.uint64(stop - start)):
            sums[leaf, t, bins[f, order[start + p]]] += near[p]


@kernel
def best_column(sums, leaf, total, features, n_bins, is_category, ridge, min_rows, count_bits):
    """Return the gain of a leaf's best split, its column, and the bins that go to the left; 0 where there is none."""
    best, column, left = 1e-9, -1, np.uint64(0)
    if count_of(total, count_bits) >= 2 * min_rows:
        for t in range(sums.shape[1]):
            f = features[t]
            if is_category[f]:
                gain, bins = best_levels(sums[leaf, t, : n_bins[f]], total, ridge, min_rows, count_bits)
            else:
                gain, bins = best_cut(sums, leaf, t, n_bins[f], total, ridge, min_rows, count_bits)
            if gain > best:
                best, column, left = gain, f, bins
    return (best if column >= 0 else 0.0), column, left


@kernel
def best_cut(sums, leaf, t, n_bins, total, ridge, min_rows, count_bits):
    """Find the best split of a leaf by a number; return its gain and the bins that go to the left.

    Derivatives stay in the units of the words, and so does the ridge penalty: powers of 2, which round nothing.
    """
    second_unit = second_units(count_bits)
    of_first, of_second, mask, of_rows = places(count_bits)
    ridge *= second_unit
    min_rows <<= of_rows
    g, h = np.float64(total >> of_first), np.float64((total >> count_bits) & of_second) + 2.0 * ridge
    n = total & mask
    of_leaf = g * g / (h - ridge)
    best, cut, gaps = of_leaf, np.int64(0), 0
    has_gaps = sums[leaf, t, 0] != 0
    # Case 1: gaps go with the low numbers. Case 2: they go with the high ones.
    for case in range(2 if has_gaps else 1):
        sum_of_left = 0
        for b in range(np.uint64(case), np.uint64(n_bins)):
            sum_of_left += sums[leaf, t, b]
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
            if gain > best * of_left * of_right and sums[leaf, t, b] != 0:
                best, cut = gain / (of_left * of_right), np.int64(b)
                gaps = MOST_BINS if case == 0 and has_gaps else 0
    left = np.uint64(gaps | cut)
    if cut > 0:  # bins between that no row is in go with the nearer side: other rows may be there
        above = cut + 1
        while above < n_bins and sums[leaf, t, above] == 0:
            above += 1
        # where gaps alone are to the right, no number is: all go to the left
        left = np.uint64(gaps | (cut + (above - cut - 1) // 2 if above < n_bins else MOST_BINS - 1))
    return (best - of_leaf) * (second_unit / first_units(count_bits) ** 2), left


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
    """Find the best split of a leaf by a category; return its gain and the bins that go to the left."""
    g, h, n = unpacked(total, count_bits)
    of_leaf = g**2 / (h + ridge)
    best, best_left = of_leaf, np.uint64(0)
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
            best, best_left = gain / (of_left * of_right), left
    return best - of_leaf, best_left
