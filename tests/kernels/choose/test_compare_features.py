"""Representations compared by models: the same rows and folds, steps fitted in training sets, rounds that stop some."""

import json
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm, ttest_rel
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.manifold import SpectralEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesfloor import compare_features
from bayesfloor.choose.comparing import rounds
from bayesfloor.choose.comparing.differences import (
    Arms,
    correlation,
    crossing_of,
    floor_difference_interval,
    is_improving,
    p_value_of,
)
from bayesfloor.choose.comparing.rounds import hopeless, least_loss
from bayesfloor.floor.learned.result import LearningCurve, MetricFloor
from helpers.refusals import options_not_refused
from helpers.samples_to_choose_from import shifted_classes

QUICK = {"learners": ["gaussian"], "effort": "fast", "n_jobs": 1}


def two_views(n=300, seed=0):
    """Each view tells half of what there is to know: the class is the sign of their sum, with noise."""
    rng = np.random.default_rng(seed)
    first, second = rng.standard_normal((n, 2)), rng.standard_normal((n, 3))
    return first, second, (first[:, 0] + second[:, 0] + 0.3 * rng.standard_normal(n) > 0).astype(int)


@pytest.fixture
def measured(monkeypatch):
    """What was measured of each representation, in every comparison of two."""
    seen = []
    compare = rounds.compare_measured
    monkeypatch.setattr(rounds, "compare_measured", lambda *given: (seen.append(given), compare(*given))[1])
    return seen


@pytest.fixture(scope="module")
def compared():
    first, second, y = two_views()
    return compare_features({"first": first, "second": second, "both": ["first", "second"]}, y, **QUICK)


def test_side_by_side_is_better_than_each_alone(compared):
    assert compared.best == "both"
    assert compared.simplest == "both"
    assert compared.names[0] == "both"
    assert compared.as_good == ()
    # P(wrong) with one view: arccos(1 / sqrt(2.09)) / pi = 0.257; with both: arctan(0.3 / sqrt(2)) / pi = 0.067
    by_name = {each.name: each for each in compared.features}
    assert by_name["both"].reached == pytest.approx(0.067, abs=0.04)
    for name in ("first", "second"):
        assert by_name[name].reached == pytest.approx(0.257, abs=0.06)
        assert by_name[name].interval[0] - 0.01 <= 0.257 <= by_name[name].interval[1] + 0.01
    assert {(each.together, each.alone) for each in compared.additions} == {("both", "first"), ("both", "second")}
    for each in compared.additions:
        assert each.gain == pytest.approx(0.19, abs=0.06)
        assert each.interval[0] < each.gain < each.interval[1]
        assert each.p_value < 0.01
    assert "'both' gains" in compared.sentence()


def test_differences_are_of_the_same_rows_and_folds(measured):
    first, second, y = two_views()
    found = compare_features({"first": first, "second": second}, y, **QUICK)
    ((_, one, other),) = measured
    assert one.held_out.learned.plan is other.held_out.learned.plan
    np.testing.assert_array_equal(one.held_out.used.codes, other.held_out.used.codes)
    wrong = [each.held_out.stack[0] != each.held_out.counted.codes for each in (one, other)]
    only = int((wrong[0] & ~wrong[1]).sum()), int((~wrong[0] & wrong[1]).sum())
    (difference,) = found.differences
    assert difference.reached == pytest.approx((only[0] - only[1]) / len(y))
    assert difference.reached_p_value == pytest.approx(binomtest(only[0], sum(only)).pvalue)
    low, high = difference.reached_interval
    assert low < difference.reached < high
    assert found.difference("second", "first").reached_interval == (-high, -low)


def test_other_metrics_are_compared_by_what_rows_lose(measured):
    first, second, y = two_views()
    found = compare_features({"first": first, "second": second}, y, metric="log_loss", **QUICK)
    ((_, one, other),) = measured
    losses = [
        -np.log(each.held_out.reached_by["log_loss"][0][np.arange(len(y)), each.held_out.counted.codes])
        for each in (one, other)
    ]
    (difference,) = found.differences
    assert difference.reached == pytest.approx(losses[0].mean() - losses[1].mean())
    assert difference.reached_p_value == pytest.approx(ttest_rel(*losses).pvalue, rel=0.1, abs=1e-3)


