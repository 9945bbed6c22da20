"""Rows without a label are left out of arrays, frames and files, by every door; values of other rows are refused."""

import inspect
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

import bayesfloor as bf
from bayesfloor.tables.arguments import problem_and_table
from bayesfloor.tables.unlabelled import missing_labels
from helpers.one_case import for_each

N = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
LABELS = np.where(X[:, 0] + 0.5 * RNG.normal(size=N) > 0, "u", "v").astype(object)
NUMBERS = X[:, 0] + 0.5 * RNG.normal(size=N)
ORDER = RNG.permutation(N)
WEIGHTS = np.ones(N)
WEIGHTS[ORDER[-3:]] = 0.0

#: Marks with their shares, and those of them that are classes.
CASES = [
    *(({mark: 0.05}, set()) for mark in ("?", "-", "NaN", "")),
    ({".": 0.7}, set()),
    ({"null": 0.005}, set()),
    *(({word: share}, {word}) for word, share in (("None", 0.005), ("NA", 0.05), ("unknown", 0.7))),
    ({"None": 0.0175, "?": 0.05}, set()),
    ({"none": 0.02, "?": 0.05}, {"none"}),
    ({"other": 0.005, "?": 0.05}, {"other"}),
    ({"-": 0.05, "+": 0.05, "?": 0.05}, {"-", "+"}),
    ({"NA": 0.01, "unknown": 0.3, "": 0.1}, {"unknown"}),
]


def marked(shares):
    """Labels some of which are marks, and the mark of each row, None where it has a label."""
    marks, first = np.full(N, None), 0
    for mark, share in shares.items():
        last = first + round(share * N)
        marks[ORDER[first:last]] = mark
        first = last
    return np.where(marks == None, LABELS, marks), marks  # noqa: E711


