"""StackedClassifier and StackedRegressor: the learned floor's stack as estimators."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from skops import io as skops_io

from bayesfloor import LandmarkClassifier, LandmarkRegressor, SmartSVC, learned_floor, load_model, regression_floor
from bayesfloor.classify.stacked import StackedClassifier, StackedRegressor
from bayesfloor.data.problem import Problem
from bayesfloor.floor.learned.estimate import learned_floor_of
from bayesfloor.floor.learned.stack_model import TENTH, choose_members
from bayesfloor.floor.learned.training_sets import training_set
from bayesfloor.learn.learner import fit_predict
from bayesfloor.learn.registry import CLASS_LEARNERS
from bayesfloor.runtime.checks import check_random_state_seed
from helpers.estimator_contract import blobs

QUICK = StackedClassifier("fast", learners=["gaussian"], n_jobs=1)


def rings(n, seed=0):
    """Return two classes, one around the other, of which a tenth of the labels are redrawn."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = (X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4).astype(int)
    return X, np.where(rng.random(n) < 0.1, rng.integers(0, 2, n), y)


# --- what is held out is what the floor measures


def at_all_rows(metric, n_rows):
    """Return what was measured, further along the learning curve."""
    curve = metric.curve
    at_all, at_these = (
        curve.limit + (curve.fitted[0] - curve.limit) * (curve.size[0] / n) ** curve.rate
        for n in (n_rows, curve.size[0])
    )
    return curve.value[0] + at_all - at_these


@pytest.mark.parametrize("is_number", [False, True])
def test_what_is_held_out_is_measured_and_moved_along_the_curve(is_number):
    if is_number:
        X, y = load_diabetes(return_X_y=True)
        families, wider = ["linear", "neighbours"], dict.fromkeys(("r2", "rmse", "mae"), 1.3)
        model = StackedRegressor(learners=families, n_jobs=1).fit(X, y)
        floor = regression_floor(X, y, learners=families, n_jobs=1)
    else:
        X, y = rings(250)
        families, wider = ["gaussian", "neighbours"], {"error": 1.3, "log_loss": 1.6}
        model = StackedClassifier(learners=families, n_jobs=1).fit(X, y)
        floor = learned_floor(X, y, metric=["error", "log_loss"], learners=families, n_jobs=1)
    assert model.floor_.estimate == floor.estimate
    assert model.held_out_.metrics.keys() == wider.keys()
    for name, found in model.held_out_.metrics.items():
        metric = floor.metrics[name]
        measured = metric.curve.value[0]
        assert model.held_out_.measured[name] == measured
        assert_allclose(found.value, at_all_rows(metric, len(X)))
        gain = found.value - measured
        assert gain > 0 if name == "r2" else gain < 0
        arms = [np.hypot(wider[name] * (end - metric.reached), gain) for end in metric.reached_interval]
        assert_allclose(found.interval, (found.value - arms[0], found.value + arms[1]))


def test_figures_stay_within_their_bounds():
    X = np.random.default_rng(0).standard_normal((200, 2))
    model = clone(QUICK).set_params(checks=False).fit(X, (X[:, 0] > 0).astype(int) + 2 * (np.arange(200) < 0))
    error, (low, high) = model.held_out_.metrics["error"]
    assert 0.0 <= low <= error <= high <= 1.0
    assert model.held_out_.metrics["log_loss"].interval[0] >= 0.0


# --- the model of all rows


@pytest.mark.parametrize("families", [["gaussian", "logistic", "trees"], ["kernels", "boosting", "neighbours"]])
def test_members_are_the_floors_learners_trained_on_all_rows(families):
    X, y = rings(220)
    model = StackedClassifier(learners=families, n_jobs=1).fit(X, y)
    _, held_out = learned_floor_of(
        Problem(X, np.array([0, 1]), y), metric=["error", "log_loss"], learners=families, n_jobs=1
    )
    learned = held_out.learned
    new, _ = rings(50, seed=1)
    # by hand: the same learners, of the same rows in the same order, that have the new rows from the start
    both = Problem(
        np.vstack([learned.used.X, new]),
        learned.used.classes,
        np.append(learned.used.codes, np.zeros(50, int)),
    )
    seed = int(np.random.SeedSequence(0).generate_state(1)[0])
    train, rows = training_set(both, np.arange(220), np.arange(220, 270))
    finish, found = learned.members.target.finish(train, both, np.arange(220)), {}
    for name in families:
        for learner, values in fit_predict(CLASS_LEARNERS[name], train, None, seed, rows).items():
            found[learner] = finish.of(values)
    total = sum(weight * found[name].astype(float) for name, weight in model.learners_.items()) + model.model_.offset
    expected = np.exp(total) / np.exp(total).sum(axis=1, keepdims=True)
    assert len(model.learners_) > 1
    assert_allclose(model.predict_proba(new), expected, rtol=1e-6)


