"""Samples with known answers, shared by the tests of this room."""

import numpy as np


def shifted_classes(seed, n=200, n_useful=2, n_features=5, n_classes=2, shift=2.0):
    """Gaussian classes whose means lie apart, by `shift` and its multiples, in the first few features only."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    centres = np.zeros((n_classes, n_features))
    centres[:, :n_useful] = shift * (np.add.outer(np.arange(n_classes), np.arange(n_useful)) % n_classes)
    return centres[y] + rng.standard_normal((n, n_features)), y


def exclusive_or(seed, n=300, n_features=6):
    """The class is the sign of the product of features 1 and 3; neither says anything alone."""
    X = np.random.default_rng(seed).standard_normal((n, n_features))
    return X, np.where(X[:, 1] * X[:, 3] > 0, "same", "other")


def table_of_dummies(seed, n=240):
    """Two categorical variables of three levels as dummies, columns 0 to 2 and 3 to 5; only the second matters."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 3, (2, n))
    y = np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), second)
    return np.concatenate([np.eye(3)[first], np.eye(3)[second]], axis=1), y
