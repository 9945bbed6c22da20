"""Forests of mutual reachability distances, equal to the naive ones, and to what HDBSCAN and DBSCAN find."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster
from scipy.sparse import csr_array
from sklearn.cluster import DBSCAN, HDBSCAN

from bayesfloor import spanning_forests
from bayesfloor.forest import plan
from bayesfloor.runtime.kernels import plainly
from forest.agreement import assert_same_forests, edges_between_values
from forest.point_sets import KINDS, make_points
from naive_forests import naive_core_distances, naive_forests
from pairwise_design import all_pairs


@pytest.mark.parametrize(("kind", "d", "n_trees", "k"), all_pairs(KINDS, [1, 40], [1, 3], [1, 5, 30]))
def test_equal_trees(kind, d, n_trees, k):
    X = make_points(kind, 220, d)
    core = naive_core_distances(X, k)
    expected = naive_forests(X, n_trees, core=core)
    found = spanning_forests(X, n_trees=n_trees, core_distances=k)
    assert_array_equal(found.core_distances, core)
    assert_same_forests(found, expected)
    assert_same_forests(spanning_forests(X, n_trees=n_trees, core_distances=core), expected)


@pytest.mark.parametrize(("kind", "n", "d"), [("gaussian", 600, 3), ("some_copies", 500, 30), ("one_hot", 500, 20)])
def test_equal_trees_over_many_tiles(kind, n, d):
    X = make_points(kind, n, d)
    expected = naive_forests(X, 2, core=naive_core_distances(X, 4))
    for n_jobs in (1, 2):
        assert_same_forests(spanning_forests(X, n_trees=2, core_distances=4, n_jobs=n_jobs), expected)
    with plan.override(survivors_per_point=0.01, tile_size=32, projection="pca"):
        assert_same_forests(spanning_forests(X, n_trees=2, core_distances=4), expected)


@given(
    kind=st.sampled_from(list(KINDS)),
    n=st.integers(2, 120),
    d=st.integers(1, 30),
    n_trees=st.integers(1, 4),
    seed=st.integers(0, 2**64 - 1),
    values=st.sampled_from(["one", "three", "many"]),
    all_pairs_below=st.sampled_from([2, 200]),
)
@settings(max_examples=25)
def test_equal_trees_with_any_core_distances(kind, n, d, n_trees, seed, values, all_pairs_below):
    """Most edges tie; rows with the same values may have other core distances."""
    X = make_points(kind, n, d, seed=seed)
    rng = np.random.default_rng(seed)
    typical = np.median(np.linalg.norm(X - X[0], axis=1))
    core = {"one": np.ones(n), "three": rng.integers(0, 3, n) / 2.0, "many": rng.random(n)}[values] * typical
    with plan.override(all_pairs_below=all_pairs_below):
        found = spanning_forests(X, n_trees=n_trees, core_distances=core, random_state=seed)
    assert_same_forests(found, naive_forests(X, n_trees, seed, core))


@pytest.mark.parametrize("core", [[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 5.0, 5.0]])
@pytest.mark.parametrize("all_pairs_below", [2, 200])
def test_many_copies_whose_edges_tie_with_those_between(core, all_pairs_below):
    """Whichever come first by their hash, those among the copies or those between."""
    rows = np.random.default_rng(0).integers(0, 3, 90)
    X = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 3.0]])[rows]
    for seed in range(4):
        expected = naive_forests(X, 2, seed, np.array(core)[rows])
        with plan.override(all_pairs_below=all_pairs_below):
            found = spanning_forests(X, n_trees=2, core_distances=np.array(core)[rows], random_state=seed)
        assert_same_forests(found, expected)


def test_without_kernels():
    X = make_points("some_copies", 130, 4)
    with plainly():
        for core in (6, naive_core_distances(X, 6)):
            found = spanning_forests(X, core_distances=core)
            assert_same_forests(found, naive_forests(X, 3, core=naive_core_distances(X, 6)))


def test_no_core_distance_at_all_changes_nothing():
    X = make_points("integer_grid", 300, 3)
    assert_same_forests(spanning_forests(X, core_distances=np.zeros(300)), spanning_forests(X))


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_any_scale(factor):
    X = make_points("gaussian", 250, 3)
    exact = 2.0 ** np.round(np.log2(factor))  # by which nothing is rounded
    core = naive_core_distances(X, 4) * exact
    for given_as in (4, core):
        found = spanning_forests(X * exact, n_trees=2, core_distances=given_as)
        assert_array_equal(found.core_distances, core)
        assert_same_forests(found, naive_forests(X * exact, 2, core=core))


def test_the_order_of_rows_does_not_matter():
    X = make_points("some_copies", 300, 2)
    order = np.random.default_rng(0).permutation(300)
    one, other = spanning_forests(X, core_distances=3), spanning_forests(X[order], core_distances=3)
    assert_array_equal(edges_between_values(one, X), edges_between_values(other, X[order]))
    assert_array_equal(one.core_distances[order], other.core_distances)


@pytest.mark.parametrize(("kind", "d"), [("clustered", 2), ("gaussian", 40), ("some_copies", 3)])
def test_heights_are_those_of_scikit_learn(kind, d):
    """Which counts a row among its own neighbours."""
    X = make_points(kind, 400, d)
    merges = spanning_forests(X, n_trees=1, core_distances=7).to_linkage()
    model = HDBSCAN(min_samples=8, algorithm="brute", copy=True).fit(X)
    # its distances come from a matrix product, which rounds far from zero
    assert_allclose(merges[:, 2], np.sort(model._single_linkage_tree_["value"]), atol=1e-9 * np.abs(X).max())


def test_a_cut_has_the_clusters_of_dbscan():
    """Core points at distance eps: those whose core distance is no larger, joined by edges no longer."""
    X = make_points("gaussian", 500, 2)
    forests = spanning_forests(X, n_trees=1, core_distances=5)
    for eps in np.quantile(forests.core_distances, [0.2, 0.5, 0.9]) * 1.0001:
        model = DBSCAN(eps=eps, min_samples=6).fit(X)
        core_points = np.flatnonzero(forests.core_distances <= eps)
        assert_array_equal(core_points, model.core_sample_indices_)
        found, expected = fcluster(forests.to_linkage(), eps, "distance")[core_points], model.labels_[core_points]
        assert len(np.unique(np.column_stack([found, expected]), axis=0)) == len(np.unique(found)) == expected.max() + 1


def test_every_kind_of_input(tmp_path):
    X = make_points("integer_grid", 120, 3)
    expected = spanning_forests(X, core_distances=4)
    np.save(tmp_path / "points.npy", X)
    frame = pd.DataFrame(X, columns=list("abc"))
    inputs = (X.tolist(), frame, csr_array(X), X.astype(np.float32), np.asfortranarray(X), tmp_path / "points.npy")
    for given_as in (*inputs, np.load(tmp_path / "points.npy", mmap_mode="r")):
        assert_same_forests(spanning_forests(given_as, core_distances=np.int64(4)), expected)
    for core in (
        list(expected.core_distances),
        pd.Series(expected.core_distances),
        expected.core_distances[::-1][::-1],
    ):
        assert_same_forests(spanning_forests(X, core_distances=core), expected)
    assert not any(np.shares_memory(each, expected.core_distances) for each in (X, expected.weights))


def test_what_cannot_be_had_is_refused_early(tmp_path):
    X = make_points("gaussian", 50, 2)
    np.save(tmp_path / "points.npy", X)
    with pytest.raises(ValueError, match="core_distances are computed with on the CPU only"):
        spanning_forests(X, core_distances=3, device="cuda")
    with plan.override(partition_rows=10), pytest.raises(ValueError, match="core_distances needs all rows in memory"):
        spanning_forests(tmp_path / "points.npy", core_distances=3)
    with pytest.raises(ValueError, match="core_distances needs all rows in memory: it cannot be had on a cluster"):
        spanning_forests(X, core_distances=3, client=object())


@pytest.mark.parametrize(
    ("core", "message"),
    [
        (0, r"'core_distances' parameter must be an int in the range \[1, 3\], or an array"),
        (4, "must be an int in the range"),
        (True, "must be an int in the range"),
        (2.5, "must be an int in the range"),
        ("5", "must be an int in the range"),
        (["a", "b", "c", "d"], "must be an int in the range"),
        ([1.0, 1.0], r"its shape is \(2,\)"),
        ([[1.0], [1.0], [1.0], [1.0]], r"its shape is \(4, 1\)"),
        ([1.0, np.nan, 1.0, np.inf], "NaN or infinity in 2 of 4 rows; the first is row 1"),
        ([1.0, 0.0, 1.0, -1.0], "negative distances in 1 of 4 rows; the first is row 3"),
        ([1.0, 0.0, 1e200, 1.0], r"reach 1e\+200, too large beside points of up to 7"),
        ([1.0, 0.0, 1e-200, 1.0], "go down to 1e-200, too small beside points of up to 7"),
    ],
)
def test_what_are_no_core_distances(core, message):
    with pytest.raises(ValueError, match=message):
        spanning_forests([[0.0], [1.0], [3.0], [7.0]], core_distances=core)


def test_two_rows_and_identical_rows():
    two = spanning_forests([[0.0], [3.0]], core_distances=1)
    assert_array_equal(two.weights, [3.0])
    same = spanning_forests(np.ones((300, 2)), n_trees=1, core_distances=5)
    assert_array_equal(same.weights, np.zeros(299))
    assert_array_equal(
        spanning_forests(np.ones((30, 2)), core_distances=np.arange(30.0)).weights[:29], np.arange(1, 30)
    )