def in_every_form(y, folder):
    """The same rows as arrays, frames and files, with the line of the first row of a file."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    pl.from_pandas(frame).write_parquet(folder / "t.parquet")
    yield X, y, None
    yield X, y.astype(str), None
    yield X.tolist(), y.tolist(), None
    yield frame[["a", "b", "c"]], frame["y"], None
    yield frame[["a", "b"]].assign(c="text"), frame["y"], None
    yield frame, "y", None
    yield pl.from_pandas(frame), "y", None
    yield str(folder / "t.csv"), "y", 2
    yield str(folder / "t.jsonl"), "y", 1
    yield str(folder / "t.parquet"), "y", 1


def test_one_rule_for_arrays_frames_and_files(tmp_path):
    for shares, classes in CASES:
        y, marks = marked(shares)
        kept = np.flatnonzero([mark is None or mark in classes for mark in marks])
        for points, labels, first in in_every_form(y, tmp_path):
            problem, table = problem_and_table(points, labels)
            rows = problem.given_rows if first is None else table.lines - first
            rows = np.arange(N) if rows is None else rows
            assert rows.tolist() == kept.tolist(), (shares, type(points), first)
            assert problem.classes[problem.codes].tolist() == y[kept].tolist()
            assert set(problem.classes.tolist()) == {"u", "v", *classes}
            said = [finding for finding in problem.findings if finding.code == "BF014"]
            assert len(said) == (len(kept) < N), shares
            assert all(f"{N - len(kept)} of {N} rows (" in finding.sentence for finding in said)
            assert problem.n_samples == N


def test_which_labels_are_missing():
    for labels, missing in (
        ({"u": 60, "v": 37, "NA": 3}, []),
        ({"u": 61, "v": 37, "NA": 1, "?": 1}, ["NA", "?"]),
        ({"u": 57, "v": 37, "NA": 1, "none": 1, "None": 1, "?": 3}, ["NA", "?"]),  # two spellings of one class
        ({"u": 60, "v": 30, "NA": 1, "": 9}, ["NA", ""]),
        ({"0": 50, "1": 20, "NA": 30}, ["NA"]),  # among numbers it is no name
        ({"1,5": 50, "2,5": 20, "unknown": 30}, ["unknown"]),
        ({"u": 60, ".": 40}, []),
        ({"u": 60, "?": 40}, []),
        ({"u": 60, "NaN": 30, "": 10}, ["NaN", ""]),
        ({"+": 40, "-": 30, "?": 30}, ["?"]),
        ({"++": 40, "0": 20, "--": 40}, []),
        ({"Na": 40, "K": 20, "#N/A": 40}, ["#N/A"]),
    ):
        assert missing_labels(labels) == missing, labels


def missing_in(values, rows):
    values = values.copy()
    values[rows] = np.nan if values.dtype.kind == "f" else None
    return values


FEW = ORDER[:5]
SOME_LABELS, SOME_NUMBERS = missing_in(LABELS, FEW), missing_in(NUMBERS, FEW)
HOW, HOW_NUMBERS = {"learners": ["gaussian"], "effort": "fast"}, {"learners": ["linear"], "effort": "fast"}
#: Functions of points, labels and numbers whose results say which rows were left out.
DOORS = {
    "learned_floor": lambda X, y, z: bf.learned_floor(X, y, **HOW),
    "regression_floor": lambda X, y, z: bf.regression_floor(X, z, **HOW_NUMBERS),
    "bayes_error": lambda X, y, z: bf.bayes_error(X, y, n_trees=1),
    "one_vs_rest": lambda X, y, z: bf.one_vs_rest_bayes_error(X, y, n_trees=1),
    "pairwise": lambda X, y, z: bf.pairwise_bayes_error(X, y, n_trees=1),
    "henze_penrose": lambda X, y, z: bf.henze_penrose_divergence(X, y, n_trees=1),
    "floor_gap": lambda X, y, z: bf.floor_gap(GaussianNB(), X, y, learners=["gaussian"]),
    "floor_gap of numbers": lambda X, y, z: bf.floor_gap(LinearRegression(), X, z, learners=["linear"]),
    "compare_features": lambda X, y, z: bf.compare_features({"a": np.asarray(X)[:, :1], "all": X}, y, **HOW),
    "compare_features by trees": lambda X, y, z: bf.compare_features({"a": X}, y, learners=None),
    "compare_features of X": lambda X, y, z: bf.compare_features({"as it is": "passthrough"}, y, X=X, **HOW),
    "difficulty_report": lambda X, y, z: bf.difficulty_report(X, y, effort="fast"),
    "difficulty_report of numbers": lambda X, y, z: bf.difficulty_report(X, z, effort="fast", task="regression"),
}
#: Those that take other values of the rows beside them, and those that say nothing.
BESIDE = {
    "groups": lambda X, y, v: bf.learned_floor(X, y.to_numpy(), groups=v, **HOW),
    "time": lambda X, y, v: bf.learned_floor(X, y.to_numpy(), time=v, **HOW),
    "sample_weight": lambda X, y, v: bf.learned_floor(X, y.to_numpy(), sample_weight=v, **HOW),
    "by": lambda X, y, v: bf.learned_floor(X, y.to_numpy(), by=v, **HOW),
    "groups beside y": lambda X, y, v: bf.learned_floor(X.to_numpy(), y.sort_index(), groups=v, **HOW),
    "predictions": lambda X, y, v: bf.floor_gap(None, X, y.to_numpy(), predictions=y),
    "drift": lambda X, y, v: bf.drift(X, X, y=(y, y), learners=None),
    "bayes_class_weight": lambda X, y, v: bf.bayes_class_weight(X, y),
    "class_forests": lambda X, y, v: bf.class_forests(X, y),
    "soft_label_floor": lambda X, y, v: bf.soft_label_floor(pd.DataFrame({"u": [0.5] * N, "v": 0.5}), y),
    "SmartSVC": lambda X, y, v: bf.SmartSVC().fit(X, y.to_numpy(), sample_weight=v),
    "LinearSVCCV": lambda X, y, v: bf.LinearSVCCV().fit(X, y.to_numpy(), groups=v),
    "BayesErrorEstimator.partial_fit": lambda X, y, v: bf.BayesErrorEstimator().partial_fit(X, y),
}
ESTIMATORS = [bf.StackedClassifier(), bf.LandmarkClassifier(), bf.BayesErrorEstimator(), bf.FloorSelector(1)]
ESTIMATORS += [bf.StackedRegressor(), bf.TablePreparer()]


#: What functions are called, where they have another name here.
NAMED = {"one_vs_rest": "one_vs_rest_bayes_error", "pairwise": "pairwise_bayes_error"}
NAMED |= {"henze_penrose": "henze_penrose_divergence"}


def test_no_function_is_left_out():
    takes_both = {
        name
        for name in bf.__all__
        if inspect.isfunction(function := getattr(bf, name))
        and list(inspect.signature(function).parameters)[:2] == ["X", "y"]
    }
    assert takes_both <= {NAMED.get(name, name) for name in DOORS | BESIDE} | {"bayes_cost_matrix", "class_affinity"}


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_a_table_stands_for_its_rows(tmp_path):
    """Where the values of both are the same, so is what is found; a table says itself what its target is."""
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=5, y=LABELS).to_csv(tmp_path / "t.csv", index=False)
    table = bf.read_table(tmp_path / "t.csv", prepare=None)
    for function in (bf.bayes_error, bf.class_affinity, bf.bayes_cost_matrix, bf.henze_penrose_divergence):
        given = function(table), function(table.X, table.y)
        assert repr(given[0]) == repr(given[1])
        with pytest.raises(ValueError, match="leave out y"):
            function(table, table.y)
        with pytest.raises(ValueError, match=r"t\.csv was read without its labels"):
            function(replace(table, y=None))
        with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
            function(table.X)
    (finding,) = [each for each in bf.bayes_error(table).findings if "constant" in str(each)]
    assert "'d'" in str(finding)
    assert bf.spanning_forests(replace(table, y=None)).n_samples == N


def test_series_of_another_order_are_refused():
    """Rows are matched by their place, so that both must have the same names: by place, an error of .006 became .45."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    y, z, values = (pd.Series(each).iloc[ORDER] for each in (LABELS, NUMBERS, np.arange(N) // 2 + 1))
    calls = {name: partial(door, frame, y, z) for name, door in DOORS.items() if not name.startswith("compare")}
    calls["compare_features of X"] = partial(DOORS["compare_features of X"], frame, y, z)
    calls |= {name: partial(door, frame, y, values) for name, door in BESIDE.items()}
    calls |= {repr(each): partial(each.fit, frame, y if "Regr" not in repr(each) else z) for each in ESTIMATORS}
    for name, call in calls.items():
        with pytest.raises(ValueError, match=r"400 rows in common with .*, in another order"):
            pytest.fail(f"{name} took {call()}")


