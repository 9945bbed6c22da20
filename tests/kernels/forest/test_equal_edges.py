"""Every tree, edge by edge and weight bit by bit, equal to the naive reference, whichever way it is found."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import api, plan
from bayesfloor.forest.order import edges
from bayesfloor.forest.order.kruskal_kernels import walk_with
from bayesfloor.forest.sweep import boruvka, grow
from bayesfloor.runtime.kernels import plainly
from helpers.agreement import assert_same_edges, assert_same_forests, assert_same_partition, edges_between_values
from helpers.naive_forests import naive_cross_counts, naive_forests
from helpers.one_case import for_each
from helpers.pairwise_design import all_pairs
from helpers.point_sets import KINDS, TIED_KINDS, make_labels, make_points
from helpers.random_cases import full_lattice, last_bits, nested_clusters

SEEDS = [0, 1, 12345, 2**64 - 1]
IN_TILES = {"all_pairs_below": 2, "most_axes_of_rounds": 0}


@contextlib.contextmanager
def small_leaves(most=10_000):
    """Small leaves and short lists, so that few rows search over many levels and rounds, identical rows too."""
    with pytest.MonkeyPatch.context() as patch, plan.override(all_pairs_below=2), plainly(False):
        patch.setattr(boruvka, "MOST_COPIES", most)
        patch.setattr(boruvka, "LEAF", 3)
        patch.setattr(boruvka, "NEAR", 0)
        yield


ENGINES = {
    "as it comes": contextlib.nullcontext,
    "small tiles": lambda: plan.override(tile_size=4, **IN_TILES),
    "rounds": small_leaves,
    "without kernels": plainly,
}
AXES_OF_ROUNDS = {8: 4, 40: 2}  # rounds are for few axes


@for_each(("kind", "d", "n_trees", "engine", "seed"), all_pairs(KINDS, [1, 3, 8, 40], [1, 3], ENGINES, [0, 2**64 - 1]))
def test_equal_trees(kind, d, n_trees, engine, seed):
    n = 220 if engine == "as it comes" else 130  # more than are joined by all pairs
    X = make_points(kind, n, AXES_OF_ROUNDS.get(d, d) if engine == "rounds" else d)
    with ENGINES[engine]():
        forests = spanning_forests(X, n_trees=n_trees, random_state=seed, n_jobs=2)
    assert_same_forests(forests, naive_forests(X, n_trees, seed=seed))


@for_each(
    ("kind", "n", "d"),
    [
        ("gaussian", 600, 2),
        ("clustered", 600, 3),
        ("some_copies", 600, 8),
        ("one_hot", 600, 20),
        ("growing_gaps", 500, 2),
        ("mixed_scales", 500, 8),
        ("nearly_copies", 600, 20),
        ("standardized_one_hot", 600, 34),
        ("far_from_zero", 400, 100),
        ("uniform", 300, 300),
        ("one_hot", 60, 3000),
    ],
)
def test_equal_trees_over_many_tiles(kind, n, d):
    X = make_points(kind, n, d)
    assert_same_forests(spanning_forests(X, n_trees=3), naive_forests(X, 3))


@pytest.mark.parametrize(("kind", "d"), [("integer_grid", 2), ("some_copies", 3), ("cauchy", 8)])
def test_points_that_walk_down_the_tree_of_tiles_together(kind, d, monkeypatch):
    """Many small tiles, a sort shared by two threads, and sweeps that stop midway."""
    monkeypatch.setattr(edges, "SORTED_BY_MANY", 64)
    X = make_points(kind, 400, d)
    expected = naive_forests(X, 2)
    for survivors, near in ((0.0, 1), (6.0, 14)):
        of_plan = {"tile_size": 4, "buffer_edges": 16, "survivors_per_point": survivors, "near_tiles": near}
        with plan.override(most_axes_of_rounds=0, **of_plan):
            assert_same_forests(spanning_forests(X, n_trees=2, n_jobs=2), expected)


@pytest.mark.parametrize(("d", "kernel"), [(6, "differences"), (30, "products")])
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


@for_each("d", [1, 2, 20])
def test_sizes_around_the_edges_of_tiles(d):
    for n in (2, 3, 4, 5, 7, 9, 11, 16, 17, 31, 32, 33, 63, 64, 65, 128, 129, 199, 200, 201):
        X = make_points("gaussian", n, d)
        expected = naive_forests(X, 3)
        for tile_size in (None, 2):
            with plan.override(all_pairs_below=1, tile_size=tile_size), plainly(False):
                assert_same_forests(spanning_forests(X), expected)


@for_each(("kind", "n_trees"), [("integer_grid", 33), ("some_copies", 9), ("hub_in_a_sphere", 33)])
def test_many_trees(kind, n_trees):
    X = make_points(kind, 250, 3)
    assert_same_forests(spanning_forests(X, n_trees=n_trees), naive_forests(X, n_trees))


def clusters_at_every_scale(rng, n, d):
    """Clusters within clusters, in which no two points are the same."""
    return nested_clusters(rng, n, d) + 1e-12 * rng.standard_normal((n, d))


def interleaved_lattices(rng, n, d):
    """Two lattices half a step apart: each point is as near to many of the other as of its own."""
    return rng.integers(0, 4, (n, d)) + 0.5 * (np.arange(n) % 2)[:, None]


@for_each("make", [last_bits, clusters_at_every_scale, interleaved_lattices])
def test_hard_points(make):
    for d in (2, 8, 30):
        X = make(np.random.default_rng(d), 400, d)
        assert_same_forests(spanning_forests(X), naive_forests(X, 3))


@given(
    kind=st.sampled_from(list(KINDS)),
    n=st.integers(2, 150),
    d=st.integers(1, 40),
    n_trees=st.integers(1, 6),
    seed=st.integers(0, 2**64 - 1),
    exponent=st.sampled_from([0, 0, 0, -150, -120, -75, -20, 20, 75, 120, 150]),
    all_pairs_below=st.sampled_from([2, 200]),
    tile_size=st.none() | st.integers(1, 100),
    buffer_edges=st.integers(1, 200),
    near_tiles=st.none() | st.integers(1, 8),
    projection=st.sampled_from(["none", "pca", "auto"]),
    kernel=st.sampled_from(["differences", "products", "auto"]),
)
@settings(max_examples=60)
def test_any_points_and_settings(kind, n, d, n_trees, seed, exponent, **of_plan):
    X = make_points(kind, n, d, seed=seed) * 10.0**exponent
    with plan.override(**of_plan):
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


# --------------------------------------------------------------------------------------------------------- settings

SETS = [
    ("gaussian", 2),
    ("one_hot", 20),
    ("some_copies", 3),
    ("far_from_zero", 40),
    ("mixed_scales", 24),
    ("cauchy", 30),
]
SETTINGS = {
    "tile_size": [None, 2, 333],
    "buffer_edges": [1 << 16, 1],
    "near_tiles": [None, 1],
    "survivors_per_point": [6.0, 0.01],
    "projection": ["none", "pca"],
    "kernel": ["differences", "products"],
    "most_axes_of_rounds": [0, 4],
}


@for_each(("points", "values"), [(row[0], row[1:]) for row in all_pairs(SETS, *SETTINGS.values())])
def test_settings_do_not_change_trees(points, values):
    kind, d = points
    X, y = make_points(kind, 260, d), make_labels(260, 3)
    with plan.override(all_pairs_below=2, **dict(zip(SETTINGS, values, strict=True))):
        by_class = class_forests(X, y)
        assert_same_forests(spanning_forests(X), naive_forests(X, 3))
    assert_same_forests(by_class.whole, naive_forests(X, 3))
    rows = by_class.pair(0, 1).rows
    assert_same_forests(by_class.pair(0, 1), naive_forests(X[rows], 3))


def test_settings_end_with_their_block_and_unknown_ones_are_refused():
    before = plan.current()

    def fail_inside():
        with plan.override(tile_size=7):
            assert plan.current().tile_size == 7
            raise LookupError

    with pytest.raises(LookupError):
        fail_inside()
    assert plan.current() == before
    with pytest.raises(TypeError, match="colour"), plan.override(colour="red"):
        pass


# ------------------------------------------------------------------------------------------- rounds, without kernels


LARGE_SETS = {
    "gaussian": lambda rng: rng.standard_normal((3000, 2)),
    "lattice": lambda rng: full_lattice(rng, 3025, 2),
    "nested": lambda rng: clusters_at_every_scale(rng, 3000, 3),
    "collinear": lambda rng: np.outer(rng.permutation(3000), [1.0, -2.0, 3.0, 5.0]),
    "copies": lambda rng: rng.standard_normal((3000, 3))[rng.integers(0, 1500, 3000)],
    "far from zero": lambda rng: 1e9 + rng.standard_normal((3000, 2)),
    "huge": lambda rng: 1e300 * rng.standard_normal((3000, 2)),
}


@for_each("name", LARGE_SETS)
def test_rounds_find_the_edges_of_the_sweep_whatever_the_threads(name):
    X = LARGE_SETS[name](np.random.default_rng(0))
    with plainly(False):
        with plan.override(most_axes_of_rounds=0):
            expected = spanning_forests(X)
        for n_jobs in (1, 3):
            assert_same_forests(spanning_forests(X, n_jobs=n_jobs), expected)


def test_rounds_of_trees_that_do_not_span(monkeypatch):
    """A row runs out of edges, and the rounds end although there are several components."""
    monkeypatch.setattr(boruvka, "MOST_TREES", 40)
    for kind in ("hub_in_a_sphere", "gaussian", "integer_grid"):
        X = make_points(kind, 14, 2)
        with small_leaves(most=40):
            assert_same_forests(spanning_forests(X, n_trees=13), naive_forests(X, 13))


def test_which_sets_rounds_suit(monkeypatch):
    used = []
    monkeypatch.setattr(api, "grow_in_rounds", lambda *arguments: used.append(1) or boruvka.grow_in_rounds(*arguments))
    for n_features, copies, n_trees, expected in (
        (2, 1, 1, True),
        (4, 8, 8, True),
        (5, 1, 1, False),
        (2, 9, 1, False),
        (2, 1, 9, False),
    ):
        used.clear()
        X = make_points("gaussian", 300, n_features)
        with plainly(False):
            spanning_forests(np.concatenate((X, np.tile(X[:1], (copies - 1, 1)))), n_trees=n_trees)
        assert bool(used) == expected, (n_features, copies, n_trees)


def test_sums_over_edges_are_equal_bit_by_bit_without_kernels():
    for kind in KINDS:
        X, y = make_points(kind, 100, 4), make_labels(100, 3)
        found = []
        for is_plain in (False, True):
            with plainly(is_plain):
                by_class = class_forests(X, y)
                whole = by_class.whole
                sums = whole.edge_sums(y), whole.one_vs_rest_edge_sums(y), by_class.pair_edge_sums
                of_whole = whole.cross_counts(y), whole.to_linkage()
                found.append([by_class.pair_cross_counts, *of_whole, *sums[0], *sums[1], *sums[2]])
        for one, other in zip(*found, strict=True):
            assert_array_equal(one, other, err_msg=kind)


def test_no_kernel_is_compiled(monkeypatch):
    def refuse(self, *arguments):
        raise AssertionError(f"{self.py_func.__name__} is compiled")

    monkeypatch.setattr(type(walk_with.compiled), "__call__", refuse)
    X, y = make_points("some_copies", 300, 3), make_labels(300, 3)
    with plainly():
        class_forests(X, y).whole.edge_sums(y)
        spanning_forests(X)


# ------------------------------------------------------------------------------------------------------------- ties


@pytest.fixture(params=[2, 200], ids=["in tiles", "all pairs"])
def both_ways(request):
    """For sets that are small enough to be joined by all pairs, too."""
    with plan.override(all_pairs_below=request.param):
        yield


def test_other_seeds_give_other_trees_of_the_same_weight():
    for kind in TIED_KINDS:
        X = np.unique(make_points(kind, 200, 12), axis=0)
        draws = [spanning_forests(X, n_trees=1, random_state=seed) for seed in SEEDS]
        for other in draws[1:]:
            is_tied = kind != "evenly_spaced"  # a line has one tree
            assert (set(map(tuple, other.edges)) != set(map(tuple, draws[0].edges))) == is_tied, kind
            assert_array_equal(np.sort(other.weights), np.sort(draws[0].weights))
    X = make_points("gaussian", 200, 4)
    for seed in SEEDS[1:]:
        assert_same_forests(spanning_forests(X, random_state=seed), spanning_forests(X))


def test_all_rows_identical(both_ways):
    for n in (2, 3, 4, 8, 40, 250):
        X = np.tile([1.5, -2.0, 0.1], (n, 1))
        for n_trees in (1, 7):
            forests = spanning_forests(X, n_trees=n_trees)
            assert_same_forests(forests, naive_forests(X, n_trees))
            assert not forests.weights.any()
            assert not forests.sites.any()


@for_each("d", [1, 30])
def test_sites_of_all_sizes(d):
    for copies in ([1, 250], [1] * 100 + [150], [2] * 120, [30] * 8, [1, 2, 3, 5, 8, 13, 21, 34, 55]):
        rng = np.random.default_rng(d)
        X = rng.permutation(np.repeat(rng.integers(0, 9, (len(copies), d)), copies, axis=0)) + 0.0
        with plan.override(all_pairs_below=2):
            forests = spanning_forests(X, n_trees=4)
        assert_same_forests(forests, naive_forests(X, 4))
        # the first tree joins each site of m copies by m - 1 edges of length zero
        n_sites = len(np.unique(X, axis=0))
        assert np.count_nonzero(forests.weights[forests.tree == 0]) == n_sites - 1


def test_signed_zeros_are_one_value(both_ways):
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [1.0, -0.0], [2.0, 2.0]])
    forests = spanning_forests(X, n_trees=2)
    assert_same_partition(forests.sites, np.array([0, 0, 1, 1, 2]))
    assert_same_forests(forests, naive_forests(X, 2))


def test_star(both_ways):
    """A hub and 2 * arms points around it: T1 uses up the hub, T2 cannot reach it."""
    for arms in (2, 3, 12, 110):
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
    for n in (2, 3, 4, 10, 33, 130, 250):
        X = np.eye(n)
        forests = spanning_forests(X, n_trees=4)
        assert_same_forests(forests, naive_forests(X, 4))
        assert_array_equal(forests.weights, np.full(len(forests.weights), np.sqrt(2.0)))


def test_trees_run_out_of_edges(both_ways):
    """From n - 1 trees on every edge has a place: one refused by all trees would need more ends."""
    for kind in ("gaussian", "simplex", "few_distinct", "hub_in_a_sphere"):
        for n in (2, 3, 5, 12, 30):
            X = make_points(kind, n, n)
            forests = spanning_forests(X, n_trees=n + 3)
            assert_same_forests(forests, naive_forests(X, n + 3))
            assert len(forests.edges) == n * (n - 1) // 2
            assert forests.n_trees <= n - 1
            assert not forests.spans
    X = make_points("gaussian", 40, 3)
    for n_trees in (10**3, 10**12):
        assert_same_forests(spanning_forests(X, n_trees=n_trees), naive_forests(X, 40))


def test_cross_counts_of_identical_rows_are_those_of_theory():
    # of n identical rows, m of class a: n - 1 edges, each cross with chance 2m(n-m) / n(n-1)
    counts = spanning_forests(np.ones((100, 2)), n_trees=2).cross_counts(["a"] * 30 + ["b"] * 70)
    assert_allclose(counts[:, 0, 1], 99 * 2 * 30 * 70 / (100 * 99), rtol=1e-12)


@for_each("kind", ["gaussian", "one_hot", "few_distinct", "some_copies"])
def test_cross_counts(kind):
    X = make_points(kind, 300, 4)
    for n_classes in (2, 3, 7):
        y = make_labels(300, n_classes)
        counts = spanning_forests(X).cross_counts(y)
        assert counts.shape == (3, n_classes, n_classes)
        assert_allclose(counts, naive_cross_counts(naive_forests(X, 3), y), rtol=1e-12)
        assert_array_equal(counts, counts.transpose(0, 2, 1))
        assert not counts.diagonal(axis1=1, axis2=2).any()


# ------------------------------------------------------------------------------------------- scale and order of rows

sizes = {"n": st.integers(2, 120), "d": st.integers(1, 30), "n_trees": st.integers(1, 4)}
seeds = st.integers(0, 2**32 - 1)


@for_each("d", [2, 20])
def test_scale(d):
    X = make_points("gaussian", 250, d)
    for scale in (1e-300, 1e-60, 1e60, 1e300):
        forests = spanning_forests(X * scale)
        assert_same_forests(forests, naive_forests(X * scale, 3))
        assert_same_edges(forests, spanning_forests(X))


@given(**sizes, seed=seeds, kind=st.sampled_from(list(KINDS)))
@settings(max_examples=40)
def test_row_order(n, d, n_trees, seed, kind):
    """Ties or not, the same values are joined in the same order, and the counts agree."""
    X = make_points(kind, n, d, seed=seed)
    y = make_labels(n, 2, seed=seed)
    moved = np.random.default_rng(seed).permutation(n)
    with plan.override(all_pairs_below=2):
        forests, permuted = (spanning_forests(each, n_trees=n_trees) for each in (X, X[moved]))
    assert_array_equal(edges_between_values(permuted, X[moved]), edges_between_values(forests, X))
    assert_allclose(permuted.cross_counts(y[moved]), forests.cross_counts(y), rtol=1e-12, atol=1e-12)
    if len(np.unique(X + 0.0, axis=0)) == n:  # even the row numbers agree, once mapped back
        assert_array_equal(np.sort(moved[permuted.edges], axis=1), forests.edges)


@for_each("kind", ["standardized_one_hot", "some_copies"])
def test_row_order_over_many_tiles(kind):
    X = make_points(kind, 1500, 12)
    y = make_labels(1500, 3)
    forests = spanning_forests(X)
    moved = np.lexsort(X.T)
    permuted = spanning_forests(X[moved])
    assert_array_equal(edges_between_values(permuted, X[moved]), edges_between_values(forests, X))
    assert_allclose(permuted.cross_counts(y[moved]), forests.cross_counts(y), rtol=1e-11)
