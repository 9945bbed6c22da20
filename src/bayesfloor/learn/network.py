"""A small network, for columns of 0 and 1."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayesfloor.learn.learner import Fitted, Learner, Look, Output, Rows
from bayesfloor.learn.network_kernels import KEPT, KEPT_OF_SQUARES, pass_over
from bayesfloor.learn.records import record
from bayesfloor.learn.training_rows import Singles, Train, product
from bayesfloor.runtime.arrays import Floats

#: Units in each of the two hidden layers, those where columns are many, and what many are.
N_UNITS, N_OF_MANY, MANY_COLUMNS = 64, 48, 128
#: Units at the least where classes are many, and what many are: 18 classes lose 2.5 points of accuracy with 64.
N_OF_CLASSES, MANY_CLASSES = 96, 8
#: Rows of a step, and from how many rows on there are twice as many, which takes a quarter of the time away.
BATCH, MANY_ROWS = 64, 4000
#: Step size of Adam at the start, which falls to 0 along a half cosine, with few rows and with many; and weight decay.
STEP_SIZE, STEP_SIZE_OF_MANY, PENALTY = 0.01, 0.014, 1e-3
#: Most passes over the rows, and the fewest, where columns are many.
MOST_EPOCHS, FEWEST_EPOCHS = 40, 10
#: Columns times passes over the rows.
COLUMNS_SEEN = 2000


@record
class FittedNetwork(Fitted):
    """The range of the columns, the weights of the network in one array, and the sizes of its layers."""

    low: NDArray[Any]
    high: NDArray[Any]
    parameters: Singles
    sizes: tuple[int, ...]

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the probabilities of the classes."""
        points = _between_0_and_1(rows.X, self.low, self.high)
        scores = _scores(points, _layers_of(self.parameters, self.sizes)).astype(np.float64)
        return {"network": np.asarray(softmax(scores, axis=1))}


@dataclass(frozen=True, eq=False)
class Network(Learner):
    """A network of two hidden layers, trained by Adam (Kingma and Ba 2015) in single precision.

    Attributes
    ----------
    most_seen : int or None
        Rows of all passes together at the most; None for any number.
    """

    most_seen: int | None = None

    name = "network"
    outputs = (Output("network", "kernel"),)
    learns_slowly = True

    def suited(self, look: Look) -> Learner | None:
        """Return the learner for columns of two values."""
        return self if look.is_binary else None

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Train the network."""
        if self.most_seen is not None:
            train = train.first(self.most_seen // n_epochs(train.X.shape[1]))
        low, high = train.X.min(axis=0), train.X.max(axis=0)
        return FittedNetwork(low, high, *_train_network(_between_0_and_1(train.X, low, high), train, seed))


def _between_0_and_1(rows: Floats, low: NDArray[Any], high: NDArray[Any]) -> Singles:
    """Scale columns by the range of the training rows, and hold other rows near it."""
    width = np.where(high > low, high - low, 1.0)
    return ((np.clip(rows, low - width, high + width) - low) / width).astype(np.float32)


def n_epochs(n_columns: int) -> int:
    """Return how often the network passes over its rows."""
    return max(FEWEST_EPOCHS, min(MOST_EPOCHS, COLUMNS_SEEN // n_columns))


def _train_network(rows: Singles, train: Train, seed: int) -> tuple[Singles, tuple[int, ...]]:
    """Fit the network to rows and return its weights, in one array, and the sizes of its layers."""
    rng = np.random.default_rng(seed)
    n, d = rows.shape
    n_units = N_UNITS if train.n_classes <= MANY_CLASSES else N_OF_CLASSES
    n_units = n_units if d <= MANY_COLUMNS else N_OF_MANY
    sizes = (d, n_units, n_units, train.n_classes)
    parameters, mean, square = np.zeros((3, sum((a + 1) * b for a, b in pairwise(sizes))), np.float32)
    layers = _layers_of(parameters, sizes)
    for layer in layers:  # weights that keep the variance from layer to layer (He et al. 2015)
        layer[:-1] = rng.normal(scale=np.sqrt(2.0 / (len(layer) - 1)), size=(len(layer) - 1, layer.shape[1]))
    epochs = n_epochs(d)
    n_batches, largest = max(n // BATCH, 1), STEP_SIZE
    if n >= MANY_ROWS:
        n_batches, largest = n // (2 * BATCH), STEP_SIZE_OF_MANY
    steps = np.arange(1, epochs * n_batches + 1)
    step_sizes = 0.5 * largest * (1.0 + np.cos(np.pi * steps / len(steps)))
    step_sizes *= np.sqrt(1.0 - float(KEPT_OF_SQUARES) ** steps) / (1.0 - float(KEPT) ** steps)
    for of_epoch in step_sizes.astype(np.float32).reshape(epochs, n_batches):
        train.check()
        order = rng.permutation(n)
        given = rows[order], train.codes[order], of_epoch, np.float32(PENALTY)
        pass_over(*given, n_units, train.n_classes, parameters, mean, square)
    return parameters, sizes


def _layers_of(flat: Singles, sizes: tuple[int, ...]) -> list[Singles]:
    """Return views of a flat array as layers: a line of weights for each input, and one of offsets."""
    cuts = np.cumsum([(a + 1) * b for a, b in pairwise(sizes)])[:-1]
    return [part.reshape(-1, b) for part, b in zip(np.split(flat, cuts), sizes[1:], strict=True)]


def _scores(rows: Singles, layers: list[Singles]) -> Singles:
    """Return the scores of the classes."""
    for layer in layers[:-1]:
        rows = np.maximum(product(rows, layer[:-1]) + layer[-1], np.float32(0.0))
    return product(rows, layers[-1][:-1]) + layers[-1][-1]
