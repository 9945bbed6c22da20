"""Features and transforms chosen for new groups of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from bayesfloor import FloorSelector, compare_features, spanning_forests
from bayesfloor.choose.floor_levels import error_direction, group_error_direction, whole_floor
from bayesfloor.floor.trees.problem import check_options


def patients(n_groups=60, size=5, seed=0):
    """One column tells patients apart and nothing else; another tells the classes apart, as well as it can."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    labels = rng.integers(0, 2, n_groups)[groups]
    own = rng.uniform(-2, 2, n_groups)[groups] + 0.001 * rng.standard_normal(len(groups))
    telling = 2.0 * labels + rng.standard_normal(len(groups))
    return np.column_stack([own, telling]), labels, groups


def test_a_column_that_tells_patients_apart_is_not_selected():
    X, y, groups = patients()
    mixed = FloorSelector(n_features_to_select=1).fit(X, y)
    assert mixed.support_.tolist() == [True, False]
    selector = FloorSelector(n_features_to_select=1).fit(X, y, groups=groups)
    assert selector.support_.tolist() == [False, True]
    assert selector.floor_.interval[0] < 0.1587 < selector.floor_.interval[1]


def test_no_group_is_in_both_halves():
    X, y, groups = patients()
    seen = []

    class Spy(LinearDiscriminantAnalysis):
        def fit(self, X, y):
            seen.append(X[:, 0].copy())
            return super().fit(X, y)

    both = {"as it is": "passthrough", "LDA": Spy()}
    compared = compare_features(both, y, X=X, groups=groups, learners=None)
    first, second = (set(groups[np.isin(X[:, 0], part)]) for part in seen)
    assert not first & second
    assert first | second == set(range(60))
    assert compared.best == "LDA"
    # mixed, a patient's other rows give the label away
    mixed = compare_features({"own": X}, y, learners=None).features[0].estimate
    assert compare_features({"own": X}, y, groups=groups, learners=None).features[0].estimate > mixed


def test_directions_over_groups_of_one_row_are_those_over_rows():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((60, 2)), rng.integers(0, 3, 60)
    forests = spanning_forests(X, n_trees=3)
    found = group_error_direction(forests, codes, np.arange(60))
    assert_allclose(found, error_direction(forests, codes, 3))
    for groups in (None, np.arange(60)):
        whole = whole_floor(forests, codes, 3, check_options(), directed=True, groups=groups)
        assert_allclose(whole.direction.toarray()[0], found)


def test_groups_that_cannot_be_used():
    X, y, groups = patients()
    y = np.where(groups == 3, 2, y)
    with pytest.raises(ValueError, match=r"halves of the groups.* too few of 2"):
        compare_features({"LDA": LinearDiscriminantAnalysis()}, y, X=X, groups=groups, learners=None)
    with pytest.raises(ValueError, match="groups holds one value only"):
        FloorSelector().fit(X, y, groups=np.zeros(len(y)))
