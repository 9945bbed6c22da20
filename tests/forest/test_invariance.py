"""What must not change the trees: scale, offset, rotation, dtype and the order of rows."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayesfloor import spanning_forests
from bayesfloor.forest import plan
from forest.agreement import assert_same_edges, assert_same_forests, edges_between_values
from forest.point_sets import KINDS, make_labels, make_points
from naive_forests import all_edges_in_order, naive_forests

sizes = {"n": st.integers(2, 120), "d": st.integers(1, 30), "n_trees": st.integers(1, 4)}
seeds = st.integers(0, 2**32 - 1)
steady = settings(max_examples=25)


@pytest.fixture(autouse=True, scope="module")
def _small_sets_in_tiles_too():
    with plan.override(all_pairs_below=2):
        yield


def smallest_gap(X):
    """Smallest relative gap between two squared distances, zero if there are ties."""
    d2 = all_edges_in_order(X, seed=0)[2]
    return np.diff(d2).min(initial=np.inf) / d2[-1]


@given(**sizes, seed=seeds, exponent=st.integers(-900, 900))
@steady
def test_power_of_two_scales_exactly(n, d, n_trees, seed, exponent):
    X = make_points("gaussian", n, d, seed=seed)
    forests = spanning_forests(np.ldexp(X, exponent), n_trees=n_trees)
    expected = spanning_forests(X, n_trees=n_trees)
    assert_same_edges(forests, expected)
    np.testing.assert_array_equal(forests.weights, np.ldexp(expected.weights, exponent))


@pytest.mark.parametrize("scale", [1e-300, 1e-60, 1e60, 1e300])
@pytest.mark.parametrize("d", [2, 20])
def test_scale(d, scale):
    X = make_points("gaussian", 300, d)
    forests = spanning_forests(X * scale)
    assert_same_forests(forests, naive_forests(X * scale, 3))
    assert_same_edges(forests, spanning_forests(X))


@pytest.mark.parametrize(
    ("kind", "scale"), [("one_hot", 1e-150), ("some_copies", 1e150), ("integer_grid", 1e-30), ("simplex", 1e30)]
)
def test_scale_with_ties(kind, scale):
    X = make_points(kind, 250, 10) * scale
    assert_same_forests(spanning_forests(X), naive_forests(X, 3))


@given(
    **sizes,
    seed=seeds,
    kind=st.sampled_from(list(KINDS)),
    exponent=st.sampled_from([-150, -120, -75, -20, -3, 3, 20, 75, 120, 150]),
)
@steady
def test_scaled_points_match_the_reference(n, d, n_trees, seed, kind, exponent):
    X = make_points(kind, n, d, seed=seed) * 10.0**exponent
    assert_same_forests(spanning_forests(X, n_trees=n_trees), naive_forests(X, n_trees))


@given(**sizes, seed=seeds, offset=st.integers(-(10**8), 10**8))
@steady
def test_offset(n, d, n_trees, seed, offset):
    """Dyadic fractions plus an integer are exact, so every difference is the same."""
    fractions = np.random.default_rng(seed).integers(-(2**24), 2**24, (n, d)) * 2.0**-24
    X = fractions + offset
    forests = spanning_forests(X, n_trees=n_trees)
    assert_same_forests(forests, naive_forests(X, n_trees))
    if smallest_gap(fractions) > 0:
        assert_same_edges(forests, spanning_forests(fractions, n_trees=n_trees))


@pytest.mark.parametrize(("d", "offset"), [(2, 1e8), (20, 1e3), (100, 1e6)])
def test_offset_gives_the_trees_of_centred_data(d, offset):
    X = np.random.default_rng(d).integers(-(2**24), 2**24, (400, d)) * 2.0**-24
    assert smallest_gap(X) > 0
    assert_same_forests(spanning_forests(X + offset), spanning_forests(X))


@given(**sizes, seed=seeds)
@steady
def test_translation_and_rotation(n, d, n_trees, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    assume(smallest_gap(X) > 1e-11)
    rotation, _ = np.linalg.qr(rng.standard_normal((d, d)))
    moved = spanning_forests((X + rng.standard_normal(d)) @ rotation, n_trees=n_trees)
    expected = spanning_forests(X, n_trees=n_trees)
    assert_same_edges(moved, expected)
    np.testing.assert_allclose(moved.weights, expected.weights, rtol=1e-9)


@given(**sizes, seed=seeds, kind=st.sampled_from(list(KINDS)))
@settings(max_examples=40)
def test_row_order(n, d, n_trees, seed, kind):
    """Ties or not, the same values are joined in the same order, and the counts agree."""
    X = make_points(kind, n, d, seed=seed)
    y = make_labels(n, 2, seed=seed)
    moved = np.random.default_rng(seed).permutation(n)
    forests = spanning_forests(X, n_trees=n_trees)
    permuted = spanning_forests(X[moved], n_trees=n_trees)
    np.testing.assert_array_equal(edges_between_values(permuted, X[moved]), edges_between_values(forests, X))
    np.testing.assert_allclose(permuted.cross_counts(y[moved]), forests.cross_counts(y), rtol=1e-12, atol=1e-12)


@given(n=sizes["n"], d=sizes["d"], seed=seeds, kind=st.sampled_from(["gaussian", "one_hot"]))
@steady
def test_row_order_of_distinct_rows(n, d, seed, kind):
    """Without copies even the row numbers agree, once mapped back."""
    rng = np.random.default_rng(seed)
    X = rng.permutation(np.unique(make_points(kind, n, d, seed=seed), axis=0))
    assume(len(X) > 1)
    moved = rng.permutation(len(X))
    permuted = spanning_forests(X[moved])
    expected = spanning_forests(X)
    np.testing.assert_array_equal(np.sort(moved[permuted.edges], axis=1), expected.edges)
    np.testing.assert_array_equal(permuted.tree, expected.tree)


@pytest.mark.parametrize("kind", ["one_hot", "standardized_one_hot", "some_copies", "integer_grid"])
def test_row_order_over_many_tiles(kind):
    X = make_points(kind, 3000, 12)
    y = make_labels(3000, 3)
    forests = spanning_forests(X)
    for moved in (np.lexsort(X.T), np.random.default_rng(0).permutation(3000)):
        permuted = spanning_forests(X[moved])
        np.testing.assert_array_equal(edges_between_values(permuted, X[moved]), edges_between_values(forests, X))
        np.testing.assert_allclose(permuted.cross_counts(y[moved]), forests.cross_counts(y), rtol=1e-11)


@given(
    **sizes,
    seed=seeds,
    dtype=st.sampled_from(["float16", "float32", "float64", "int8", "uint8", "int32", "int64", "uint64", "bool"]),
)
@steady
def test_dtype(n, d, n_trees, seed, dtype):
    """Every dtype gives the trees of the same values in float64."""
    X = np.random.default_rng(seed).integers(0, 100, (n, d)).astype(dtype)
    if dtype.startswith("float"):
        X /= np.asarray(7, dtype=dtype)
    expected = spanning_forests(X.astype(np.float64), n_trees=n_trees)
    assert_same_forests(spanning_forests(X, n_trees=n_trees), expected)
