"""Rows become points: hashed by value, ranked, and gathered into sites of identical rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.forest.order.arrays import F64, I32, I64, U64
from bayesfloor.forest.order.hash_kernels import N_WORDS, number_sites, order_between_words
from bayesfloor.runtime.hash_kernels import hash_rows
from bayesfloor.runtime.threads import WorkerPool

# Maximum magnitude of points that are not rescaled.
LARGEST = 2.0**300
# Exponent of the largest magnitude after rescaling: sums of 2^40 squared differences are finite.
TOP = 490
# Values from here on differ by 2^-511 or more, if they do, and the square of that is a normal number.
LEAST = 2.0**-458
# Where there are values below LEAST, rows must differ in values from here on: then their squared distance is
# 2^-946 or more, and what is lost of the squares of smaller differences is far below its last bit.
DUST = 2.0**-420
# Numbers in a block that stays in the processor's cache.
AT_ONCE = 1 << 15
# Minimum number of rows that several threads sort.
MANY_ROWS = 1 << 14
ONE = np.uint64(1)


class Extent(NamedTuple):
    """How far numbers reach, which decides by what power of two points are divided."""

    low: float
    high: float
    least: float  # magnitude other than 0; infinite where all numbers are 0

    @classmethod
    def of(cls, X: F64) -> Extent:
        """Look at all numbers of a contiguous array."""
        numbers = X.reshape(-1)
        least = np.uint64(2**64 - 1)
        for start in range(0, len(numbers), AT_ONCE):
            # bits without the sign order magnitudes; those of 0 become the largest number
            least = min(least, ((numbers[start : start + AT_ONCE].view(np.uint64) << ONE) - ONE).min())
        known = least < np.uint64(2**64 - 1)
        magnitude = float(((least >> ONE) + ONE).view(np.float64)) if known else np.inf
        return cls(float(X.min()), float(X.max()), magnitude)

    @classmethod
    def union(cls, extents: Iterable[Extent]) -> Extent:
        """Return the extent of the numbers of several."""
        low, high, least = zip(*extents, strict=True)
        return cls(min(low), max(high), min(least))

    @property
    def largest(self) -> float:
        """The largest magnitude."""
        return max(abs(self.low), abs(self.high))

    @property
    def exponent(self) -> int:
        """The power of two by which points are divided: 0 unless squares could overflow or vanish."""
        if self.largest <= LARGEST and self.least >= LEAST:
            return 0
        return int(np.frexp(self.largest)[1]) - TOP

    @property
    def dust(self) -> float:
        """The magnitude below which squared differences may vanish although points are scaled; 0 where none can."""
        exponent = self.exponent
        return float(np.ldexp(DUST, exponent)) if np.ldexp(self.least, -exponent) < LEAST else 0.0

    def check_lengths(self, n_features: int) -> None:
        """Raise where an edge could be longer than the largest float64."""
        with np.errstate(over="ignore"):
            longest = np.sqrt(n_features) * (np.float64(self.high) - self.low)
        if np.isinf(longest):
            raise ValueError(
                f"X reaches from {self.low:.3g} to {self.high:.3g}: distances of its rows may exceed the largest "
                f"float64, {np.finfo(np.float64).max:.3g}. Divide it by a constant."
            )

    def scaled(self) -> Extent:
        """Return the extent of the points once they are divided."""
        return Extent(*(float(np.ldexp(value, -self.exponent)) for value in self))


def ranks_of(order: I32) -> I32:
    """Return the rank of each row, given the rows by rank."""
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks


@dataclass(frozen=True)
class Points:
    """The rows of X with their place in the strict order."""

    rows: F64 | Callable[[], F64]  # X, or what fetches it
    exponent: int
    hashes: U64  # (n,) by row
    order: I32  # (n,) rows by rank
    sites: I64  # (n,) site of each row, numbered by rank

    @cached_property
    def X(self) -> F64:  # noqa: N802 - the name of points everywhere
        """The rows, (n, d), multiplied by 2**-exponent where squares would overflow or vanish."""
        return self.rows() if callable(self.rows) else self.rows

    def __reduce__(self) -> tuple[type[Points], tuple[Any, ...]]:
        return Points, (self.X, self.exponent, self.hashes, self.order, self.sites)

    @cached_property
    def ranks(self) -> I32:
        """The rank of each row."""
        return ranks_of(self.order)

    @property
    def n_sites(self) -> int:
        """How many different rows there are."""
        return int(self.sites[self.order[-1]]) + 1

    @property
    def most_copies(self) -> int:
        """How many rows are identical at the most."""
        return 1 if self.n_sites == len(self.order) else int(np.bincount(self.sites).max())

    @cached_property
    def extent(self) -> Extent:
        """How far the numbers in X reach."""
        return Extent.of(self.X)


def rank_points(X: F64, pool: WorkerPool | None = None) -> Points:
    """Hash and rank the rows of a checked array, with the threads of a pool where there is one."""
    n = len(X)
    hashes = np.empty(n, np.uint64)

    def look_at(start: int, stop: int) -> Extent:
        hash_rows(X.view(np.uint64), start, stop, hashes)
        return Extent.of(X[start:stop])

    pool = pool or WorkerPool(1)
    extent = Extent.union(pool.run(look_at, pool.shares(n)))
    extent.check_lengths(X.shape[1])
    words = np.linspace(0, int(N_WORDS), pool.n_threads + 1).astype(np.uint64) if n >= MANY_ROWS else (0, N_WORDS)
    some = pool.run(order_between_words, [(hashes, *map(np.uint64, stretch)) for stretch in pairwise(words)])
    order = np.concatenate(some) if len(some) > 1 else some[0]
    site_of_rank = np.empty(n, np.int64)
    if number_sites(X, hashes, order, site_of_rank) < 0:
        # Different rows share a hash: rows themselves decide, last key first.
        order = np.lexsort((np.arange(n), *X.T[::-1], hashes)).astype(np.int32)
        ranked = X[order]
        new_site = np.any(ranked[1:] != ranked[:-1], axis=1)
        site_of_rank = np.concatenate(([0], np.cumsum(new_site)))
    sites = np.empty(n, np.int64)
    sites[order] = site_of_rank
    if extent.dust > 0:
        check_apart(extent, sites, hashes_without(extent.dust, X))
    exponent = extent.exponent
    points = Points(np.ldexp(X, -exponent) if exponent else X, exponent, hashes, order, sites)
    points.__dict__["extent"] = extent.scaled()
    return points


def hashes_without(dust: float, X: F64) -> U64:
    """Hash rows whose numbers of a lesser magnitude count as 0."""
    rough = np.where(np.abs(X) < dust, 0.0, X)
    rough.flags.writeable = False  # as X is: kernels are compiled for that
    hashes = np.empty(len(X), np.uint64)
    hash_rows(rough.view(np.uint64), 0, len(X), hashes)
    return hashes


def check_apart(extent: Extent, sites: I64, rough_hashes: U64) -> None:
    """Raise where different rows have the same hash without their dust: their distance has no square in float64."""
    order = np.lexsort((sites, rough_hashes))
    hashes, sites = rough_hashes[order], sites[order]
    too_near = np.flatnonzero((hashes[1:] == hashes[:-1]) & (sites[1:] != sites[:-1]))
    if len(too_near):
        one, other = sorted(order[too_near[0] : too_near[0] + 2].tolist())
        raise ValueError(
            f"rows {one} and {other} differ only in values below {extent.dust:.3g}, where others reach "
            f"{extent.largest:.3g}: squares of numbers so far apart do not fit into float64. Scale the columns to "
            f"similar magnitudes, or set such small values to 0."
        )