def test_rows_with_other_names_are_refused_and_those_without_are_not():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    part, y = frame.iloc[5:], pd.Series(LABELS[5:])
    with pytest.raises(ValueError, match="The index of y is not that of X: it has 390 rows in common with X"):
        bf.bayes_error(part, y)
    expected = bf.bayes_error(X[5:], LABELS[5:]).estimate
    same = [(part, y.to_numpy()), (part, y.set_axis(part.index)), (X[5:], y), (pl.from_pandas(frame)[5:], y)]
    same.append((part, pl.Series(LABELS[5:].tolist())))
    for points, labels in same:
        assert bf.bayes_error(points, labels).estimate == expected


@for_each("door", DOORS)
@pytest.mark.limits(learners=("gaussian", "linear"))
def test_every_door_says_what_it_leaves_out(door):
    """What is found is that of the other rows alone."""
    found = DOORS[door](pd.DataFrame(X), pd.Series(SOME_LABELS), pd.Series(SOME_NUMBERS))
    (said,) = [finding for finding in found.findings if finding.code == "BF014"]
    assert said.sentence.startswith("5 of 400 rows (1.2%) are left out: 5 without a label in 'y'")
    if door.startswith("difficulty"):
        assert (found.summary["data"]["n_samples"], found.summary["data"]["n_rows"]) == (400, 395)
        assert "Left out: 5 without a label in 'y'." in found.to_markdown().splitlines()[2]
    elif hasattr(found, "n_samples"):
        assert (found.n_samples, found.n_rows) == (400, 395)
        assert "395 of 400 samples" in repr(found)
    if hasattr(found, "estimate"):
        left = np.setdiff1d(np.arange(N), FEW)
        alone = DOORS[door](X[left], SOME_LABELS[left], SOME_NUMBERS[left])
        assert np.array_equal(found.estimate, alone.estimate)


def test_what_results_and_estimators_do_about_missing_labels():
    for function in (bf.bayes_class_weight, bf.bayes_cost_matrix):
        with pytest.warns(UserWarning, match="BF014: 5 of 400 rows"):
            function(X, SOME_LABELS)
    for estimator in (bf.StackedClassifier(), bf.LandmarkClassifier(), bf.SmartSVC(), bf.FloorSelector(1)):
        with pytest.raises(ValueError, match="5 missing labels"):
            estimator.fit(X, SOME_LABELS)
    for estimator in (bf.StackedRegressor(), bf.LandmarkRegressor(), bf.BayesErrorEstimator()):
        with pytest.raises(ValueError, match=r"5 missing (values|labels)"):
            estimator.fit(X, SOME_NUMBERS)
    found = bf.drift(X[:200], X[200:], y=(SOME_LABELS[:200], SOME_LABELS[200:]), learners=None)
    (said,) = [finding for finding in found.findings if finding.code == "BF014"]
    assert said.sentence.startswith("5 of 400 rows")
    assert said.hint.startswith("Figures of the target are about the other rows")