@pytest.mark.parametrize("metric", ["r2", "mae"])
def test_numbers(metric):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = 10 * X[:, 0] + rng.standard_normal(200) * 5
    features = {"told": X, "noise": X[:, 1:], "told again": X.copy()}
    found = compare_features(features, y, metric=metric, learners=["linear"], effort="fast", n_jobs=1)
    assert found.task == "regression"
    assert found.names[-1] == "noise"
    assert found.distinguishable("noise", "told")
    better = found.difference("told", "noise").reached * (1 if metric == "r2" else -1)
    assert better > 0.3
    assert found.difference("told", "told again").reached == 0.0
    assert not found.distinguishable("told", "told again")
    assert found.pairs().shape[0] == 0
    assert "R²" in found.sentence() or metric != "r2"


def test_labels_do_not_leak_through_steps():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((150, 300)), rng.integers(0, 2, 150)
    found = compare_features({"chosen": SelectKBest(k=3)}, y, X=X, **QUICK)
    assert found.features[0].reached > 0.38
    assert found.features[0].n_features == 3


def test_texts():
    docs = ["red apple", "red pear", "blue sea", "blue sky"] * 30
    y = np.array(["fruit", "fruit", "water", "air"] * 30)
    words = {"word": TfidfVectorizer(), "letter": TfidfVectorizer(analyzer="char", vocabulary=["e"])}
    found = compare_features(words, y, X=docs, learners=["logistic"], effort="fast", n_jobs=1)
    assert found.best == "word"
    assert found.distinguishable("letter", "word")
    assert [each.n_features for each in found.features] == [6, 1]


def test_maps_that_take_no_new_rows():
    X, y = shifted_classes(0, 120)
    embedding = SpectralEmbedding(2, random_state=0, n_neighbors=15)
    found = compare_features({"map": embedding, "with data": ["map", "passthrough"], "data": X}, y, X=X, **QUICK)
    assert {each.name: each.takes_new_rows for each in found.features} == {
        "map": False,
        "with data": False,
        "data": True,
    }
    assert "BF033" in [each.code for each in found.findings]
    assert {each.name: each.n_features for each in found.features} == {"map": 2, "with data": 7, "data": 5}


def test_files_are_read_as_they_are(tmp_path):
    polars = pytest.importorskip("polars")
    first, second, y = two_views(120)
    single = first.astype(np.float16)
    np.save(tmp_path / "a.npy", single)
    np.savez(tmp_path / "a.npz", X=single, other=y)
    frame = polars.DataFrame(second.round(6), schema=["p", "q", "r"])
    frame.write_parquet(tmp_path / "b.parquet")
    frame.write_csv(tmp_path / "b.csv")
    files = {name: str(tmp_path / name) for name in ("a.npy", "a.npz", "b.parquet")} | {"b.csv": tmp_path / "b.csv"}
    found = compare_features(files | {"array": single, "table": frame}, y, **QUICK)
    for one, other in (("a.npy", "array"), ("a.npz", "array"), ("b.parquet", "table"), ("b.csv", "table")):
        assert found.difference(one, other).reached == 0.0
        assert found.difference(one, other).floor == pytest.approx(0.0, abs=1e-12)
    assert found.difference("a.npy", "b.csv").floor_interval != (0.0, 0.0)


def test_columns_of_one_frame():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"size": rng.standard_normal(150), "colour": rng.choice(["red", "blue", "green"], 150)})
    frame["kind"] = np.where((frame["colour"] == "red") ^ (rng.random(150) < 0.1), "yes", "no")
    parts = {"size": ["size"], "colour": ["colour"], "both": ["size", "colour"], "all": "passthrough"}
    found = compare_features(parts, "kind", X=frame, learners=["gaussian", "nominal"], effort="fast", n_jobs=1)
    assert type(found.frame()) is pandas.DataFrame
    assert found.names[-1] == "size"
    assert {each.name: each.n_features for each in found.features} == {"size": 1, "colour": 1, "both": 2, "all": 2}
    assert not found.distinguishable("both", "all")
    assert found.distinguishable("size", "colour")
    assert {each.together for each in found.additions} == {"both"}
    assert "'both' is not surely better than 'colour'." in found.sentence()  # the size adds nothing


def test_groups_and_time():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 5)
    y = rng.integers(0, 2, 40)[groups]
    own = rng.standard_normal((40, 2))[groups] + 0.01 * rng.standard_normal((200, 2))  # tells groups, and nothing else
    told = y[:, None] + rng.standard_normal((200, 2))
    given = {"own": own, "told": told}
    how = {"learners": ["neighbours"], "effort": "fast", "n_jobs": 1}
    new_groups = compare_features(given, y, groups=groups, **how)
    assert new_groups.names[0] == "told"
    assert compare_features(given, y, **how).best == "own"
    assert compare_features(given, y, time=rng.random(200), **QUICK).features[0].n_rows == 200
    sampled = compare_features({"own": own, "scaled": StandardScaler()}, y, X=told, max_rows=100, **QUICK)
    assert (sampled.n_rows, sampled.n_samples) == (100, 200)
    assert "BF032" in [each.code for each in sampled.findings]


