import numpy as np
import pytest
from sklearn.feature_selection import f_classif
from sklearn.utils.estimator_checks import check_estimator

from bayesfloor import FloorSelector, bayes_error
from helpers.one_case import for_each
from helpers.refusals import options_not_refused
from helpers.samples_to_choose_from import exclusive_or, shifted_classes, table_of_dummies


@pytest.mark.usefixtures("array_api_checks")
def test_scikit_learn_checks():
    results = check_estimator(FloorSelector(1), on_skip=None, on_fail=None)
    assert [result for result in results if result["status"] != "passed"] == []


def chosen(selector, X, y):
    return selector.fit(X, y).get_support(indices=True).tolist()


@for_each("seed", range(2))
def test_finds_the_features_that_matter(seed):
    X, y = shifted_classes(seed, 200, n_useful=3, n_features=8, n_classes=3, shift=1.5)
    X = X[:, ::-1]
    assert chosen(FloorSelector(3), X, y) == [5, 6, 7]
    assert set(chosen(FloorSelector(), X, y)) <= {5, 6, 7}


def test_backward_finds_a_pair_that_says_nothing_one_by_one():
    X, y = exclusive_or(1)
    assert set(np.argsort(-f_classif(X, y)[0])[:2]) != {1, 3}
    for wanted in ("auto", 2):
        assert chosen(FloorSelector(wanted, direction="backward"), X, y) == [1, 3]
    assert chosen(FloorSelector(2), X, y) != [1, 3]


def test_path_holds_the_floors_of_what_was_chosen():
    X, y = shifted_classes(0, 100, n_features=4, n_classes=3, shift=1.0)
    selector = FloorSelector(3).fit(X, y)
    frame = selector.path_.frame()
    assert frame["n_features"].tolist() == [0, 1, 2, 3]
    columns = []
    for name, floor in zip(frame["features"][1:], frame["floor"][1:], strict=True):
        columns.append(int(name.removeprefix("x")))
        by_hand = {}
        for j in set(range(4)) - set(columns[:-1]):
            by_hand[j] = bayes_error(X[:, [*columns[:-1], j]], y).estimate
        assert floor == pytest.approx(min(by_hand.values()))
        assert floor == pytest.approx(by_hand[columns[-1]])
    assert sorted(columns) == selector.get_support(indices=True).tolist()
    assert selector.n_features_ == 3


def test_path_has_intervals_and_says_where_it_stopped():
    X, y = shifted_classes(1, 120, n_features=4)
    selector = FloorSelector(confidence=0.8).fit(X, y)
    path, frame = selector.path_, selector.path_.frame()
    assert frame["selected"].tolist() == [True] * (len(frame) - 1) + [False]
    assert (frame["interval_low"] <= frame["floor"]).all()
    assert (frame["floor"] <= frame["interval_high"]).all()
    assert (frame["standard_error"][1:] > 0).all()
    assert frame["n_rows"].tolist() == [120] * len(frame)
    expected = bayes_error(X[:, selector.support_], y, confidence=0.8)
    assert selector.floor_.estimate == expected.estimate == frame["floor"].iloc[-2]
    last = path.steps[-2].level
    assert (last.low, last.high) == pytest.approx(expected.interval)
    assert repr(path).startswith("SelectionPath(added x")
    backward = FloorSelector(3, direction="backward").fit(X, y)
    assert backward.path_.steps[0].level.floor == bayes_error(X, y).estimate
    assert repr(backward.path_).startswith("SelectionPath(removed x")


def test_groups_enter_together():
    X, y = table_of_dummies(0)
    selector = FloorSelector(1, feature_groups=[[0, 1, 2], [3, 4, 5]]).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3, 4, 5]
    assert selector.path_.steps[1].features == ("x3", "x4", "x5")
    assert selector.path_.steps[1].level.floor == bayes_error(X[:, 3:], y).estimate
    backward = FloorSelector(feature_groups=[[0, 1, 2], [3, 4, 5]], direction="backward").fit(X, y)
    assert backward.get_support(indices=True).tolist() == [3, 4, 5]


