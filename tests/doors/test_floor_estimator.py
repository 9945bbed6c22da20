"""The estimator: scikit-learn's checks, and floors after every batch equal those of one fit on all rows so far."""

import dataclasses
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from bayesfloor import BayesErrorEstimator
from bayesfloor.results import BayesError, OneVsRestBayesError, PairwiseBayesError
from helpers.known_samples import gaussian_classes, one_hot_table
from helpers.one_case import for_each
from helpers.refusals import options_not_refused

RECORDS = ("bayes_error_", "one_vs_rest_bayes_error_", "pairwise_bayes_error_")


def assert_same_floors(actual, expected):
    """Every field of every record, bit by bit."""
    assert actual.classes_.dtype == expected.classes_.dtype
    assert actual.classes_.tolist() == expected.classes_.tolist()
    assert actual.findings_ == expected.findings_
    assert actual.n_features_in_ == expected.n_features_in_
    for name in RECORDS:
        record, reference = getattr(actual, name), getattr(expected, name)
        for one, other in ((record, reference), (record.cross_edges, reference.cross_edges)):
            for field in dataclasses.fields(other):
                value, wanted = getattr(one, field.name), getattr(other, field.name)
                if field.name == "findings":
                    assert value == wanted
                elif field.name != "cross_edges":
                    np.testing.assert_array_equal(value, wanted, err_msg=f"{name}.{field.name}", strict=True)


def continuous(rng):
    X, y = gaussian_classes(rng, 700, [0.2, 0.3, 0.5], 2 * np.eye(3), 4)
    return X, np.array(["b", "ccc", "a"])[y]


def tied(rng):
    X, y = one_hot_table(rng, 700, 4, 3)
    return X, y * 5


@pytest.mark.usefixtures("array_api_checks")
def test_scikit_learn_checks():
    results = check_estimator(BayesErrorEstimator(), on_skip=None, on_fail=None)
    assert [result for result in results if result["status"] != "passed"] == []


def test_one_fit_gives_everything():
    X, y = continuous(np.random.default_rng(0))
    fitted = BayesErrorEstimator().fit(X, y)
    assert fitted.classes_.tolist() == ["a", "b", "ccc"]
    kinds = BayesError, OneVsRestBayesError, PairwiseBayesError
    assert all(isinstance(getattr(fitted, name), kind) for name, kind in zip(RECORDS, kinds, strict=True))
    assert fitted.findings_ == fitted.bayes_error_.findings
    lower, upper = fitted.pairwise_bayes_error_.sum_of_pairs
    assert 0 <= lower <= upper <= 0.51


@pytest.mark.parametrize("sample", [continuous, tied], ids=lambda sample: sample.__name__)
def test_equals_fit_on_everything(sample):
    X, y = sample(np.random.default_rng(0))
    estimator = BayesErrorEstimator()
    for start, stop in ((0, 200), (200, 201), (201, 400), (400, 700)):
        assert estimator.partial_fit(X[start:stop], y[start:stop]) is estimator
        assert_same_floors(estimator, clone(estimator).fit(X[:stop], y[:stop]))


def test_one_row_at_a_time_and_new_classes():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((40, 2)), 1)
    y = rng.integers(0, 2, 40)
    y[:3], y[20], y[30] = 1, 5, -2
    estimator = BayesErrorEstimator()
    for n in range(1, 41):
        estimator.partial_fit(X[n - 1 : n], y[n - 1 : n])
        if len(set(y[:n])) > 1:
            assert_same_floors(estimator, BayesErrorEstimator().fit(X[:n], y[:n]))
        else:
            assert estimator.classes_.tolist() == [1]
            assert not hasattr(estimator, "bayes_error_")
    assert estimator.classes_.tolist() == [-2, 0, 1, 5]


