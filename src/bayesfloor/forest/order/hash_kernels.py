"""Kernels: hashes of rows and of edges, and the sort that the strict order of edges is built on.

A row's hash depends on its values alone, so ties fall the same way in whatever order the rows arrive and whichever
other rows are with them.
"""

import numpy as np

from bayesfloor.runtime.hash_kernels import GOLDEN, SHIFT_32
from bayesfloor.runtime.hash_kernels import compiled_mix64 as mix64
from bayesfloor.runtime.hash_kernels import mix64 as mix64_of_array
from bayesfloor.runtime.kernels import kernel

DIGIT_BITS = np.uint64(11)
DIGIT_MASK = np.uint64((1 << 11) - 1)
N_DIGIT_VALUES = 1 << 11
# Maximum length of a run of equal keys that is sorted by insertion.
SHORT_RUN = 24
# High words of hashes are from the first of these to below the second.
NO_WORD, N_WORDS = np.uint64(0), np.uint64(1 << 32)


def _seed_key(seed):
    return mix64_of_array(np.array([seed], np.uint64) + GOLDEN)[0]


@kernel(plain=_seed_key)
def seed_key(seed):
    """Return the word that a seed contributes to every edge's hash."""
    return mix64(seed + GOLDEN)


@kernel(inline="always")
def edge_hash(hash_u, hash_v, key):
    """Hash an edge from its ends' hashes, the same from either end."""
    return mix64((hash_u + hash_v) ^ key)


@kernel
def radix_sort_range(keys, items, lo, hi, keys_spare, items_spare):
    """Sort items lo..hi, and their keys, by the low 32 bits of their keys; stable.

    The spare arrays are as long as the range or longer. Digits that all keys share cost one count and no move.
    """
    n = hi - lo
    if n == 0:
        return
    counts = np.zeros((3, N_DIGIT_VALUES), np.int64)
    for p in range(lo, hi):
        key = keys[p]
        counts[0, key & DIGIT_MASK] += 1
        counts[1, (key >> DIGIT_BITS) & DIGIT_MASK] += 1
        counts[2, (key >> (DIGIT_BITS + DIGIT_BITS)) & DIGIT_MASK] += 1
    in_spare = False
    for digit in range(3):
        shift = np.uint64(digit) * DIGIT_BITS
        first = keys_spare[0] if in_spare else keys[lo]
        if counts[digit, (first >> shift) & DIGIT_MASK] == n:
            continue
        total = 0
        for value in range(N_DIGIT_VALUES):
            count = counts[digit, value]
            counts[digit, value] = total
            total += count
        if in_spare:
            for p in range(n):
                value = (keys_spare[p] >> shift) & DIGIT_MASK
                target = lo + counts[digit, value]
                counts[digit, value] += 1
                keys[target] = keys_spare[p]
                items[target] = items_spare[p]
        else:
            for p in range(lo, hi):
                value = (keys[p] >> shift) & DIGIT_MASK
                target = counts[digit, value]
                counts[digit, value] += 1
                keys_spare[target] = keys[p]
                items_spare[target] = items[p]
        in_spare = not in_spare
    if in_spare:
        for p in range(n):
            keys[lo + p], items[lo + p] = keys_spare[p], items_spare[p]


def _order_between_words(hashes, low, high):
    some = np.flatnonzero((hashes >> SHIFT_32 >= low) & (hashes >> SHIFT_32 < high))
    return some[np.argsort(hashes[some], kind="stable")].astype(np.int32)


@kernel(plain=_order_between_words)
def order_between_words(hashes, low, high):
    """Return the rows whose hashes have high words from low to below high, by hash, and by number among equal ones."""
    n = 0
    for i in range(len(hashes)):
        word = hashes[i] >> SHIFT_32
        n += low <= word < high
    items, keys = np.empty(n, np.int32), np.empty(n, np.uint64)
    at = 0
    for i in range(len(hashes)):
        word = hashes[i] >> SHIFT_32
        if low <= word < high:
            items[at], keys[at] = i, word
            at += 1
    keys_spare, items_spare = np.empty(n, np.uint64), np.empty(n, np.int32)
    radix_sort_range(keys, items, 0, n, keys_spare, items_spare)
    start = 0
    for p in range(1, n + 1):
        if p < n and keys[p] == keys[start]:
            continue
        if p - start > SHORT_RUN:
            for q in range(start, p):
                keys[q] = hashes[items[q]]
            radix_sort_range(keys, items, start, p, keys_spare, items_spare)
        else:
            for q in range(start + 1, p):
                item = items[q]
                s = q
                while s > start and hashes[items[s - 1]] > hashes[item]:
                    items[s] = items[s - 1]
                    s -= 1
                items[s] = item
        start = p
    return items


@kernel(plain=True)
def order_of_hashes(hashes):
    """Return the row numbers sorted by hash, rows with equal hashes in their own order."""
    return order_between_words(hashes, NO_WORD, N_WORDS)


def _number_sites(X, hashes, order, site_of_rank):
    ranked, ranked_hashes = X[order], hashes[order]
    is_new = np.any(ranked[1:] != ranked[:-1], axis=1)
    if np.any(is_new & (ranked_hashes[1:] == ranked_hashes[:-1])):
        return -1
    site_of_rank[0] = 0
    np.cumsum(is_new, out=site_of_rank[1:])
    return int(site_of_rank[-1]) + 1


@kernel(plain=_number_sites)
def number_sites(X, hashes, order, site_of_rank):
    """Number the runs of identical rows along the order of hashes.

    Returns the number of sites, or -1 when two different rows share a hash, so that the caller sorts them by value.
    """
    site = 0
    first = order[0]
    site_of_rank[0] = 0
    for p in range(1, len(order)):
        row = order[p]
        if hashes[row] != hashes[first]:
            site += 1
            first = row
        else:
            for f in range(X.shape[1]):
                if X[row, f] != X[first, f]:
                    return -1
        site_of_rank[p] = site
    return site + 1
