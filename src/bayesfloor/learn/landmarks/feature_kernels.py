"""Compiled passes over blocks of rows: kernels of landmarks, rules, and the residuals of the multinomial model.

NumPy's exponential of float32 is not vectorised on every processor. The one here is: 2^t for the whole part of t by the
exponent bits, for the rest by a polynomial, with a relative error of 2e-6 at most.
"""

from typing import Any

import numpy as np

from bayesfloor.runtime.kernels import kernel

LOG2_E = np.float32(1.4426950408889634)
LOWEST = np.float32(-87.0)  # exp of less is no normal float32
#: ln(2)^k / k!
C1, C2, C3, C4, C5, C6 = (
    np.float32(c) for c in (0.69314718, 0.24022651, 0.05550411, 0.009618129, 0.0013333558, 0.00015403530)
)
ONE, ZERO = np.float32(1.0), np.float32(0.0)
LEAST_PROBABILITY = np.float32(1e-30)
BIAS, MANTISSA = np.int32(127), np.int32(23)
#: Seconds of the plain version for each cut or rule of a row.
PLAIN_RULE_S = 5e-9


@kernel(fastmath=True, inline="always")
def exp_of_row(x: Any, n: int, bits: Any, powers: Any) -> None:
    """Replace the first n numbers of x, none above zero, by their exponentials; `powers` is a view of `bits`."""
    for j in range(n):
        t = max(x[j], LOWEST) * LOG2_E
        whole = np.rint(t)
        bits[j] = (np.int32(whole) + BIAS) << MANTISSA
        f = t - whole
        x[j] = ONE + f * (C1 + f * (C2 + f * (C3 + f * (C4 + f * (C5 + f * C6)))))
    for j in range(n):
        x[j] *= powers[j]


def fill_gaussians(products: Any, of_rows: Any, of_landmarks: Any, first: int, out: Any) -> None:
    """Write exp(product - of_row - of_landmark), at most 1, into the columns of `out` from `first` on.

    Parameters
    ----------
    products : ndarray of shape (n, D), float32
        2 gamma x'z.
    of_rows, of_landmarks : ndarray of shape (n,) and (D,), float32
        gamma x'x and gamma z'z.
    first : int
        The column to start at.
    out : ndarray of shape (n, m), float32
        Where to write.
    """
    row, bits = np.empty(len(of_landmarks), np.float32), np.empty(len(of_landmarks), np.int32)
    _fill_gaussians(products, of_rows, of_landmarks, first, out, row, bits, bits.view(np.float32))


@kernel(fastmath=True)
def _fill_gaussians(
    products: Any, of_rows: Any, of_landmarks: Any, first: int, out: Any, row: Any, bits: Any, powers: Any
) -> None:
    n, n_landmarks = products.shape
    for i in range(n):
        shift = of_rows[i]
        for j in range(n_landmarks):
            row[j] = min(products[i, j] - shift - of_landmarks[j], ZERO)
        exp_of_row(row, n_landmarks, bits, powers)
        for j in range(n_landmarks):
            out[i, first + j] = row[j]


def _fill_rules(
    X: Any, columns: Any, cuts: Any, rule_first: Any, rule_second: Any, value: float, first: int, out: Any
) -> None:
    holds = X[:, columns] > cuts
    both = holds[:, rule_first] & holds[:, rule_second]
    out[:, first : first + len(rule_first)] = np.where(both, np.float32(value), ZERO)


def _seconds_of_rules(X: Any, columns: Any, cuts: Any, rule_first: Any, *_: Any) -> float:
    return PLAIN_RULE_S * len(X) * (len(columns) + len(rule_first))


@kernel(plain=_fill_rules, plain_seconds=_seconds_of_rules)
def fill_rules(
    X: Any, columns: Any, cuts: Any, rule_first: Any, rule_second: Any, value: float, first: int, out: Any
) -> None:
    """Write `value` where both cuts of a rule hold and 0 elsewhere into the columns of `out` from `first` on."""
    n, n_cuts, n_rules = len(X), len(columns), len(rule_first)
    holds = np.empty(n_cuts, np.float32)
    size = np.float32(value)
    for i in range(n):
        for c in range(n_cuts):
            holds[c] = ONE if X[i, columns[c]] > cuts[c] else ZERO
        for r in range(n_rules):
            out[i, first + r] = size * holds[rule_first[r]] * holds[rule_second[r]]


def to_probabilities(scores: Any) -> None:
    """Replace the scores of each row by probabilities."""
    bits = np.empty(scores.shape[1], np.int32)
    _to_probabilities(scores, bits, bits.view(np.float32))


@kernel(fastmath=True)
def _to_probabilities(scores: Any, bits: Any, powers: Any) -> None:
    n, n_classes = scores.shape
    for i in range(n):
        row = scores[i]
        top = row[0]
        for k in range(1, n_classes):
            top = max(top, row[k])
        for k in range(n_classes):
            row[k] -= top
        exp_of_row(row, n_classes, bits, powers)
        total = ZERO
        for k in range(n_classes):
            total += row[k]
        share = ONE / total
        for k in range(n_classes):
            row[k] *= share


def to_residuals(scores: Any, codes: Any, weight: Any) -> float:
    """Replace the scores of each row by its weight times (probabilities minus the indicator of its class).

    Parameters
    ----------
    scores : ndarray of shape (n, n_classes), float32
        Scores, and residuals then.
    codes : ndarray of shape (n,)
        Classes.
    weight : ndarray of shape (n,), float32
        Weights.

    Returns
    -------
    float
        The weighted sum of the logarithmic loss.
    """
    to_probabilities(scores)
    return _to_residuals(scores, codes, weight)


@kernel(fastmath=True)
def _to_residuals(probabilities: Any, codes: Any, weight: Any) -> float:
    loss = 0.0
    for i in range(len(probabilities)):
        loss -= weight[i] * np.log(max(probabilities[i, codes[i]], LEAST_PROBABILITY))
        probabilities[i, codes[i]] -= ONE
        for k in range(probabilities.shape[1]):
            probabilities[i, k] *= weight[i]
    return loss
