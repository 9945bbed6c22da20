"""Kernels: gradient boosting of rows that are in parts, of which each adds up its own.

Words, splits and trees are those of `bayesfloor.learn.boosting_kernels`.
"""

import math

import numpy as np

from bayesfloor.learn.boosting_kernels import UNCOUNTED, packed
from bayesfloor.learn.decision_tree_kernels import next_random
from bayesfloor.runtime.kernels import kernel

#: Rows whose probabilities are computed at a time, and rows that go down a tree side by side.
_AT_ONCE, _ABREAST = 1024, 16
#: The Taylor series of 2**x, which for x up to 1/2 has an error of 5e-9, and the logarithm of e to base 2.
_TWO = tuple(np.float32(math.log(2.0) ** k / math.factorial(k)) for k in range(8))
_LOG2_E = np.float32(math.log2(math.e))
#: The unit of derivatives that are added up in leaves, its inverse, and the largest derivative of a number.
LEAF_UNIT, _LEAF_UNITS, MOST_SLOPE = 2.0**-30, 2.0**30, 2.0**22


@kernel
def write_probabilities(scores, probabilities):
    """Turn scores of at most 1024 rows into probabilities, of shape (n_scores, n); a single score is a log-odds.

    The loops have no branches and call no functions, so that several rows are computed at a time.
    """
    n, n_scores = scores.shape
    top, total = np.empty(n, np.float32), np.zeros(n, np.float32)
    bits = np.empty(n, np.int32)
    power = bits.view(np.float32)
    top[:] = np.float32(0.0 if n_scores == 1 else -np.inf)
    for k in range(n_scores):
        for i in range(n):
            probabilities[k, i] = scores[i, k]
            top[i] = max(top[i], probabilities[k, i])
    for k in range(n_scores):
        _write_powers(probabilities[k, :n], top, bits)
        for i in range(n):
            probabilities[k, i] *= power[i]
            total[i] += probabilities[k, i]
    if n_scores == 1:
        other = np.zeros(n, np.float32)
        _write_powers(other, top, bits)
        for i in range(n):
            total[i] += other[i] * power[i]
    for k in range(n_scores):
        for i in range(n):
            probabilities[k, i] /= total[i]


@kernel
def _write_powers(values, top, bits):
    """Turn values into exponentials of what they are below the top one: into factors, and the bits of powers of 2."""
    for i in range(values.shape[0]):
        x = max((values[i] - top[i]) * _LOG2_E, np.float32(-126.0))
        whole = np.rint(x)
        bits[i] = (np.int32(whole) + np.int32(127)) << np.int32(23)
        x -= whole
        factor = _TWO[6] + x * _TWO[7]
        factor = _TWO[4] + x * (_TWO[5] + x * factor)
        factor = _TWO[2] + x * (_TWO[3] + x * factor)
        values[i] = _TWO[0] + x * (_TWO[1] + x * factor)


@kernel
def write_derivatives(scores, y, n_classes, unit, state, words):
    """Write the derivatives of all rows as words, in an array of shape (n_scores, n).

    `unit` is that of first derivatives of numbers: what is above it counts as much as it. Those of classes are at most
    1. `state` is that of random draws.
    """
    n, n_scores = scores.shape
    probabilities = np.empty((n_scores, _AT_ONCE), np.float32)
    for start in range(0, n, _AT_ONCE):
        stop = min(start + _AT_ONCE, n)
        if n_classes > 0:
            write_probabilities(scores[start:stop], probabilities)
        for i in range(start, stop):
            for k in range(n_scores):
                if n_classes > 0:
                    p = np.float64(probabilities[k, i - start])
                    first = p - (1.0 if y[i] == (1 if n_scores == 1 else k) else 0.0)
                    second = p * (1.0 - p)
                else:
                    first, second = min(1.0, max(-1.0, (scores[i, 0] - y[i]) / unit)), np.float64(0.25)
                words[k, i] = packed(first, second, UNCOUNTED, next_random(state))


@kernel
def sum_by_leaf(nodes, y, n_classes, scores, sums):
    """Add up the first and second derivatives of the rows of each leaf, in an array of shape (n_scores, n_nodes, 2).

    They are integers, in units of `LEAF_UNIT`, so that the order of rows and parts does not matter.
    """
    n, n_scores = scores.shape
    probabilities = np.empty((n_scores, _AT_ONCE), np.float32)
    for start in range(0, n, _AT_ONCE):
        stop = min(start + _AT_ONCE, n)
        if n_classes > 0:
            write_probabilities(scores[start:stop], probabilities)
        for k in range(n_scores):
            own = 1 if n_scores == 1 else k
            for i in range(start, stop):
                node = nodes[i, k]
                if n_classes > 0:
                    p = np.float64(probabilities[k, i - start])
                    first, second = p - np.float64(y[i] == own), p * (1.0 - p)
                else:
                    first, second = min(MOST_SLOPE, max(-MOST_SLOPE, scores[i, 0] - y[i])), np.float64(1.0)
                sums[k, node, 0] += np.int64(np.rint(first * _LEAF_UNITS))
                sums[k, node, 1] += np.int64(np.rint(second * _LEAF_UNITS))
