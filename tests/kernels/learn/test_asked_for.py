"""Learners say the same of rows to come as of rows that are there, and alone what they say among all."""

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression, Ridge

from bayesfloor.learn.families import CLASS_FAMILIES, NUMBER_FAMILIES, family_of
from bayesfloor.learn.later import BLOCK, Later, Steps, steps_of
from bayesfloor.learn.linear_cost import LINEAR_FAMILIES, deep_trees
from bayesfloor.learn.training_rows import Codes, Train, relative_spread, standardised

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
    return Codes(codes[:-N_TEST], codes[-N_TEST:], np.array([False, False, False, True, True, True]))


def rows_of(task, *, has_table, is_weighted, n=260):
    X = mixed_rows(n)
    y = X[:, 0] + X[:, 1] * X[:, 2] + (X[:, 3] == 2)
    codes = np.digitize(y, np.quantile(y, [0.3, 0.7])) if task == "classes" else y
    points, test = standardised(X[:-N_TEST], X[-N_TEST:])
    weight = np.random.default_rng(1).uniform(0.5, 1.5, n - N_TEST) if is_weighted else None
    known = {"table": table_of(X) if has_table else None, "spread": relative_spread(X[:-N_TEST]), "weight": weight}
    if task == "classes":
        return Train(points, codes[:-N_TEST], 3, **known), test
    y = codes[:-N_TEST]
    return Train.of_numbers(points, (y - y.mean()) / y.std(), **known), test


FAMILIES = {
    **{f"classes {name}": (family, "classes") for name, family in CLASS_FAMILIES.items()},
    **{f"numbers {name}": (family, "numbers") for name, family in NUMBER_FAMILIES.items()},
    **{f"many {name}": (family, "classes") for name, family in LINEAR_FAMILIES.items()},
    "own classifier": (family_of("own", LogisticRegression()), "classes"),
    "own regressor": (family_of("own", Ridge()), "numbers"),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_predicted_later_and_alone_is_what_is_predicted_at_once_among_all(name):
    """From points, and from a table with weights."""
    family, task = FAMILIES[name]
    for has_table in (False, True):
        train, test = rows_of(task, has_table=has_table, is_weighted=has_table)
        at_once = family(train, test, 3)
        codes, to_come = None, train
        if has_table:
            codes = train.table.test
            to_come = train._replace(table=train.table._replace(test=Later.codes()))
        steps = pickle.loads(pickle.dumps(steps_of(family(to_come, Later.rows(), 3))))
        found = steps.predict({"rows": test} | ({"codes": codes} if steps.takes_codes else {}))
        assert at_once.keys() == found.keys()
        for learner, values in at_once.items():
            assert_array_equal(values, found[learner], err_msg=learner)
    assert family(train._replace(wanted=frozenset()), test, 3) == {}
    for learner, values in at_once.items():
        alone = family(train._replace(wanted=frozenset({learner})), test, 3)
        assert list(alone) == [learner]
        assert_array_equal(alone[learner], values, err_msg=learner)


def test_two_learners_that_share_work_are_the_same_as_among_all():
    train, test = rows_of("classes", has_table=False, is_weighted=False)
    together = CLASS_FAMILIES["trees"](train, test, 0)
    wanted = frozenset({"trees", "local ridge, scaled", "another"})
    found = CLASS_FAMILIES["trees"](train._replace(wanted=wanted), test, 0)
    assert list(found) == ["trees", "local ridge, scaled"]
    for learner, predicted in found.items():
        assert_array_equal(predicted, together[learner])


def test_deep_trees_without_predictions_of_their_own():
    train, test = rows_of("classes", has_table=False, is_weighted=False)
    some = train._replace(wanted=frozenset(["1 neighbours, scaled"]))
    family = partial(deep_trees, n_rows=500)
    found = steps_of(family(some, Later.rows(), 3)).predict({"rows": test})
    assert_array_equal(found["1 neighbours, scaled"], family(some, test, 3)["1 neighbours, scaled"])


def test_rows_are_cut_into_blocks():
    blocks = Steps.blocks(2 * BLOCK + 5)
    assert [(each.start, each.stop) for each in blocks] == [(0, BLOCK), (BLOCK, 2 * BLOCK), (2 * BLOCK, 2 * BLOCK + 5)]
    assert Steps.blocks(0) == []


def test_what_outputs_share_is_done_once():
    shared = Later.rows() @ np.eye(2)
    steps = steps_of({"a": shared * np.ones(2), "b": shared + np.ones(2)})
    assert sorted(steps.functions) == ["later.product", "later.scaled", "later.shifted", "rows"]


def test_rows_to_come_have_no_values():
    rows = Later.rows()
    with pytest.raises(TypeError, match="asked for its values"):
        np.asarray(rows)
    with pytest.raises(TypeError, match="how many there are"):
        len(rows)
    with pytest.raises(TypeError):
        np.exp(rows)
