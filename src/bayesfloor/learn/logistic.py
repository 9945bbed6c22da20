"""Multinomial logistic regression."""

import numpy as np
from scipy import optimize
from scipy.special import softmax

from bayesfloor.learn.training_rows import Train
from bayesfloor.runtime.arrays import Floats

#: Most steps of logistic regression, the fewest, and the numbers that all steps may look at.
MOST_ITERATIONS, FEWEST_ITERATIONS, NUMBERS_SEEN = 60, 40, 60_000_000


def logistic(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return multinomial logistic regression with a ridge penalty."""
    return {"logistic": fit_logistic(train.X, train, test)}


def fit_logistic(X: Floats, train: Train, test: Floats) -> Floats:
    """Regress the classes on features; return probabilities of other rows."""
    n, d = X.shape
    rows, labels = np.ascontiguousarray(X, np.float32), (np.arange(n), train.codes)
    start = np.zeros((d + 1, train.n_classes))
    start[-1] = np.log(train.prior)

    def loss(flat: Floats) -> tuple[float, Floats]:
        coefficients = flat.reshape(start.shape)
        scores = rows @ coefficients[:-1].astype(np.float32) + coefficients[-1].astype(np.float32)
        scores -= scores.max(axis=1, keepdims=True)
        at_label = float(scores[labels].sum(dtype=np.float64))
        error = np.exp(scores, out=scores)
        total = error.sum(axis=1, keepdims=True)
        value = 0.5 * (coefficients[:-1] ** 2).sum() + float(np.log(total).sum(dtype=np.float64)) - at_label
        error /= total
        error[labels] -= 1.0
        gradient = np.concatenate([rows.T @ error + coefficients[:-1], error.sum(axis=0, keepdims=True)])
        return value / n, gradient.ravel() / n

    n_iterations = max(FEWEST_ITERATIONS, min(MOST_ITERATIONS, NUMBERS_SEEN // max(X.size, 1)))
    found = optimize.minimize(
        loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": n_iterations, "ftol": 1e-7, "gtol": 1e-5}
    )
    coefficients = found.x.reshape(start.shape)
    return softmax(test @ coefficients[:-1] + coefficients[-1], axis=1)
