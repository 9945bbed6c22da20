"""Learners that are fitted by gradients: logistic regression, and a small network where columns are 0 or 1."""

from itertools import pairwise

import numpy as np
from scipy import optimize
from scipy.special import log_softmax, softmax

from bayesfloor.floor.learned.training_rows import Train
from bayesfloor.runtime.arrays import Floats, Ints

#: Units in each of the two hidden layers.
N_UNITS = 64
#: Rows of a step.
BATCH = 64
#: Step size of Adam at the start; it falls to 0 along a half cosine.
STEP_SIZE = 0.01
#: Weight decay.
PENALTY = 1e-3
#: Most passes over the rows, and the fewest.
MOST_EPOCHS, FEWEST_EPOCHS = 40, 8
#: Multiplications of rows and weights that all passes together may take.
WORK = 4e9
#: Share of the columns that must have two values.
SHARE_OF_BINARY = 0.8


def logistic(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return multinomial logistic regression with a ridge penalty."""
    return {"logistic": fit_logistic(train.X, train, test)}


def fit_logistic(X: Floats, train: Train, test: Floats) -> Floats:
    """Regress the classes on features; return probabilities of other rows."""
    n, d = X.shape
    K, one_hot = train.n_classes, train.one_hot
    start = np.zeros((d + 1, K))
    start[-1] = np.log(train.prior)

    def loss(flat: Floats) -> tuple[float, Floats]:
        coefficients = flat.reshape(d + 1, K)
        log_p = log_softmax(X @ coefficients[:-1] + coefficients[-1], axis=1)
        excess = np.exp(log_p) - one_hot
        gradient = np.concatenate([X.T @ excess + coefficients[:-1], excess.sum(axis=0, keepdims=True)])
        value = 0.5 * (coefficients[:-1] ** 2).sum() - (one_hot * log_p).sum()
        return value / n, gradient.ravel() / n

    found = optimize.minimize(
        loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 60, "ftol": 1e-7, "gtol": 1e-5}
    )
    coefficients = found.x.reshape(d + 1, K)
    return softmax(test @ coefficients[:-1] + coefficients[-1], axis=1)


# --- a small network


def is_mostly_binary(X: Floats) -> bool:
    """Tell whether most of the columns that vary have two values."""
    low, high = X.min(axis=0), X.max(axis=0)
    varies = high > low
    is_binary = (np.equal(X, low) | np.equal(X, high)).all(axis=0)
    return int(varies.sum()) > 2 and bool(is_binary[varies].mean() >= SHARE_OF_BINARY)


def network(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return a network of two hidden layers, trained by Adam (Kingma and Ba 2015) in single precision."""
    low, high = train.X.min(axis=0), train.X.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    rows, others = ((side - low) / width for side in (train.X, np.clip(test, low - width, high + width)))
    return {"network": _train_network(rows.astype(np.float32), train, others.astype(np.float32), seed)}


def _train_network(rows: np.ndarray, train: Train, others: np.ndarray, seed: int) -> Floats:
    """Fit the network to rows and return probabilities of others."""
    rng = np.random.default_rng(seed)
    n, sizes = len(rows), (rows.shape[1], N_UNITS, N_UNITS, train.n_classes)
    weights = [_start(rng, *pair) for pair in pairwise(sizes)]
    offsets = [np.zeros(size, np.float32) for size in sizes[1:]]
    parameters = weights + offsets
    means, squares = ([np.zeros_like(p) for p in parameters] for _ in range(2))
    epochs = int(np.clip(WORK / (n * sum(p.size for p in weights)), FEWEST_EPOCHS, MOST_EPOCHS))
    n_batches = max(n // BATCH, 1)
    step = 0
    for _ in range(epochs):
        train.check()
        order = rng.permutation(n)
        for batch in range(n_batches):
            chosen = order[batch::n_batches]
            step += 1
            size = 0.5 * STEP_SIZE * (1.0 + np.cos(np.pi * step / (epochs * n_batches)))
            size *= np.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
            gradients = _gradients(rows[chosen], train.codes[chosen], weights, offsets)
            for p, gradient, mean, square in zip(parameters, gradients, means, squares, strict=True):
                mean += np.float32(0.1) * (gradient - mean)
                square += np.float32(0.001) * (gradient * gradient - square)
                p -= np.float32(size) * mean / (np.sqrt(square) + np.float32(1e-8))
    return softmax(_layers(others, weights, offsets)[-1].astype(np.float64), axis=1)


def _start(rng: np.random.Generator, n_in: int, n_out: int) -> np.ndarray:
    """Draw weights that keep the variance from layer to layer (He et al. 2015)."""
    return rng.normal(scale=np.sqrt(2.0 / n_in), size=(n_in, n_out)).astype(np.float32)


def _layers(rows: np.ndarray, weights: list[np.ndarray], offsets: list[np.ndarray]) -> list[np.ndarray]:
    """Return the rows, the hidden layers, and the scores of the classes."""
    layers = [rows]
    for weight, offset in zip(weights[:-1], offsets[:-1], strict=True):
        layers.append(np.maximum(layers[-1] @ weight + offset, 0.0))
    return [*layers, layers[-1] @ weights[-1] + offsets[-1]]


def _gradients(
    rows: np.ndarray, codes: Ints, weights: list[np.ndarray], offsets: list[np.ndarray]
) -> list[np.ndarray]:
    """Return the gradients of the penalised log-loss by weights and by offsets."""
    *layers, scores = _layers(rows, weights, offsets)
    error = softmax(scores, axis=1)
    error[np.arange(len(rows)), codes] -= 1.0
    error /= np.float32(len(rows))
    of_weights, of_offsets = [], []
    for layer in range(len(weights) - 1, -1, -1):
        of_weights.append(layers[layer].T @ error + np.float32(PENALTY) * weights[layer])
        of_offsets.append(error.sum(axis=0))
        if layer:
            error = (error @ weights[layer].T) * (layers[layer] > 0)
    return of_weights[::-1] + of_offsets[::-1]
