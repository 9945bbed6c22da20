"""A model beside the floor: figures by hand, every sentence, models in every form, and what is refused."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.stats import beta, binomtest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import bayesfloor
from bayesfloor.floor.learned import row_plan
from bayesfloor.floor.learned.estimate import learned_floor_of
from bayesfloor.floor.learned.gap import Comparable, gap_of
from bayesfloor.floor.learned.gap_result import p_text, share_text
from bayesfloor.floor.learned.model_predictions import Predicted
from bayesfloor.results import FloorGap
from bayesfloor.tables.arguments import check_problem
from helpers.refusals import options_not_refused

#: A stack of one learner that takes milliseconds; what it reaches is not what these tests are about.
floor_gap = partial(bayesfloor.floor_gap, learners=[GaussianNB()])


def three_classes(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    return rng.normal(size=(n_rows, 2)) + 2.2 * np.eye(3, 2)[y], y


X, Y = three_classes()


@pytest.fixture(scope="module")
def judged():
    """A floor of 300 rows, of which predictions of any kind can be compared."""
    return learned_floor_of(check_problem(X, Y), learners=[GaussianNB()])


def predicted(held_out, wrong_only, right_too=(), origin="cross-fitted"):
    """A model that is as the stack, but wrong on some rows that this gets right, and right on some others."""
    codes, named = held_out.counted.codes, held_out.stack[0].copy()
    right, wrong = np.flatnonzero(named == codes), np.flatnonzero(named != codes)
    named[right[:wrong_only]] = (codes[right[:wrong_only]] + 1) % 3
    if right_too:
        named[wrong[:right_too]] = codes[wrong[:right_too]]
    return Predicted(named, (0, 1, 2), origin, "Model")


def with_floor(learned, low, estimate, reached, high):
    """The same with other figures of the floor."""
    floor = replace(learned.metrics["error"], estimate=estimate, interval=(low, high), reached=reached)
    return replace(learned, metrics={"error": floor})


def test_figures_are_counts_of_rows(judged):
    learned, held_out = judged
    found = gap_of(Comparable(learned, held_out, predicted(held_out, 20, 4)))
    n_stack = round(300 * learned.reached)
    assert found.reached == learned.reached
    assert found.value == pytest.approx((n_stack + 16) / 300)
    assert found.sure_gap == pytest.approx(16 / 300)
    assert (found.n_only_model, found.n_only_stack) == (20, 4)
    assert found.p_value == pytest.approx(binomtest(20, 24, 0.5).pvalue)
    assert found.is_sure
    low, high = found.sure_gap_interval
    assert 0 < low < 16 / 300 < high
    n_wrong = n_stack + 16
    expected = beta.ppf(0.025, n_wrong, 301 - n_wrong), beta.ppf(0.975, n_wrong + 1, 300 - n_wrong)
    assert found.value_interval == pytest.approx(expected)
    assert (found.estimate, found.interval) == (learned.estimate, learned.interval)
    assert found.possible_gap == pytest.approx(learned.reached - learned.estimate)
    assert found.possible_gap_interval == pytest.approx((0.0, learned.reached - learned.interval[0]))
    assert (found.n_samples, found.n_rows, found.n_tested) == (300, 300, 300)


def test_classes_and_pairs_sum_up(judged):
    learned, held_out = judged
    model = predicted(held_out, 25, 3)
    found = gap_of(Comparable(learned, held_out, model))
    classes, pairs = found.by_class(), found.by_pair()
    codes = held_out.counted.codes
    assert pairs["gap"].sum() == pytest.approx(found.sure_gap)
    assert pairs["error"].sum() == pytest.approx(found.value)
    assert pairs["reached"].sum() == pytest.approx(found.reached)
    assert classes["gap_of_all"].sum() == pytest.approx(found.sure_gap)
    assert classes["share_of_gap"].sum() == pytest.approx(1.0)
    for row in classes.itertuples():
        own = codes == row.label
        assert row.n_rows == own.sum() == 100
        assert row.error == pytest.approx((model.codes[own] != row.label).mean())
        assert row.reached == pytest.approx((held_out.stack[0, own] != row.label).mean())
        assert row.gap_low <= row.gap <= row.gap_high
    for row in pairs.itertuples():
        for named, prefix in ((model.codes, ""), (held_out.stack[0], "reached_")):
            assert getattr(row, f"{prefix}first_as_second") == ((codes == row.first) & (named == row.second)).sum()
            assert getattr(row, f"{prefix}second_as_first") == ((codes == row.second) & (named == row.first)).sum()
        of_model = (np.minimum(codes, model.codes) == row.first) & (np.maximum(codes, model.codes) == row.second)
        stack = held_out.stack[0]
        of_stack = (np.minimum(codes, stack) == row.first) & (np.maximum(codes, stack) == row.second)
        b, c = (of_model & ~of_stack).sum(), (of_stack & ~of_model).sum()
        assert row.p_value == pytest.approx(binomtest(b, b + c, 0.5).pvalue if b + c else 1.0)
    together = np.concatenate([classes["p_value"], pairs["p_value"]])
    assert classes["p_adjusted"].min() <= min(1.0, together.min() * len(together)) + 1e-12
    assert (np.concatenate([classes["p_adjusted"], pairs["p_adjusted"]]) >= together).all()
    assert list(pairs["gap"]) == sorted(pairs["gap"], reverse=True)


def test_an_unfitted_model_is_trained_on_the_folds_of_the_stack():
    """A stack of one learner with offsets is nearly that learner, and with groups it is exactly that."""
    groups = np.arange(300) // 5
    model = GaussianNB()
    found = floor_gap(model, X, Y, groups=groups)
    assert found.origin == "cross-fitted"
    assert found.name == "GaussianNB"
    assert found.n_only_model == found.n_only_stack == 0
    assert found.p_value == 1.0
    assert not hasattr(model, "classes_")  # clones were fitted


def test_a_fitted_model_predicts_as_it_is():
    other_X, other_y = three_classes(seed=1)
    model = LogisticRegression().fit(other_X, other_y)
    found = floor_gap(model, X, Y)
    assert found.origin == "fitted"
    assert found.value == pytest.approx((model.predict(X) != Y).mean())
    assert found.value == pytest.approx(floor_gap(None, X, Y, predictions=model.predict(X)).value)
    assert found.value == pytest.approx(floor_gap(None, X, Y, predictions=model.predict_proba(X)).value)
    assert found.findings == ()


def test_a_model_that_has_seen_the_rows_is_found_out():
    found = floor_gap(KNeighborsClassifier(1).fit(X, Y), X, Y)
    assert [finding.code for finding in found.findings] == ["BF058"]
    assert "clone(model)" in found.findings[0].hint
    assert "it has probably been trained on them" in found.sentence()
    assert (found.estimate, found.interval) == (found.learned.estimate, found.learned.interval)
    found = floor_gap(None, X, Y, predictions=Y)
    assert "cross_val_predict" in found.findings[0].hint
    # who says that the rows are new is believed
    found = floor_gap(None, X, Y, predictions=Y, rows_are_new=True)
    assert [finding.code for finding in found.findings] == ["BF061"]
    assert found.estimate == 0.0


def test_a_better_model_moves_the_floor_only_where_rows_are_new(judged):
    origin = "predictions"
    learned, held_out = judged
    learned = with_floor(learned, 0.06, 0.09, learned.reached, 0.3)
    model = predicted(held_out, 0, 12, origin)
    found = gap_of(Comparable(learned, held_out, model))
    assert found.is_sure
    assert found.findings == ()
    assert (found.estimate, found.interval) == (0.09, (0.06, 0.3))
    assert "If the model has not seen these rows, the floor is at most" in found.sentence()
    new = gap_of(Comparable(learned, held_out, model), rows_are_new=True)
    assert [finding.code for finding in new.findings] == ["BF061"]
    assert "If the model" not in new.sentence()
    chance = gap_of(Comparable(learned, held_out, predicted(held_out, 3, 2, origin)))
    assert chance.sentence().endswith(", if the model has not seen these rows.")
    # the error is far below what was reached, though not below a floor of which little is known
    low = gap_of(
        Comparable(with_floor(learned, 0.0, 0.001, learned.reached, 0.3), held_out, predicted(held_out, 0, 40, origin))
    )
    assert [finding.code for finding in low.findings] == ["BF058"]


def test_a_better_model_moves_the_floor(judged):
    learned, held_out = judged
    model = predicted(held_out, 0, 12)
    error = round(300 * learned.reached - 12) / 300
    found = gap_of(Comparable(with_floor(learned, 0.06, 0.09, learned.reached, 0.3), held_out, model))
    assert found.is_sure
    assert found.sure_gap == pytest.approx(-12 / 300)
    assert [finding.code for finding in found.findings] == ["BF061"]
    # the better of two is taken: the limit is that of half the level; the lower end moves by what the stack missed
    n_wrong = round(300 * error)
    assert found.interval == pytest.approx((0.02, beta.ppf(1 - 0.0125, n_wrong + 1, 300 - n_wrong)))
    assert found.estimate == pytest.approx(min(0.09, error))
    assert "surely less than" in found.sentence()
    assert "Measured: a model did this on rows that it had not seen, so the floor is at most" in found.sentence()
    assert "perhaps, down to the floor" in found.sentence()
    low = gap_of(
        Comparable(with_floor(learned, 0.099, 0.1, learned.reached, 0.3), held_out, predicted(held_out, 0, 30))
    )
    assert low.interval[0] == 0.0 < low.estimate < 0.099
    assert "how much lower it is cannot be told" in low.sentence()


SENTENCES = [
    # (wrong only by the model, right only by the model), floor, what is said, what is not
    (
        (24, 0),
        (0.05, 0.1),
        ["8.0 points of it can surely be won (95% interval", "p < .001)", "more perhaps"],
        ["chance"],
    ),
    ((24, 0), (0.05, None), ["can surely be won", ", and no more"], ["perhaps"]),
    (
        (3, 2),
        (0.05, 0.1),
        ["The difference may be chance", "nothing can surely be won; ", "points perhaps, down to"],
        [],
    ),
    (
        (3, 0),
        (0.05, None),
        ["interval -0.28 to 2.9 points, p = .25", "nothing can surely be won; 1.0 points perhaps"],
        [],
    ),
    ((2, 2), (0.05, 0.1), ["as often as a stack of learners on the same rows: nothing can surely be won"], ["chance"]),
    ((0, 0), (0.05, None), ["on the same rows as a stack of learners", "it is at the floor, as far as"], ["perhaps"]),
    (
        (0, 12),
        (0.05, 0.05),
        ["surely less than the", "(by 4.0 points, 95% interval", "Measured: a model did this on rows"],
        ["can surely"],
    ),
    ((0, 2), (0.05, 0.1), ["The difference may be chance (95% interval -", "nothing can surely be won"], []),
]


def test_sentences(judged):
    learned, held_out = judged
    for counts, (low, estimate), said, unsaid in SENTENCES:
        other = with_floor(learned, low, learned.reached if estimate is None else estimate, learned.reached, 0.25)
        sentence = gap_of(Comparable(other, held_out, predicted(held_out, *counts))).sentence()
        assert sentence.startswith("Your model errs on ")
        assert sentence.endswith(".")
        assert [text for text in said if text not in sentence] == [], sentence
        assert [text for text in unsaid if text in sentence] == [], sentence


def test_a_stack_without_errors(judged):
    learned, held_out = judged
    held_out = replace(held_out, reached_by={"error": np.eye(3)[held_out.counted.codes][np.newaxis]})
    learned = with_floor(learned, 0.0, 0.0, 0.0, 0.02)
    sentence = gap_of(Comparable(learned, held_out, predicted(held_out, 10))).sentence()
    assert sentence.startswith("Your model errs on 3.3%; all of it can surely be won (95% interval ")
    assert "a stack of learners makes no error on the same rows" in sentence
    same = gap_of(Comparable(learned, held_out, predicted(held_out, 0)))
    expected = "Your model makes no error, on the same rows as a stack of learners: nothing can surely be won; it is at"
    assert same.sentence().startswith(expected)
    assert np.isnan(same.by_class()["share_of_gap"]).all()
    assert all(row["share_of_gap"] is None for row in same.to_dict()["by_class"])
    few = gap_of(Comparable(learned, held_out, predicted(held_out, 3))).sentence()
    assert "Your model errs on 1.0%, and a stack of learners on none of the same rows." in few


def test_the_pair_that_makes_up_most_is_named(judged):
    learned, held_out = judged
    codes, named = held_out.counted.codes, held_out.stack[0].copy()
    named[np.flatnonzero((codes == 0) & (named == 0))[:24]] = 2
    found = gap_of(Comparable(learned, held_out, Predicted(named, (0, 1, 2), "cross-fitted")))
    assert found.sentence().endswith("; all of the 8.0 points is 0 against 2.")
    named[np.flatnonzero((codes == 1) & (named == 1))[:24]] = 2
    found = gap_of(Comparable(learned, held_out, Predicted(named, (0, 1, 2), "cross-fitted")))
    assert found.sentence().endswith("; half of the 16.0 points is 0 against 2.")
    names = gap_of(
        Comparable(
            replace(learned, classes=np.array(["a", "b {x}", "c"])), held_out, Predicted(named, ("a", "b {x}", "c"), "")
        )
    )
    assert names.sentence().endswith("; half of the 16.0 points is a against c.")


def test_of_two_classes_the_class_is_named():
    two = Y[Y < 2]
    learned, held_out = learned_floor_of(check_problem(X[Y < 2], two), learners=[GaussianNB()])
    codes, named = held_out.counted.codes, held_out.stack[0].copy()
    named[np.flatnonzero((codes == 1) & (named == 1))[:20]] = 0
    found = gap_of(Comparable(learned, held_out, Predicted(named, (0, 1), "cross-fitted")))
    assert found.sentence().endswith("; all of the 10.0 points is at rows of 1.")
    assert found.plot().places == "true class"


def test_shares_and_p_values_in_words():
    shares = {0.5: "half", 0.34: "a third", 0.42: "42%", 1.2: "all", 0.66: "two thirds"}
    assert [share_text(share) for share in shares] == list(shares.values())
    p_values = {1e-9: "p < .001", 0.004: "p = .004", 0.03: "p = .03", 0.999: "p = 1"}
    assert [p_text(p) for p in p_values] == list(p_values.values())


def frame_of(n_rows=240):
    """A table with text, gaps and a label that depends on both."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], n_rows)
    size = rng.normal(size=n_rows)
    y = np.where((colour == "red") ^ (size > 0), "yes", "no")
    return pd.DataFrame({"colour": colour, "size": size, "outcome": y, "who": np.arange(n_rows) // 4})


def of_columns():
    encode = ColumnTransformer([("c", OneHotEncoder(), ["colour"]), ("s", StandardScaler(), ["size"])])
    return make_pipeline(encode, DecisionTreeClassifier(max_depth=4, random_state=0))


def test_a_pipeline_gets_the_columns_of_the_frame():
    for frame in (frame_of(), pl.DataFrame(frame_of().to_dict("list"))):
        found = floor_gap(of_columns(), frame, "outcome", groups="who")
        assert found.value < 0.05
        assert list(found.classes) == ["no", "yes"]
        fitted = of_columns().fit(frame[["colour", "size"]], frame["outcome"])
        assert floor_gap(fitted, frame, "outcome", groups="who").value <= 0.05
        assert frame.shape == (240, 4)


def test_a_model_of_arrays_and_a_frame_of_numbers():
    """Without a warning that names of columns are there which the model does not know."""
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(label=Y)
    fitted = LogisticRegression().fit(X + 0.1, Y)
    expected = (fitted.predict(X) != Y).mean()
    for kind in (frame, pl.DataFrame(frame.to_dict("list"))):
        assert floor_gap(fitted, kind, "label").value == pytest.approx(expected)
    assert floor_gap(fitted, pa.Table.from_pandas(frame[["a", "b"]]), Y).value == pytest.approx(expected)
    by_name = LogisticRegression().fit(frame[["b", "a"]], Y)
    assert floor_gap(by_name, frame, "label").value == pytest.approx((by_name.predict(frame[["b", "a"]]) != Y).mean())


def test_rows_that_are_left_out_keep_their_places():
    """Rows without a label are left out; predictions are of all rows that were passed."""
    frame = frame_of()
    frame.loc[::7, "outcome"] = None
    predictions = frame["outcome"].fillna("no")
    found = floor_gap(None, frame, "outcome", predictions=predictions)
    assert found.value == 0.0
    assert (found.n_samples, found.n_rows) == (len(frame), frame["outcome"].notna().sum())


def test_sparse_points_stay_sparse():
    class Asks(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            assert sparse.issparse(X)
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            assert sparse.issparse(X)
            return np.full(X.shape[0], self.classes_[0])

    assert floor_gap(Asks(), sparse.coo_matrix(X), Y).value == pytest.approx(2 / 3)


def test_models_are_trained_on_the_past():
    class Remembers(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            self.latest_ = X[:, 1].max()
            return self

        def predict(self, X):
            assert self.latest_ < X[:, 1].min()
            return np.full(len(X), self.classes_[0])

    time = np.random.default_rng(2).permutation(300)
    found = floor_gap(Remembers(), np.column_stack([X[:, 0], time]), Y, time=time)
    assert (found.n_rows, found.n_tested) == (300, 150)


def test_more_of_a_rare_class_in_a_sample_does_not_change_decisions(monkeypatch):
    """Of 4000 rows, 400 are used with many more of the rare class: its probability is moved back to its share."""
    rng = np.random.default_rng(0)
    y = (np.arange(4000) < 120).astype(int)
    points = rng.normal(size=(4000, 2)) + 1.5 * y[:, np.newaxis]
    monkeypatch.setattr(row_plan, "RARE_ROWS", 100)
    found = floor_gap(GaussianNB(), points, y, max_rows=400)
    assert found.n_rows == 400
    rare = found.by_class().set_index("label").loc[1]
    # without that, GaussianNB would take most rows near the rare class for it, and find most of that
    assert rare["n_rows"] >= 80
    assert found.value == pytest.approx(found.reached, abs=0.01)
    assert floor_gap(DecisionTreeClassifier(max_depth=1), points, y, max_rows=400).value < 0.1


def test_classes_that_only_the_model_knows_and_the_other_way_round():
    known = LogisticRegression().fit(np.vstack([X, X[:50] + 1.0]), np.concatenate([Y, np.full(50, 7)]))
    found = floor_gap(known, X, Y)
    assert [finding.code for finding in found.findings] == ["BF059"]
    assert 7 in set(found.by_pair()["second"])
    assert found.by_pair()["error"].sum() == pytest.approx(found.value)
    found = floor_gap(LogisticRegression().fit(X[Y < 2], Y[Y < 2]), X, Y)
    assert [finding.code for finding in found.findings] == ["BF060"]
    assert "100 of 300 rows" in found.findings[0].sentence


class Breaks(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("no disk")

    def predict(self, X):
        raise AssertionError("never")


def test_what_is_refused():
    frame = pd.DataFrame(np.eye(3)[Y], columns=[0, 1, "x"])
    of_models = [
        (None, "pass one of them"),
        (GaussianNB, r"pass GaussianNB\(\)"),
        (StandardScaler(), "must be a classifier or a regressor"),
        (KMeans(), "KMeans learns no labels"),
        (Breaks(), r"Breaks could not be fitted on 240 rows \(RuntimeError: no disk\)"),
        (GaussianNB().fit(X[:, :1], Y), "GaussianNB could not predict these rows"),
        (GaussianNB().fit(X, Y.astype(str)), "was it fitted on labels of another form"),
    ]
    of_predictions = [
        (Y[:-1], "has 299 rows, and X has 300"),
        (np.where(Y == 2, 9, Y), "predictions has 9, and y has no such label"),
        ([None, *Y[1:]], "1 missing label"),
        (np.ones((300, 2)) / 2, "2 columns, and y has 3 classes"),
        (np.eye(3)[Y] - 0.5, "must be probabilities"),
        (np.ones((300, 3, 1)), r"got shape \(300, 3, 1\)"),
        (frame, "no column for '2'"),
    ]
    table = [
        ({"model": GaussianNB(), "predictions": Y}, "pass one of them"),
        ({"model": LinearRegression(), "task": "classification"}, "predicts numbers, and y holds classes"),
        *(({"model": model}, words) for model, words in of_models),
        *(({"model": None, "predictions": predictions}, words) for predictions, words in of_predictions),
    ]
    assert options_not_refused(lambda model, **more: floor_gap(model, X, Y, **more), table) == []


def test_columns_of_probabilities_are_known_by_name():
    shuffled = pd.DataFrame(np.eye(3)[Y][:, [2, 0, 1]], columns=["p(2)", "p(0)", "p(1)"])
    for frame in (shuffled, pl.DataFrame(shuffled.to_dict("list")), pd.DataFrame({"predicted": Y})):
        assert floor_gap(None, X, Y, predictions=frame).value == 0.0


def test_the_record(judged):
    learned, held_out = judged
    found = gap_of(Comparable(learned, held_out, predicted(held_out, 20)))
    assert isinstance(found, FloorGap)
    assert repr(found).count("\n") == 0
    assert repr(found).startswith("FloorGap(error 0.")
    assert found.frame().shape == (5, 5)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["sure_gap"] == found.sure_gap
    assert plain["by_pair"][0]["gap"] == found.by_pair()["gap"].iloc[0]
    assert plain["classes"] == [0, 1, 2]
    hostile = replace(
        found,
        learned=replace(found.learned, classes=np.array(["<script>", "b", "c"])),
        pair_columns=found.pair_columns | {"first": ["<script>"] * len(found.pair_columns["first"])},
    )
    assert "<script>" in hostile.sentence()
    assert "<script>" not in hostile._repr_html_()
    assert "&lt;script&gt;" in hostile._repr_html_()