def test_groups_by_name_and_names_of_features():
    pandas = pytest.importorskip("pandas")
    X, y = table_of_dummies(1)
    frame = pandas.DataFrame(X, columns=["a0", "a1", "a2", "b0", "b1", "b2"])
    selector = FloorSelector(feature_groups=[["b0", "b1", "b2"]], n_features_to_select=1).fit(frame, y)
    assert selector.get_feature_names_out().tolist() == ["b0", "b1", "b2"]
    assert selector.path_.frame()["features"].tolist() == ["", "b0, b1, b2"]
    out = selector.set_output(transform="pandas").transform(frame)
    assert out.columns.tolist() == ["b0", "b1", "b2"]
    with pytest.raises(ValueError, match="Feature names"):
        selector.transform(frame[["b0", "a1", "a2", "a0", "b1", "b2"]])


def test_max_rows_is_kept_and_stated():
    X, y = shifted_classes(0, 300, n_features=3, n_classes=3)
    selector = FloorSelector(1, max_rows=100).fit(X, y)
    assert selector.n_rows_ == selector.path_.n_rows == selector.floor_.n_rows == 100
    assert selector.path_.n_samples == 300
    counts = np.bincount(y)
    assert np.abs(selector.floor_.class_counts - counts / 3).max() < 2
    assert FloorSelector(1, max_rows=None).fit(X, y).n_rows_ == 300
    with pytest.raises(ValueError, match="max_rows=5 is less than two rows for each of the 3 classes"):
        FloorSelector(max_rows=5).fit(X, y)


def test_neither_threads_nor_the_order_of_rows_matter():
    X, y = shifted_classes(2, 150, n_features=4)
    X = np.round(X, 1)
    shuffled = np.random.default_rng(0).permutation(150)
    expected = FloorSelector(3, max_rows=100, n_jobs=1).fit(X, y).path_.frame().drop(columns="seconds")
    for n_jobs, rows in ((3, slice(None)), (2, shuffled)):
        other = FloorSelector(3, max_rows=100, n_jobs=n_jobs).fit(X[rows], y[rows]).path_.frame()
        assert other.drop(columns="seconds").equals(expected)


def test_useless_and_constant_features():
    X, y = shifted_classes(0, 80, n_useful=0, n_features=2)
    X[:, 0] = 7.0
    selector = FloorSelector().fit(X, y)
    assert selector.n_features_ == 1
    both_constant = FloorSelector().fit(np.ones((80, 2)), y)
    assert both_constant.get_support(indices=True).tolist() == [0]
    assert both_constant.floor_.estimate == pytest.approx(min(np.bincount(y)) / 80)
    assert "BF005" in [finding.code for finding in both_constant.floor_.findings]


def test_what_cannot_be_used():
    X, y = shifted_classes(0, 40, n_features=3)
    wrong = [
        ({"n_features_to_select": 0}, "'auto' or an int from 1 to the number of features, 3. Got 0"),
        ({"n_features_to_select": 4}, "number of features, 3. Got 4"),
        ({"n_features_to_select": 3, "feature_groups": [[0, 1]]}, "features and groups, 2. Got 3"),
        ({"n_features_to_select": True}, "Got True"),
        ({"n_features_to_select": "all"}, "Got 'all'"),
        ({"direction": "sideways"}, "'direction' parameter must be one of 'forward', 'backward'"),
        ({"n_trees": 0}, "n_trees"),
        ({"confidence": 1.5}, "confidence"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"progress": 1}, "progress"),
        ({"feature_groups": [[7]]}, "column 7"),
    ]
    assert options_not_refused(lambda **parameters: FloorSelector(**parameters).fit(X, y), wrong) == []
    data = [
        ({"X": np.where(np.arange(3) == 1, np.nan, X), "y": y}, "NaN in 40 rows, column 1"),
        ({"X": X, "y": ["a"] * 40}, "needs two classes, got 1: 'a'"),
        ({"X": X, "y": y[:-1]}, "inconsistent numbers of samples"),
        ({"X": X.astype(str), "y": y}, "could not convert to float"),
        ({"X": X, "y": None}, "requires y to be passed"),
    ]
    assert options_not_refused(FloorSelector().fit, data) == []