def test_copies_are_those_in_every_representation():
    first, second, y = two_views(120)
    twice = np.tile(np.arange(120), 2)
    other = np.random.default_rng(1).standard_normal((240, 3))
    seen = []
    features = {"a": first[twice], "b": second[twice]}
    found = compare_features(features, y[twice], progress=lambda *call: seen.append(call), **QUICK)
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]
    assert (found.n_rows, found.n_samples) == (120, 240)  # one of each
    assert [each.code for each in found.findings] == ["BF037"]
    alone = compare_features({"a": first[twice], "other": other}, y[twice], **QUICK)
    assert alone.n_rows == 240  # the other columns say that the rows are others
    assert "BF037" not in [each.code for each in alone.findings]


def test_values_that_come_again_are_no_copies():
    """What tells rows apart must not look like columns of its own: a number for each different row tells all others."""
    rng = np.random.default_rng(0)
    rounded = np.round(rng.standard_normal((400, 2)), 1)
    assert 0.05 < 1 - len(np.unique(rounded, axis=0)) / 400 < 0.5
    coded = np.eye(40)[rng.integers(0, 40, 400)]  # more columns than are told apart
    y = (rounded[:, 0] + rng.standard_normal(400) > 0).astype(int)
    for given in ({"a": rounded}, {"a": rounded, "b": rounded[:, :1]}, {"a": coded}):
        found = compare_features(given, y, **QUICK)
        assert found.n_rows == 400
        assert not {"BF037", "BF038"} & {each.code for each in found.findings}
    wide = np.round(rng.standard_normal((400, 40)), 1)
    twice = np.tile(np.arange(400), 2)
    assert compare_features({"a": wide[twice]}, y[twice], **QUICK).n_rows == 400


def test_near_copies_are_held_out_together(measured):
    first, second, y = two_views(100)
    rng = np.random.default_rng(1)
    twice = np.tile(np.arange(100), 2)
    near = [each[twice] + 1e-6 * rng.standard_normal((200, each.shape[1])) for each in (first, second)]
    found = compare_features({"a": near[0], "b": near[1]}, y[twice], **QUICK)
    assert "BF038" in [each.code for each in found.findings]
    ((_, one, _),) = measured
    plan = one.held_out.learned.plan
    folds = np.empty(200, int)
    folds[plan.given] = plan.folds
    np.testing.assert_array_equal(folds[:100], folds[100:])
    # where one representation tells them apart, they are not the same
    other = compare_features({"a": near[0], "c": rng.standard_normal((200, 2))}, y[twice], **QUICK)
    assert "BF038" not in [each.code for each in other.findings]


def test_hopeless_ones_stop_early(monkeypatch):
    monkeypatch.setattr(rounds, "FIRST_ROWS", 150)
    X, y = shifted_classes(0, 700, n_useful=2, n_features=4, shift=3.0)
    parts = {"noise": X[:, 2:], "useful": X[:, :2], "all": X, "one": X[:, :1]}
    found = compare_features(parts, y, **QUICK)
    by_name = {each.name: each for each in found.features}
    assert by_name["noise"].is_stopped
    assert by_name["noise"].n_rows == 150
    assert not by_name["useful"].is_stopped
    assert by_name["useful"].n_rows == found.n_rows == 700
    assert found.names[-1] == "noise"
    assert len(found.differences) == 6
    assert found.difference("noise", "useful").n_rows == 150
    assert found.difference("all", "useful").n_rows == 700
    assert found.distinguishable("noise", "useful")
    (said,) = (each for each in found.findings if each.code == "BF075")
    assert "Stopped after 150 rows: 'noise'" in said.sentence
    assert "at most 5%" in said.sentence


def test_who_is_hopeless():
    def measured(low, high, reached):
        floor = floor_of_curve(0.2, 20, 1.0, None)
        return SimpleNamespace(floor=replace(floor, interval=(low, high), reached_interval=reached))

    found = {
        "leader": measured(0.05, 0.12, (0.10, 0.14)),
        "may be as good": measured(0.14, 0.3, (0.25, 0.3)),
        "worse": measured(0.141, 0.3, (0.2, 0.3)),
    }
    assert hopeless(found, 3.0, 0.95) == ["worse"]