def test_it_is_calibrated_on_fresh_rows():
    X, y = rings(600)
    fresh, labels = rings(4000, seed=2)
    model = StackedClassifier(learners=["kernels", "trees"], n_jobs=1).fit(X, y)
    error = model.held_out_.metrics["error"].value
    assert abs(1.0 - model.score(fresh, labels) - error) < 3 * (error * (1 - error) * (1 / 600 + 1 / 4000)) ** 0.5
    p = model.predict_proba(fresh)[:, 1]
    # slope and offset of the log-odds
    odds = np.log(p / (1 - p))[:, np.newaxis]
    refitted = LogisticRegression(C=np.inf).fit(odds, labels)
    assert 0.75 < refitted.coef_[0, 0] < 1.33
    assert abs(refitted.intercept_[0]) < 0.25


def test_shares_of_the_classes_are_those_of_the_rows_given():
    """Of few rows that are used, a rare class has more than its share; probabilities are for the shares of all rows."""
    rng = np.random.default_rng(0)
    y = (np.arange(12_000) % 40 == 0).astype(int)
    X = rng.standard_normal((len(y), 2)) + y[:, np.newaxis]
    model = StackedClassifier("fast", learners=["gaussian"], max_rows=1000, n_jobs=1).fit(X, y)
    fresh = rng.standard_normal((40_000, 2)) + (np.arange(40_000) % 40 == 0)[:, np.newaxis]
    assert_allclose(model.predict_proba(fresh)[:, 1].mean(), 1 / 40, rtol=0.2)


@pytest.mark.slow
def test_many_rows():
    X, y = make_classification(11_000, 6, n_informative=4, n_classes=3, flip_y=0.2, random_state=0)
    model = StackedClassifier(n_jobs=1).fit(X[:-800], y[:-800])
    error, interval = model.held_out_.metrics["error"]
    fresh = 1.0 - model.score(X[-800:], y[-800:])
    assert abs(fresh - error) < 3 * np.sqrt(error * (1 - error) / 800) + interval[1] - error
    assert log_loss(y[-800:], model.predict_proba(X[-800:])) < 1.15 * model.held_out_.metrics["log_loss"].value


# --- who is in the stack


def test_who_adds_next_to_nothing_is_left_out():
    X, y = rings(300)
    families = ["gaussian", "neighbours", "kernels"]
    _, held_out = learned_floor_of(Problem(X, np.array([0, 1]), y), learners=families, n_jobs=1)
    learned = held_out.learned
    chosen = choose_members(learned, None, 0)
    predicted, target = np.concatenate(learned.members.predicted, axis=1), learned.members.target

    def lost(names):
        some = np.sort([learned.names.index(name) for name in names])
        pairs = np.zeros(300, int), np.arange(300)
        weights, offset = target.fit_stack(predicted, some, *pairs, [0])
        combined = np.einsum("m,mnk->nk", weights[some], predicted[some, 0].astype(float)) + offset
        return target.lost(combined - np.log(np.exp(combined).sum(axis=1, keepdims=True)), pairs[1])

    everybody = [name for m, name in enumerate(learned.names) if np.isfinite(predicted[m]).all()]
    whole = lost(everybody)
    assert len(chosen.weights) < len(everybody)
    assert lost(list(chosen.weights)).mean() <= whole.mean() + TENTH * whole.std() / 300**0.5 + 1e-9


def test_there_are_no_more_members_than_asked_for():
    X, y = rings(200)
    for most in (1, 2):
        model = StackedClassifier(learners=["gaussian", "neighbours"], max_models=most, n_jobs=1).fit(X, y)
        assert len(model.learners_) <= most
    with pytest.raises(ValueError, match="max_models"):
        StackedClassifier(max_models=0).fit(X, y)


def test_few_rows_have_one_plain_member():
    X, y = blobs(12, 2)
    model = StackedClassifier().fit(X, y)
    assert list(model.learners_) == ["LDA"]
    assert model.held_out_ is None
    assert model.score(X, y) > 0.8
    line = StackedRegressor().fit(X, X[:, 0])
    assert list(line.learners_) == ["ridge"]
    assert line.score(X, X[:, 0]) > 0.9


# --- frames, weights, groups


def mixed_frame(n, seed=0):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    level = rng.choice([f"v{i}" for i in range(60)], n)
    frame = pandas.DataFrame({
        "size": np.where(rng.random(n) < 0.1, np.nan, rng.standard_normal(n)),
        "colour": rng.choice(["red", "green", "blue"], n),
        "code": level,
        "day": pandas.Timestamp("2024-01-01") + pandas.to_timedelta(rng.integers(0, 500, n), "D"),
    })  # fmt: skip
    score = frame["size"].fillna(0.0) + (frame["colour"] == "red") + np.array([int(v[1:]) % 2 for v in level])
    return frame, score + 0.3 * rng.standard_normal(n)


