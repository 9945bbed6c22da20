"""Floors of subgroups: figures where noise was planted, tests that groups differ, and which rows they are about."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from scipy.stats import beta, chi2_contingency, fisher_exact

from bayesfloor import learned_floor, read_table
from bayesfloor.data.row_groups import Subgroups
from bayesfloor.floor.learned.counted_rows import PlainRows, StratifiedRows
from bayesfloor.floor.learned.result import LearningCurve
from bayesfloor.floor.learned.stacking import Stack
from bayesfloor.floor.learned.subgroups import errors_differ, find_in_subgroups, floors_differ, subgroup_floors
from bayesfloor.floor.learned.summary import CurveSummary
from bayesfloor.learn import boosting, linear_cost
from helpers.known_samples import same
from helpers.one_case import for_each
from helpers.refusals import options_not_refused

#: Learners that take milliseconds.
QUICK = ["logistic"]


def planted(n=600, seed=0, flips=(0.0, 0.35)):
    """Two classes, and two regions in which labels are flipped at different rates; floors are about flips + .16."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    by = rng.integers(0, 2, n)
    rate = np.array(flips)[by]
    chance = rate + (1 - 2 * rate) * expit(X @ [4.0, -4.0, 0.0])
    y = (rng.random(n) < chance).astype(int)
    return np.column_stack([X, by]), y, np.array(["north", "south"])[by]


@pytest.fixture(scope="module")
def noisy():
    X, y, by = planted(1200)
    return X, y, by, learned_floor(X, y, by=by, learners=QUICK)


def stacks_of(wrong_by_size, codes, n_classes=2):
    """Stacks of one view each that name the label but where rows are wrong."""
    stacks = []
    for wrong in wrong_by_size:
        named = np.where(wrong, (codes + 1) % n_classes, codes)
        log_q = np.log(np.full((1, len(codes), n_classes), 0.1 / max(n_classes - 1, 1)))
        log_q[0, np.arange(len(codes)), named] = np.log(0.9)
        stacks.append(Stack(log_q[np.newaxis], np.ones((1, 1))))
    return stacks


def whole_of(reached, low, estimate=None, reached_interval=None):
    curve = LearningCurve(*(np.ones(3),) * 5, limit=low, rate=1.0)
    interval = reached_interval or (reached, reached)
    floor = reached if estimate is None else estimate
    return CurveSummary(floor, (low, reached), reached, interval, 0.5, True, curve, curve_low=low)


# --- figures


def test_planted_noise_is_found_where_it_is(noisy):
    _, _, _, floor = noisy
    found = floor.subgroups
    truth = np.array([0.0905, 0.377])  # E min(η, 1 - η) of a logit with spread 5.66, with flips of 0 and .35
    assert found.names == ("north", "south")
    assert_allclose(found.estimate, truth, atol=0.04)
    assert found.reached_p_value < 0.01
    assert found.floor_p_value < 0.05
    (finding,) = [each for each in floor.findings if each.code == "BF041"]
    assert "'south'" in finding.sentence
    assert "their floor is" in finding.sentence
    assert "not another model" in finding.hint


def test_subgroups_add_up_to_the_whole(noisy):
    _, _, by, floor = noisy
    found = floor.subgroups
    assert_allclose(found.share @ found.reached, floor.reached)
    assert_allclose(found.share_of_errors, found.share * found.reached / floor.reached)
    assert_array_equal(found.n_rows, [np.sum(by == "north"), np.sum(by == "south")])
    assert_array_equal(found.n_samples, found.n_rows)
    for reached, (low, high), n in zip(found.reached, found.reached_interval, found.n_rows, strict=True):
        k = round(reached * n)
        assert_allclose([low, high], [beta.ppf(0.025, k, n - k + 1), beta.ppf(0.975, k + 1, n - k)])
    frame = found.frame()
    assert frame["group"].tolist() == ["north", "south"]
    assert frame["estimate"].tolist() == found.estimate.tolist()
    assert repr(found).startswith("SubgroupFloors(column 'subgroup', 2 names, reached ")
    assert "\n" not in repr(found)


