"""Without kernels, the same forests come out to the last bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest.order.kruskal_kernels import order_edges, walk_with
from bayesfloor.runtime.kernels import plainly
from forest.agreement import assert_same_forests
from forest.point_sets import KINDS, make_labels, make_points
from naive_forests import naive_forests


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 30])
def test_forests_are_the_naive_ones(kind, d):
    X = make_points(kind, 130, d)
    with plainly():
        forests = spanning_forests(X)
    assert_same_forests(forests, naive_forests(X, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_sums_over_edges_are_equal_bit_by_bit(kind):
    X, y = make_points(kind, 150, 4), make_labels(150, 3)
    compiled = class_forests(X, y)
    with plainly():
        plain = class_forests(X, y)
        plain_sums = plain.whole.edge_sums(y), plain.whole.one_vs_rest_edge_sums(y)
        plain_counts = plain.whole.cross_counts(y)
    assert_same_forests(plain.whole, compiled.whole)
    assert_array_equal(plain.pair_cross_counts, compiled.pair_cross_counts)
    assert_array_equal(plain_counts, compiled.whole.cross_counts(y))
    compiled_sums = compiled.whole.edge_sums(y), compiled.whole.one_vs_rest_edge_sums(y)
    for some, others in zip(
        (*plain_sums, plain.pair_edge_sums), (*compiled_sums, compiled.pair_edge_sums), strict=True
    ):
        for one, other in zip(some, others, strict=True):
            assert_array_equal(one, other)


def test_no_kernel_is_compiled(monkeypatch):
    def refuse(self, *arguments):
        raise AssertionError(f"{self.py_func.__name__} is compiled")

    monkeypatch.setattr(type(walk_with.compiled), "__call__", refuse)
    X, y = make_points("some_copies", 300, 3), make_labels(300, 3)
    with plainly():
        class_forests(X, y).whole.edge_sums(y)
        spanning_forests(X)


def test_few_edges_of_equal_length_are_told_apart_by_hash_and_rank():
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 3, 12).astype(np.uint64)
    ranks = rng.permutation(12).astype(np.int32)
    u, v = (ends.astype(np.int32) for ends in np.triu_indices(12, 1))
    d2 = rng.integers(0, 2, len(u)).astype(float)
    arguments = u, v, d2, hashes, ranks, np.uint64(7)
    assert_array_equal(order_edges.plain(*arguments), order_edges.compiled(*arguments))