def test_rows_are_counted_among_those_given():
    """Positions that results tell are those of the caller's rows, whatever was left out."""
    y, z = np.where(X[:, 0] > 0, "u", "v").astype(object), NUMBERS.copy()
    wrong = np.argsort(-np.abs(X[:, 0]))[:3]  # where models are surest
    y[wrong] = np.where(y[wrong] == "u", "v", "u")
    z[wrong] += 100.0
    out = np.setdiff1d(ORDER[:40], wrong)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    points = frame.assign(d="text")
    suspicious = bf.learned_floor(points, missing_in(y, out), learners=["logistic"], checks=False).suspicious
    assert set(wrong) <= set(suspicious.row.tolist())
    assert not set(out) & {*suspicious.row.tolist(), *suspicious.neighbours.ravel().tolist()}
    floor = bf.regression_floor(X, missing_in(z, out), learners=["linear"], checks=False)
    assert set(wrong) <= set(floor.suspicious.row.tolist())
    assert floor.n_rows == N - len(out)
    named = bf.regression_floor(frame.assign(y=missing_in(z, out)), "y", learners=["linear"], checks=False)
    assert named.n_rows == N - len(out)
    report = bf.difficulty_report(X, missing_in(y, out), effort="fast", checks=False)
    listed = {each["row"] for each in report.summary["suspects"]["rows"]}
    assert listed
    assert listed <= set(wrong)


def test_predictions_are_of_all_rows_given():
    gap = bf.floor_gap(None, X, SOME_LABELS, predictions=LABELS, learners=["gaussian"])
    assert (gap.value, gap.n_samples, gap.n_rows) == (0.0, 400, 395)
    by = np.where(np.arange(N) < 100, "early", "late")
    beside = {"groups": np.arange(N) // 2, "sample_weight": WEIGHTS, "by": by.tolist()}
    floor = bf.learned_floor(X, SOME_LABELS, learners=["gaussian"], **beside)
    left = np.setdiff1d(np.arange(N), FEW)
    alone = {name: np.asarray(value)[left] for name, value in beside.items()}
    expected = bf.learned_floor(X[left], SOME_LABELS[left], learners=["gaussian"], **alone)
    assert floor.estimate == expected.estimate
    assert floor.subgroups.n_rows.tolist() == expected.subgroups.n_rows.tolist()
    with pytest.raises(ValueError, match="groups has 399 values"):
        bf.learned_floor(X, SOME_LABELS, groups=np.arange(N - 1))


def test_rows_of_weight_0_and_without_a_time():
    floor = bf.learned_floor(X, LABELS, sample_weight=WEIGHTS, learners=["gaussian"])
    assert (floor.n_samples, floor.n_rows) == (400, 397)
    (said,) = [finding for finding in floor.findings if finding.code == "BF014"]
    assert said.sentence == "3 of 400 rows (0.75%) are left out: 3 of weight 0."
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=SOME_LABELS, when=np.arange(float(N)))
    frame.loc[ORDER[5:9], "when"] = np.nan
    floor = bf.learned_floor(frame, "y", time="when", learners=["gaussian"])
    (said,) = [finding for finding in floor.findings if finding.code == "BF014"]
    assert said.sentence == (
        "9 of 400 rows (2.2%) are left out: 4 without a value in 'when'; 5 without a label in 'y'."
    )
    assert (floor.n_samples, floor.n_rows) == (400, 391)


def test_an_amount_that_is_read_as_classes():
    amount = np.round(NUMBERS * 20).astype(int)
    for points, y in ((X, amount), (pd.DataFrame(X).assign(mass=amount), "mass")):
        floor = bf.learned_floor(points, y, **HOW)
        (said,) = [finding for finding in floor.findings if finding.code == "BF015"]
        assert f"The {len(np.unique(amount))} different whole numbers of '{'y' if y is amount else 'mass'}'" in str(
            said
        )
        assert "regression_floor" in said.hint
    grades = np.digitize(NUMBERS, [-1, 0, 1])
    assert "BF015" not in {finding.code for finding in bf.learned_floor(X, grades, **HOW).findings}
