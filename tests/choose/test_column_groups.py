import numpy as np
import pytest

from bayesfloor.choose.floor_selector import check_feature_groups


def columns(groups, n_features=5, names=None):
    return [group.tolist() for group in check_feature_groups(groups, n_features, names)]


def test_columns_are_on_their_own_unless_grouped():
    assert columns(None, 3) == [[0], [1], [2]]
    assert columns([[3, 1], np.array([4, 2])]) == [[0], [1, 3], [2, 4]]
    assert columns([["c", "a"], [4]], names=list("abcde")) == [[0, 2], [1], [3], [4]]
    assert columns([["a", 1]], names=list("abcde")) == [[0, 1], [2], [3], [4]]


def test_a_number_that_is_a_name_is_a_name():
    assert columns([[1, 0]], 3, names=[2, 1, 0]) == [[0], [1, 2]]


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ("abc", TypeError, "sequence of sequences"),
        ([0, 1], TypeError, "sequence of sequences"),
        (["ab"], ValueError, "must name its columns; got 'ab'"),
        ([[]], ValueError, "must name its columns"),
        ([[0, 5]], ValueError, "names column 5, which is not among the 5 columns"),
        ([["z", 0]], ValueError, "names column 'z'"),
        ([[-1]], ValueError, "names column -1"),
        ([[True]], ValueError, "names column True"),
        ([[0, 1], [1, 2]], ValueError, "Column 1 is in more than one group"),
        ([[0, 0]], ValueError, "Column 0 is in more than one group, or twice"),
    ],
)
def test_groups_are_checked(groups, error, message):
    with pytest.raises(error, match=message):
        check_feature_groups(groups, 5, None)
