"""What learners learned says the same later as at once, alone as among others, and read from a file."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression, Ridge
from tests.helpers.learners import of_classes, predicted

from bayesfloor.learn.learner import Fitted, Rows, fit
from bayesfloor.learn.linear_cost import DeepTrees
from bayesfloor.learn.records import from_plain, to_plain
from bayesfloor.learn.registry import CLASS_LEARNERS, MANY_ROWS_LEARNERS, NUMBER_LEARNERS, EstimatorLearner
from bayesfloor.learn.training_rows import BLOCK, Codes, Train, relative_spread, standardised

N_TEST = 60


def mixed_rows(n, seed=0):
    """Return numbers of many, of few and of two values."""
    rng = np.random.default_rng(seed)
    few = rng.integers(0, 5, (n, 2)).astype(float)
    return np.column_stack([rng.standard_normal((n, 3)), few, rng.random((n, 1)) < 0.4])


def table_of(X):
    """Return the same columns as codes with gaps: one is a category of many values, one has new values in testing."""
    rng = np.random.default_rng(9)
    codes = np.column_stack([X[:, :3], X[:, 3:5], rng.integers(0, 90, len(X))]).astype(float)
    codes[::7, 0], codes[::5, 4], codes[-3:, 3] = np.nan, np.nan, 7.0
    return codes, np.array([False, False, False, True, True, True])


def rows_of(task, *, has_table, is_weighted, n=260):
    X = mixed_rows(n)
    y = X[:, 0] + X[:, 1] * X[:, 2] + (X[:, 3] == 2)
    codes = np.digitize(y, np.quantile(y, [0.3, 0.7])) if task == "classes" else y
    points, test = standardised(X[:-N_TEST], X[-N_TEST:])
    weight = np.random.default_rng(1).uniform(0.5, 1.5, n - N_TEST) if is_weighted else None
    values, is_category = table_of(X)
    table = Codes(values[:-N_TEST], is_category) if has_table else None
    rows = Rows(test, values[-N_TEST:] if has_table else None)
    known = {"table": table, "spread": relative_spread(X[:-N_TEST]), "weight": weight}
    if task == "classes":
        return Train(points, codes[:-N_TEST], 3, **known), rows
    y = codes[:-N_TEST]
    return Train.of_numbers(points, (y - y.mean()) / y.std(), **known), rows


LEARNERS = {
    **{f"classes {name}": (learner, "classes") for name, learner in CLASS_LEARNERS.items()},
    **{f"numbers {name}": (learner, "numbers") for name, learner in NUMBER_LEARNERS.items()},
    **{f"many {name}": (learner, "classes") for name, learner in MANY_ROWS_LEARNERS.items()},
}
OWN = {
    "own classifier": (EstimatorLearner("own", LogisticRegression()), "classes"),
    "own regressor": (EstimatorLearner("own", Ridge()), "numbers"),
}


@pytest.mark.parametrize("name", [*LEARNERS, *OWN])
def test_what_is_predicted_later_and_alone_is_what_is_predicted_at_once_among_all(name):
    """From points, and from a table with weights."""
    learner, task = (LEARNERS | OWN)[name]
    for has_table in (False, True):
        train, rows = rows_of(task, has_table=has_table, is_weighted=has_table)
        at_once = predicted(learner, train, rows.X, 3, rows.codes)
        fitted = pickle.loads(pickle.dumps(fit(learner, train, None, 3)))
        found = [fitted.predict(rows)]
        if name in LEARNERS:
            found.append(from_plain(to_plain(fitted), Fitted).predict(rows))
        for each in found:
            assert list(at_once) == list(each)
            for output, values in at_once.items():
                assert_array_equal(values, each[output], err_msg=output)
    for output, values in at_once.items():
        alone = predicted(learner, train, rows.X, 3, rows.codes, frozenset({output}))
        assert list(alone) == [output]
        assert_array_equal(alone[output], values, err_msg=output)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_row_is_predicted_by_itself(name):
    """Alone, at every place of a block, and among other rows."""
    learner, task = LEARNERS[name]
    train, rows = rows_of(task, has_table=True, is_weighted=False)
    fitted = fit(learner, train, None, 3)
    among = fitted.predict(rows)
    for row in range(0, N_TEST, 9):
        for times in (1, BLOCK + 3):
            places = np.full(times, row)
            alone = fitted.predict(Rows(rows.X[places], rows.codes[places]))
            for output, values in alone.items():
                assert_array_equal(values, among[output][places], err_msg=output)


def test_two_outputs_that_share_work_are_the_same_as_among_all():
    train, rows = rows_of("classes", has_table=False, is_weighted=False)
    together = of_classes("trees", train, rows.X)
    requested = frozenset({"trees", "local ridge, scaled", "another"})
    found = of_classes("trees", train, rows.X, requested=requested)
    assert list(found) == ["trees", "local ridge, scaled"]
    for output, values in found.items():
        assert_array_equal(values, together[output])


def test_deep_trees_without_predictions_of_their_own():
    train, rows = rows_of("classes", has_table=False, is_weighted=False)
    requested, learner = frozenset(["1 neighbours, scaled"]), DeepTrees(500)
    found = fit(learner, train, requested, 3).predict(rows)
    at_once = predicted(learner, train, rows.X, 3, requested=requested)
    assert_array_equal(found["1 neighbours, scaled"], at_once["1 neighbours, scaled"])


def test_estimators_of_the_caller_are_in_no_file():
    train, _ = rows_of("classes", has_table=False, is_weighted=False)
    with pytest.raises(ValueError, match="learners of your own"):
        to_plain(fit(OWN["own classifier"][0], train, None, 0))