def test_the_formula_by_hand():
    """100 rows of each of two subgroups; b has all of what more rows removed, and twice as many errors."""
    n = 100
    codes = np.tile([0, 1], n)
    by = Subgroups("by", ("a", "b"), np.repeat([0, 1], n))
    wrong = np.zeros(2 * n, bool)
    wrong[:10] = wrong[n : n + 20] = True
    small = wrong.copy()
    small[n + 20 : n + 30] = True
    whole = whole_of(0.15, 0.09, estimate=0.11)
    found = subgroup_floors(
        stacks_of([wrong, small, small], codes), whole, by, np.array([n, n]), PlainRows(codes, np.array([n, n])), 0.95
    )
    fall = np.zeros(2 * n)
    fall[n + 20 : n + 30] = 1.0
    error = fall.std() / n**0.5
    expected = []
    for own in (slice(0, n), slice(n, 2 * n)):
        precision = (fall.mean() / max(fall[own].std() / n**0.5, error)) ** 2
        expected.append((4.0 + precision * fall[own].mean() / fall.mean()) / (4.0 + precision))
    assert_allclose(found.reached, [0.1, 0.2])
    assert_allclose(found.estimate, [0.1 - expected[0] * 0.04, 0.2 - expected[1] * 0.04])
    assert expected[0] < 1.0 < expected[1]


def test_a_group_that_was_not_learnt_has_an_open_interval():
    """Errors in a half of the rows of b: chance, or a rule that no learner found."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 300)
    by = Subgroups("by", ("a", "b"), np.repeat([0, 1], [200, 100]))
    wrong = np.concatenate([rng.random(200) < 0.1, rng.random(100) < 0.45])
    whole = whole_of(float(wrong.mean()), float(wrong.mean()) - 0.03)
    rows = PlainRows(codes, np.bincount(codes))
    found = subgroup_floors(stacks_of([wrong] * 3, codes), whole, by, np.array([200, 100]), rows, 0.95)
    assert found.interval[0, 0] > 0.0
    assert found.interval[1, 0] == 0.0
    assert found.reached_p_value < 0.01
    assert found.floor_p_value > 0.05


def test_weights_of_rows_count():
    """Class 1 is a tenth of all rows but a half of those used: its errors count a ninth of the others'."""
    codes = np.repeat([0, 1, 0, 1], 100)
    by = Subgroups("by", ("a", "b"), np.repeat([0, 1], 200))
    wrong = np.zeros(400, bool)
    wrong[100:140] = True  # class 1 of a
    wrong[200:240] = True  # class 0 of b
    rows = StratifiedRows(codes, np.array([3600, 400]), np.array([1.8, 0.2]))
    found = subgroup_floors(stacks_of([wrong] * 3, codes), whole_of(0.2, 0.1), by, np.array([2000, 2000]), rows, 0.95)
    assert_allclose(found.reached, [0.04, 0.36])
    assert_allclose(found.share, [0.5, 0.5])
    assert_allclose(found.share_of_errors, [0.1, 0.9])
    assert found.reached_p_value < 0.01
    # a's error rests on a class that counts little, so it is known better than from 200 rows
    width = found.reached_interval[:, 1] - found.reached_interval[:, 0]
    assert width[0] < beta.ppf(0.975, 9, 192) - beta.ppf(0.025, 8, 193)


# --- tests


def test_the_test_of_two_groups_is_fishers():
    errors = np.zeros(60)
    errors[:9] = 1.0
    errors[30:33] = 1.0
    codes = np.repeat([0, 1], 30)
    p = errors_differ(errors, codes, np.ones(60), seed=3)
    assert abs(p - fisher_exact([[9, 21], [3, 27]]).pvalue) < 4 * (0.1 * 0.9 / 2000) ** 0.5


