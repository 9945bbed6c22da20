"""Sums over rows: the products of features with each other, and the gradient of the multinomial loss.

All that a fit needs of its rows is such sums. They are taken in blocks of fixed rows and in a fixed order, so that
neither the number of threads nor the memory decides about their last bits.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import ssyrk

from bayesfloor.learn.landmarks.efforts import KEPT_BYTES
from bayesfloor.learn.landmarks.feature_kernels import to_probabilities, to_residuals
from bayesfloor.learn.landmarks.feature_map import F32, FeatureMap
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.threads import WorkerPool

#: What is added up: some arrays.
Sums = list[NDArray[Any]]

#: Values in a block of features, and its minimum number of rows.
BLOCK_VALUES, BLOCK_ROWS = 2**18, 256
#: Number of partial sums, whatever the number of threads.
N_LANES = 8
#: Minimum curvature of a row in the products of features, as a share of the largest.
LEAST_CURVATURE = 0.2


class Judged(NamedTuple):
    """Held-out rows that choices are made by.

    Attributes
    ----------
    features : ndarray of shape (n, n_features), float32
        Their features.
    columns : ndarray of shape (n, d), float32
        Scaled rows.
    codes : ndarray of shape (n,)
        Classes.
    weight : ndarray of shape (n,), float32
        Weights.
    """

    features: F32
    columns: F32
    codes: Ints
    weight: F32

    def among(self, is_used: Bools) -> "Judged":
        """Return some of the rows, or all where these are none."""
        if not is_used.any():
            return self
        return Judged(self.features[is_used], self.columns[is_used], self.codes[is_used], self.weight[is_used])


@dataclass(frozen=True, eq=False)
class RowSums:
    """Rows with their classes, and sums over them.

    Attributes
    ----------
    feature_map : FeatureMap
        Makes features.
    columns : ndarray of shape (n, d), float32
        Scaled rows.
    codes : ndarray of shape (n,)
        Classes.
    weight : ndarray of shape (n,), float32
        Weights.
    pool : WorkerPool
        Threads.
    most_kept : int, default=KEPT_BYTES
        Bytes of features in memory at the most; those of more rows are computed again in each pass.
    """

    feature_map: FeatureMap
    columns: F32
    codes: Ints
    weight: F32
    pool: WorkerPool
    most_kept: int = KEPT_BYTES
    _kept: dict[int, F32] = field(init=False, default_factory=dict, repr=False)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def block_rows(self) -> int:
        """How many rows a block has, but for the last."""
        return max(BLOCK_ROWS, BLOCK_VALUES // self.feature_map.n_features)

    @property
    def blocks(self) -> list[slice]:
        """The rows of each block."""
        size = self.block_rows
        return [slice(first, min(first + size, self.n_rows)) for first in range(0, self.n_rows, size)]

    def block(self, number: int) -> slice:
        """Return the rows of one block."""
        size = self.block_rows
        return slice(number * size, min((number + 1) * size, self.n_rows))

    def features(self, rows: slice) -> F32:
        """Return the features of a block; those of all blocks are kept where memory allows."""
        if rows.start in self._kept:
            return self._kept[rows.start]
        made = self.feature_map.features(self.columns[rows])
        if 4 * self.n_rows * self.feature_map.n_features <= self.most_kept:
            self._kept[rows.start] = made
        return made

    def gradient(self, coefficients: F32) -> tuple[float, F32]:
        """Return the summed loss and its gradient, (n_classes, n_features)."""
        loss, gradient = self.add_up(partial(over_blocks, _gradient_of_block), coefficients)
        self.pool.advance(1)
        return float(loss), gradient

    def products(self, coefficients: F32 | None = None, most_rows: int | None = None) -> Floats:
        """Return the sum over rows of f f' (lower triangle), f the features.

        Parameters
        ----------
        coefficients : ndarray of shape (n_classes, n_features), float32, or None, default=None
            Weighs rows by a bound of the curvature of their loss there; None takes its largest, 1, everywhere.
        most_rows : int or None, default=None
            Use about this many rows, evenly spread.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        numbers = self.some_blocks(most_rows)
        total = self.add_up(partial(over_blocks, _products_of_block), coefficients, numbers=numbers)[0]
        seen = sum(float(self.weight[self.block(number)].sum()) for number in numbers)
        return total.astype(np.float64) * (float(self.weight.sum()) / seen)

    def squares(self) -> Floats:
        """Return the sum of the square of each feature."""
        return self.add_up(partial(over_blocks, _squares_of_block))[0].astype(np.float64)

    def some_blocks(self, most_rows: int | None) -> list[int]:
        """Return evenly spread blocks, by number, of about `most_rows` rows; all blocks for None."""
        n_all = len(self.blocks)
        if most_rows is None or most_rows >= self.n_rows:
            return list(range(n_all))
        n_some = max(1, round(n_all * most_rows / self.n_rows))
        return [(2 * number + 1) * n_all // (2 * n_some) for number in range(n_some)]

    def add_up(self, of_lane: Callable[..., Sums], *arguments: Any, numbers: Iterable[int] | None = None) -> Sums:
        """Add up what a function returns for each lane of blocks, in their order.

        Parameters
        ----------
        of_lane : callable
            Takes the rows, the numbers of the blocks of a lane, and the arguments.
        *arguments : object
            What the function needs beside that.
        numbers : iterable of int or None, default=None
            Numbers of the blocks, rising; None for all.

        Returns
        -------
        list of ndarray
        """
        lanes = [(mine,) for mine in self._lanes(numbers)]
        return total_of(self.pool.run(lambda mine: of_lane(self, mine, *arguments), lanes))

    def _lanes(self, numbers: Iterable[int] | None) -> list[list[int]]:
        """Return the numbers of the blocks of each lane that has some; None takes all blocks."""
        lanes: dict[int, list[int]] = {}
        for number in range(len(self.blocks)) if numbers is None else numbers:
            # not simply every eighth block, as some_blocks may take just these
            lanes.setdefault((number + number // N_LANES) % N_LANES, []).append(number)
        return [lanes[lane] for lane in sorted(lanes)]

    def weighted(self, weight: F32) -> Self:
        """Return the same rows with other weights, and the same features where these are kept."""
        other = replace(self, weight=weight)
        other._kept.update(self._kept)
        return other


def total_of(parts: list[Sums]) -> Sums:
    """Add up parts, from the first to the last."""
    totals = parts[0]
    for others in parts[1:]:
        for total, other in zip(totals, others, strict=True):
            total += other
    return totals


def over_blocks(of_block: Callable[..., Sums], rows: RowSums, numbers: list[int], *arguments: Any) -> Sums:
    """Add up what a function returns for each block of a lane."""
    totals = of_block(rows, rows.block(numbers[0]), *arguments)
    for number in numbers[1:]:
        rows.pool.check()
        totals = total_of([totals, of_block(rows, rows.block(number), *arguments)])
    return totals


def _gradient_of_block(rows: RowSums, block: slice, coefficients: F32) -> Sums:
    F = rows.features(block)
    residuals = F @ coefficients.T
    loss = to_residuals(residuals, rows.codes[block], rows.weight[block])
    return [np.array(loss), residuals.T @ F]


def _products_of_block(rows: RowSums, block: slice, coefficients: F32 | None) -> Sums:
    F = rows.features(block)
    weight = rows.weight[block]
    if coefficients is not None:
        P = F @ coefficients.T
        to_probabilities(P)
        P *= 1 - P
        weight = weight * np.clip(4 * P.max(axis=1), np.float32(LEAST_CURVATURE), np.float32(1.0))
    if coefficients is not None or not (weight == 1).all():
        F = F * np.sqrt(weight)[:, np.newaxis]
    return [ssyrk(1.0, F.T, lower=1)]


def _squares_of_block(rows: RowSums, block: slice) -> Sums:
    F = rows.features(block)
    return [rows.weight[block] @ (F * F)]
