"""Corrections by the nearest training rows.

Landmarks smooth over what is finer than their distances. Kernel ridge regression for each row on its nearest training
rows does not: it is fitted once to their classes and, unless classes are many, once to the residuals of the landmark
model there. A row that counts twice has half of the penalty.

Many rows lie in cells, each around a row; those in the cells nearest to a row are searched.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bayesfloor.learn.landmarks.feature_map import F32
from bayesfloor.learn.landmarks.local_kernels import assign_cells, fit_locally
from bayesfloor.runtime.arrays import Ints

#: Nearest rows, the width of their kernel as a share of their distances, and what is added to its diagonal.
N_NEAREST, WIDTH, PENALTY = 48, 0.4, 0.1
#: Largest penalty, that of rows of hardly any weight: float32 still holds its square.
LARGEST_PENALTY = 1e9
#: Search all rows up to this number; beyond, cells of this mean size, and this many of the nearest cells.
ONE_CELL, CELL_ROWS, N_SEARCHED = 20_000, 500, 16


@dataclass(frozen=True, eq=False)
class LocalRows:
    """Training rows that correct predictions near them.

    Attributes
    ----------
    rows : ndarray of shape (n, d), float32
        Scaled and weighted rows, cell by cell.
    codes : ndarray of shape (n,)
        Their classes.
    penalties : ndarray of shape (n,), float32
        What is added to the kernel's diagonal for each of them.
    probabilities : ndarray of shape (n, n_classes), float32
        What the landmark model says of them; no columns where its residuals are left out.
    prior : ndarray of shape (n_classes,), float32
        Shares of the classes.
    centres : ndarray of shape (n_cells, d), float32
        Centres of the cells.
    starts : ndarray of shape (n_cells + 1,)
        The first row of each cell.
    """

    rows: F32
    codes: Ints
    penalties: F32
    probabilities: F32
    prior: F32
    centres: F32
    starts: Ints

    def predict(self, rows: F32, probabilities: F32) -> tuple[F32, ...]:
        """Return predictions for scaled and weighted rows, given the landmark model's probabilities.

        The first is of the classes near by, the second, unless it is left out, of the landmark model less its residuals
        near by. Regressions may be below 0 and above 1.
        """
        n, n_classes = len(rows), len(self.prior)
        near, residuals = (np.empty((n, width), np.float32) for width in (n_classes, self.probabilities.shape[1]))
        fit_locally(
            rows, self.rows, self.centres, self.starts, min(N_SEARCHED, len(self.centres)), N_NEAREST, WIDTH,
            self.penalties, self.codes, self.prior, self.probabilities, near, residuals,
        )  # fmt: skip
        return (near, probabilities + residuals) if residuals.shape[1] else (near,)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain arrays."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def store_rows(rows: F32, codes: Ints, weight: F32, probabilities: F32, n_classes: int) -> LocalRows:
    """Put rows into cells.

    Parameters
    ----------
    rows : ndarray of shape (n, d), float32
        Scaled and weighted rows, in random order.
    codes : ndarray of shape (n,)
        Classes.
    weight : ndarray of shape (n,), float32
        Weights of mean 1.
    probabilities : ndarray of shape (n, n_classes), float32
        Of the landmark model; no columns for no regression of its residuals.
    n_classes : int
        How many classes there are.

    Returns
    -------
    LocalRows
    """
    n = len(rows)
    n_cells = 1 if n <= ONE_CELL else n // CELL_ROWS
    centres = rows[:n_cells].copy()
    cells = np.zeros(n, np.int64)
    if n_cells > 1:
        assign_cells(rows, centres, cells)
    order = np.argsort(cells, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=n_cells))])
    shares = np.bincount(codes, weight.astype(np.float64), n_classes)
    penalties = np.minimum(np.float32(PENALTY) / weight[order], np.float32(LARGEST_PENALTY))
    prior = (shares / shares.sum()).astype(np.float32)
    return LocalRows(rows[order], codes[order], penalties, probabilities[order], prior, centres, starts)
