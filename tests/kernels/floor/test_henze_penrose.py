import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import multilabel_confusion_matrix

from bayesfloor.floor.trees import henze_penrose as hp

counts = st.integers(1, 500)


@given(counts, counts, st.floats(0, 1))
def test_u_is_the_same_by_both_routes(n1, n2, share):
    n, R = n1 + n2, share * 2 * n1 * n2 / (n1 + n2)
    D = hp.divergence(R, n1, n2)
    u = (4 * n1 * n2 * D + (n1 - n2) ** 2) / n**2  # equation (5)
    assert u == pytest.approx(hp.u_from_cross_edges(R, n), abs=1e-12)


def test_equal_and_disjoint_densities():
    # As many cross edges as chance gives: no divergence. None at all: as much as there can be.
    assert hp.divergence(2 * 30 * 70 / 100, 30, 70) == pytest.approx(0)
    assert hp.divergence(0, 30, 70) == 1
    assert hp.divergence(60, 50, 50) == 0  # more than chance gives: noise
    # with u = (p1 - p2)^2 the lower bound is the smaller prior
    assert hp.lower_bound((0.3 - 0.7) ** 2) == pytest.approx(0.3)
    assert hp.upper_bound(1.0) == hp.lower_bound(1.0) == hp.estimate(1.0) == 0


@given(st.floats(0, 1))
def test_estimate_is_the_mean_of_the_bounds(u):
    assert hp.lower_bound(u) - 1e-15 <= hp.estimate(u) <= hp.upper_bound(u) + 1e-15
    assert hp.estimate(u) == pytest.approx((hp.lower_bound(u) + hp.upper_bound(u)) / 2)


@given(st.floats(0.001, 0.5), st.integers(2, 10**6))
def test_gamma_makes_the_estimate_equal_the_smaller_prior(p, n):
    assert hp.estimate(hp.u_from_cross_edges(hp.gamma(n, p), n)) == pytest.approx(p, abs=1e-9)


@given(st.floats(0.001, 0.5), st.floats(0, 1))
def test_corrected_estimates_are_at_most_the_smaller_prior(p, share):
    n = 1000
    R = hp.corrected_cross_edges(share * n, hp.gamma(n, p))
    value = hp.estimate(hp.u_from_cross_edges(R, n))
    assert 0 <= value <= p + 1e-9
    assert 0 <= hp.normalized(value, p) <= 1 + 1e-6


def test_more_than_half_the_points_is_clipped():
    assert hp.u_from_cross_edges(80, 100) == 0
    assert hp.estimate(hp.u_from_cross_edges(80, 100)) == 0.5
    assert hp.multiclass_estimate(99, 100, 5) == pytest.approx(0.8)
    assert hp.multiclass_lower_bound(99, 100, 5) == pytest.approx(0.8)


def test_rounding_is_not_taken_for_a_divergence():
    """A tenth, ten times over, is not quite one; the root of what is missing is a hundred million times larger."""
    R = np.cumsum(np.full(10, 0.1))[-1]
    assert 0 < 1 - R < 1e-15
    assert hp.lower_bound(hp.u_from_cross_edges(R, 2)) == 0.5
    assert hp.multiclass_lower_bound(2 * R, 3, 3) == pytest.approx(2 / 3, abs=1e-15)
    assert hp.lower_bound(hp.u_from_cross_edges(R - 1e-6, 2)) < 0.5 - 1e-4


def test_confusion_rate_counts_both_kinds_of_error():
    rng = np.random.default_rng(0)
    y, predicted = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    matrices = multilabel_confusion_matrix(y, predicted)
    for label in range(4):
        (_, false_positive), (false_negative, _) = matrices[label]
        assert hp.confusion_rate(y, predicted, label) == (false_positive + false_negative) / 200
    assert hp.confusion_rate(["a", "b"], ["a", "a"], "b") == 0.5
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        hp.confusion_rate([0, 1], [0, 1, 1], 1)


@given(st.floats(0, 0.5), st.integers(2, 10**5))
def test_two_classes_are_a_special_case_of_many(share, n):
    R = share * n
    u = hp.u_from_cross_edges(R, n)
    assert hp.multiclass_upper_bound(R, n, 2) == pytest.approx(hp.upper_bound(u), abs=1e-12)
    assert hp.multiclass_lower_bound(R, n, 2) == pytest.approx(hp.lower_bound(u), abs=1e-7)
    assert hp.multiclass_estimate(R, n, 2) == pytest.approx(hp.estimate(u), abs=1e-7)
    assert hp.multiclass_gamma(n, 2, share) == pytest.approx(hp.gamma(n, share), abs=1e-9 * n)


@given(st.lists(st.integers(1, 300), min_size=2, max_size=12))
def test_multiclass_gamma_makes_the_estimate_equal_the_largest_floor(class_counts):
    n, K = sum(class_counts), len(class_counts)
    largest = 1 - max(class_counts) / n
    gamma = hp.multiclass_gamma(n, K, largest)
    assert hp.multiclass_estimate(gamma, n, K) == pytest.approx(largest, abs=1e-7)


@given(st.lists(st.integers(0, 6), min_size=6, max_size=60), st.integers(2, 4))
def test_sum_of_pairs_bounds_hold_on_discrete_mixtures(table, n_classes):
    # A discrete feature: row s of the table counts each class at value s. Every floor is then exact.
    joint = np.array(table[: len(table) // n_classes * n_classes], float).reshape(-1, n_classes)
    class_counts = joint.sum(axis=0)
    if (class_counts == 0).any():
        return
    n = joint.sum()
    floor = (joint.sum(axis=1) - joint.max(axis=1)).sum() / n
    pairs = np.minimum(joint[:, :, None], joint[:, None, :]).sum(axis=0)
    pairs /= class_counts[:, None] + class_counts[None, :]
    lower, upper = hp.sum_of_pairs_bounds(pairs, pairs, class_counts)
    assert lower <= floor + 1e-12
    assert floor <= upper + 1e-12