def test_the_test_of_many_rows_is_pearsons():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 4000)
    errors = (rng.random(4000) < 0.1 + 0.012 * codes).astype(float)
    table = [np.bincount(codes, errors), np.bincount(codes, 1 - errors)]
    p = chi2_contingency(table).pvalue
    by_signs = errors_differ(errors, codes, np.ones(4000), np.arange(4000))
    for found in (errors_differ(errors, codes, np.ones(4000)), by_signs):
        assert abs(found - p) < 4 * (p * (1 - p) / 2000) ** 0.5 + 0.003


def test_clusters_of_several_subgroups_are_compared_within():
    """All clusters err at rates of their own; within them, rows of b err more."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(20), 20)
    codes = np.tile([0, 1], 200)
    errors = (rng.random(400) < rng.beta(0.5, 2.0, 20)[clusters] + 0.15 * codes).astype(float)
    assert errors_differ(errors, codes, np.ones(400), clusters) < 0.01
    # which rows of a cluster are of b says nothing now
    assert errors_differ(errors, rng.permutation(codes), np.ones(400), clusters) > 0.05


def test_nothing_to_compare():
    errors = np.array([1.0, 0.0, 1.0])
    assert errors_differ(errors, np.zeros(3, int), np.ones(3)) == 1.0
    assert errors_differ(np.zeros(3), np.arange(3), np.ones(3)) == 1.0
    assert errors_differ(np.ones(3), np.arange(3), np.ones(3)) == 1.0
    assert floors_differ(np.array([0.1]), np.array([[0.0, 0.2]]), 0.95) == 1.0


def test_floors_differ_where_intervals_do():
    interval = np.array([[0.1, 0.2], [0.3, 0.4]])
    middle = interval.mean(axis=1)
    # two normal estimates, both with half widths of .05, .2 apart: z = .2 / (.05 / 1.96 * √2) = 5.54
    assert_allclose(floors_differ(middle, interval, 0.95), 3e-8, rtol=0.05)
    interval[1, 0] = 0.0
    assert floors_differ(middle, interval, 0.95) == pytest.approx(1.0)  # it rules out no lower floor
    assert floors_differ(np.array([0.15, np.nan]), interval, 0.95) == 1.0


# --- findings


@cache
def some_subgroups():
    X, y, by = planted(120)
    return learned_floor(X, y, by=by, learners=["gaussian"]).subgroups


def figures(reached, floors, low, share=0.25, p=0.001, floor_p=0.01):
    base = some_subgroups()
    reached, floors = np.array(reached), np.array(floors)
    interval = np.column_stack([low, reached + 0.05])
    return replace(
        base, names=("rest", "C"), column="group", reached=reached, estimate=floors, interval=interval,
        reached_interval=np.column_stack([reached - 0.02, reached + 0.05]), share=np.array([1 - share, share]),
        n_rows=np.array([300, 100]), reached_p_value=p, floor_p_value=floor_p,
    )  # fmt: skip


WORST = [
    ((0.09, 0.27), (0.05, 0.2), 0.01, "and their floor is 3.0 times as high", "not another model"),
    ((0.09, 0.10), (0.05, 0.05), 0.6, "their floor is no higher (10.0% against 9.0%)", "A better model for them"),
    ((0.09, 0.27), (0.05, 0.0), 0.6, "cannot be told: it lies within 0–35.0%", "More of their rows"),
]


def test_what_is_said_of_the_worst_group():
    for floors, low, floor_p, said, hint in WORST:
        found = figures((0.1, 0.3), floors, low, floor_p=floor_p)
        whole = whole_of(0.15, 0.05, estimate=0.75 * floors[0] + 0.25 * floors[1])
        (finding,) = find_in_subgroups(found, whole)
        assert finding.code == "BF041"
        assert finding.sentence.startswith(
            "Rows with 'C' in 'group' are predicted wrongly 3.0 times as often as the others (30.0% against 10.0%)"
        )
        assert said in finding.sentence
        assert hint in finding.hint
        assert not list(find_in_subgroups(replace(found, reached_p_value=0.02), whole))
    (finding,) = find_in_subgroups(figures((0.0, 0.3), (0.0, 0.27), (0.0, 0.2)), whole_of(0.075, 0.0, estimate=0.0675))
    assert "(30.0% against 0%)" in finding.sentence


# --- hostile groups


HOSTILE = {
    "one group": np.zeros(200),
    "57 values": np.arange(200) % 57,
    "a row each": [f"g{row}" for row in range(200)],
    "NaN": np.where(np.arange(200) < 60, np.nan, np.arange(200) % 3),
    "lists": [[row % 2] for row in range(200)],
    "mixed": [row if row % 3 else str(row % 5) for row in range(200)],
}


@for_each("kind", HOSTILE)
def test_whatever_the_groups_are(kind):
    X, y, _ = planted(200)
    found = learned_floor(X, y, by=HOSTILE[kind], learners=["gaussian"], checks=False).subgroups
    assert len(found.names) <= 21
    assert found.n_rows.sum() == 200
    assert_allclose([found.share.sum(), found.share_of_errors.sum()], 1.0)
    known = ~np.isnan(found.estimate)
    assert_array_equal(known, found.n_rows >= 5)
    low, high = found.interval.T
    assert ((low >= 0.0) & (high <= 1.0)).all()
    assert (low[known] <= found.estimate[known]).all()
    assert (found.estimate[known] <= found.reached[known]).all()
    assert (np.minimum(found.reached, 0.5) <= high).all()  # no two classes are harder than even ones
    assert (low[~known] == 0.0).all()
    assert 0.0 < found.reached_p_value <= 1.0
    assert 0.0 <= found.floor_p_value <= 1.0
    assert kind != "one group" or found.reached_p_value == found.floor_p_value == 1.0
    assert repr(found)


# --- where rows come from


def frame_of(X, y, by):
    columns = {f"x{j}": X[:, j] for j in range(3)}
    return pd.DataFrame({**columns, "region": by, "label": np.where(y == 1, "yes", "no")})


def test_a_column_of_a_frame_or_a_table_tells(tmp_path):
    X, y, by = planted(300)
    by = by.astype(object)
    by[:20] = None
    frame = frame_of(X, y, by)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.loc[300] = [0.0, 0.0, 0.0, "north", None]  # has no label, and is left out
    named = learned_floor(frame, "label", by="region", learners=QUICK)
    assert named.subgroups.column == "region"
    assert named.subgroups.names == ("north", "south", "(missing)")
    assert named.subgroups.n_rows.sum() == 300
    same(named, learned_floor(frame, "label", learners=QUICK), 0.0)  # the column is a feature in both
    values = learned_floor(frame, "label", by=frame["region"].to_numpy(), learners=QUICK)
    from_file = learned_floor(read_table(tmp_path / "t.csv", by="region"), learners=QUICK)
    for other in (values, from_file):
        assert other.subgroups.names == named.subgroups.names
        assert_array_equal(other.subgroups.n_rows, named.subgroups.n_rows)
        assert_array_equal(other.subgroups.estimate, named.subgroups.estimate)


def test_a_table_that_was_read_without_subgroups_still_has_its_columns(tmp_path):
    X, y, by = planted(200)
    frame_of(X, y, by).to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv")
    found = learned_floor(table, by="region", learners=["gaussian"]).subgroups
    asked = learned_floor(read_table(tmp_path / "t.csv", by="region"), learners=["gaussian"]).subgroups
    assert found.names == asked.names == ("north", "south")
    assert_array_equal(found.estimate, asked.estimate)
    cut = learned_floor(table, by="x0", learners=["gaussian"]).subgroups
    assert_array_equal(cut.n_rows, [50, 50, 50, 50])
    refused = [
        ({"X": table, "by": "town"}, "no column 'town' became a feature"),
        ({"X": X, "y": y, "by": by[1:]}, r"by has shape \(199,\); one value for each of the 200 rows is needed"),
        ({"X": X, "y": y, "by": "region"}, "by='region' names a column, but X is no data frame"),
    ]
    assert options_not_refused(learned_floor, refused) == []
    dropped = read_table(tmp_path / "t.csv", by="region", drop="region")
    assert "region" not in dropped.column_names
    assert dropped.by.names == ("north", "south")
    with pytest.raises(ValueError, match="has no column 'town'"):
        read_table(tmp_path / "t.csv", by="town")
    with pytest.raises(ValueError, match="'label' is the target"):
        read_table(tmp_path / "t.csv", by="label")


def test_subgroups_stay_with_their_rows(tmp_path):
    """Rows without a label or a time are left out, and a sample is taken."""
    X, y, by = planted(200)
    frame = frame_of(X, y, by).assign(day=np.arange(200.0))
    frame.loc[::7, "label"] = None
    frame.loc[1::9, "day"] = np.nan
    frame.loc[0, "region"] = "no label"
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", by="region", time="day", max_rows=90)
    assert len(table.X) == 90
    assert [table.by.names[code] for code in table.by.codes] == table.column("region")
    found = learned_floor(table, learners=["gaussian"]).subgroups
    assert found.names == ("no label", "north", "south")
    assert found.n_samples[0] == 0
    assert found.n_samples.sum() == 90
    assert found.n_rows.sum() == 45


def test_a_subgroup_without_a_tested_row():
    X, y, _ = planted(300)
    by = np.where(np.arange(300) < 100, "old", "new")
    found = learned_floor(X, y, by=by, time=np.arange(300), learners=["gaussian"]).subgroups
    assert found.names == ("new", "old")
    assert_array_equal(found.n_rows, [150, 0])
    assert_array_equal(found.n_samples, [200, 100])
    assert np.isnan([found.reached[1], found.estimate[1]]).all()
    assert found.interval[1].tolist() == found.reached_interval[1].tolist() == [0.0, 1.0]
    assert found.share.tolist() == [1.0, 0.0]


def assert_tested(found, by):
    """All of the rows that these values belong to were tested, and no others."""
    assert found.n_rows.tolist() == [int(np.sum(by == name)) for name in found.names]


def test_copies_samples_groups_and_time():
    X, y, by = planted(300)
    twice = [np.concatenate([values, values[:100]]) for values in (X, y, by)]
    copied = learned_floor(twice[0], twice[1], by=twice[2], learners=["gaussian"])
    assert "BF037" in {finding.code for finding in copied.findings}
    assert_tested(copied.subgroups, by)
    assert copied.subgroups.n_samples.sum() == 400
    sample = learned_floor(X, y, by=by, learners=["gaussian"], max_rows=150).subgroups
    assert sample.n_rows.sum() == 150
    grouped = learned_floor(X, y, by=by, groups=np.arange(300) // 4, learners=["gaussian"]).subgroups
    assert_tested(grouped, by)
    later = learned_floor(X, y, by=by, time=np.arange(300), learners=["gaussian"]).subgroups
    assert_tested(later, by[150:])


def test_rows_that_are_held_out(monkeypatch, set_limits):
    set_limits(learned_rows=300)
    monkeypatch.setattr(linear_cost, "MOST_TREES", 10)
    monkeypatch.setattr(boosting, "MOST_OF_MANY", 5)
    X, y, by = planted(900)
    floor = learned_floor(X, y, by=by)
    found = floor.subgroups
    assert found.n_samples.sum() == 900
    assert found.n_rows.sum() < 900
    assert_allclose(found.share @ found.reached, floor.reached)
    assert found.reached[1] - found.reached[0] > 0.1


def test_subgroups_of_few_rows_say_so():
    rng = np.random.default_rng(0)
    by = np.repeat(["many", "two", "one"], [57, 2, 1])
    found = learned_floor(
        rng.standard_normal((60, 2)), np.arange(60) % 2, by=by, learners=["gaussian"], n_jobs=1
    ).subgroups
    assert dict(zip(found.names, found.is_too_few, strict=True)) == {"many": False, "one": True, "two": True}
    assert found.frame()["is_too_few"].tolist() == found.is_too_few.tolist()
    assert "Too few rows, fewer than 5, to tell a floor: 'one', 'two'." in found.note
