"""Two tables: p-values that hold, what moved by its own share, labels given the columns, and what is refused."""

from dataclasses import replace
from functools import partial
from math import comb
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from bayesfloor import drift, read_table, spanning_forests
from bayesfloor.choose.drifting.compare import at_one_level
from bayesfloor.choose.drifting.dependence import rows_alike
from bayesfloor.choose.drifting.labels import largest_mean
from bayesfloor.choose.drifting.moved import gap_of, moved_share
from bayesfloor.choose.drifting.permutations import Deals, deal_names, share_as_large, smallest_of
from bayesfloor.choose.drifting.scores import Part, level_indicators, orthonormal, pairs_of, rank_polynomials
from bayesfloor.choose.drifting.two_samples import TwoSampleTest, cross_shares, squared_sums
from bayesfloor.results import TargetDrift
from bayesfloor.tables.columns import NumberColumn, text_column
from helpers.agreement import codes_of
from helpers.one_case import for_each
from helpers.refusals import options_not_refused


def numbers(n, d, rng):
    return pd.DataFrame(rng.standard_normal((n, d)), columns=[f"x{j}" for j in range(d)])


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "income": np.exp(rng.normal(10, 0.6, n)),
            "region": rng.choice(["north", "south", "east"], n, p=[0.5, 0.3, 0.2]),
            "member": rng.choice(["yes", "no"], n),
        }
    )


# --- permutations


def test_few_rows_have_all_ways_to_deal_the_names():
    is_new = np.array([False, True, False, True, True, False])
    deals = deal_names(is_new, None, 0)
    assert deals.is_exact
    assert deals.is_new.shape == (comb(6, 3), 6)
    np.testing.assert_array_equal(deals.is_new[0], is_new)
    assert len({tuple(np.flatnonzero(way)) for way in deals.is_new}) == comb(6, 3)


def test_names_of_a_group_in_both_tables_are_swapped():
    # groups 0, 1 and 2 are in both tables, 3 to 6 in one: 2 ** 3 swaps, and 6 ways to deal two names out to four groups
    groups = np.array([0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 6])
    is_new = np.array([0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0], bool)
    deals = deal_names(is_new, groups, 0)
    assert deals.is_exact
    np.testing.assert_array_equal(deals.is_new[0], is_new)
    found = {tuple(way) for way in deals.is_new.tolist()}
    assert len(deals.is_new) == len(found) == 8 * 6
    for way in deals.is_new:
        of_pairs = way[:7] ^ is_new[:7]
        assert all(len(set(of_pairs[groups[:7] == group])) == 1 for group in range(3))
        assert way[[7, 8, 9, 10]].sum() == 2
        assert way[10] == way[11]
    # of many, a random share of all swaps
    groups = np.tile(np.arange(40), 2)
    many = deal_names(np.arange(80) >= 40, groups, 0)
    assert not many.is_exact
    assert (many.n_new == 40).all()
    assert abs(many.is_new[1:, :40].mean() - 0.5) < 4 * 0.5 / (999 * 40) ** 0.5


