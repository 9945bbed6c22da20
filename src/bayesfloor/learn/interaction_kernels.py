"""Kernels: information about the classes in pairs and triples of features, counted on packed bits.

The information of some features is G = sum of n_ck log(n_ck / n_c) over their cells c and the classes k. It is at most
0, and 0 where every cell holds one class. Each bin of a feature is a row of bits, one bit for each training row; the
rows of a class fill words of their own. So a count is the number of bits that two or three such rows share.

The plain versions count with products of matrices of zeros and ones, which are exact, and add up in the same order.
"""

from itertools import pairwise

import numpy as np

from bayesfloor.runtime.kernels import kernel

#: Seconds of the plain versions: for each term of an information, and for each product of two bits.
PLAIN_TERM_S, PLAIN_BIT_S = 2e-8, 1e-10
#: Most numbers in an array of theirs.
PLAIN_NUMBERS = 2**21


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


def _bits_of_classes(words, starts):
    """Return for each class the rows of bits as 0 and 1, which are counted without an error up to 2^24 rows."""
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1).astype(np.float32)
    return [bits[:, 64 * start : 64 * stop] for start, stop in pairwise(starts)]


def _information(cells, n_log_n):
    """Return G of each table of cells, (n_tables, n_classes, n_cells)."""
    n_tables, n_classes, n_cells = cells.shape
    of_classes = n_log_n[cells].reshape(n_tables, n_classes * n_cells)
    terms = np.concatenate([of_classes, -n_log_n[cells.sum(axis=1)]], axis=1)
    return np.cumsum(terms, axis=1)[:, -1]  # one term after the other


def _blocks(n, size):
    """Cut n pairs of features into blocks in which arrays of so many numbers for each pair stay small."""
    step = max(PLAIN_NUMBERS // max(size, 1), 1)
    return [slice(first, first + step) for first in range(0, n, step)]


def _pair_information(words, starts, first_bin, margins, n_log_n, information):
    n_bins = np.diff(first_bin)
    most = int(n_bins.max(initial=0))
    # bins that a feature does not have are empty, and add nothing
    has = np.arange(most) < n_bins[:, None]
    place = np.where(has, first_bin[:-1, None] + np.arange(most), 0)
    common = np.stack([bits @ bits.T for bits in _bits_of_classes(words, starts)]).astype(np.int64)
    every_a, every_b = np.triu_indices(len(n_bins), 1)
    for block in _blocks(len(every_a), most**2 * len(starts)):
        a, b = every_a[block], every_b[block]
        cells = common[:, place[a][:, :, None], place[b][:, None]] * (has[a][:, :, None] & has[b][:, None])
        information[a, b] = _information(cells.reshape(*cells.shape[:2], -1).transpose(1, 0, 2), n_log_n)


def _pair_seconds(words, starts, first_bin, margins, n_log_n, information):
    return len(words) ** 2 * (PLAIN_TERM_S * len(starts) + PLAIN_BIT_S * 64 * words.shape[1])


@kernel(plain=_pair_information, plain_seconds=_pair_seconds)
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


def _triple_information(words, starts, counts, pairs, n_log_n, information):
    d, classes = len(words), _bits_of_classes(words, starts)
    every_a, every_b = np.triu_indices(d, 1)
    place = 0
    for block in _blocks(len(every_a), 64 * words.shape[1] + 8 * d * len(starts)):
        abc = np.stack([(bits[every_a[block]] * bits[every_b[block]]) @ bits.T for bits in classes], axis=2)
        row, c = np.nonzero(np.arange(d) > every_b[block, None])
        abc = abc[row, c].astype(np.int64)
        a, b = every_a[block][row], every_b[block][row]
        ab, ac, bc = pairs[a, b], pairs[a, c], pairs[b, c]
        of_a, of_b, of_c = pairs[a, a], pairs[b, b], pairs[c, c]
        cells = (
            abc,
            ab - abc,
            ac - abc,
            bc - abc,
            of_a - ab - ac + abc,
            of_b - ab - bc + abc,
            of_c - ac - bc + abc,
            counts - of_a - of_b - of_c + ab + ac + bc - abc,
        )
        information[place : place + len(c)] = _information(np.stack(cells, axis=2), n_log_n)
        place += len(c)


def _triple_seconds(words, starts, counts, pairs, n_log_n, information):
    return PLAIN_TERM_S * 8 * len(starts) * len(information) + PLAIN_BIT_S * 64 * words.shape[1] * len(words) ** 3


@kernel(plain=_triple_information, plain_seconds=_triple_seconds)
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


def _pair_counts(words, starts, pairs):
    for k, bits in enumerate(_bits_of_classes(words, starts)):
        pairs[:, :, k] = bits @ bits.T


def _count_seconds(words, starts, pairs):
    return PLAIN_BIT_S * 64 * words.size * len(words) + PLAIN_TERM_S * pairs.size


@kernel(plain=_pair_counts, plain_seconds=_count_seconds)
def pair_counts(words, starts, pairs):
    """Count the rows of each class in the upper halves of both features of every pair, and of one on the diagonal."""
    d = words.shape[0]
    for a in range(d):
        for b in range(a, d):
            for k in range(starts.shape[0] - 1):
                shared = count_common(words[a, starts[k] : starts[k + 1]], words[b, starts[k] : starts[k + 1]])
                pairs[a, b, k] = shared
                pairs[b, a, k] = shared
