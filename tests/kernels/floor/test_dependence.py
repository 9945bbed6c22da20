"""Rows that belong together without anyone having said so."""

import numpy as np
import pytest

from bayesfloor.data.prepared_table import TabularView
from bayesfloor.floor.learned.dependence import (
    closeness,
    find_dependence,
    find_dependence_of_numbers,
    says_group_only,
)
from helpers.one_case import for_each


def patients(seed, n_patients=40, n_rows=8, noise=0.2):
    """Every patient has a point and a label of their own; rows are the point with some noise, in random order."""
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(n_patients), n_rows))
    label = rng.integers(0, 2, n_patients)
    centre = rng.standard_normal((n_patients, 3)) + label[:, None]
    return centre[groups] + noise * rng.standard_normal((len(groups), 3)), label[groups], groups


def codes_of(found):
    return [finding.code for finding in found]


def test_a_column_of_patients_is_found_with_both_errors():
    X, y, groups = patients(0)
    (found,) = find_dependence(X, y, {"patient": groups}, in_order=True)
    assert found.code == "BF034"
    assert "'patient'" in found.sentence
    assert "groups='patient' (--groups)" in found.hint
    mixed, apart = (float(word.strip("%,.")) for word in found.sentence.split() if "%" in word)
    # the floor for new patients is Phi(-sqrt(3) / 2 / sqrt(1.04)) = 19.8%; a row of a patient that is known tells all
    assert mixed < 5 < 12 < apart
    # some rows of unknown patients, and names that are numbers with gaps, change nothing of it
    given = np.where(np.arange(len(y)) % 9 == 0, -1, 7 * groups)
    assert codes_of(find_dependence(X, y, {"patient": given}, in_order=False)) == ["BF034"]


def test_numbers_that_patients_have_of_their_own():
    X, _, groups = patients(0)
    rng = np.random.default_rng(1)
    own = rng.standard_normal(40)[groups] + 0.1 * rng.standard_normal(len(groups))
    (found,) = find_dependence_of_numbers(X, own, {"patient": groups}, in_order=True)
    assert found.code == "BF034"
    assert "telling low, middle and high values apart" in found.sentence
    mixed, apart = (float(word.strip("%,.")) for word in found.sentence.split() if "%" in word)
    assert mixed < 30 < 50 < apart  # of a new patient nothing is known: two of three are wrong by chance
    order = np.argsort(own)
    (found,) = find_dependence_of_numbers(X[order], own[order], {}, in_order=True)
    assert (found.code, "sorted by the value" in found.sentence) == ("BF035", True)
    assert find_dependence_of_numbers(X, rng.standard_normal(len(X)), {"patient": groups}, in_order=True) == []


@for_each("seed", range(2))
def test_nothing_is_found_where_rows_are_independent(seed):
    rng = np.random.default_rng(seed)
    n = 400
    species = rng.integers(0, 15, n)  # a feature that tells much about the label
    X = np.column_stack([rng.standard_normal((n, 3)), np.eye(15)[species], species])
    y = (X[:, 0] + (species % 2) * 2.0 + rng.standard_normal(n) > 1.0).astype(np.int64)
    possible = {"species": species, "day": rng.integers(0, 40, n)}
    assert find_dependence(X, y, possible, in_order=True, seed=seed) == []


def test_features_that_only_say_the_group_are_left_out():
    groups = np.repeat(np.arange(4), 3)
    own_value = np.array([0.3, 0.1, 0.9, 0.2])[groups]  # a value of each patient: it lets a model know the patient
    X = np.column_stack([np.eye(4)[groups], 10.0 * groups, -groups, own_value, np.arange(12) % 5, groups < 2])
    assert says_group_only(X, groups).tolist() == [True] * 6 + [False] * 3


