"""What it means for two forests to be the same, and what was noticed beside a result."""

import numpy as np
from numpy.testing import assert_array_equal


def assert_same_partition(sites, expected):
    """Site numbers may differ; which rows share one may not."""
    pairs = np.unique(np.column_stack([sites, expected]), axis=0)
    assert len(pairs) == len(np.unique(sites)) == len(np.unique(expected))
    assert_array_equal(np.unique(sites), np.arange(sites.max() + 1))


def assert_same_edges(actual, expected):
    assert_array_equal(actual.tree, expected.tree)
    assert_array_equal(actual.edges, expected.edges)


def assert_same_forests(actual, expected):
    """`expected` may be the naive reference or another result of the library."""
    assert_same_edges(actual, expected)
    # As bits, so that not even the sign of a zero may differ.
    assert_array_equal(actual.weights.view(np.int64), expected.weights.view(np.int64))
    assert_same_partition(actual.sites, expected.sites)
    n_points = len(actual.sites)
    edges_per_tree = np.bincount(expected.tree)
    assert actual.n_samples == n_points
    assert actual.n_trees == len(edges_per_tree)
    assert_array_equal(actual.n_components, n_points - edges_per_tree)


def edges_between_values(forests, X):
    """Edges as (tree, value, value, weight), where a value is the number of a distinct row.

    Identical rows are interchangeable, so this is all that may be compared after a permutation.
    """
    distinct = np.unique(np.asarray(X, dtype=np.float64) + 0.0, axis=0, return_inverse=True)[1]
    ends = np.sort(distinct.ravel()[forests.edges], axis=1)
    return np.column_stack([forests.tree, ends, forests.weights])


def codes_of(found):
    """The codes of a result's findings, in their order."""
    return [finding.code for finding in found.findings]
