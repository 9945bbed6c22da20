"""However the engine cuts up its work, the same forests come out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import plan
from forest.agreement import assert_same_forests
from forest.point_sets import KINDS, make_labels, make_points
from naive_forests import naive_forests
from pairwise_design import all_pairs

SETS = [
    ("gaussian", 2),
    ("clustered", 8),
    ("one_hot", 20),
    ("standardized_one_hot", 34),
    ("some_copies", 3),
    ("nearly_copies", 30),
    ("far_from_zero", 40),
    ("one_outlier", 25),
    ("mixed_scales", 24),
    ("cauchy", 30),
    ("integer_grid", 1),
]
SETTINGS = {
    "tile_size": [None, 2, 16, 333, 100_000],
    "buffer_edges": [1 << 16, 1, 50],
    "near_tiles": [None, 1, 50],
    "survivors_per_point": [6.0, 0.01],
    "projection": ["none", "pca"],
    "kernel": ["differences", "products"],
    "most_axes_of_rounds": [0, 4],
}


@pytest.mark.parametrize(("points", "values"), [(row[0], row[1:]) for row in all_pairs(SETS, *SETTINGS.values())])
def test_settings_do_not_change_trees(points, values, reference):
    X, expected = reference(*points)
    with plan.override(all_pairs_below=2, **dict(zip(SETTINGS, values, strict=True))):
        assert_same_forests(spanning_forests(X), expected)


def test_all_pairs_give_the_same_trees(reference):
    for points in SETS:
        X, expected = reference(*points)
        with plan.override(all_pairs_below=100_000):
            assert_same_forests(spanning_forests(X), expected)


@pytest.fixture(scope="module")
def reference():
    """Points and their naive forests, computed once for all settings."""
    known = {}

    def look_up(kind, d):
        if (kind, d) not in known:
            X = make_points(kind, 300, d)
            known[kind, d] = X, naive_forests(X, 3)
        return known[kind, d]

    return look_up


@pytest.fixture(scope="module")
def forests_of_classes():
    X, y = make_points("some_copies", 300, 22), make_labels(300, 4)
    return X, y, class_forests(X, y)


@pytest.mark.parametrize("values", all_pairs(*SETTINGS.values()))
def test_settings_do_not_change_pairs(forests_of_classes, values):
    X, y, expected = forests_of_classes
    with plan.override(all_pairs_below=2, **dict(zip(SETTINGS, values, strict=True))):
        result = class_forests(X, y)
    assert_same_forests(result.whole, expected.whole)
    for a in range(4):
        for b in range(a):
            assert_same_forests(result.pair(a, b), expected.pair(a, b))
    np.testing.assert_array_equal(result.pair_cross_counts, expected.pair_cross_counts)


@given(
    kind=st.sampled_from(list(KINDS)),
    n=st.integers(2, 200),
    d=st.integers(1, 60),
    n_trees=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
    tile_size=st.none() | st.integers(1, 100),
    buffer_edges=st.integers(1, 200),
    near_tiles=st.none() | st.integers(1, 8),
    projection=st.sampled_from(["none", "pca", "auto"]),
    kernel=st.sampled_from(["differences", "products", "auto"]),
)
@settings(max_examples=30)
def test_any_settings(kind, n, d, n_trees, seed, **settings_):
    X = make_points(kind, n, d, seed=seed)
    with plan.override(all_pairs_below=2, **settings_):
        forests = spanning_forests(X, n_trees=n_trees)
    assert_same_forests(forests, naive_forests(X, n_trees))


def test_settings_end_with_their_block():
    before = plan.current()

    def fail_inside():
        with plan.override(tile_size=7):
            assert plan.current().tile_size == 7
            raise LookupError

    with pytest.raises(LookupError):
        fail_inside()
    assert plan.current() == before


def test_unknown_settings_are_refused():
    with pytest.raises(TypeError, match="colour"), plan.override(colour="red"):
        pass
