from functools import partial

import numpy as np

from bayesfloor.choose.floor_selector import check_feature_groups
from helpers.refusals import options_not_refused


def columns(groups, n_features=5, names=None):
    return [group.tolist() for group in check_feature_groups(groups, n_features, names)]


def test_columns_are_on_their_own_unless_grouped():
    assert columns(None, 3) == [[0], [1], [2]]
    assert columns([[3, 1], np.array([4, 2])]) == [[0], [1, 3], [2, 4]]
    assert columns([["c", "a"], [4]], names=list("abcde")) == [[0, 2], [1], [3], [4]]
    assert columns([["a", 1]], names=list("abcde")) == [[0, 1], [2], [3], [4]]


def test_a_number_that_is_a_name_is_a_name():
    assert columns([[1, 0]], 3, names=[2, 1, 0]) == [[0], [1, 2]]


def test_groups_are_checked():
    refused = {
        "sequence of sequences": ["abc", [0, 1]],
        "must name its columns": [["ab"], [[]]],
        "names column 5, which is not among the 5 columns": [[[0, 5]]],
        "names column (-1|True|'z')": [[["z", 0]], [[-1]], [[True]]],
        "Column 1 is in more than one group": [[[0, 1], [1, 2]]],
        "Column 0 is in more than one group, or twice": [[[0, 0]]],
    }
    table = [({"feature_groups": groups}, words) for words, every in refused.items() for groups in every]
    assert options_not_refused(partial(check_feature_groups, n_features=5, names=None), table) == []
