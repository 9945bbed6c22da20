"""Ties: copies of a point, points at equal distance, stars and simplices, seeds."""

import numpy as np
import pytest

from bayesfloor import spanning_forests
from bayesfloor.forest import plan
from forest.agreement import assert_same_forests, assert_same_partition
from forest.point_sets import TIED_KINDS, make_labels, make_points
from naive_forests import enumerated_cross_counts, naive_cross_counts, naive_forests

SEEDS = [0, 1, 12345, 2**64 - 1]


@pytest.fixture(autouse=True)
def in_tiles():
    with plan.override(all_pairs_below=2):
        yield


@pytest.fixture(params=[2, 200], ids=["in tiles", "all pairs"])
def both_ways(request, in_tiles):
    """For sets that are small enough to be joined by all pairs, too."""
    with plan.override(all_pairs_below=request.param):
        yield


@pytest.mark.parametrize("seed", [1, 2**64 - 1])
@pytest.mark.parametrize("kind", [*TIED_KINDS, "few_distinct", "some_copies"])
def test_seeds_break_ties_as_specified(kind, seed):
    X = make_points(kind, 250, 6)
    forests = spanning_forests(X, random_state=seed)
    assert_same_forests(forests, naive_forests(X, 3, seed=seed))


@pytest.mark.parametrize("kind", ["one_hot", "integer_grid", "simplex"])
def test_other_seeds_give_other_trees_of_the_same_weight(kind):
    X = np.unique(make_points(kind, 200, 12), axis=0)
    draws = [spanning_forests(X, n_trees=1, random_state=seed) for seed in SEEDS]
    for other in draws[1:]:
        assert set(map(tuple, other.edges)) != set(map(tuple, draws[0].edges))
        np.testing.assert_array_equal(np.sort(other.weights), np.sort(draws[0].weights))


def test_seeds_do_not_matter_without_ties():
    X = make_points("gaussian", 200, 4)
    expected = spanning_forests(X, random_state=0)
    for seed in SEEDS[1:]:
        assert_same_forests(spanning_forests(X, random_state=seed), expected)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 40, 250])
def test_all_rows_identical(n, both_ways):
    X = np.tile([1.5, -2.0, 0.1], (n, 1))
    for n_trees in (1, 3, 7):
        forests = spanning_forests(X, n_trees=n_trees)
        assert_same_forests(forests, naive_forests(X, n_trees))
        assert not forests.weights.any()
        assert not forests.sites.any()


def test_copies_are_joined_before_anything_else():
    """T1 joins each site of m copies with m - 1 edges of length zero."""
    X = make_points("some_copies", 400, 3)
    forests = spanning_forests(X)
    n_sites = len(np.unique(X, axis=0))
    in_first_tree = forests.tree == 0
    assert (forests.weights[in_first_tree] == 0).sum() == 400 - n_sites
    assert (forests.weights[in_first_tree] > 0).sum() == n_sites - 1


@pytest.mark.parametrize("copies", [[1, 250], [1] * 200 + [150], [2] * 180, [30] * 10, [1, 2, 3, 5, 8, 13, 21, 34, 55]])
@pytest.mark.parametrize("d", [1, 30])
def test_sites_of_all_sizes(copies, d):
    rng = np.random.default_rng(d)
    X = rng.permutation(np.repeat(rng.integers(0, 9, (len(copies), d)), copies, axis=0))
    X = X + np.zeros(1)
    assert_same_forests(spanning_forests(X, n_trees=4), naive_forests(X, 4))


def test_signed_zeros_are_one_value(both_ways):
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [1.0, -0.0], [2.0, 2.0]])
    forests = spanning_forests(X, n_trees=2)
    assert_same_partition(forests.sites, np.array([0, 0, 1, 1, 2]))
    assert_same_forests(forests, naive_forests(X, 2))
    assert_same_forests(spanning_forests(np.abs(X), n_trees=2), forests)


@pytest.mark.parametrize("arms", [2, 3, 12, 150])
def test_star(arms, both_ways):
    """A hub and 2 * arms points around it: T1 uses up the hub, T2 cannot reach it."""
    X = np.vstack([np.zeros(arms), np.eye(arms), -np.eye(arms)])
    forests = spanning_forests(X, n_trees=3)
    assert_same_forests(forests, naive_forests(X, 3))
    hub_edges = {(0, i) for i in range(1, 2 * arms + 1)}
    assert set(map(tuple, forests.edges[forests.tree == 0])) == hub_edges
    assert (forests.edges[forests.tree > 0] > 0).all()
    assert forests.n_components[0] == 1
    assert forests.n_components[1] >= 2
    assert not forests.spans
    assert spanning_forests(X, n_trees=1).spans


def test_simplex(both_ways):
    """All distances are the square root of two; every choice is a tie."""
    for n in (2, 3, 4, 10, 33, 130, 300):
        X = np.eye(n)
        forests = spanning_forests(X, n_trees=4)
        assert_same_forests(forests, naive_forests(X, 4))
        np.testing.assert_array_equal(forests.weights, np.full(len(forests.weights), np.sqrt(2.0)))


@pytest.mark.parametrize("kind", ["gaussian", "simplex", "few_distinct", "hub_in_a_sphere"])
def test_trees_run_out_of_edges(kind, both_ways):
    """From n - 1 trees on every edge has a place: one refused by all trees would need more ends."""
    for n in (2, 3, 5, 12, 30):
        X = make_points(kind, n, n)
        forests = spanning_forests(X, n_trees=n + 3)
        assert_same_forests(forests, naive_forests(X, n + 3))
        assert len(forests.edges) == n * (n - 1) // 2
        assert forests.n_trees <= n - 1
        assert not forests.spans


@pytest.mark.parametrize("n_trees", [10**3, 10**6, 10**12])
def test_any_number_of_trees(n_trees):
    X = make_points("gaussian", 40, 3)
    forests = spanning_forests(X, n_trees=n_trees)
    assert_same_forests(forests, naive_forests(X, 40))


@pytest.mark.parametrize("seed", range(6))
def test_cross_counts_average_over_all_deals_of_labels(seed):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.standard_normal((3, 2)), rng.integers(1, 5, 3), axis=0)
    X = rng.permutation(np.vstack([X, rng.standard_normal((3, 2))]))
    y = make_labels(len(X), 2 + seed % 2, seed=seed)
    forests = spanning_forests(X)
    np.testing.assert_allclose(forests.cross_counts(y), enumerated_cross_counts(naive_forests(X, 3), y), atol=1e-12)


@pytest.mark.parametrize("kind", ["gaussian", "one_hot", "few_distinct", "some_copies"])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_cross_counts(kind, n_classes):
    X = make_points(kind, 400, 4)
    y = make_labels(400, n_classes)
    counts = spanning_forests(X).cross_counts(y)
    assert counts.shape == (3, n_classes, n_classes)
    np.testing.assert_allclose(counts, naive_cross_counts(naive_forests(X, 3), y), rtol=1e-12)
    np.testing.assert_array_equal(counts, counts.transpose(0, 2, 1))
    assert not counts.diagonal(axis1=1, axis2=2).any()


def test_cross_counts_of_identical_rows_are_what_chance_gives():
    """n identical rows, m of class a: n - 1 edges, each cross with chance 2m(n-m) / n(n-1)."""
    y = np.array(["a"] * 30 + ["b"] * 70)
    counts = spanning_forests(np.ones((100, 2)), n_trees=2).cross_counts(y)
    chance = 2 * 30 * 70 / (100 * 99)
    np.testing.assert_allclose(counts[:, 0, 1], 99 * chance, rtol=1e-12)
