"""Sums over rows: the products of features with each other, and the gradient of the multinomial loss.

All that a fit needs of its rows is such sums. They are taken in blocks of fixed rows and in a fixed order, so that
neither the number of threads nor the memory decides about their last bits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.blas import ssyrk

from bayesfloor.classify.landmarks.feature_map import F32, FeatureMap
from bayesfloor.classify.landmarks.kernels import to_probabilities, to_residuals
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.threads import Crew

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
    offset : ndarray of shape (n, n_classes), float32, or None
        Scores that are added to those of the features.
    """

    feature_map: FeatureMap
    columns: F32
    codes: Ints
    weight: F32
    crew: Crew
    offset: F32 | None = None
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

    def scores(self, F: F32, rows: slice, coefficients: F32) -> F32:
        """Return the scores of the classes from the features of a block."""
        scores: F32 = F @ coefficients.T
        if self.offset is not None:
            scores += self.offset[rows]
        return scores

    def gradient(self, coefficients: F32) -> F32:
        """Return the gradient of the summed loss, (n_classes, n_features)."""

        def of_block(rows: slice) -> F32:
            F = self.features(rows)
            residuals = self.scores(F, rows, coefficients)
            to_residuals(residuals, self.codes[rows], self.weight[rows])
            return residuals.T @ F

        return self._sum(of_block, self.blocks)

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

        def of_block(rows: slice) -> F32:
            F = self.features(rows)
            weight = self.weight[rows]
            if coefficients is not None:
                P = self.scores(F, rows, coefficients)
                to_probabilities(P)
                P *= 1 - P
                weight = weight * np.clip(4 * P.max(axis=1), np.float32(LEAST_CURVATURE), np.float32(1.0))
            if coefficients is not None or not (weight == 1).all():
                F = F * np.sqrt(weight)[:, np.newaxis]
            return np.asarray(ssyrk(1.0, F.T, lower=1), np.float32)

        total = self._sum(of_block, blocks).astype(np.float64)
        seen = sum(float(self.weight[rows].sum()) for rows in blocks)
        total *= float(self.weight.sum()) / seen
        return total

    def squares(self) -> Floats:
        """Return the sum of the square of each feature."""

        def of_block(rows: slice) -> F32:
            F = self.features(rows)
            return np.asarray(np.einsum("i,ij,ij->j", self.weight[rows], F, F), np.float32)

        return self._sum(of_block, self.blocks).astype(np.float64)

    def _sum(self, of_block: Callable[[slice], F32], blocks: Sequence[slice]) -> F32:
        """Add up what a function returns for each block, lane by lane."""

        def lane(number: int) -> F32:
            mine = blocks[number::N_LANES]
            total = of_block(mine[0])
            for rows in mine[1:]:
                self.crew.check()
                total += of_block(rows)
            return total

        lanes = self.crew.run(lane, [(number,) for number in range(min(N_LANES, len(blocks)))])
        total: F32 = lanes[0]
        for other in lanes[1:]:
            total += other
        return total
