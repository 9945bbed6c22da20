"""Error directions against a graph with one weight for each pair of rows, written out in full."""

import numpy as np
import pytest

from bayesfloor import spanning_forests
from bayesfloor.choose.floor_levels import error_direction
from helpers.one_case import for_each


def dense_weights(forests):
    """Spread each edge evenly over the pairs of rows that it could join."""
    n = forests.n_samples
    weights = np.zeros((n, n))
    for i, j in forests.edges:
        a, b = np.flatnonzero(forests.sites == forests.sites[i]), np.flatnonzero(forests.sites == forests.sites[j])
        pairs = [(v, w) for v in a for w in b if v != w]
        for v, w in pairs:
            weights[v, w] += 1 / len(pairs)
            weights[w, v] += 1 / len(pairs)
    return weights


@for_each(("n_levels", "n_classes"), [(2, 4), (4, 2), (1000, 4)])
def test_against_all_pairs_of_rows(n_levels, n_classes):
    rng = np.random.default_rng(n_levels + n_classes)
    X = rng.integers(0, n_levels, (60, 2)).astype(float)
    codes = rng.integers(0, n_classes, 60)
    forests = spanning_forests(X, n_trees=2)
    weights = dense_weights(forests)
    assert weights.sum() / 2 == pytest.approx(len(forests.edges))
    crosses = codes[:, None] != codes
    mean = np.sum(weights * crosses) / weights.sum()
    deviation = np.sum(weights * (crosses - mean), axis=1)
    direction = error_direction(forests, codes, n_classes)
    np.testing.assert_allclose(direction, deviation / np.linalg.norm(deviation), atol=1e-12)
    # the floor room sums the same squares in its own way
    sums = forests.edge_sums(codes)
    at_rows = sums.cross_degree_squares - 2 * mean * sums.cross_degree_products + mean**2 * sums.degree_squares
    assert np.sum(deviation**2) == pytest.approx(at_rows)


def test_a_count_without_variation_errs_independently_of_all_others():
    rng = np.random.default_rng(0)
    forests = spanning_forests(rng.standard_normal((50, 2)))
    nothing_crosses = error_direction(forests, np.zeros(50, np.int64), 2)
    np.testing.assert_allclose(nothing_crosses, 50**-0.5)
    some_cross = error_direction(forests, rng.integers(0, 2, 50), 2)
    assert nothing_crosses @ some_cross == pytest.approx(0, abs=1e-12)
