"""Samples with known answers, shared by the tests of this room."""

import numpy as np
from numpy.testing import assert_allclose


def gaussian_classes(rng, n, priors, means, n_features):
    """Draw labels at random and points around their class's mean, which fills up with zeros."""
    y = rng.choice(len(priors), size=n, p=priors)
    centres = np.zeros((len(priors), n_features))
    centres[:, : np.shape(means)[1]] = means
    return centres[y] + rng.standard_normal((n, n_features)), y


def one_hot_table(rng, n, levels, n_classes, noise=0.3):
    """Categorical columns as dummies, full of ties and identical rows; the first column drives y."""
    columns = rng.integers(0, levels, size=(n, 3))
    X = np.concatenate([np.eye(levels)[column] for column in columns.T], axis=1)
    y = np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), columns[:, 0] % n_classes)
    return X, y


def same(one, two, rtol=1e-9):
    assert_allclose(
        [one.estimate, *one.interval, one.reached, *one.reached_interval, one.residual_z],
        [two.estimate, *two.interval, two.reached, *two.reached_interval, two.residual_z],
        rtol=rtol,
        atol=1e-12,
    )