def test_the_least_loss_after_more_doublings():
    # .2 + 20 / n is .225 at 800 and .25 at 400: three doublings gain at most 3 x .025
    exact = floor_of_curve(0.2, 20, 1.0, np.zeros((3, 3)))
    assert least_loss(exact, 3.0, 0.95) == pytest.approx(0.15)
    assert least_loss(exact, 3.0, 0.95) <= 0.2 + 20 / 6400
    assert least_loss(replace(exact, interval=(0.19, 0.3)), 3.0, 0.95) == 0.19
    errors = floor_of_curve(0.2, 20, 1.0, np.diag([1e-4, 4e-4, 9e-4]))
    # Var((1 + k) a - k b) = 16e-4 + 9 x 4e-4
    assert least_loss(errors, 3.0, 0.95) == pytest.approx(0.15 - norm.ppf(0.975) * 52e-4**0.5)
    # a curve that has risen by chance is no reason to expect that it will rise
    rising = replace(errors, curve=replace(errors.curve, value=np.array([0.3, 0.2, 0.2])))
    assert least_loss(rising, 3.0, 0.95) == pytest.approx(0.3 - norm.ppf(0.975) * 0.01)


def test_interval_of_a_difference_of_floors():
    first, second = Arms(0.3, 0.03, 0.03, 0.03), Arms(0.1, 0.04, 0.04, 0.04)
    # independent: the root of the sum of squares; the same rows: the difference of the arms
    assert floor_difference_interval(first, second, 0.0) == pytest.approx((0.15, 0.25))
    assert floor_difference_interval(first, second, 1.0) == pytest.approx((0.19, 0.21))
    # what is extrapolated does not drop out
    wide = Arms(0.1, 0.5, 0.04, 0.04)
    assert floor_difference_interval(first, wide, 1.0)[1] - 0.2 == pytest.approx(
        (0.03**2 + 0.5**2 - 2 * 0.03 * 0.04) ** 0.5
    )


def test_p_value_of_an_interval():
    assert p_value_of(0.1, (0.0, 0.3), 0.95) == pytest.approx(0.05)
    assert p_value_of(-0.1, (-0.3, 0.1), 0.95) == pytest.approx(2 * norm.cdf(-norm.ppf(0.975) / 2))
    assert p_value_of(0.0, (0.0, 0.0), 0.95) == 1.0


def test_correlation_of_losses():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 500))
    assert correlation(a, a + b, None) == pytest.approx(np.corrcoef(a, a + b)[0, 1])
    assert correlation(a, -a, None) == 0.0
    assert correlation(a, np.zeros(500), None) == 0.0
    groups = np.repeat(np.arange(50), 10)
    sums = [np.bincount(groups, each - each.mean()) for each in (a, a + b)]
    assert correlation(a, a + b, groups) == pytest.approx(
        np.dot(*sums) / np.prod([np.linalg.norm(each) for each in sums])
    )


def floor_of_curve(limit, factor, rate, covariance=None):
    """A metric floor whose learning curve is known: limit + factor / size ** rate."""
    size = np.array([800.0, 400.0, 200.0])
    value = limit + factor * size**-rate
    curve = LearningCurve(size, value, value, value, value, limit, rate, covariance)
    return MetricFloor("error", "error", limit, (0, 1), value[0], (0, 1), 0.5, False, curve, 0.95)


def test_where_curves_cross():
    # .1 + a / n and .2 + b / n cross where (a - b) / n = .1
    flat = floor_of_curve(0.2, 10, 1.0)
    for at in (300.0, 2000.0):
        steep = floor_of_curve(0.1, 0.1 * at + 10, 1.0)
        assert crossing_of(steep, flat) == pytest.approx(at, rel=0.03)
        assert crossing_of(flat, steep) == pytest.approx(at, rel=0.03)
    assert crossing_of(flat, floor_of_curve(0.3, 10, 1.0)) is None
    assert crossing_of(flat, flat) is None


def test_who_still_improves():
    falls = floor_of_curve(0.1, 20, 1.0).curve  # from .15 to .125
    for error, told in ((0.01, True), (0.03, False)):
        covariance = np.diag([error**2 / 2] * 3)  # of the difference: error ** 2
        curve = LearningCurve(falls.size, falls.value, *[falls.value] * 3, 0.1, 1.0, covariance)
        assert is_improving(curve, larger_is_better=False) is told
        assert not is_improving(curve, larger_is_better=True)