def test_closeness_is_one_by_chance_and_the_number_of_groups_for_copies():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(50), 6)
    assert closeness(rng.standard_normal((300, 2)), groups % 10) == pytest.approx(1.0, abs=0.3)
    copies = rng.standard_normal((50, 2))[groups] + 1e-3 * rng.standard_normal((300, 2))
    # five of five neighbours share the group; by chance 5 of 299 others do
    assert closeness(copies, groups) == pytest.approx(299 / 5)


def test_rows_sorted_by_the_label_are_named_and_not_judged():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = rng.standard_normal((180, 2)) + y[:, None]
    (found,) = find_dependence(X, y, {}, in_order=True)
    assert found.code == "BF035"
    assert "it changes 2 times" in found.sentence
    assert "about 120 changes" in found.sentence
    assert find_dependence(X, y, {}, in_order=False) == []
    shuffled = rng.permutation(180)
    assert find_dependence(X[shuffled], y[shuffled], {}, in_order=True) == []


def test_drift_in_the_order_of_rows_is_found():
    rng = np.random.default_rng(0)
    n = 2400  # more rows than are looked at
    t, y = np.arange(n) / n, rng.integers(0, 2, n)
    X = rng.standard_normal((n, 2))
    X[:, 0] += 3.0 * y + 3.0 * t
    (found,) = find_dependence(X, y, {}, in_order=True)
    assert found.code == "BF036"
    shuffled = rng.permutation(n)
    assert find_dependence(X[shuffled], y[shuffled], {}, in_order=True) == []


def moving_class(seed, n):
    """One of two classes moves by 2.8 standard deviations along the file, around the other."""
    rng = np.random.default_rng(seed)
    t, y = np.arange(n) / n, rng.integers(0, 2, n)
    X = rng.standard_normal((n, 4))
    X[:, 0] += 2.1 * (1 - y)
    X[:, 1] += y * (2.1 - 2.0 * t)
    X[:, 2] += y * 2.0 * t
    return X, y


def test_a_class_that_moves_is_found_though_its_place_adds_little():
    X, y = moving_class(0, 1500)
    (found,) = find_dependence(X, y, {}, in_order=True)
    assert found.code == "BF036"
    aged, fresh = (float(word.strip("%,.")) for word in found.sentence.split() if "%" in word)
    assert fresh + 1 <= aged
    shuffled = np.random.default_rng(0).permutation(len(y))
    assert find_dependence(X[shuffled], y[shuffled], {}, in_order=True) == []


@for_each("seed", range(2))
def test_rows_sorted_by_a_feature_do_not_drift(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 4))
    X = X[np.argsort(X[:, 0])]  # models of one half have never seen such rows as are in the other
    y = (1.5 * X[:, 0] + X[:, 1] + 0.8 * rng.logistic(size=500) > 0).astype(np.int64)
    assert find_dependence(X, y, {}, in_order=True) == []


def test_columns_computed_from_labels_are_left_out():
    rng = np.random.default_rng(0)
    X, y, groups = patients(2)
    tabular = TabularView(np.zeros((len(y), 1)), np.array([True]), ("patient",), ((0, 3, 4),))
    with_code = np.column_stack([X, y + 0.01 * rng.standard_normal(len(y))])
    # the column gives all labels away, so both errors are 0 if it stays
    assert find_dependence(with_code, y, {"patient": groups}, in_order=False) == []
    found = find_dependence(with_code, y, {"patient": groups}, in_order=False, tabular=tabular)
    assert codes_of(found) == ["BF034"]


def test_too_little_to_tell_is_no_finding():
    X, y, groups = patients(3)
    assert find_dependence(X[:90], y[:90], {"patient": groups[:90]}, in_order=True) == []
    assert find_dependence(X, np.zeros_like(y), {"patient": groups}, in_order=True) == []
    assert find_dependence(X, y, {"hospital": groups % 4}, in_order=False) == []
    assert find_dependence(X, y, {"patient": np.full(len(y), -1)}, in_order=False) == []
    assert find_dependence(np.zeros((200, 1)), np.arange(200) % 2, {"g": np.arange(200) // 4}, in_order=True) == []