def test_p_values_of_ties_and_of_choices():
    shares = share_as_large(np.array([[2.0, 1.0, 3.0, 2.0 + 1e-13], [0.0, 0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(shares, [[0.75, 1.0, 0.25, 0.75], [1, 1, 1, 1]])
    # of two statistics that are the same nothing is lost; of two that never agree, twice as much
    one, other = share_as_large(np.arange(20.0)[::-1]), share_as_large(np.arange(20.0))
    np.testing.assert_allclose(smallest_of(np.array([one, one])), [0.05, 0.05])
    np.testing.assert_allclose(smallest_of(np.array([one, other]))[0], 0.1)


# --- scores and statistics


def test_scores_are_orthonormal_and_their_squares_are_one_on_average():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(7)
    values[2] = np.nan
    scores = orthonormal(rank_polynomials(values), ~np.isnan(values))
    assert scores.shape == (7, 4)
    np.testing.assert_allclose(scores.T @ scores, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(scores.sum(axis=0), 0.0, atol=1e-12)
    assert (scores[2] == 0).all()
    assert orthonormal(rank_polynomials(np.repeat([0.0, 1.0], 10)), np.ones(20, bool)).shape[1] == 1
    texts = text_column("c", ["a", "b", "c", "rare"], np.array([0] * 6 + [1] * 6 + [2] * 6 + [3] * 2))
    assert orthonormal(level_indicators(texts), np.ones(20, bool)).shape[1] == 3
    # over all ways to deal three of seven names out, the variance of a sum is n1 n2 / (n (n - 1))
    every = deal_names(np.arange(7) < 3, None, 0)
    np.testing.assert_allclose(squared_sums(scores, every).mean(axis=1), 1.0)


def test_squares_of_levels_are_pearsons_chi_squared():
    rng = np.random.default_rng(0)
    codes, is_new = rng.integers(0, 4, 200), np.arange(200) < 80
    scores = orthonormal(np.eye(4)[codes], np.ones(200, bool))
    counts = np.array([np.bincount(codes[side], minlength=4) for side in (is_new, ~is_new)])
    expected = stats.chi2_contingency(counts, correction=False).statistic * 199 / 200
    found = squared_sums(scores, Deals(is_new[np.newaxis], False)).sum()
    np.testing.assert_allclose(found, expected)


def test_cross_shares_are_those_of_the_edge_sums():
    rng = np.random.default_rng(0)
    points = np.vstack([rng.integers(0, 3, (30, 2)).astype(float), rng.standard_normal((20, 2))])  # with copies
    forests = spanning_forests(points, n_trees=3)
    deals = deal_names(np.arange(50) < 20, None, 0)
    shares = cross_shares(forests, deals)
    for way, share in zip(deals.is_new[:20], shares, strict=False):
        sums = forests.edge_sums(way.astype(int))
        per_tree = float(sums.cross) / float(sums.total) * 49
        np.testing.assert_allclose(share, per_tree * 50 / (2 * 20 * 30))


def test_pairs_are_of_different_columns_and_components_stand_for_very_many():
    rng = np.random.default_rng(0)

    def parts(n):
        every = np.ones(60, bool)
        return [Part(f"x{j}", "values", orthonormal(rng.standard_normal((60, 2)), every)) for j in range(n)]

    few = pairs_of(parts(3))
    assert [pair.column for pair in few] == ["x0 and x1", "x0 and x2", "x1 and x2"]
    assert {pair.scores.shape[1] for pair in few} == {4}
    assert {pair.scores.shape[1] for pair in pairs_of(parts(30))} == {1}
    assert {pair.column for pair in pairs_of(parts(40))} == {""}
    assert pairs_of(parts(1)) == []


def test_the_largest_mean_is_compared_with_0():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((300, 5))
    assert largest_mean(noise + np.array([0, 0, 0.5, 0, 0]), 0) == 0.001
    assert largest_mean(noise, 0) > 0.05
    assert largest_mean(np.zeros((10, 2)), 0) == 1.0


# --- what moved


def test_a_column_that_moved_is_named_with_its_share():
    rng = np.random.default_rng(0)
    old, new = numbers(300, 4, rng), numbers(200, 4, rng)
    new["x2"] += 0.8
    found = drift(old, new, learners=None)
    assert found.p_value < 0.01
    assert found.moved == ("x2",)
    assert found.verdict == "columns"
    assert (found.n_old, found.n_new, found.n_samples) == (300, 200, 500)
    share = found.moves[0].share
    np.testing.assert_allclose(share, 2 * stats.norm.cdf(0.4) - 1, atol=0.08)  # where the two laws differ most
    assert share < stats.ks_2samp(old["x2"], new["x2"]).statistic  # less what chance adds
    assert "'x2'" in found.sentence()
    assert 0.0 <= found.interval[0] <= found.estimate <= found.interval[1] <= 1.0
    frame = found.frame()
    assert frame["column"].tolist()[0] == "x2"
    assert len(frame) == 4
    assert found.to_dict()["moves"][0]["column"] == "x2"


def test_levels_and_gaps_have_their_own_shares():
    old, new = people(500, 0), people(400, 1)
    to_east = (new["region"] == "north") & (np.arange(400) % 2 == 0)
    new.loc[to_east, "region"] = "east"
    new.loc[new.index % 4 == 0, "income"] = np.nan
    found = drift(old, new, learners=None)
    assert set(found.moved) == {"region", "income"}
    by_part = {(each.column, each.what): each for each in found.moves}
    shares = [frame["region"].value_counts(normalize=True) for frame in (old, new)]
    total_variation = (shares[0] - shares[1]).abs().sum() / 2
    np.testing.assert_allclose(by_part["region", "levels"].share, total_variation, atol=0.01)
    np.testing.assert_allclose(by_part["income", "gaps"].share, 0.25, atol=0.005)
    assert by_part["income", "gaps"].new == "25.0%"
    assert by_part["income", "values"].p_value > 0.05  # what is left of it did not move
    levels = {each.level: each for each in found.levels}
    assert {"north", "east"} <= set(levels)
    np.testing.assert_allclose(levels["east"].new, shares[1]["east"])


@for_each(("kind", "truth"), [("number", 0.0), ("number", 0.4), ("levels", 0.0), ("levels", 0.12)])
def test_what_chance_adds_to_a_share_is_taken_away(truth, kind):
    rng = np.random.default_rng(0)
    raw, said = [], []
    is_new = np.arange(300) >= 150
    dealt = deal_names(is_new, None, 0).is_new[1:21]
    for _ in range(60):
        if kind == "number":
            values = rng.standard_normal(300) + is_new * 2 * stats.norm.ppf(0.5 + truth / 2)
            gap = gap_of(NumberColumn("x", values))
        else:
            law = np.full(12, 1 / 12)
            after = law + np.repeat([truth, -truth], 6) / 6
            codes = np.append(rng.choice(12, 150, p=law), rng.choice(12, 150, p=after))
            gap = gap_of(text_column("x", [f"l{code}" for code in range(12)], codes))
        raw.append(gap(is_new))
        said.append(moved_share(gap, is_new, dealt))
    assert abs(np.mean(said) - truth) < 0.05
    if truth < 0.1:  # chance adds most to what is little
        assert np.mean(said) < np.mean(raw) - 0.05


def test_gaps_are_those_of_scipy():
    rng = np.random.default_rng(0)
    values, is_new = rng.integers(0, 9, 90).astype(float), rng.random(90) < 0.4
    values[:5] = np.nan
    known = ~np.isnan(values)
    expected = stats.ks_2samp(values[known & is_new], values[known & ~is_new]).statistic
    np.testing.assert_allclose(gap_of(NumberColumn("x", values))(is_new), expected)
    assert gap_of(NumberColumn("x", values))(known) == 0.0  # no value in the other table


def test_a_relation_that_moved_is_a_pair_of_columns_and_no_column():
    rng = np.random.default_rng(0)
    old, new = numbers(400, 4, rng), numbers(400, 4, rng)
    new["x3"] = 0.6 * new["x1"] + 0.8 * new["x3"]
    found = drift(old, new, learners=None)
    assert found.p_value < 0.01
    assert found.moved == ()
    assert [(each.column, each.what) for each in found.moves if each.p_value <= 0.05] == [("x1 and x3", "pair")]


def test_rows_of_a_new_kind_are_described():
    rng = np.random.default_rng(0)
    old, new = people(600, 2), people(600, 3)
    rows = rng.random(600) < 0.25
    new.loc[rows, "age"] = rng.normal(110, 3, rows.sum())
    found = drift(old, new, learners=None)
    kind = found.kinds[0]
    assert kind.rows.startswith("age > ")
    assert kind.old < 0.02
    assert 0.15 < kind.new < 0.35
    assert kind.p_value <= 0.05


def test_a_column_that_tells_all_is_named_alone():
    old, new = people(200, 0), people(200, 1)
    new["age"] *= 12.0  # in months
    found = drift(old, new, learners=None)
    (finding,) = found.findings
    assert finding.code == "BF071"
    assert "'age'" in finding.sentence


def test_tables_of_one_distribution_differ_in_nothing():
    rng = np.random.default_rng(3)
    old, new = numbers(200, 5, rng).assign(row=np.arange(200)), numbers(150, 5, rng).assign(row=np.arange(150))
    found = drift(old, new, learners=None)
    assert found.verdict == "none"
    assert found.moved == found.kinds == found.levels == ()
    (finding,) = found.findings
    assert "'row'" in finding.sentence  # numbers of rows that start anew are left out
    assert found.sentence().startswith("Nothing shows that the columns differ")
    assert all(each.p_value >= found.p_value for each in found.moves)


# --- what is left out, and what is refused


def test_ids_and_dates_are_left_out_and_named():
    old, new = people(300, 0), people(200, 1)
    for frame, first, day in ((old, 0, "2024-01-01"), (new, 5000, "2025-01-01")):
        frame.insert(0, "customer_id", np.arange(len(frame)) + first)
        frame["visited"] = pd.to_datetime(day) + pd.to_timedelta(np.arange(len(frame)) % 90, "D")
        frame["year"] = int(day[:4])
    found = drift(old, new, learners=None)
    assert found.verdict == "none"
    (finding,) = found.findings
    assert finding.code == "BF070"
    assert all(name in finding.sentence for name in ("'customer_id'", "'visited'", "'year'"))
    assert {each.column for each in found.moves} == {"age", "income", "region", "member"}


def test_what_cannot_be_compared_is_refused(tmp_path):
    old, new = people(40, 0), people(30, 1)
    old.to_csv(tmp_path / "old.csv", index=False)
    X, place = np.random.default_rng(0).standard_normal((40, 2)), np.arange(20.0)
    halves, gap = {"old": X[:20], "new": X[20:]}, np.where(place == 3, np.nan, place)
    both = {"old": old, "new": new}
    table = [
        ({"old": old, "new": new.drop(columns="age")}, "new lacks 'age', which old has"),
        ({"old": old.drop(columns=["age", "member"]), "new": new}, "old lacks 'age', 'member'"),
        ({"old": old, "new": new.head(1)}, "new has 1 row; at least two are needed"),
        ({"old": old.head(0), "new": new}, "0 rows"),
        ({"old": old[["age"]] * 0, "new": new[["age"]] * 0}, "no column is left to compare: 'age' is constant"),
        ({"old": [[1.0], [2.0]], "new": ["a", "b"]}, "must be a file, a data frame or a matrix of numbers"),
        ({"old": np.empty((0, 2)), "new": np.ones((3, 2))}, "old has 0 rows and 2 columns"),
        ({"old": read_table(tmp_path / "old.csv", target="member"), "new": new}, "old is a Table, which was made rea"),
        ({**both, "y": "outcome"}, "has no column 'outcome'"),
        ({**both, "y": np.zeros(40)}, "y must name a column of both tables, or be a pair of arrays"),
        ({**both, "y": (np.arange(40) % 2, [0, 1, 1])}, r"y has shape \(3,\) for new, which has 30 rows"),
        ({**both, "max_rows": 2}, "'max_rows' parameter must be an int in the range"),
        ({**both, "confidence": 1.5}, "'confidence' parameter"),
        ({**halves, "groups": (place, place), "time": (place, place)}, "give groups or time, not both"),
        ({**halves, "time": (list("abcd" * 5), list("abcd" * 5))}, "holds neither dates nor numbers"),
        ({**halves, "time": (place, gap)}, "rows of the tables without a value in 'time', the time: 1"),
    ]
    assert options_not_refused(partial(drift, learners=None), table) == []


def test_columns_of_one_table_alone():
    old, new = people(60, 0), people(50, 1)
    found = drift(old, new.drop(columns="age"), drop="age", learners=None)
    assert "age" not in {each.column for each in found.moves}
    expected = drift(old, new, drop="member", learners=None)
    with pytest.warns(UserWarning, match="new has no column 'member': labels are not compared"):
        found = drift(old, new.drop(columns="member"), y="member", learners=None)
    assert found.target is None
    assert found.p_value == expected.p_value


# --- the same answer


def test_the_order_of_the_rows_and_the_kind_of_frame_change_nothing(tmp_path):
    old, new = people(120, 0), people(90, 1)
    new["age"] += 8
    plain = drift(old, new, learners=None, y="member")
    rng = np.random.default_rng(0)
    shuffled = [frame.iloc[rng.permutation(len(frame))] for frame in (old, new)]
    for name, frame in zip(("old", "new"), shuffled, strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    for others in (
        shuffled,
        [pl.from_pandas(frame) for frame in shuffled],
        [tmp_path / "old.csv", tmp_path / "new.csv"],
    ):
        again = drift(*others, learners=None, y="member", n_jobs=2)
        assert again.to_dict() == plain.to_dict()
    assert type(drift(pl.from_pandas(old), pl.from_pandas(new), learners=None).frame()) is pl.DataFrame


def test_numbers_in_one_file_and_text_in_the_other_are_levels_of_both(tmp_path):
    pd.DataFrame({"code": ["1", "2", "3", "4"] * 20, "x": np.arange(80) % 7}).to_csv(tmp_path / "old.csv", index=False)
    pd.DataFrame({"code": ["1", "2", "A", "B"] * 20, "x": np.arange(80) % 7}).to_csv(tmp_path / "new.csv", index=False)
    found = drift(tmp_path / "old.csv", tmp_path / "new.csv", learners=None)
    assert found.moved == ("code",)
    assert {each.level for each in found.levels} == {"3", "4", "A", "B"}


def test_a_sample_is_a_share_of_each_table():
    found = drift(people(300, 0), people(100, 1), learners=None, max_rows=200)
    assert (found.n_old, found.n_new, found.n_samples) == (150, 50, 400)
    assert codes_of(found) == ["BF074"]


# --- groups


def test_rows_of_one_patient_are_no_evidence_by_themselves():
    rng = np.random.default_rng(0)
    level = rng.standard_normal((16, 2)).repeat(25, axis=0)
    points = level + 0.3 * rng.standard_normal((400, 2))
    patients = np.arange(16).repeat(25)
    old, new = points[:200], points[200:]
    assert drift(old, new, learners=None).p_value < 0.01  # eight patients are never like eight others
    found = drift(old, new, groups=(patients[:200], patients[200:]), learners=None)
    assert found.p_value > 0.05
    frame = pd.DataFrame(points, columns=["a", "b"]).assign(patient=patients)
    named = drift(frame[:200], frame[200:], groups="patient", learners=None)
    assert named.p_value > 0.05
    assert {each.column for each in named.moves} == {"a", "b"}


def test_patients_in_both_tables_are_compared_with_themselves():
    # half a standard deviation within patients that differ by three: nothing was found of it
    rng = np.random.default_rng(0)
    levels = 3 * rng.standard_normal((40, 3))
    patients = [np.repeat(np.arange(40), rng.integers(1, 10, 40)) for _ in range(2)]
    old, new = (levels[of] + rng.standard_normal((len(of), 3)) for of in patients)
    assert drift(old, new, groups=tuple(patients), learners=None).p_value > 0.05
    new[:, 1] += 0.5
    found = drift(old, new, groups=tuple(patients), learners=None)
    assert found.p_value < 0.05
    assert found.moved == ("x1",)


# --- rows that depend on those before them


def series(n, phi, d, rng):
    """Stationary series of variance 1 whose neighbours have the correlation phi."""
    X = rng.standard_normal((n, d))
    for row in range(1, n):
        X[row] = phi * X[row - 1] + (1 - phi**2) ** 0.5 * X[row]
    return X


def test_rows_that_tell_as_much_as_one():
    for phi in (0.0, 0.8):
        found = rows_alike(series(20_000, phi, 5, np.random.default_rng(0)))
        np.testing.assert_allclose(found, (1 + phi) / (1 - phi), rtol=0.2)


def test_halves_of_one_series_do_not_differ_once_their_time_is_known():
    rng = np.random.default_rng(0)
    alarms = {"with": 0, "without": 0}
    for _ in range(10):
        X = pd.DataFrame(series(400, 0.8, 2, rng), columns=["a", "b"])
        X["day"] = pd.date_range("2024-01-01", periods=400)
        old, new = X[:200], X[200:]
        alarms["without"] += drift(old, new, learners=None, drop="day").p_value <= 0.05
        found = drift(old.sample(frac=1, random_state=0), new, learners=None, time="day")
        alarms["with"] += found.p_value <= 0.05
        assert {each.column for each in found.moves} <= {"a", "b", "a and b"}
    assert alarms["without"] >= 6
    assert alarms["with"] <= 2
    X[["a", "b"]] = series(400, 0.8, 2, np.random.default_rng(0))
    X["a"] += np.where(np.arange(400) < 200, 0, 2)
    found = drift(X[:200], X[200:], learners=None, time="day")
    assert found.p_value <= 0.05
    assert found.moved == ("a",)


def test_the_order_of_rows_is_a_finding_where_it_tells():
    rng = np.random.default_rng(0)
    X = series(400, 0.8, 2, rng)
    place = np.arange(400)
    found = drift(X[:200], X[200:], learners=None)
    (finding,) = [each for each in found.findings if each.code == "BF069"]
    assert "'x" in finding.sentence
    assert "(correlation 0." in finding.sentence
    times = (place[:200], place[200:])
    assert "BF069" not in codes_of(drift(X[:200], X[200:], learners=None, time=times))
    shuffled = X[rng.permutation(400)]
    assert "BF069" not in codes_of(drift(shuffled[:200], shuffled[200:], learners=None))
    few = drift(*np.split(series(400, 0.98, 2, rng), 2), learners=None, time=times)
    (finding,) = few.findings
    assert finding.code == "BF074"
    assert "stretches of time" in finding.sentence


# --- one level for all that is said


def test_tests_of_columns_and_labels_share_one_level():
    test = TwoSampleTest(0.03, {}, np.empty(0), [], False, np.empty((0, 4), bool))
    target = TargetDrift("y", "classification", 0.04, 1.0, 1.0, 0.95)
    both = at_one_level(test, None, target)
    assert [both[0].p_value, both[1].p_value] == pytest.approx([0.06, 0.06])  # Holm
    assert not both[1].has_moved
    sure = at_one_level(test, None, replace(target, p_value=0.001))
    assert [sure[0].p_value, sure[1].p_value] == pytest.approx([0.03, 0.002])
    assert at_one_level(test, None, replace(target, p_value=None))[0].p_value == 0.03


@for_each(("low", "differ"), [(0.501, True), (0.4999, False)])
def test_a_model_that_surely_tells_the_tables_apart_is_no_other_opinion(low, differ):
    # "Nothing shows that the columns differ: p = .268" stood beside an AUC of .553 to .625
    auc = SimpleNamespace(reached=0.589, reached_interval=(low, 1.178 - low), confidence=0.95)
    test = TwoSampleTest(0.268, {}, np.empty(0), [], False, np.empty((0, 4), bool))
    found, _ = at_one_level(test, auc, None)
    assert (found.p_value <= 0.05) == differ
    plain = drift(*np.split(np.random.default_rng(0).standard_normal((80, 2)), 2), learners=None)
    said = replace(plain, p_value=found.p_value, separability=auc).sentence()
    assert said.startswith("The columns differ") == differ
    assert ("ROC AUC of 0.589 (" in said) == differ
    assert "0.589" in said


# --- labels given the columns


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("moves", ["labels", "columns"])
def test_labels_and_columns_are_told_apart(task, moves):
    rng = np.random.default_rng(0)
    old, new = numbers(400, 3, rng), numbers(300, 3, rng)
    new["x1"] += 0.7 * (moves == "columns")

    def target(frame, slope):
        level = slope * frame["x0"] + frame["x1"]
        if task == "regression":
            return level + 0.5 * rng.standard_normal(len(frame))
        return np.where(rng.random(len(frame)) < 1 / (1 + np.exp(-2 * level)), "b", "a")

    found = drift(
        old.assign(y=target(old, 1.0)),
        new.assign(y=target(new, 0.0 if moves == "labels" else 1.0)),
        y="y",
        learners=None,
    )
    assert found.verdict == moves
    assert found.target.task == task
    assert found.target.has_moved == (moves == "labels")
    assert ("BF073" in codes_of(found)) == (moves == "labels")
    assert 0.5 < found.target.overlap <= 1.2
    if moves == "columns":
        assert found.target.label_p_value < 0.05


def test_tables_without_rows_in_common_tell_nothing_of_labels():
    rng = np.random.default_rng(0)
    old, new = numbers(200, 2, rng), numbers(200, 2, rng) + 50
    labels = tuple(np.where(rng.random(200) < 0.5, "a", "b") for _ in range(2))
    found = drift(old, new, y=labels, learners=None)
    assert found.target.p_value is None
    assert found.target.overlap < 0.05
    assert "too few rows in common" in found.target.sentence()
    assert found.estimate == 1.0


def test_other_classes_are_a_finding():
    rng = np.random.default_rng(0)
    old, new = numbers(120, 2, rng), numbers(120, 2, rng)
    found = drift(
        old.assign(y=rng.choice(["a", "b", "gone"], 120)), new.assign(y=rng.choice(["a", "b", "c"], 120)), y="y",
        learners=None,
    )  # fmt: skip
    assert found.target.new_classes == ("c",)
    assert found.target.gone_classes == ("gone",)
    assert "BF072" in codes_of(found)


# --- models


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_models_tell_tables_apart_as_theory_says():
    # two normal columns a distance of 1 apart: the best AUC is that of the difference of two rows
    rng = np.random.default_rng(0)
    old, new = numbers(600, 2, rng), numbers(500, 2, rng)
    new["x0"] += 1.0
    found = drift(old, new)
    best = stats.norm.cdf(1 / 2**0.5)
    low, high = found.separability.reached_interval
    assert low - 0.01 <= best <= high + 0.01
    assert found.separability.baseline == 0.5
    assert f"ROC AUC of {found.separability.reached:.3g}" in found.sentence()


def test_too_few_rows_for_models_are_said():
    found = drift(people(60, 0), people(8, 1))
    assert found.separability is None
    (finding,) = found.findings
    assert finding.code == "BF074"
    assert "models need 20 rows of each table" in finding.sentence


def test_very_large_and_very_small_numbers_are_compared():
    rng = np.random.default_rng(2)
    old, new = rng.standard_normal((200, 2)), rng.standard_normal((150, 2)) + np.array([0.0, 1.0])
    plain = drift(old, new, learners=None)
    for scale in (1e-300, 1e300):
        found = drift(old * scale, new * scale, learners=None)
        assert found.tests == pytest.approx(plain.tests, abs=0.1)  # other ways to deal the names out
        assert found.moved == plain.moved == ("x1",)
        assert found.moves[0].share == pytest.approx(plain.moves[0].share, abs=0.01)
        assert "x1" in found.kinds[0].rows


def test_dates_a_minute_apart_are_told_apart_in_conditions():
    rng = np.random.default_rng(0)
    first = pd.Timestamp("2024-05-01 10:00")

    def calls(n, late):
        minutes = np.where(rng.random(n) < late, rng.integers(40, 60, n), rng.integers(0, 40, n))
        return pd.DataFrame({"at": first + pd.to_timedelta(minutes, "min"), "length": rng.normal(size=n)})

    found = drift(calls(300, 0.1), calls(300, 0.7), learners=None)
    assert any(kind.rows.startswith("at > 2024-05-01 10:39:") for kind in found.kinds)
