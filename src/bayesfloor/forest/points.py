"""Rows become points: hashed by value, ranked, and gathered into sites of identical rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesfloor.forest.hashing import hash_rows, number_sites, order_of_hashes
from bayesfloor.forest.sides import F64, I32, I64, U64

LARGEST_EXPONENT, SMALLEST_EXPONENT = 300, -200


@dataclass(frozen=True)
class Points:
    """The rows of X with their place in the strict order."""

    X: F64  # (n, d), multiplied by 2**-exponent where squares would overflow or vanish
    exponent: int
    hashes: U64  # (n,) by row
    order: I32  # (n,) rows by rank
    sites: I64  # (n,) site of each row, numbered by rank

    @cached_property
    def ranks(self) -> I32:
        """The rank of each row."""
        ranks = np.empty(len(self.order), np.int32)
        ranks[self.order] = np.arange(len(self.order), dtype=np.int32)
        return ranks


def rank_points(X: F64) -> Points:
    """Hash and rank the rows of a checked array."""
    n = len(X)
    hashes = np.empty(n, np.uint64)
    hash_rows(X.view(np.uint64), 0, n, hashes)
    order = order_of_hashes(hashes)
    site_of_rank = np.empty(n, np.int64)
    if number_sites(X, hashes, order, site_of_rank) < 0:
        # Different rows share a hash: rows themselves decide, last key first.
        order = np.lexsort((np.arange(n), *X.T[::-1], hashes)).astype(np.int32)
        ranked = X[order]
        new_site = np.any(ranked[1:] != ranked[:-1], axis=1)
        site_of_rank = np.concatenate(([0], np.cumsum(new_site)))
    sites = np.empty(n, np.int64)
    sites[order] = site_of_rank
    largest = max(abs(float(X.min())), abs(float(X.max())))
    exponent = int(np.frexp(largest)[1])
    if largest > 0 and not SMALLEST_EXPONENT <= exponent <= LARGEST_EXPONENT:
        X = np.ldexp(X, -exponent)
    else:
        exponent = 0
    return Points(X, exponent, hashes, order, sites)
