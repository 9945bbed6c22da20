"""Every tree, edge by edge and weight bit by bit, equal to the naive reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesfloor import spanning_forests
from bayesfloor.forest import plan
from bayesfloor.forest.order import edges
from bayesfloor.forest.sweep import grow
from bayesfloor.runtime.kernels import plainly
from forest.agreement import assert_same_forests
from forest.point_sets import KINDS, make_points
from naive_forests import naive_forests
from pairwise_design import all_pairs


@pytest.mark.parametrize(("kind", "d", "n_trees"), all_pairs(KINDS, [2, 8, 100], [1, 2, 4]))
def test_equal_trees(kind, d, n_trees):
    X = make_points(kind, 220, d)  # more than are joined by all pairs
    assert_same_forests(spanning_forests(X, n_trees=n_trees), naive_forests(X, n_trees))


@pytest.mark.parametrize(
    ("kind", "n", "d"),
    [
        ("gaussian", 700, 2),
        ("clustered", 700, 3),
        ("some_copies", 700, 8),
        ("one_hot", 800, 20),
        ("uniform", 700, 1),
        ("integer_grid", 700, 2),
        ("growing_gaps", 600, 2),
        ("mixed_scales", 600, 8),
        ("cauchy", 600, 8),
        ("nearly_copies", 700, 20),
        ("standardized_one_hot", 700, 34),
        ("gaussian", 700, 64),
        ("far_from_zero", 500, 100),
        ("uniform", 400, 300),
    ],
)
def test_equal_trees_over_many_tiles(kind, n, d):
    X = make_points(kind, n, d)
    assert_same_forests(spanning_forests(X, n_trees=3), naive_forests(X, 3))


@pytest.mark.parametrize(("kind", "d"), [("integer_grid", 2), ("some_copies", 3), ("cauchy", 8)])
def test_points_that_walk_down_the_tree_of_tiles_together(kind, d, monkeypatch):
    """Many small tiles, a sort shared by two threads, and sweeps that stop midway."""
    monkeypatch.setattr(edges, "SORTED_BY_MANY", 64)
    X = make_points(kind, 500, d)
    expected = naive_forests(X, 2)
    for survivors, near in ((0.0, 1), (6.0, 14)):
        settings = {"tile_size": 4, "buffer_edges": 16, "survivors_per_point": survivors, "near_tiles": near}
        with plan.override(most_axes_of_rounds=0, **settings):
            assert_same_forests(spanning_forests(X, n_trees=2, n_jobs=2), expected)


@pytest.mark.parametrize(("d", "kernel"), [(6, "differences"), (6, "products"), (30, "products")])
def test_points_of_another_region_move_to_its_tiles(d, kernel, monkeypatch):
    """A few tiles hold points of two clusters, some of them more than once."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(40.0 * c, 1.0, (size, d)) for c, size in enumerate((330, 170, 110))])
    X = rng.permutation(np.concatenate((X, X[::50])))
    moved = []

    def move_points(points, tiled, leaves, *others):
        sizes = np.diff(tiled.side.starts)
        moved.append(np.count_nonzero(leaves != np.repeat(np.arange(len(sizes)), sizes)))
        return original(points, tiled, leaves, *others)

    original = grow.move_points
    monkeypatch.setattr(grow, "move_points", move_points)
    monkeypatch.setattr(grow, "FEW_ASTRAY", 0)
    with plan.override(tile_size=24, kernel=kernel), plainly(False):
        assert_same_forests(spanning_forests(X, n_trees=2, n_jobs=2), naive_forests(X, 2))
    assert sum(moved) > 0


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_few_points_in_tiles(n):
    X = make_points("gaussian", n, 5)
    with plan.override(all_pairs_below=1, tile_size=2), plainly(False):
        assert_same_forests(spanning_forests(X, n_trees=1), naive_forests(X, 1))


