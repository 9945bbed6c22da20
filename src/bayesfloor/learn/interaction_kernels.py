"""Kernels: information about the classes in pairs and triples of features, counted on packed bits.

The information of some features is G = sum of n_ck log(n_ck / n_c) over their cells c and the classes k. It is at most
0, and 0 where every cell holds one class. Each bin of a feature is a row of bits, one bit for each training row; the
rows of a class fill words of their own. So a count is the number of bits that two or three such rows share.
"""

import numpy as np

from bayesfloor.runtime.kernels import kernel


@kernel
def count_bits(word):
    """Count the bits of a word."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def count_common(one, other):
    """Count the bits that two rows of words share."""
    count = 0
    for i in range(one.shape[0]):
        count += count_bits(one[i] & other[i])
    return count


@kernel
def pair_information(words, starts, first_bin, margins, n_log_n, information):
    """Compute the information of every pair of features.

    Parameters
    ----------
    words : ndarray of shape (n_bins, n_words) of uint64
        The bins of all features, as bits.
    starts : ndarray of shape (n_classes + 1,)
        Where the words of each class begin.
    first_bin : ndarray of shape (d + 1,)
        Where the bins of each feature begin.
    margins : ndarray of shape (n_bins, n_classes)
        Rows of each class in each bin.
    n_log_n : ndarray of shape (n + 1,)
        The function that G is a sum of, at 0 to n.
    information : ndarray of shape (d, d)
        G is written here, above the diagonal.
    """
    d, n_classes = first_bin.shape[0] - 1, starts.shape[0] - 1
    most = 0
    for a in range(d):
        most = max(most, first_bin[a + 1] - first_bin[a])
    cells = np.empty((most, most), np.int64)
    totals = np.empty((most, most), np.int64)
    for a in range(d):
        first_a, n_a = first_bin[a], first_bin[a + 1] - first_bin[a]
        for b in range(a + 1, d):
            first_b, n_b = first_bin[b], first_bin[b + 1] - first_bin[b]
            totals[:] = 0
            found = 0.0
            for k in range(n_classes):
                start, stop = starts[k], starts[k + 1]
                # what is left of the margins fills the last line and column
                for j in range(n_b):
                    cells[n_a - 1, j] = margins[first_b + j, k]
                for i in range(n_a - 1):
                    left = margins[first_a + i, k]
                    for j in range(n_b - 1):
                        shared = count_common(words[first_a + i, start:stop], words[first_b + j, start:stop])
                        cells[i, j] = shared
                        cells[n_a - 1, j] -= shared
                        left -= shared
                    cells[i, n_b - 1] = left
                    cells[n_a - 1, n_b - 1] -= left
                for i in range(n_a):
                    for j in range(n_b):
                        found += n_log_n[cells[i, j]]
                        totals[i, j] += cells[i, j]
            for i in range(n_a):
                for j in range(n_b):
                    found -= n_log_n[totals[i, j]]
            information[a, b] = found


@kernel
def triple_information(words, starts, counts, pairs, n_log_n, information):
    """Compute the information of every triple of features that are cut in two.

    Parameters
    ----------
    words : ndarray of shape (d, n_words) of uint64
        The upper halves of all features, as bits.
    starts : ndarray of shape (n_classes + 1,)
        Where the words of each class begin.
    counts : ndarray of shape (n_classes,)
        Rows of each class.
    pairs : ndarray of shape (d, d, n_classes)
        Rows in the upper halves of both features; of one feature on the diagonal.
    n_log_n : ndarray of shape (n + 1,)
        The function that G is a sum of, at 0 to n.
    information : ndarray of shape (d * (d - 1) * (d - 2) / 6,)
        G is written here, in the order of `itertools.combinations`.
    """
    d, n_classes = words.shape[0], starts.shape[0] - 1
    both = np.empty(words.shape[1], np.uint64)
    totals = np.empty(8, np.int64)
    place = 0
    for a in range(d):
        for b in range(a + 1, d):
            for i in range(both.shape[0]):
                both[i] = words[a, i] & words[b, i]
            for c in range(b + 1, d):
                totals[:] = 0
                found = 0.0
                for k in range(n_classes):
                    start, stop = starts[k], starts[k + 1]
                    abc = count_common(both[start:stop], words[c, start:stop])
                    ab, ac, bc = pairs[a, b, k], pairs[a, c, k], pairs[b, c, k]
                    of_a, of_b, of_c = pairs[a, a, k], pairs[b, b, k], pairs[c, c, k]
                    cells = (
                        abc,
                        ab - abc,
                        ac - abc,
                        bc - abc,
                        of_a - ab - ac + abc,
                        of_b - ab - bc + abc,
                        of_c - ac - bc + abc,
                        counts[k] - of_a - of_b - of_c + ab + ac + bc - abc,
                    )
                    for i in range(8):
                        found += n_log_n[cells[i]]
                        totals[i] += cells[i]
                for i in range(8):
                    found -= n_log_n[totals[i]]
                information[place] = found
                place += 1


@kernel
def pair_counts(words, starts, pairs):
    """Count the rows of each class in the upper halves of both features of every pair, and of one on the diagonal."""
    d = words.shape[0]
    for a in range(d):
        for b in range(a, d):
            for k in range(starts.shape[0] - 1):
                shared = count_common(words[a, starts[k] : starts[k + 1]], words[b, starts[k] : starts[k + 1]])
                pairs[a, b, k] = shared
                pairs[b, a, k] = shared
