"""What models confuse: counted as scikit-learn counts it, and orders that a few rows do not decide by chance."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from bayesfloor import difficulty_report
from bayesfloor.report.confusions import Confusions, confusions_of


@pytest.fixture(scope="module")
def labels():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    named = np.where(rng.random(300) < 0.2, rng.integers(0, 4, 300), y)
    return y, named


@pytest.fixture(scope="module")
def found(labels):
    y, named = labels
    rows = SimpleNamespace(codes=y, weights=np.ones(len(y)))
    return confusions_of(SimpleNamespace(counted=rows, stack=named[None], used=SimpleNamespace(classes=range(4))), 0.95)


def test_counts_and_shares_are_those_of_scikit_learn(labels, found):
    y, named = labels
    matrix = confusion_matrix(y, named)
    np.testing.assert_array_equal(found.n_rows, matrix)
    np.testing.assert_allclose(found.missed, 1 - recall_score(y, named, average=None))
    np.testing.assert_allclose(found.false_alarms, 1 - precision_score(y, named, average=None))
    for a in range(4):
        assert found.taken_for(a) == max((b for b in range(4) if b != a), key=lambda b: matrix[a, b])
        for b in range(a):
            of_both = np.isin(y, [a, b])
            taken = ((y == a) & (named == b)) | ((y == b) & (named == a))
            assert found.of_pairs[a, b] == found.of_pairs[b, a] == taken.sum() / of_both.sum()


def test_rows_count_what_they_weigh():
    rows = SimpleNamespace(codes=np.array([0, 0, 1]), weights=np.array([0.5, 0.5, 2.0]))
    held_out = SimpleNamespace(counted=rows, stack=np.array([[0, 1, 0]]), used=SimpleNamespace(classes=range(2)))
    np.testing.assert_array_equal(confusions_of(held_out, 0.95).n_rows, [[0.5, 0.5], [2.0, 0.0]])
    # in another repeat all are right, and each repeat counts half
    held_out.stack = np.array([[0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(confusions_of(held_out, 0.95).n_rows, [[0.75, 0.25], [1.0, 1.0]])


def test_a_few_rows_are_not_first_by_chance_and_ties_stay():
    n_rows = np.diag([1000.0, 1000.0, 2.0, 2.0, 50.0])
    n_rows[0, 1] = n_rows[1, 0] = 200.0  # a sixth of 2,400 rows
    n_rows[2, 3] = 1.0  # a fifth of 5 rows, which may be chance
    found = Confusions(n_rows)
    order = np.arange(5)
    assert set(found.classes_by_hardness(order)[:2]) == {0, 1}
    assert found.classes_by_hardness(order)[-1] == 4
    pairs = np.array([(3, 4), (2, 3), (0, 4), (0, 1)])
    assert found.pairs_by_hardness(pairs).tolist() == [[0, 1], [2, 3], [3, 4], [0, 4]]
    assert found.taken_for(4) is None


def test_an_empty_class_has_shares_of_nothing():
    found = Confusions(np.array([[5.0, 1.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0]]))
    assert (found.missed[2], found.false_alarms[2], found.of_pairs[1, 2]) == (0.0, 0.0, 0.0)


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_what_models_confuse_comes_first_also_where_trees_see_something_else():
    rng = np.random.default_rng(0)
    # c and d differ along one feature by ten times its noise, which 20 others, wide there, hide from distances; a and b
    # overlap along it, and nothing hides that.
    y = np.repeat(np.array(list("abcd")), 100)
    centre = {"a": 0.0, "b": 3.0, "c": 40.0, "d": 50.0}
    X = rng.normal(size=(400, 21)) * np.where(y < "c", 0.05, 40.0)[:, None]
    X[:, 0] = [centre[label] for label in y] + rng.normal(size=400)
    report = difficulty_report(X, y, n_jobs=1)
    first = report.summary["pairs"]["rows"][0]
    assert {first["first"], first["second"]} == {"a", "b"}
    assert {each["name"] for each in report.summary["classes"][:2]} == {"a", "b"}
    assert "a against b is the hardest pair" in report.sentence()
    assert report.summary["classes"][0]["taken_for"] in ("a", "b")
    by_trees = report.pairs.by_hardness()[0]
    assert set(report.pairs.classes[by_trees]) != {"a", "b"}
