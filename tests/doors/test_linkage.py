"""Trees in the format of SciPy, equal to what it makes of the same points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cophenet, fcluster, is_valid_linkage, linkage
from scipy.spatial.distance import pdist, squareform

from bayesfloor import class_forests, spanning_forests
from helpers.point_sets import KINDS, make_labels, make_points

SETS = [("gaussian", 2, 3), ("gaussian", 3, 1), ("gaussian", 400, 2), ("clustered", 300, 5), ("growing_gaps", 300, 2)]


def test_equal_to_scipy_without_ties():
    for kind, n, d in SETS:
        X = make_points(kind, n, d)
        merges = spanning_forests(X, n_trees=2).to_linkage()
        expected = linkage(X, "single")
        assert merges.dtype == np.float64
        assert_array_equal(merges[:, [0, 1, 3]], expected[:, [0, 1, 3]])
        assert_allclose(merges[:, 2], expected[:, 2], rtol=1e-14)


def test_heights_are_those_of_scipy_with_ties():
    for kind in KINDS.keys() - {"one_outlier"}:  # SciPy's squares lose the others
        X = make_points(kind, 150, 3)
        merges = spanning_forests(X, n_trees=1).to_linkage()
        expected = linkage(X, "single")
        assert is_valid_linkage(merges, warning=True)
        bounds = {"rtol": 1e-14, "atol": 1e-15 * np.abs(X).max(), "err_msg": kind}
        assert_allclose(merges[:, 2], expected[:, 2], **bounds)
        # the heights at which two rows are joined do not depend on how ties fall
        assert_allclose(cophenet(merges), cophenet(expected), **bounds)


def test_clusters_are_those_of_scipy():
    X = make_points("some_copies", 200, 2)
    merges = spanning_forests(X, n_trees=1).to_linkage()
    for height in np.quantile(merges[:, 2], [0.0, 0.5, 0.9]) * 1.0001:
        found = fcluster(merges, height, "distance")
        expected = fcluster(linkage(X, "single"), height, "distance")
        assert len(np.unique(np.column_stack([found, expected]), axis=0)) == found.max() == expected.max()


def test_a_long_chain():
    """Each merge adds one point: the deepest hierarchy there is."""
    n = 20_000
    X = np.cumsum(np.arange(n))[:, None].astype(float)
    merges = spanning_forests(X, n_trees=1).to_linkage()
    assert_array_equal(merges[:, 3], np.arange(2, n + 1))
    assert_array_equal(merges[1:, 1], np.arange(n, 2 * n - 2))


def test_a_later_tree():
    X = make_points("gaussian", 120, 2)
    forests = spanning_forests(X)
    left = squareform(pdist(X))
    i, j = forests.edges[forests.tree == 0].T
    left[i, j] = left[j, i] = 1e9
    assert_allclose(forests.to_linkage(tree=1)[:, 2], linkage(squareform(left), "single")[:, 2], rtol=1e-14)


def test_trees_that_are_no_hierarchy():
    forests = spanning_forests([[0.0], [1.0], [3.0]])  # the second tree has a single edge
    with pytest.raises(ValueError, match="Tree 1 leaves the rows in 2 pieces"):
        forests.to_linkage(tree=1)
    for bad in (2, -1, "0", 0.0, True, None):
        with pytest.raises(ValueError, match=r"'tree' parameter must be an int in the range \[0, 1\]"):
            forests.to_linkage(tree=bad)


def test_a_pair_of_classes_is_numbered_by_its_own_rows():
    X, y = make_points("gaussian", 90, 2), make_labels(90, 3)
    pair = class_forests(X, y).pair(0, 2)
    assert_array_equal(pair.to_linkage(), spanning_forests(X[pair.rows]).to_linkage())
