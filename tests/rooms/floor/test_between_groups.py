"""Rows that come in groups: cross edges that count, their weights, and intervals by groups."""

import itertools

import numpy as np
import pytest

from bayesfloor import (
    BayesErrorEstimator,
    bayes_error,
    henze_penrose_divergence,
    one_vs_rest_bayes_error,
    pairwise_bayes_error,
    spanning_forests,
)
from bayesfloor.floor.trees.between_groups import label_correlation
from bayesfloor.floor.trees.cross_edges import of_whole
from helpers.known_samples import gaussian_classes


def copies(rng, n_groups, sizes, noise):
    """Each group is one point of its class, repeated with a little noise as often as its class is."""
    label = rng.integers(0, 2, n_groups)
    centres = rng.standard_normal((n_groups, 2))
    centres[:, 0] += 2.0 * label
    groups = np.repeat(np.arange(n_groups), np.asarray(sizes)[label])
    return centres[groups] + noise * rng.standard_normal((len(groups), 2)), label[groups], groups


def test_groups_of_one_row_each_change_nothing():
    X, y = gaussian_classes(np.random.default_rng(3), 300, [0.4, 0.3, 0.3], [[0], [1.5], [3]], 2)
    plain, grouped = bayes_error(X, y), bayes_error(X, y, groups=np.arange(300))
    assert grouped.cross_edges.mean == pytest.approx(plain.cross_edges.mean)
    assert grouped.estimate == pytest.approx(plain.estimate)
    assert grouped.interval == pytest.approx(plain.interval, rel=0.01)  # a jackknife over 300 rows
    assert grouped.p_value == pytest.approx(plain.p_value, abs=1e-6)
    assert (plain.n_groups, grouped.n_groups) == (None, 300)
    assert "300 samples, 300 groups" in repr(grouped)
    with_ties = np.round(X)
    plain, grouped = bayes_error(with_ties, y), bayes_error(with_ties, y, groups=np.arange(300))
    assert grouped.cross_edges.mean == pytest.approx(plain.cross_edges.mean)
    assert grouped.cross_edges.forced == pytest.approx(plain.cross_edges.forced)


def share_by_brute_force(forests, y, groups):
    """Average over all ways in which rows of equal values could have been numbered."""
    members = [np.flatnonzero(forests.sites == site) for site in range(forests.sites.max() + 1)]
    n_groups = groups.max() + 1
    within, total, cross = np.zeros(n_groups), np.zeros((n_groups, n_groups)), np.zeros((n_groups, n_groups))
    orders = list(itertools.product(*(itertools.permutations(rows) for rows in members)))
    for order in orders:
        row = np.empty(len(y), int)
        for rows, chosen in zip(members, order, strict=True):
            row[rows] = chosen
        for i, j in row[forests.edges]:
            g, h = sorted((groups[i], groups[j]))
            if g == h:
                within[g] += 1 / len(orders)
            else:
                total[g, h] += 1
                cross[g, h] += y[i] != y[j]
    sizes = np.bincount(groups)
    pieces = sizes - within / forests.n_trees
    harmonic = 2 / (pieces[:, None] / sizes[:, None] + pieces / sizes)
    return (harmonic * cross).sum() / (harmonic * total).sum()


def test_share_equals_that_over_all_orders_of_identical_rows():
    n_trees = 2
    X = np.array([[0, 0], [0, 0], [0, 0], [1, 0], [1, 0], [0, 2], [3, 3], [3, 3], [5, 0]], float)
    y = np.array([0, 1, 1, 0, 1, 0, 1, 0, 0])
    groups = np.array([0, 0, 1, 1, 2, 2, 0, 3, 3])
    forests = spanning_forests(X, n_trees=n_trees)
    expected = share_by_brute_force(forests, y, groups)
    assert of_whole(forests, y, 2, groups).count / 8 == pytest.approx(expected)
    order = np.random.default_rng(0).permutation(9)
    again = of_whole(spanning_forests(X[order], n_trees=n_trees), y[order], 2, groups[order])
    assert again.count / 8 == pytest.approx(expected)


