"""Kinds of points that have broken spanning-tree codes, each as a function of (rng, n, d)."""

import numpy as np


def gaussian(rng, n, d):
    return rng.standard_normal((n, d))


def uniform(rng, n, d):
    return rng.random((n, d))


def clustered(rng, n, d):
    """Tight clusters, very far apart, so that few long edges decide."""
    return 1e6 * rng.standard_normal((5, d))[rng.integers(0, 5, n)] + rng.standard_normal((n, d))


def one_hot(rng, n, d):
    """Dummies of categorical variables of up to five levels; nearly all distances are tied."""
    X = np.zeros((n, d))
    for first in range(0, d, 5):
        width = min(5, d - first)
        level = rng.integers(0, width + (width == 1), n)
        X[np.arange(n), first + level % width] = level < width
    return X


def standardized_one_hot(rng, n, d):
    """Ties that rounding breaks in the last bit."""
    X = one_hot(rng, n, d)
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)


def integer_grid(rng, n, d):
    return rng.integers(0, max(2, round(2 * n ** (1 / d))), (n, d)).astype(float)


def few_distinct(rng, n, d):
    """Big sites: about ten distinct rows."""
    return rng.standard_normal((10, d))[rng.integers(0, 10, n)]


def some_copies(rng, n, d):
    """Small sites, most of one or two rows, and one big one."""
    X = rng.standard_normal((n, d))[rng.integers(0, n, n)]
    X[rng.random(n) < 0.1] = X[0]
    return X


def all_identical(rng, n, d):
    return np.tile(rng.standard_normal(d), (n, 1))


def nearly_copies(rng, n, d):
    """Rows that float32 cannot tell apart, float64 can."""
    return few_distinct(rng, n, d) + 1e-10 * rng.standard_normal((n, d))


def on_a_line(rng, n, d):
    return np.outer(rng.standard_normal(n), np.linspace(1, 2, d))


def evenly_spaced(rng, n, d):
    """Every nearest neighbour tied with another one, rows shuffled."""
    return np.outer(rng.permutation(n), np.ones(d))


def growing_gaps(rng, n, d):
    """A chain whose gaps grow, which Kruskal merges one point at a time."""
    X = np.zeros((n, d))
    X[:, 0] = rng.permutation(1.05 ** np.arange(n))
    return X


def cauchy(rng, n, d):
    return rng.standard_cauchy((n, d))


def one_outlier(rng, n, d):
    """So far out that its squared length overflows float32."""
    X = rng.standard_normal((n, d))
    X[n // 2] *= 1e60
    return X


def hub_in_a_sphere(rng, n, d):
    """All points at distance one of the first row, most of them farther from each other."""
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[0] = 0
    return X


def simplex(rng, n, d):
    """Unit vectors: all distances equal, copies included once n exceeds d."""
    return np.eye(d)[np.arange(n) % d]


def mixed_scales(rng, n, d):
    return rng.standard_normal((n, d)) * 10.0 ** rng.integers(-8, 9, d)


def far_from_zero(rng, n, d):
    return rng.standard_normal((n, d)) + 1e8


def signed_zeros(rng, n, d):
    """0.0 and -0.0 are the same value."""
    return rng.choice([0.0, -0.0, 1.0, -1.0], (n, d))


KINDS = {
    kind.__name__: kind
    for kind in (
        gaussian,
        uniform,
        clustered,
        one_hot,
        standardized_one_hot,
        integer_grid,
        few_distinct,
        some_copies,
        all_identical,
        nearly_copies,
        on_a_line,
        evenly_spaced,
        growing_gaps,
        cauchy,
        one_outlier,
        hub_in_a_sphere,
        simplex,
        mixed_scales,
        far_from_zero,
        signed_zeros,
    )
}

TIED_KINDS = ("one_hot", "integer_grid", "evenly_spaced", "simplex", "signed_zeros")


def make_points(kind, n, d, seed=0):
    return KINDS[kind](np.random.default_rng([seed, n, d]), n, d)


def make_labels(n, n_classes, seed=0):
    """Labels of unequal frequency, every class present."""
    rng = np.random.default_rng([seed, n, n_classes])
    share = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    y = rng.choice(n_classes, n, p=share)
    y[rng.permutation(n)[:n_classes]] = np.arange(n_classes)
    return y
