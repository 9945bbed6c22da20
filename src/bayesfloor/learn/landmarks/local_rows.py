"""Corrections by the nearest training rows, for the highest effort.

Landmarks smooth over what is finer than their distances. Kernel ridge regression for each row on its nearest training
rows does not: it is fitted once to their classes and once to the residuals of the landmark model there. The
logarithms of these two predictions and of the landmark model's are stacked: a multinomial model with one weight for
each, fitted on held-out rows.

Many rows lie in cells, each around a row; those in the cells nearest to a row are searched.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy.optimize import minimize

from bayesfloor.learn.landmarks.feature_map import F32
from bayesfloor.learn.landmarks.local_kernels import assign_cells, fit_locally
from bayesfloor.runtime.arrays import Floats, Ints

#: Nearest rows, the width of their kernel as a share of their distances, and what is added to its diagonal.
N_NEAREST, WIDTH, PENALTY = 48, 0.4, 0.1
#: Search all rows up to this number; beyond, cells of this mean size, and this many of the nearest cells.
ONE_CELL, CELL_ROWS, N_SEARCHED = 20_000, 500, 16
#: Minimum probability in the logarithms: of landmarks, and of regressions, which are less certain.
LEAST, LEAST_LOCAL = 1e-6, 1e-3
#: Penalty on the stack weights.
STACK_PENALTY = 1e-3


@dataclass(frozen=True, eq=False)
class LocalRows:
    """Training rows that correct predictions near them.

    Attributes
    ----------
    rows : ndarray of shape (n, d), float32
        Scaled and weighted rows, cell by cell.
    targets : ndarray of shape (n, 2 n_classes), float32
        Indicators of their classes less the shares of the classes, and residuals of the landmark model.
    prior : ndarray of shape (n_classes,), float32
        Shares of the classes.
    centres : ndarray of shape (n_cells, d), float32
        Centres of the cells.
    starts : ndarray of shape (n_cells + 1,)
        The first row of each cell.
    stack_weights : ndarray of shape (3,)
        Of the logarithms of the probabilities of landmarks, of classes near by, and of residuals near by.
    """

    rows: F32
    targets: F32
    prior: F32
    centres: F32
    starts: Ints
    stack_weights: Floats

    def scores(self, rows: F32, probabilities: F32) -> F32:
        """Return the scores of the classes of scaled and weighted rows, given the landmark model's probabilities."""
        return np.asarray(self.logarithms(rows, probabilities) @ self.stack_weights, np.float32)

    def logarithms(self, rows: F32, probabilities: F32) -> F32:
        """Return the logarithms of the three predictions, (n, n_classes, 3)."""
        n_classes = len(self.prior)
        found = np.empty((len(rows), 2 * n_classes), np.float32)
        fit_locally(
            rows, self.rows, self.centres, self.starts, min(N_SEARCHED, len(self.centres)), N_NEAREST, WIDTH, PENALTY,
            self.targets, found,
        )  # fmt: skip
        near = found[:, :n_classes] + self.prior
        corrected = probabilities + found[:, n_classes:]
        predictions = ((probabilities, LEAST), (near, LEAST_LOCAL), (corrected, LEAST_LOCAL))
        return np.stack([_logarithm(values, least) for values, least in predictions], axis=2)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain arrays."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def _logarithm(values: F32, least: float) -> F32:
    values = np.maximum(values, np.float32(least))
    return np.log(values / values.sum(axis=1, keepdims=True))


def store_rows(rows: F32, codes: Ints, probabilities: F32, stack_weights: Floats) -> LocalRows:
    """Put rows into cells.

    Parameters
    ----------
    rows : ndarray of shape (n, d), float32
        Scaled and weighted rows, in random order.
    codes : ndarray of shape (n,)
        Classes.
    probabilities : ndarray of shape (n, n_classes), float32
        Of the landmark model.
    stack_weights : ndarray of shape (3,)
        See `LocalRows`.

    Returns
    -------
    LocalRows
    """
    n, n_classes = probabilities.shape
    n_cells = 1 if n <= ONE_CELL else n // CELL_ROWS
    centres = rows[:n_cells].copy()
    cells = np.zeros(n, np.int64)
    if n_cells > 1:
        assign_cells(rows, centres, cells)
    order = np.argsort(cells, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=n_cells))])
    prior = (np.bincount(codes, minlength=n_classes) / n).astype(np.float32)
    targets = np.empty((n, 2 * n_classes), np.float32)
    targets[:, :n_classes] = -prior
    targets[:, n_classes:] = -probabilities[order]
    own, classes = np.arange(n), codes[order]
    targets[own, classes] += 1
    targets[own, n_classes + classes] += 1
    return LocalRows(rows[order], targets, prior, centres, starts, stack_weights)


def fit_stack_weights(logarithms: F32, codes: Ints, weight: F32) -> tuple[Floats, float]:
    """Fit the weights of predictions, none below zero, to the classes of held-out rows.

    Parameters
    ----------
    logarithms : ndarray of shape (n, n_classes, 3), float32
        Of the predictions.
    codes : ndarray of shape (n,)
        Classes.
    weight : ndarray of shape (n,), float32
        Weights.

    Returns
    -------
    stack_weights : ndarray of shape (3,)
    gain : float
        By how much the mean logarithmic loss is below that of the first prediction alone.
    """
    predictions = logarithms.astype(np.float64)
    own, shares = np.arange(len(codes)), weight.astype(np.float64) / float(weight.sum())

    def loss(coefficients: Floats) -> tuple[float, Floats]:
        scores = predictions @ coefficients
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        totals = odds.sum(axis=1)
        value = float(shares @ (np.log(totals) - scores[own, codes]))
        expected = np.einsum("ik,ikj->ij", odds / totals[:, np.newaxis], predictions)
        slope = shares @ (expected - predictions[own, codes])
        penalty = STACK_PENALTY / len(codes)
        return value + penalty * float(coefficients @ coefficients), slope + 2 * penalty * coefficients

    start = np.array([1.0, 0.0, 0.0])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=3 * [(0.0, None)])
    return np.asarray(found.x), loss(start)[0] - float(found.fun)
