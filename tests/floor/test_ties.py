"""Identical rows and equal distances."""

import numpy as np
import pytest

from bayesfloor.floor import bayes_error, one_vs_rest_bayes_error, pairwise_bayes_error

from .samples import gaussian_classes, one_hot_table


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


def test_without_ties_seeds_change_nothing():
    rng = np.random.default_rng(3)
    X, y = gaussian_classes(rng, 200, [0.5, 0.5], [[0], [2]], 3)
    assert bayes_error(X, y).estimate == bayes_error(X, y, random_state=77).estimate
