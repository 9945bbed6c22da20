"""Sums over rows: the products of features with each other, and the gradient of the multinomial loss.

All that a fit needs of its rows is such sums. They are taken in blocks of fixed rows and in a fixed order, so that
neither the number of threads nor the memory decides about their last bits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import ssyrk

from bayesfloor.classify.landmarks.feature_map import F32, FeatureMap
from bayesfloor.classify.landmarks.kernels import to_probabilities, to_residuals
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.threads import Crew

#: What is added up: some arrays.
Sums = list[NDArray[Any]]

#: Values of a block of features, and its rows at the least.
BLOCK_VALUES, BLOCK_ROWS = 2**18, 256
#: Sums that are taken side by side, whatever the number of threads, and added up then.
N_LANES = 8
#: Bytes of features that are kept; those of more rows are computed again in each pass.
KEPT_BYTES = 1500 * 2**20
#: Least curvature of a row in the products of features, as a share of the largest.
LEAST_CURVATURE = 0.2


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
    crew : Crew
        Threads.
    """

    feature_map: FeatureMap
    columns: F32
    codes: Ints
    weight: F32
    crew: Crew
    _kept: dict[int, F32] = field(default_factory=dict, repr=False)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    @property
    def blocks(self) -> list[slice]:
        """The rows of each block."""
        size = max(BLOCK_ROWS, BLOCK_VALUES // self.feature_map.n_features)
        return [slice(first, min(first + size, self.n_rows)) for first in range(0, self.n_rows, size)]

    def features(self, rows: slice) -> F32:
        """Return the features of a block; those of all blocks are kept where memory allows."""
        if rows.start in self._kept:
            return self._kept[rows.start]
        made = self.feature_map.features(self.columns[rows])
        if 4 * self.n_rows * self.feature_map.n_features <= KEPT_BYTES:
            self._kept[rows.start] = made
        return made

    def gradient(self, coefficients: F32) -> tuple[float, F32]:
        """Return the summed loss and its gradient, (n_classes, n_features)."""

        def of_block(rows: slice) -> Sums:
            F = self.features(rows)
            residuals = F @ coefficients.T
            loss = to_residuals(residuals, self.codes[rows], self.weight[rows])
            return [np.array(loss), residuals.T @ F]

        loss, gradient = self._sum(of_block, self.blocks)
        self.crew.advance(1)
        return float(loss), gradient

    def probabilities(self, coefficients: F32) -> F32:
        """Return the probabilities of the classes of all rows."""
        out = np.empty((self.n_rows, len(coefficients)), np.float32)

        def write(rows: slice) -> None:
            self.crew.check()
            scores = self.features(rows) @ coefficients.T
            to_probabilities(scores)
            out[rows] = scores

        self.crew.run(write, [(rows,) for rows in self.blocks])
        return out

    def products(self, coefficients: F32 | None = None, most_rows: int | None = None) -> Floats:
        """Return the sum over rows of f f' (lower triangle), f the features.

        Parameters
        ----------
        coefficients : ndarray of shape (n_classes, n_features), float32, or None, default=None
            Weighs rows by a bound of the curvature of their loss there; None takes its largest, 1, everywhere.
        most_rows : int or None, default=None
            About so many rows stand for all.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        blocks = self.blocks
        if most_rows is not None and most_rows < self.n_rows:
            n_blocks = max(1, round(len(blocks) * most_rows / self.n_rows))
            blocks = [blocks[(2 * number + 1) * len(blocks) // (2 * n_blocks)] for number in range(n_blocks)]

        def of_block(rows: slice) -> Sums:
            F = self.features(rows)
            weight = self.weight[rows]
            if coefficients is not None:
                P = F @ coefficients.T
                to_probabilities(P)
                P *= 1 - P
                weight = weight * np.clip(4 * P.max(axis=1), np.float32(LEAST_CURVATURE), np.float32(1.0))
            if coefficients is not None or not (weight == 1).all():
                F = F * np.sqrt(weight)[:, np.newaxis]
            return [ssyrk(1.0, F.T, lower=1)]

        total = self._sum(of_block, blocks)[0].astype(np.float64)
        seen = sum(float(self.weight[rows].sum()) for rows in blocks)
        total *= float(self.weight.sum()) / seen
        return total

    def squares(self) -> Floats:
        """Return the sum of the square of each feature."""

        def of_block(rows: slice) -> Sums:
            F = self.features(rows)
            return [self.weight[rows] @ (F * F)]

        return self._sum(of_block, self.blocks)[0].astype(np.float64)

    def _sum(self, of_block: Callable[[slice], Sums], blocks: Sequence[slice]) -> Sums:
        """Add up what a function returns for each block, lane by lane."""

        def lane(number: int) -> Sums:
            mine = blocks[number::N_LANES]
            totals = of_block(mine[0])
            for rows in mine[1:]:
                self.crew.check()
                _add(totals, of_block(rows))
            return totals

        lanes = self.crew.run(lane, [(number,) for number in range(min(N_LANES, len(blocks)))])
        for other in lanes[1:]:
            _add(lanes[0], other)
        return list(lanes[0])


def _add(totals: Sums, others: Sums) -> None:
    for total, other in zip(totals, others, strict=True):
        total += other