@pytest.mark.parametrize("is_number", [False, True])
def test_frames_with_text_dates_and_gaps(is_number):
    frame, score = mixed_frame(500)
    new, new_score = mixed_frame(200, seed=1)
    new.loc[0, "colour"], new.loc[1, "code"] = "violet", "new"
    if is_number:
        model = StackedRegressor(learners=["linear", "additive", "trees", "boosting"], checks=False, n_jobs=1).fit(
            frame, score
        )
        fresh, reached = model.score(new, new_score), model.held_out_.metrics["r2"].value
    else:
        families = ["gaussian", "nominal", "trees", "boosting"]
        model = StackedClassifier(learners=families, checks=False, n_jobs=1)
        model.fit(frame, np.where(score > 1, "high", "low"))
        fresh, reached = model.score(new, np.where(new_score > 1, "high", "low")), 1 - model.floor_.reached
    assert abs(fresh - reached) < 0.1
    shuffled = new[["day", "code", "size", "colour"]].assign(further=1)
    assert_array_equal(model.predict(shuffled), model.predict(new))
    with pytest.raises(ValueError, match="lacks the columns 'code'"):
        model.predict(new.drop(columns="code"))
    with pytest.raises(ValueError, match="must be a data frame"):
        model.predict(np.zeros((3, 4)))
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict(new), model.predict(new))


def test_groups_are_held_out_whole():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 10)
    y = rng.integers(0, 2, 40)[groups]
    X = rng.standard_normal((40, 2))[groups] + 0.05 * rng.standard_normal((400, 2))
    kind = StackedClassifier(learners=["neighbours", "gaussian"], n_jobs=1)
    # labels belong to groups at random: nothing can be known of a new one
    assert clone(kind).fit(X, y, groups=groups).held_out_.metrics["error"].value > 0.3
    assert clone(kind).fit(X, y).held_out_.metrics["error"].value < 0.1


def test_weights_count_in_training_and_figures():
    X, y = rings(400)
    flipped = np.where(np.arange(400) % 2, 1 - y, y)
    weight = np.where(np.arange(400) % 2, 0.0, 1.0)
    model = StackedClassifier(learners=["kernels"], n_jobs=1)
    whole = clone(model).fit(X, flipped, sample_weight=weight)
    half = clone(model).fit(X[::2], y[::2])
    assert whole.held_out_.metrics["error"].value == half.held_out_.metrics["error"].value
    assert_allclose(whole.predict_proba(X), half.predict_proba(X))


def test_sparse_rows():
    X, y = blobs(150)
    X = np.where(np.abs(X) < 1, 0.0, X)
    model = clone(QUICK).fit(sparse.csr_array(X), y)
    assert_array_equal(model.predict_proba(sparse.csc_array(X)), clone(QUICK).fit(X, y).predict_proba(X))


def test_neither_the_order_of_rows_nor_threads_matter():
    X, y = rings(300)
    order = np.random.default_rng(0).permutation(300)
    families = ["gaussian", "neighbours", "trees"]
    first = StackedClassifier(learners=families, n_jobs=1).fit(X, y)
    second = StackedClassifier(learners=families, n_jobs=2).fit(X[order], y[order])
    assert first.learners_ == second.learners_
    assert_array_equal(first.predict_proba(X), second.predict_proba(X))


@pytest.mark.slow
def test_members_are_trained_on_a_cluster(client):
    X, y = rings(150)
    here = StackedClassifier(learners=["gaussian", "neighbours"], n_jobs=1).fit(X, y)
    there = StackedClassifier(learners=["gaussian", "neighbours"], client=client).fit(X, y)
    assert_array_equal(here.predict_proba(X), there.predict_proba(X))


def test_own_learners_take_part():
    X, y = blobs(200)
    model = StackedClassifier(learners={"own": LogisticRegression()}, n_jobs=1).fit(X, y)
    assert list(model.learners_) == ["own"]
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


# --- the model of a run


