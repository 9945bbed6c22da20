"""Kernel: a pass of a network of two hidden layers over its rows, by Adam (Kingma and Ba 2015) in single precision.

A step has a few small products and much that goes through arrays once, which NumPy would do in thirty calls.
"""

import numpy as np

from bayesfloor.runtime.kernels import kernel

#: Shares of what Adam remembers of gradients, and of their squares, from step to step; added to the root of these.
KEPT, KEPT_OF_SQUARES, LEAST = np.float32(0.9), np.float32(0.999), np.float32(1e-8)
_ONE, _ZERO = np.float32(1.0), np.float32(0.0)


@kernel
def rectify(outputs, offsets):
    """Add an offset to each column, and replace what is below 0 by 0."""
    for i in range(outputs.shape[0]):
        for j in range(outputs.shape[1]):
            outputs[i, j] = max(outputs[i, j] + offsets[j], _ZERO)


@kernel
def add_up(errors, sums):
    """Write the sums of columns."""
    sums[:] = _ZERO
    for i in range(errors.shape[0]):
        for j in range(errors.shape[1]):
            sums[j] += errors[i, j]


@kernel
def stop_at_zero(errors, outputs):
    """Set the errors of units to 0 whose output is 0: they do not change with what comes in."""
    for i in range(errors.shape[0]):
        for j in range(errors.shape[1]):
            errors[i, j] = errors[i, j] if outputs[i, j] > _ZERO else _ZERO


@kernel
def slopes_of_scores(scores, offsets, codes):
    """Replace scores by the gradient of the mean log-loss: probabilities, less 1 at the class of each row."""
    n, n_classes = scores.shape
    for i in range(n):
        top = np.float32(-np.inf)
        for k in range(n_classes):
            scores[i, k] += offsets[k]
            top = max(top, scores[i, k])
        total = _ZERO
        for k in range(n_classes):
            scores[i, k] = np.exp(scores[i, k] - top)
            total += scores[i, k]
        for k in range(n_classes):
            scores[i, k] /= total
        scores[i, codes[i]] -= _ONE
        for k in range(n_classes):
            scores[i, k] /= np.float32(n)


@kernel(error_model="numpy")
def adam_step(parameters, gradient, mean, square, size, penalty):
    """Move the parameters."""
    for i in range(parameters.shape[0]):
        slope = gradient[i] + penalty * parameters[i]
        mean[i] = KEPT * mean[i] + (_ONE - KEPT) * slope
        square[i] = KEPT_OF_SQUARES * square[i] + (_ONE - KEPT_OF_SQUARES) * slope * slope
        parameters[i] -= size * (mean[i] / (np.sqrt(square[i]) + LEAST))


@kernel
def pass_over(rows, codes, step_sizes, penalty, n_units, n_classes, parameters, mean, square):
    """Take a step for each batch of rows.

    Parameters
    ----------
    rows : ndarray of shape (n, d) of float32
        Rows in random order; every `n_batches`-th of them is in a batch.
    codes : ndarray of shape (n,)
        Their classes.
    step_sizes : ndarray of shape (n_batches,) of float32
        The size of each step.
    penalty : float32
        Weight decay.
    n_units, n_classes : int
        Units of both hidden layers, and of the last one.
    parameters : ndarray of float32
        Layer after layer: a line of weights for each input, and one of offsets. Changed in place.
    mean, square : ndarray like parameters
        What Adam remembers of gradients and of their squares. Changed in place.
    """
    n, d = rows.shape
    n_batches = step_sizes.shape[0]
    gradient = np.empty_like(parameters)
    ends = np.array([d * n_units, n_units, n_units * n_units, n_units, n_units * n_classes, n_classes]).cumsum()
    weights_1 = parameters[: ends[0]].reshape(d, n_units)
    weights_2 = parameters[ends[1] : ends[2]].reshape(n_units, n_units)
    weights_3 = parameters[ends[3] : ends[4]].reshape(n_units, n_classes)
    slopes_1 = gradient[: ends[0]].reshape(d, n_units)
    slopes_2 = gradient[ends[1] : ends[2]].reshape(n_units, n_units)
    slopes_3 = gradient[ends[3] : ends[4]].reshape(n_units, n_classes)
    most = (n + n_batches - 1) // n_batches
    inputs = np.empty((most, d), np.float32)
    hidden = np.empty((4, most, n_units), np.float32)
    scores = np.empty((most, n_classes), np.float32)
    labels = np.empty(most, np.int64)
    for batch in range(n_batches):
        size = (n - batch + n_batches - 1) // n_batches
        for i in range(size):
            labels[i] = codes[batch + i * n_batches]
            for j in range(d):
                inputs[i, j] = rows[batch + i * n_batches, j]
        given, first, second, last = inputs[:size], hidden[0, :size], hidden[1, :size], scores[:size]
        np.dot(given, weights_1, first)
        rectify(first, parameters[ends[0] : ends[1]])
        np.dot(first, weights_2, second)
        rectify(second, parameters[ends[2] : ends[3]])
        np.dot(second, weights_3, last)
        slopes_of_scores(last, parameters[ends[4] :], labels)
        np.dot(second.T, last, slopes_3)
        add_up(last, gradient[ends[4] :])
        of_second, of_first = hidden[2, :size], hidden[3, :size]
        np.dot(last, weights_3.T, of_second)
        stop_at_zero(of_second, second)
        np.dot(first.T, of_second, slopes_2)
        add_up(of_second, gradient[ends[2] : ends[3]])
        np.dot(of_second, weights_2.T, of_first)
        stop_at_zero(of_first, first)
        np.dot(given.T, of_first, slopes_1)
        add_up(of_first, gradient[ends[0] : ends[1]])
        adam_step(parameters, gradient, mean, square, step_sizes[batch], penalty)