def test_the_result_as_a_table_and_as_a_dict(compared):
    frame = compared.frame()
    assert frame["rank"].tolist() == [1, 2, 3]
    assert frame["name"].tolist() == list(compared.names)
    assert (frame["reached_low"] <= frame["reached"]).all()
    assert (frame["reached"] <= frame["reached_high"]).all()
    np.testing.assert_allclose(frame["difference"], frame["reached"] - frame["reached"][0])
    assert frame["distinguishable"].tolist() == [False, True, True]
    told = json.loads(json.dumps(compared.to_dict()))
    assert told["best"] == "both"
    assert told["additions"][0]["together"] == "both"
    assert "seconds" not in told["features"][0]
    assert repr(compared) == "FeatureComparison(best 'both', metric 'error', 300 of 300 samples)"
    # of two classes, the only pair is the whole problem
    np.testing.assert_allclose(compared.pair_values[:, 0], frame["reached"])
    assert compared.sentence().startswith("With your 300 rows 'both' reaches an error of ")
    unknown = [
        ({"first": "both", "second": "third"}, "'third' is none of the features 'both', "),
        ({"first": "both", "second": "both"}, "a difference is of two representations, got 'both' twice"),
    ]
    assert options_not_refused(lambda first, second: compared.difference(first, second), unknown) == []


X, Y = shifted_classes(1, 60)


def test_what_cannot_be_compared():
    table = [
        ({"features": {"a": X, "b": X[:50]}}, r"The features 'b' have 50 rows, and y has 60: all must be of the same"),
        ({"features": {"a": ["b"], "b": ["a"]}}, "The features 'a' are made of themselves: a > b > a"),
        ({"features": {"a": X, "b": ["a", "aa"]}}, "'aa', which is none of the features; .*Did you mean 'a'"),
        ({"features": {"a": []}}, "The features 'a' are an empty list"),
        ({"features": {"a": X[:, :0]}}, r"0 feature\(s\)"),
        ({"features": {"a": X[:, 0]}}, "2D array"),
        ({"features": {"a": np.where(X > 2, np.nan, X)}}, "NaN"),
        ({"features": {}}, "must be a dict of features by name"),
        ({"features": [X, X]}, "must be a dict of features by name"),
        ({"features": {1: X}}, "Names of features must be text, got 1"),
        ({"features": {"a": StandardScaler()}}, "The features 'a' are made of X. Give X="),
        ({"features": {"a": StandardScaler}, "X": X}, "2D array"),
        ({"features": {"a": "no.npy"}}, "there is no file 'no.npy'"),
        ({"features": {"a": X}, "metric": "r2"}, "'metric' parameter must be"),
        ({"features": {"a": X}, "groups": "who"}, "groups='who' names a column, and X has none"),
    ]
    assert options_not_refused(partial(compare_features, y=Y, **QUICK), table) == []


def test_rows_of_pandas_are_matched_by_place():
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(Y, index=np.arange(60))
    for index, said in ((np.arange(60) + 100, "no row in common"), (np.arange(60)[::-1], "60 rows .* another order")):
        with pytest.raises(ValueError, match=f"index of the features 'a' is not that of y: .*{said}"):
            compare_features({"a": pandas.DataFrame(X, index=index)}, y, **QUICK)


def test_errors_name_the_features():
    class Broken(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            raise RuntimeError("out of order")

    with pytest.raises(RuntimeError, match="out of order") as caught:
        compare_features({"a": X, "broken": make_pipeline(PCA(2), Broken())}, Y, X=X, **QUICK)
    assert "This came up in the features 'broken'." in caught.value.__notes__


def test_rows_are_kept_apart_by_text_and_by_dates():
    """A table's columns are looked at as those of a report: ids may be text, times may be dates."""
    rng = np.random.default_rng(0)
    of_machine = rng.integers(0, 2, 60).repeat(5)
    place = rng.standard_normal((60, 2)).repeat(5, axis=0) + 0.01 * rng.standard_normal((300, 2))
    frame = pd.DataFrame(place, columns=["a", "b"]).assign(machine=[f"m{number}" for number in np.arange(300) // 5])
    sets = {"all": ["a", "b", "machine"], "one": ["a"]}
    found = compare_features(sets, of_machine, X=frame, learners=["neighbours"], effort="fast", n_jobs=1)
    assert [reason.kind for reason in found.trust.reasons] == ["groups"]
    assert found.trust.reasons[0].columns == ("machine",)
    assert min(each.reached for each in found.features) > 0.3  # labels of machines are coin flips
