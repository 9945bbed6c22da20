"""Counts and floors equal those of the authors' own code."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from bayesfloor.floor import one_vs_rest_bayes_error, pairwise_bayes_error

CASES = [("iris", "jitter"), ("wine", "jitter"), ("wine", "standardized")]


@pytest.fixture(params=CASES, ids="-".join)
def case(request, golden_dir):
    name, variant = request.param
    X, y = {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)
    if variant == "jitter":
        X = X + 1e-3 * np.random.RandomState(12345).standard_normal(X.shape) * X.std(0).mean()
    else:
        X = StandardScaler().fit_transform(X)
    golden = json.loads((golden_dir / f"{name}.json").read_text())[variant]
    return X, y, golden


@pytest.mark.parametrize("n_trees", [1, 2, 3])
def test_pairwise_counts(case, n_trees):
    X, y, golden = case
    pairs = pairwise_bayes_error(X, y, n_trees=n_trees)
    expected = golden["pairwise_cross_edges_cumulative"][str(n_trees)]
    np.testing.assert_allclose(pairs.cross_edges.mean * n_trees, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n_trees", [1, 2, 3])
def test_one_vs_rest_counts(case, n_trees):
    X, y, golden = case
    rest = one_vs_rest_bayes_error(X, y, n_trees=n_trees)
    expected = np.sum(golden["ovr_cross_edge_matrix_cumulative"][str(n_trees)], axis=0)
    np.testing.assert_allclose(rest.cross_edges.mean * n_trees, expected, rtol=0, atol=1e-9)


def test_pairwise_floors(case):
    X, y, golden = case
    pairs = pairwise_bayes_error(X, y)
    np.testing.assert_allclose(pairs.estimate, golden["pairwise_ber_unnormalized"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(pairs.normalized, golden["pairwise_ber_normalized"], rtol=0, atol=1e-12)
    u = np.array(golden["pairwise_u_bias_corrected"])
    np.fill_diagonal(u, 1.0)
    np.testing.assert_allclose(1 - 2 * pairs.upper, u, rtol=0, atol=1e-12)


def test_pairwise_floors_without_the_correction(case):
    X, y, golden = case
    pairs = pairwise_bayes_error(X, y, bias_correction=False)
    u = np.array(golden["pairwise_u_no_bias_correction"])
    np.fill_diagonal(u, 1.0)
    np.testing.assert_allclose(1 - 2 * pairs.upper, u, rtol=0, atol=1e-12)


def test_one_vs_rest_floors(case):
    X, y, golden = case
    rest = one_vs_rest_bayes_error(X, y)
    np.testing.assert_allclose(rest.estimate, golden["ovr_ber_unnormalized"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(rest.normalized, golden["ovr_ber_normalized"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(1 - 2 * rest.upper, golden["ovr_u_bias_corrected"], rtol=0, atol=1e-12)