def test_exact_copies_tell_what_one_of_each_tells():
    rng = np.random.default_rng(5)
    X, y, groups = copies(rng, 60, (4, 4), 0.0)
    first = np.unique(groups, return_index=True)[1]
    once = bayes_error(X[first], y[first], n_trees=1, forced_edges="keep")
    grouped = bayes_error(X, y, groups=groups, n_trees=1, forced_edges="keep")
    assert grouped.cross_edges.mean / 239 == pytest.approx(once.cross_edges.mean / 59)
    assert bayes_error(X, y, n_trees=1).cross_edges.mean / 239 < 0.3 * once.cross_edges.mean / 59
    # and the interval is as wide as that of 60 rows, not of 240
    width = np.subtract(*once.interval[::-1])
    assert 0.9 * width < np.subtract(*grouped.interval[::-1]) < 2 * width


def test_every_view_of_the_problem_takes_groups():
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(40), 5)
    label = rng.integers(0, 3, 40)
    centres = rng.standard_normal((40, 2)) + 1.5 * np.eye(3)[label][:, :2]
    X, y = centres[groups] + 0.05 * rng.standard_normal((200, 2)), np.array(list("abc"))[label[groups]]
    floors = BayesErrorEstimator().fit(X, y, groups=groups)
    pairs, rest = pairwise_bayes_error(X, y, groups=groups), one_vs_rest_bayes_error(X, y, groups=groups)
    np.testing.assert_allclose(floors.pairwise_bayes_error_.estimate, pairs.estimate)
    np.testing.assert_allclose(floors.one_vs_rest_bayes_error_.estimate, rest.estimate)
    assert floors.bayes_error_.estimate == bayes_error(X, y, groups=groups).estimate
    for grouped, plain in (
        (pairs.estimate[np.triu_indices(3, 1)], pairwise_bayes_error(X, y).estimate[np.triu_indices(3, 1)]),
        (rest.estimate, one_vs_rest_bayes_error(X, y).estimate),
    ):
        assert np.all(grouped > 1.5 * plain)
    of_two = np.isin(y, ["a", "c"])
    pair = bayes_error(X[of_two], y[of_two], groups=groups[of_two])
    assert pair.estimate == pytest.approx(pairs.estimate[0, 2])
    assert pair.interval == pytest.approx(tuple(pairs.interval[0, 2]))
    divergence = henze_penrose_divergence(X, y, groups=groups)
    assert np.all((divergence.estimate < henze_penrose_divergence(X, y).estimate)[np.triu_indices(3, 1)])


def test_one_group_per_class_tells_nothing():
    X, y = gaussian_classes(np.random.default_rng(1), 200, [0.5, 0.5], [[0], [6]], 2)
    floor = bayes_error(X, y, groups=y)
    assert floor.estimate == pytest.approx(min(np.mean(y), 1 - np.mean(y)))
    assert floor.interval[0] < 0.1
    found = {finding.code: finding for finding in floor.findings}
    assert found["BF013"].sentence == "2 classes have all rows in one group: 0, 1."
    # a pair of classes with no edge between groups
    pairs = pairwise_bayes_error(np.vstack([X, X + 20]), np.r_[y, np.full(200, 2)], groups=np.repeat([0, 1], 200))
    assert pairs.estimate[0, 1] == pytest.approx(pairs.normalized[0, 1] * min(np.mean(y), 1 - np.mean(y)))
    assert pairs.normalized[0, 1] > 0.95
    assert pairs.cross_edges.interval[0, 1, 0] < 1
    assert pairs.cross_edges.interval[0, 1, 1] > 198


def test_correlation_of_labels_within_groups():
    groups, counts = np.repeat(np.arange(50), 8), np.ones(400, int)
    rng = np.random.default_rng(0)
    assert label_correlation(rng.integers(0, 2, 50)[groups], groups, counts, 2) == pytest.approx(1.0)
    assert label_correlation(rng.integers(0, 2, 400), groups, counts, 2) < 0.1
    # labels are those of the group in half of the rows, so two of them are in a quarter of the pairs
    mixed = np.where(rng.random(400) < 0.5, rng.integers(0, 2, 50)[groups], rng.integers(0, 2, 400))
    assert label_correlation(mixed, groups, counts, 2) == pytest.approx(0.25, abs=0.1)
