"""Counts and floors that are known: those of the authors' own code, of identical rows, and of more and more rows."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from bayesfloor import bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error
from benchmarks.problems.known_densities import _density, known_mixture
from helpers.known_samples import gaussian_classes, one_hot_table

CASES = [("iris", "jitter"), ("wine", "jitter"), ("wine", "standardized")]


def same(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9)


def off_diagonal_as_given(u):
    u = np.array(u)
    np.fill_diagonal(u, 1.0)
    return u


@pytest.mark.parametrize(("name", "variant"), CASES)
def test_counts_and_floors(name, variant, golden_dir):
    X, y = {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)
    if variant == "jitter":
        X = X + 1e-3 * np.random.RandomState(12345).standard_normal(X.shape) * X.std(0).mean()
    else:
        X = StandardScaler().fit_transform(X)
    golden = json.loads((golden_dir / f"{name}.json").read_text())[variant]
    for n_trees in (1, 2, 3):
        pairs, rest = (floor(X, y, n_trees=n_trees) for floor in (pairwise_bayes_error, one_vs_rest_bayes_error))
        same(pairs.cross_edges.mean * n_trees, golden["pairwise_cross_edges_cumulative"][str(n_trees)])
        of_classes = np.sum(golden["ovr_cross_edge_matrix_cumulative"][str(n_trees)], axis=0)
        same(rest.cross_edges.mean * n_trees, of_classes)
    same(pairs.estimate, golden["pairwise_ber_unnormalized"])
    same(pairs.normalized, golden["pairwise_ber_normalized"])
    same(1 - 2 * pairs.upper, off_diagonal_as_given(golden["pairwise_u_bias_corrected"]))
    plain = pairwise_bayes_error(X, y, bias_correction=False)
    same(1 - 2 * plain.upper, off_diagonal_as_given(golden["pairwise_u_no_bias_correction"]))
    same(rest.estimate, golden["ovr_ber_unnormalized"])
    same(rest.normalized, golden["ovr_ber_normalized"])
    same(1 - 2 * rest.upper, golden["ovr_u_bias_corrected"])


# --- identical rows and equal distances


def test_a_categorical_feature_gives_the_known_count():
    # All rows on two sites with class counts (30, 10) and (10, 30): a tree has 39 edges inside each and one between.
    X = np.repeat([0.0, 1.0], 40)[:, None]
    y = np.repeat([0, 1, 0, 1], [30, 10, 10, 30])
    inside = 2 * 30 * 10 / (40 * 39)
    between = (30 * 30 + 10 * 10) / 40**2
    floor = bayes_error(X, y, n_trees=1)
    assert floor.cross_edges.mean == pytest.approx(2 * 39 * inside + between)
    assert floor.cross_edges.forced == 0  # the classes share points: nothing is forced
    assert pairwise_bayes_error(X, y, n_trees=1).cross_edges.mean[0, 1] == pytest.approx(floor.cross_edges.mean)
    # at either site one row in four is in the minority: the floor is 1/4, where the lower bound is tight
    assert floor.lower == pytest.approx(0.25, abs=0.01)


def test_forced_edges_are_dropped_only_where_classes_share_no_point():
    X = np.array([[0.0], [0.0], [1.0], [5.0], [6.0], [9.0]])
    y = np.array([0, 1, 1, 2, 2, 2])
    assert bayes_error(X, y, n_trees=1).cross_edges.forced == 1  # {0, 1} share a point, 2 is apart
    assert one_vs_rest_bayes_error(X, y, n_trees=1).cross_edges.forced.tolist() == [0, 0, 1]
    pairs = pairwise_bayes_error(X, y, n_trees=1)
    assert pairs.cross_edges.forced[0, 1] == 0
    assert pairs.cross_edges.forced[0, 2] == pairs.cross_edges.forced[1, 2] == 1
    # without any shared point: K - 1
    assert bayes_error(np.arange(6.0)[:, None], y).cross_edges.forced == 2


def test_keeping_forced_edges_is_the_paper_to_the_letter():
    rng = np.random.default_rng(0)
    X, y = gaussian_classes(rng, 200, [0.5, 0.5], [[0], [2]], 2)
    kept, dropped = (bayes_error(X, y, forced_edges=f) for f in ("keep", "drop"))
    assert kept.cross_edges.mean == dropped.cross_edges.mean
    assert kept.upper == pytest.approx(kept.cross_edges.mean / 200)
    assert dropped.upper == pytest.approx((kept.cross_edges.mean - 1) / 200)
    # what a small sample cannot tell lies within the interval
    assert dropped.interval[0] <= dropped.estimate < kept.estimate <= dropped.interval[1]


def test_seeds_break_ties_in_other_ways():
    rng = np.random.default_rng(2)
    X, y = one_hot_table(rng, 300, 6, 3)
    single = [bayes_error(X, y, random_state=seed) for seed in range(4)]
    assert len({floor.cross_edges.mean for floor in single}) > 1  # ties do matter on this table
    assert bayes_error(X, y, random_state=3).estimate == single[3].estimate


# --- more rows


def test_whole_problem_lies_between_its_bounds():
    means = np.array([[0.0, 0], [2.0, 0], [1.0, 1.7]])
    priors = [0.2, 0.3, 0.5]
    mixture = known_mixture([lambda x, m=m: _density(x, m, np.eye(2)) for m in means], priors, [(-8, 10)] * 2, 501)
    rng = np.random.default_rng(1)
    X, y = gaussian_classes(rng, 10_000, priors, means, 2)
    floor = bayes_error(X, y)
    sum_of_pairs = pairwise_bayes_error(X, y).sum_of_pairs
    assert floor.upper == pytest.approx(mixture.nearest_neighbour_error(), abs=0.01)
    assert sum_of_pairs[0] < mixture.bayes_error() < sum_of_pairs[1]
    assert floor.estimate == pytest.approx(mixture.bayes_error(), abs=0.02)
