"""A small network, for columns of 0 and 1."""

from itertools import pairwise

import numpy as np
from scipy.special import softmax

from bayesfloor.learn.later import of_rows
from bayesfloor.learn.training_rows import Singles, Train
from bayesfloor.runtime.arrays import Floats, Ints

#: Units in each of the two hidden layers; fewer where columns are many.
N_UNITS, N_OF_MANY, MANY_COLUMNS = 64, 48, 128
#: Rows of a step, and from how many rows on there are twice as many, which takes a quarter of the time away.
BATCH, MANY_ROWS = 64, 4000
#: Step size of Adam at the start, which falls to 0 along a half cosine: of few rows and of many.
STEP_SIZE, STEP_SIZE_OF_MANY = 0.01, 0.014
#: Weight decay.
PENALTY = 1e-3
#: Most passes over the rows, and the fewest, where columns are many.
MOST_EPOCHS, FEWEST_EPOCHS = 40, 10
#: Columns times passes over the rows.
COLUMNS_SEEN = 2000
#: Share of the columns that must have two values.
SHARE_OF_BINARY = 0.8


def is_mostly_binary(X: Floats) -> bool:
    """Tell whether most of the columns that vary have two values."""
    low, high = X.min(axis=0), X.max(axis=0)
    varies = high > low
    is_binary = (np.equal(X, low) | np.equal(X, high)).all(axis=0)
    return int(varies.sum()) > 2 and bool(is_binary[varies].mean() >= SHARE_OF_BINARY)


def network(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return a network of two hidden layers, trained by Adam (Kingma and Ba 2015) in single precision."""
    if not train.wants("network"):
        return {}
    low, high = train.X.min(axis=0), train.X.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    rows, others = (_between_0_and_1(side, low, high, width) for side in (train.X, test))
    parameters, sizes = _train_network(rows, train, seed)
    return {"network": _network_shares(others, parameters, sizes)}


@of_rows
def _between_0_and_1(rows: Floats, low: Floats, high: Floats, width: Floats) -> Singles:
    """Scale columns by the range of the training rows, and hold other rows near it."""
    return ((np.clip(rows, low - width, high + width) - low) / width).astype(np.float32)


def n_epochs(n_columns: int) -> int:
    """Return how often the network passes over its rows."""
    return max(FEWEST_EPOCHS, min(MOST_EPOCHS, COLUMNS_SEEN // n_columns))


def _train_network(rows: Singles, train: Train, seed: int) -> tuple[Singles, tuple[int, ...]]:
    """Fit the network to rows and return its weights, in one array, and the sizes of its layers."""
    rng = np.random.default_rng(seed)
    n, d = rows.shape
    n_units = N_UNITS if d <= MANY_COLUMNS else N_OF_MANY
    sizes = (d, n_units, n_units, train.n_classes)
    parameters, gradient = (np.zeros(sum((a + 1) * b for a, b in pairwise(sizes)), np.float32) for _ in range(2))
    layers, slopes = _layers_of(parameters, sizes), _layers_of(gradient, sizes)
    for layer in layers:  # weights that keep the variance from layer to layer (He et al. 2015)
        layer[:-1] = rng.normal(scale=np.sqrt(2.0 / (len(layer) - 1)), size=(len(layer) - 1, layer.shape[1]))
    mean, square, change = (np.zeros_like(parameters) for _ in range(3))
    epochs = n_epochs(d)
    n_batches, largest = max(n // BATCH, 1), STEP_SIZE
    if n >= MANY_ROWS:
        n_batches, largest = n // (2 * BATCH), STEP_SIZE_OF_MANY
    step = 0
    for _ in range(epochs):
        train.check()
        order = rng.permutation(n)
        shuffled, codes = rows[order], train.codes[order]
        for batch in range(n_batches):
            step += 1
            size = 0.5 * largest * (1.0 + np.cos(np.pi * step / (epochs * n_batches)))
            size *= np.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
            _set_slopes(shuffled[batch::n_batches], codes[batch::n_batches], layers, slopes)
            np.multiply(parameters, np.float32(PENALTY), out=change)
            gradient += change
            mean *= np.float32(0.9)
            np.multiply(gradient, np.float32(0.1), out=change)
            mean += change
            square *= np.float32(0.999)
            gradient *= gradient
            gradient *= np.float32(0.001)
            square += gradient
            np.sqrt(square, out=change)
            change += np.float32(1e-8)
            np.divide(mean, change, out=change)
            change *= np.float32(size)
            parameters -= change
    return parameters, sizes


@of_rows
def _network_shares(rows: Singles, parameters: Singles, sizes: tuple[int, ...]) -> Floats:
    """Return the probabilities of the classes."""
    return np.asarray(softmax(_outputs(rows, _layers_of(parameters, sizes))[-1].astype(np.float64), axis=1))


def _layers_of(flat: Singles, sizes: tuple[int, ...]) -> list[Singles]:
    """Return views of a flat array as layers: a line of weights for each input, and one of offsets."""
    cuts = np.cumsum([(a + 1) * b for a, b in pairwise(sizes)])[:-1]
    return [part.reshape(-1, b) for part, b in zip(np.split(flat, cuts), sizes[1:], strict=True)]


def _outputs(rows: Singles, layers: list[Singles]) -> list[Singles]:
    """Return the rows, what each hidden layer makes of them, and the scores of the classes."""
    outputs = [rows]
    for layer in layers[:-1]:
        output = outputs[-1] @ layer[:-1]
        output += layer[-1]
        outputs.append(np.maximum(output, np.float32(0.0), out=output))
    return [*outputs, outputs[-1] @ layers[-1][:-1] + layers[-1][-1]]


def _set_slopes(rows: Singles, codes: Ints, layers: list[Singles], slopes: list[Singles]) -> None:
    """Write the gradient of the log-loss by every layer."""
    *outputs, scores = _outputs(rows, layers)
    error = np.exp(scores - scores.max(axis=1, keepdims=True))
    error /= error.sum(axis=1, keepdims=True)
    error[np.arange(len(rows)), codes] -= 1.0
    error /= np.float32(len(rows))
    for number in range(len(layers) - 1, -1, -1):
        np.matmul(outputs[number].T, error, out=slopes[number][:-1])
        error.sum(axis=0, out=slopes[number][-1])
        if number:
            error = error @ layers[number][:-1].T
            error *= outputs[number] > 0