BAD_BATCHES = [
    (np.zeros((2, 3)), ["a", "b"], "X has 3 features, but BayesErrorEstimator is expecting 4 features"),
    (np.full((2, 4), np.nan), ["a", "b"], "NaN"),
    (np.full((2, 4), np.inf), ["a", "b"], "infinity"),
    (np.zeros((2, 4)), ["a"], "inconsistent numbers of samples"),
    (np.zeros((2, 4)), [1, 2], "mixed types"),
    (np.zeros((2, 4)), [None, "a"], "missing label"),
]


def test_bad_batches_change_nothing():
    X, y = continuous(np.random.default_rng(0))
    estimator = BayesErrorEstimator().partial_fit(X[:200], y[:200])
    table = [({"X": X_bad, "y": y_bad}, words) for X_bad, y_bad, words in BAD_BATCHES]
    assert options_not_refused(estimator.partial_fit, table) == []
    assert_same_floors(estimator.partial_fit(X[200:300], y[200:300]), BayesErrorEstimator().fit(X[:300], y[:300]))
    first = BayesErrorEstimator()
    assert options_not_refused(first.partial_fit, table[1:2]) == []
    assert not hasattr(first, "n_features_in_")


def test_longer_labels_and_other_number_types():
    X = np.random.default_rng(0).random((40, 2)).astype(np.float32)
    y = np.array(["a", "b"] * 15 + ["a", "long"] * 5)
    estimator = BayesErrorEstimator().partial_fit(X[:30], y[:30].astype("U1")).partial_fit(X[30:], y[30:])
    assert_same_floors(estimator, BayesErrorEstimator().fit(X, y))


def test_fit_starts_anew_and_so_does_what_follows():
    X, y = continuous(np.random.default_rng(0))
    estimator = BayesErrorEstimator().partial_fit(X[:200], y[:200])
    assert_same_floors(estimator.fit(X[200:400, :2], y[200:400]), BayesErrorEstimator().fit(X[200:400, :2], y[200:400]))
    assert_same_floors(estimator.partial_fit(X[:300], y[:300]), BayesErrorEstimator().fit(X[:300], y[:300]))
    estimator.fit(X, y).partial_fit(X[:5], np.repeat("a", 5))
    assert not hasattr(estimator, "bayes_error_")  # not the one of the rows that are no longer there


def test_parameters_are_those_of_the_moment():
    X, y = tied(np.random.default_rng(0))
    estimator = BayesErrorEstimator().partial_fit(X[:200], y[:200])
    changed = {"n_trees": 2, "random_state": 1, "confidence": 0.5, "forced_edges": "keep"}
    estimator.set_params(**changed).partial_fit(X[200:], y[200:])
    assert_same_floors(estimator, BayesErrorEstimator(**changed).fit(X, y))


def test_a_pickled_estimator_goes_on():
    X, y = tied(np.random.default_rng(0))
    estimator = pickle.loads(pickle.dumps(BayesErrorEstimator().partial_fit(X[:500], y[:500])))
    assert_same_floors(estimator.partial_fit(X[500:], y[500:]), BayesErrorEstimator().fit(X, y))


def test_names_of_frames():
    pandas = pytest.importorskip("pandas")
    X, y = continuous(np.random.default_rng(0))
    frame = pandas.DataFrame(X, columns=list("wxyz")).assign(x=1.0)
    estimator = BayesErrorEstimator().partial_fit(frame[:300], y[:300]).partial_fit(frame[300:], y[300:])
    assert_same_floors(estimator, BayesErrorEstimator().fit(frame, y))
    assert any("'x'" in finding.sentence for finding in estimator.findings_)
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.partial_fit(frame[:2][list("zyxw")], y[:2])


@for_each("first_classes", [2, 1])
def test_batches_in_one_reused_array(first_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    y[:100] %= first_classes
    X = rng.standard_normal((300, 2)) + y[:, None]
    estimator, array, labels = BayesErrorEstimator(), np.empty((100, 2)), np.empty(100, int)
    for start in range(0, 300, 100):
        array[:], labels[:] = X[start : start + 100], y[start : start + 100]
        estimator.partial_fit(array, labels)
    assert_same_floors(estimator, BayesErrorEstimator().fit(X, y))