@pytest.mark.parametrize("is_number", [False, True])
def test_a_floor_hands_out_the_model_of_its_run(is_number):
    frame, score = mixed_frame(200)
    if is_number:
        asked, y = {"learners": ["linear"], "n_jobs": 1}, score
        floor, model = regression_floor(frame, y, return_model=True, **asked)
        other = StackedRegressor(**asked).fit(frame, y)
    else:
        asked, y = {"learners": ["gaussian"], "n_jobs": 1}, np.where(score > 1, "high", "low")
        floor, model = learned_floor(frame, y, metric=["roc_auc", "log_loss"], return_model=True, **asked)
        other = StackedClassifier(**asked).fit(frame, y)
        assert model.held_out_.metrics.keys() == {"roc_auc", "log_loss", "error"}
        assert_array_equal(model.classes_, ["high", "low"])
        assert_array_equal(model.predict_proba(frame), other.predict_proba(frame))
    assert model.floor_ is floor
    assert model.learners_ == other.learners_
    assert_array_equal(model.predict(frame), other.predict(frame))
    assert clone(model).get_params() == other.get_params()


def test_a_column_that_is_named_as_target_is_no_feature(tmp_path):
    frame, score = mixed_frame(200)
    table = frame.assign(grade=np.where(score > 1, "high", "low"))
    asked = {"learners": ["gaussian"], "effort": "fast", "n_jobs": 1}
    _, model = learned_floor(table, "grade", return_model=True, **asked)
    assert list(model.feature_names_in_) == list(frame)
    table.to_csv(tmp_path / "table.csv", index=False)
    _, of_file = learned_floor(tmp_path / "table.csv", "grade", return_model=True, **asked)
    assert (of_file.predict(frame) == model.predict(frame)).mean() > 0.95


def test_a_floor_in_time_has_no_model():
    X, y = rings(200)
    with pytest.raises(ValueError, match="return_model=True is for rows without time"):
        learned_floor(X, y, time=np.arange(200), return_model=True)


def test_a_random_state_is_drawn_from_once():
    """What is trained on all rows has the seed of the run: that of the first number that is drawn."""
    X, y = rings(150)
    asked = {"learners": ["trees"], "effort": "fast", "n_jobs": 1}
    _, model = learned_floor(X, y, random_state=np.random.default_rng(3), return_model=True, **asked)
    seed = check_random_state_seed(np.random.default_rng(3))
    expected = StackedClassifier(random_state=seed, **asked).fit(X, y).predict_proba(X)
    assert_array_equal(model.predict_proba(X), expected)
    other = StackedClassifier(random_state=np.random.default_rng(3), **asked).fit(X, y)
    assert_array_equal(other.predict_proba(X), expected)


@pytest.mark.parametrize("kind", [StackedClassifier, StackedRegressor, LandmarkClassifier, LandmarkRegressor])
def test_a_row_alone_is_what_it_is_among_others(kind):
    """To the last bit, wherever it stands: a service asks for one row, and a batch for many."""
    X, y = rings(300)
    y = y if hasattr(kind, "predict_proba") else X[:, 0] + y
    model = kind(n_jobs=1).fit(X, y)
    predict = getattr(model, "predict_proba", model.predict)
    new = rings(300, seed=1)[0]
    together = predict(new)
    for row in range(0, 300, 37):
        assert_array_equal(predict(new[[row]])[0], together[row])
        assert_array_equal(predict(np.roll(new, row, axis=0))[row:], together[: 300 - row])
    assert len(np.unique(predict(np.repeat(new[:1], 300, axis=0)), axis=0)) == 1


def test_a_model_is_saved_and_loaded(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["a", "b", "c"], 200), "x": rng.normal(size=200)})
    y = np.where((frame["town"] == "a") ^ (frame["x"] > 0), "yes", "no")
    for kind, rows in ((StackedClassifier, frame), (LandmarkClassifier, frame), (StackedClassifier, frame[["x"]])):
        model = kind(n_jobs=1).fit(rows, y)
        model.save(tmp_path / "model.skops")
        loaded = load_model(tmp_path / "model.skops")
        assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
        assert loaded.classes_.tolist() == ["no", "yes"]
        with pytest.raises(ValueError, match=r"x|columns|features|names"):
            loaded.predict(frame[["town"]].rename(columns={"town": "other"}))
    with pytest.raises(NotFittedError):
        StackedClassifier().save(tmp_path / "none.skops")
    stored = skops_io.load(tmp_path / "model.skops")
    for name in ("n_columns", "n_codes"):  # for which a row would take 80 GB
        fields = stored["parts"]["model_"]["fields"]
        model = {"record": "StackModel", "fields": fields | {name: 10**10}}
        changed = stored | {"parts": stored["parts"] | {"model_": model}}
        (tmp_path / "bad.skops").write_bytes(skops_io.dumps(changed))
        with pytest.raises(ValueError, match="no fit gives"):
            load_model(tmp_path / "bad.skops")
    hard = SmartSVC(routing="hard", n_trees=1, cv=3).fit(frame[["x"]], y)
    hard.save(tmp_path / "hard.skops")
    assert_array_equal(load_model(tmp_path / "hard.skops").predict(frame[["x"]]), hard.predict(frame[["x"]]))