@pytest.mark.parametrize("d", [2, 20])
def test_sizes_around_the_edges_of_tiles(d):
    for n in (2, 3, 4, 5, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 199, 200, 201, 255, 257):
        X = make_points("gaussian", n, d)
        expected = naive_forests(X, 3)
        assert_same_forests(spanning_forests(X), expected)
        with plan.override(all_pairs_below=2):
            assert_same_forests(spanning_forests(X), expected)


@pytest.mark.parametrize(
    ("kind", "n", "d"), [("gaussian", 250, 1023), ("far_from_zero", 250, 1025), ("one_hot", 60, 3000)]
)
def test_thousands_of_features(kind, n, d):
    X = make_points(kind, n, d)
    assert_same_forests(spanning_forests(X, n_trees=2), naive_forests(X, 2))


@pytest.mark.parametrize(
    ("kind", "n_trees"), [("gaussian", 5), ("integer_grid", 33), ("some_copies", 9), ("hub_in_a_sphere", 33)]
)
def test_many_trees(kind, n_trees):
    X = make_points(kind, 300, 3)
    assert_same_forests(spanning_forests(X, n_trees=n_trees), naive_forests(X, n_trees))


@pytest.mark.parametrize("d", [2, 30])
def test_tied_up_to_the_last_bits(d):
    """Distances that differ by an ulp or so: only the exact float64 sum orders them right."""
    rng = np.random.default_rng(d)
    X = rng.integers(0, 3, (400, d)) + rng.integers(-2, 3, (400, d)) * 2.0**-50
    assert_same_forests(spanning_forests(X), naive_forests(X, 3))


@pytest.mark.parametrize("d", [2, 8, 30])
def test_clusters_at_every_scale(d):
    """Nested clusters, each level a thousand times tighter than the one around it."""
    rng = np.random.default_rng(d)
    X = np.zeros((1, d))
    for level in range(4):
        X = np.repeat(X, 5, axis=0) + 1e-3**level * rng.standard_normal((5 * len(X), d))
    X = rng.permutation(X)
    assert_same_forests(spanning_forests(X), naive_forests(X, 3))


@pytest.mark.parametrize("d", [2, 12])
def test_interleaved_lattices(d):
    """Two lattices half a step apart: each point is as near to many of the other as of its own."""
    steps = np.random.default_rng(d).integers(0, 4, (500, d)).astype(float)
    X = steps + 0.5 * (np.arange(500) % 2)[:, None]
    assert_same_forests(spanning_forests(X), naive_forests(X, 3))


@given(
    kind=st.sampled_from(list(KINDS)),
    n=st.integers(2, 150),
    d=st.integers(1, 40),
    n_trees=st.integers(1, 6),
    seed=st.integers(0, 2**64 - 1),
    all_pairs_below=st.sampled_from([2, 200]),
)
@settings(max_examples=30)
def test_equal_trees_anywhere(kind, n, d, n_trees, seed, all_pairs_below):
    X = make_points(kind, n, d, seed=seed)
    with plan.override(all_pairs_below=all_pairs_below):
        forests = spanning_forests(X, n_trees=n_trees, random_state=seed)
    assert_same_forests(forests, naive_forests(X, n_trees, seed=seed))


@given(
    points=st.integers(1, 4).flatmap(
        lambda d: st.lists(
            st.tuples(*[st.floats(-1e6, 1e6, allow_subnormal=False) | st.integers(-2, 2)] * d),
            min_size=2,
            max_size=25,
        )
    ),
    n_trees=st.integers(1, 4),
    all_pairs_below=st.sampled_from([2, 200]),
)
@settings(max_examples=30)
def test_equal_trees_on_found_points(points, n_trees, all_pairs_below):
    X = np.array(points, dtype=np.float64)
    with plan.override(all_pairs_below=all_pairs_below):
        forests = spanning_forests(X, n_trees=n_trees)
    assert_same_forests(forests, naive_forests(X, n_trees))
