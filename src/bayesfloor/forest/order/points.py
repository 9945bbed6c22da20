"""Rows become points: hashed by value, ranked, and gathered into sites of identical rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayesfloor.forest.order.arrays import F64, I32, I64, U64
from bayesfloor.forest.order.hashing import number_sites, order_of_hashes
from bayesfloor.runtime.hashing import hash_rows
from bayesfloor.runtime.threads import Crew

LARGEST_EXPONENT, SMALLEST_EXPONENT = 300, -200


@dataclass(frozen=True)
class Points:
    """The rows of X with their place in the strict order."""

    rows: F64 | Callable[[], F64]  # X, or what fetches it
    exponent: int
    hashes: U64  # (n,) by row
    order: I32  # (n,) rows by rank
    sites: I64  # (n,) site of each row, numbered by rank
    given: F64 | None = None  # X as it came

    @cached_property
    def X(self) -> F64:  # noqa: N802 - the name of points everywhere
        """The rows, (n, d), multiplied by 2**-exponent where squares would overflow or vanish."""
        return self.rows() if callable(self.rows) else self.rows

    def __reduce__(self) -> tuple[type[Points], tuple[Any, ...]]:
        return Points, (self.X, self.exponent, self.hashes, self.order, self.sites, self.given)

    @cached_property
    def ranks(self) -> I32:
        """The rank of each row."""
        ranks = np.empty(len(self.order), np.int32)
        ranks[self.order] = np.arange(len(self.order), dtype=np.int32)
        return ranks

    @property
    def n_sites(self) -> int:
        """How many different rows there are."""
        return int(self.sites[self.order[-1]]) + 1

    @cached_property
    def extent(self) -> tuple[float, float]:
        """The lowest and the highest number in X."""
        return float(self.X.min()), float(self.X.max())


def rank_points(X: F64, crew: Crew | None = None) -> Points:
    """Hash and rank the rows of a checked array, with the threads of a crew where there is one."""
    n = len(X)
    hashes = np.empty(n, np.uint64)

    def look_at(start: int, stop: int) -> tuple[float, float]:
        hash_rows(X.view(np.uint64), start, stop, hashes)
        return float(X[start:stop].min()), float(X[start:stop].max())

    crew = crew or Crew(1)
    extents = crew.run(look_at, crew.shares(n))
    lowest, highest = min(low for low, _ in extents), max(high for _, high in extents)
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
    exponent = exponent_for(max(abs(lowest), abs(highest)))
    points = Points(np.ldexp(X, -exponent) if exponent else X, exponent, hashes, order, sites, X)
    points.__dict__["extent"] = (float(np.ldexp(lowest, -exponent)), float(np.ldexp(highest, -exponent)))
    return points


def exponent_of(X: F64) -> int:
    """Return the power of two by which X is divided: 0 unless squares would overflow or vanish."""
    return exponent_for(max(abs(float(X.min())), abs(float(X.max()))))


def exponent_for(largest: float) -> int:
    """Return the same for the largest magnitude in X."""
    exponent = int(np.frexp(largest)[1])
    return exponent if largest > 0 and not SMALLEST_EXPONENT <= exponent <= LARGEST_EXPONENT else 0
