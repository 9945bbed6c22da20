"""Tables made ready by themselves: what each column becomes, and what another table then becomes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from bayesfloor import TablePreparer, difficulty_report, learned_floor, read_table
from bayesfloor.tables.preparation import Preparation
from bayesfloor.tables.treatments import part_of_date
from helpers.one_case import for_each

N = 240


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(1)
    label = rng.choice(["ill", "well"], N, p=[0.4, 0.6])
    is_ill = label == "ill"
    return pd.DataFrame(
        {
            "row": np.arange(1, N + 1),
            "age": np.where(rng.random(N) < 0.1, np.nan, rng.integers(20, 80, N) + 5.0 * is_ill),
            "income": [f"${value:,}" for value in rng.integers(900, 90000, N)],
            "smoker": rng.choice(["yes", "No", "NA"], N),
            "city": rng.choice(["Rome", "rome ", "Oslo", "Paris"], N),
            "clinic": [f"c{value}" for value in rng.integers(0, 50, N)],
            "seen": [
                f"2021-{m:02d}-{d:02d}" for m, d in zip(rng.integers(1, 13, N), rng.integers(1, 29, N), strict=True)
            ],
            "remark": [
                f"{'pain in the chest' if ill else 'came for a check'} {value}" for value, ill in enumerate(is_ill)
            ],
            "lab": np.where(is_ill & (rng.random(N) < 0.6), "", rng.normal(size=N).round(3).astype(str)),
            "site": "A",
            "note": "",
            "outcome": label,
        }
    )


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "patients.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def table(file):
    return read_table(file)


def kinds(table):
    return {column.name: column.kind for column in table.columns}


def test_kinds_and_treatments(table):
    assert table.target == "outcome"
    assert kinds(table) == {
        "row": "id",
        "age": "number",
        "income": "number",
        "smoker": "yes/no",
        "city": "category",
        "clinic": "category",
        "seen": "date",
        "remark": "text",
        "lab": "number",
        "site": "constant",
        "note": "empty",
    }
    treatments = {column.name: column.treatment for column in table.columns}
    assert treatments["income"] == "scaled"
    assert treatments["city"] == "0 and 1 for each of 3 values"
    assert treatments["lab"].endswith("gaps filled by the median, plus a was-missing flag")
    assert treatments["site"] == "left out: one value only"
    assert treatments["row"] == "left out (counts the rows)"


def test_columns_are_made_ready(table, frame):
    notes = "\n".join(table.notes)
    assert [name for name in frame.columns if f"'{name}'" not in notes] == []
    columns = dict(zip(table.feature_names, table.X.T, strict=True))
    income = frame.income.str.replace(r"[$,]", "", regex=True).astype(float)
    for name, values in (("income", income), ("age", frame.age.fillna(frame.age.median()))):
        np.testing.assert_allclose(columns[name], (values - values.mean()) / values.std(ddof=0), atol=1e-12)
    np.testing.assert_array_equal(columns["lab=(missing)"], frame.lab == "")
    dummies = np.column_stack([values for name, values in columns.items() if name.startswith("city=")])
    assert dummies.sum(axis=1).tolist() == [1.0] * N
    differ = np.flatnonzero(dummies[:, 0] != dummies[0, 0])[0]
    assert ((dummies[0] - dummies[differ]) ** 2).sum() == 2.0  # twice the variance of a standardised number
    month = pd.to_datetime(frame.seen).dt.month - 1
    for part, function in (("sine", np.sin), ("cosine", np.cos)):
        np.testing.assert_allclose(columns[f"seen: month ({part})"], function(2 * np.pi * month / 12), atol=1e-12)


def test_parts_of_dates_are_those_of_pandas():
    moments = pd.to_datetime(["1969-07-20 20:17:40", "2000-02-29 00:00:00", "2024-12-31 23:59:59"])
    seconds = np.array([moment.timestamp() for moment in moments])
    assert part_of_date(seconds, "year").tolist() == moments.year.tolist()
    assert part_of_date(seconds, "month").tolist() == (moments.month - 1).tolist()
    assert part_of_date(seconds, "weekday").tolist() == moments.day_of_week.tolist()
    assert part_of_date(seconds, "hour") == pytest.approx(moments.hour + moments.minute / 60 + moments.second / 3600)


@pytest.mark.slow
def test_labels_do_not_leak_through_many_values():
    """Where a category with many values says nothing, no model may learn from it."""
    rng = np.random.default_rng(4)
    n = 600
    data = pd.DataFrame({"who": [f"w{v}" for v in rng.integers(0, 250, n)], "x": rng.normal(size=n)})
    found = learned_floor(data, rng.integers(0, 2, n), learners=["gaussian", "trees", "boosting", "nominal"])
    assert found.interval[1] == pytest.approx(0.5, abs=0.02)  # what needs no features
    assert found.reached > 0.44


def test_labels_do_not_choose_features(frame):
    """The columns of X are those that any other labels would give: a choice by all labels would leak."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame(np.where(rng.random((200, 40)) < 0.3, np.nan, rng.normal(size=(200, 40))))
    data.columns = [f"c{j}" for j in range(40)]
    given = [read_table(data.assign(y=rng.integers(0, 2, 200)), target="y") for _ in range(2)]
    np.testing.assert_array_equal(given[0].X, given[1].X)
    assert given[0].X.shape == (200, 80)
    labels = [frame.outcome, rng.permutation(frame.outcome)]
    names = [read_table(frame.assign(outcome=each), target="outcome").feature_names for each in labels]
    assert names[0] == names[1]


def test_gaps_in_the_same_rows_are_told_once():
    rng = np.random.default_rng(6)
    gaps = rng.random(100) < 0.2
    data = pd.DataFrame({name: np.where(gaps, np.nan, rng.normal(size=100)) for name in "abc"})
    data["d"] = np.where(rng.random(100) < 0.2, np.nan, rng.normal(size=100))
    data["few"] = np.where(np.arange(100) < 3, np.nan, rng.normal(size=100))
    names = TablePreparer().fit(data).get_feature_names_out().tolist()
    assert names == ["a", "a=(missing)", "b", "c", "d", "d=(missing)", "few"]


def test_the_tabular_view_keeps_gaps_and_codes(table, frame):
    view = table.tabular
    assert np.isnan(view.values[:, view.names.index("age")]).tolist() == frame.age.isna().tolist()
    assert view.is_category[view.names.index("city")]
    assert set(view.values[:, view.names.index("city")]) == {0.0, 1.0, 2.0}
    ((column, first, last),) = view.from_labels
    assert view.names[column] == "clinic"
    assert all(name.startswith("clinic: share of") for name in table.feature_names[first:last])


def test_values_are_shown_as_the_file_has_them(table, frame):
    for row in (0, 7, 100):
        shown = dict(zip(table.column_names, table.values_of(row), strict=True))
        assert shown["clinic"] == frame.clinic[row]
        assert shown["seen"] == frame.seen[row]
        assert shown["lab"] == ("" if frame.lab[row] == "" else f"{float(frame.lab[row]):.6g}")
        assert shown["remark"] == frame.remark[row]


def test_numbers_as_they_are(frame, file, tmp_path):
    with pytest.raises(ValueError, match="does not hold numbers alone; prepare='auto' of read_table makes"):
        read_table(file, prepare=None, drop="age")
    with pytest.raises(ValueError, match=r"text"):
        learned_floor(frame.drop(columns="outcome"), frame.outcome, prepare=None)
    with pytest.raises(ValueError, match=r"must be one of 'auto', None or a transformer. Got 'strict' instead"):
        read_table(file, prepare="strict")
    rows = pd.DataFrame({"constant": 7, "few": [1, 2, 3] * 4, "id": range(12), "y": list("uv") * 6})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    for given in (tmp_path / "rows.csv", rows):
        table = read_table(given, prepare=None)
        assert table.feature_names == ("constant", "few", "id")
        np.testing.assert_array_equal(table.X, rows.drop(columns="y"))
    for values in ([np.nan, 1.0], [np.inf, 1.0], ["x", "1"]):
        other = rows.assign(few=values * 6)
        with pytest.raises(ValueError, match=r"column 'few'"):
            read_table(other, prepare=None)
        with pytest.raises(ValueError, match=r"row 0, column 'few': there is no finite number"):
            read_table(other, preparation=table.preparation)


@for_each(
    "options, column, expected",
    [
        ({"categorical": "age"}, "age", "category"),
        ({"text": "clinic"}, "clinic", "text"),
        ({"numeric": "row"}, "row", "number"),
        ({"categorical": ["seen"]}, "seen", "category"),
        ({"date": "seen"}, "seen", "date"),
        ({"drop": ["seen"]}, "seen", None),
        ({"groups": "clinic"}, "clinic", "groups"),
        ({"time": "seen"}, "seen", "time"),
    ],
)
def test_overrides(file, options, column, expected):
    table = read_table(file, **options)
    assert kinds(table).get(column) == expected
    if expected in ("groups", "time", None):
        assert not [name for name in table.feature_names if name.startswith(column)]


def test_what_is_to_be_left_out(file):
    table = read_table(file, encode="drop")
    assert not [name for name in table.feature_names if name.startswith(("city", "clinic"))]


def test_groups_and_time_reach_the_table(file, frame):
    table = read_table(file, groups="clinic", time="seen")
    assert [len(set(table.groups[frame.clinic == name])) for name in ("c1", "c2")] == [1, 1]
    assert len(set(table.groups)) == frame.clinic.nunique()
    expected = pd.to_datetime(frame.seen).map(pd.Timestamp.timestamp)
    assert table.time.tolist() == expected.tolist()
    with pytest.raises(ValueError, match="'remark' holds neither dates nor numbers"):
        read_table(file, time="remark")
    with pytest.raises(ValueError, match="target, groups and time need a column each"):
        read_table(file, groups="clinic", time="clinic")


# --- the target


def write(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    return tmp_path / "t.csv"


def test_labels_that_say_there_is_none_are_left_out_and_counted(tmp_path):
    marks = ["", "NA", "N/A", "n/a", "null", "NULL", "NaN", "?", ".", "-", "none", "None", "unknown", "Unknown"]
    rows = [f"{i * 7 % 11},{label}\n" for i, label in enumerate(["u", "v", *marks, *"uvwuvw" * 50])]
    path = write(tmp_path, "x,y\n" + "".join(rows))
    table = read_table(path)
    assert table.y.tolist() == list("uv" + "uvwuvw" * 50)
    assert table.n_samples == len(rows)
    assert f"{len(marks)} rows without a label in 'y' left out." in table.notes
    (note,) = [note for note in table.notes if note.startswith("Missing labels in 'y'")]
    assert "'-' (1), '.' (1), " in note
    assert "(--keep-missing-as-class) keeps such labels as classes" in note
    assert "keep_missing_as_class=True" in note
    kept = read_table(path, keep_missing_as_class=True)
    assert len(kept.y) == len(rows) - 1  # empty text is no name of a class
    assert {"na", "?", ".", "-", "unknown"} < {label.casefold() for label in kept.classes.tolist()}


@for_each("mark", ["NA", "?", ".", "-", "none", "Unknown"])
def test_numbers_beside_labels_that_say_there_is_none(mark):
    x = np.append(np.arange(30) * 7 % 11, 3)
    frame = pd.DataFrame({"x": x, "y": [*(str(i % 3) for i in range(30)), mark]})
    assert read_table(frame).classes.tolist() == [0, 1, 2]
    numbers = read_table(frame.assign(y=[*(f"{i / 8}" for i in range(30)), mark]))
    assert (numbers.task, len(numbers.y)) == ("regression", 30)
    said = {f"Missing labels in 'y': '{mark}' (1).", "1 row without a number in 'y' left out."}
    assert said <= set(numbers.notes)


@for_each(
    "labels",
    [["+", "-"], ["++", "+", "0", "-", "--"], ["none", "mild"], ["NA", "K"], [".", "x"], ["?", "x"], ["Na", "K", "Cl"]],
)
def test_labels_that_are_classes_although_they_look_missing(tmp_path, labels):
    table = read_table(
        write(tmp_path, "x,y\n" + "".join(f"{i * 7 % 11},{labels[i % len(labels)]}\n" for i in range(20)))
    )
    assert sorted(table.classes.tolist()) == sorted(labels)
    assert any("kept as a class" in caution for caution in table.cautions) == ("Na" not in labels)


def test_spellings_of_a_label_are_one_class(tmp_path):
    table = read_table(write(tmp_path, "x,y\n1,Yes\n2,yes \n3,No\n4,YES\n5,Yes\n"))
    assert table.classes.tolist() == ["No", "Yes"]
    assert "'YES'" in table.cautions[0]
    assert "'yes'" in table.cautions[0]
    with pytest.raises(ValueError, match="needs two classes, got 1: 'a'"):
        read_table(write(tmp_path, "x,y\n1,a\n3,NaN\n2,a\n4,null\n"))


def test_a_target_that_is_not_obvious(tmp_path):
    rows = "\n".join(f"{'ab'[i % 2]},{i * 1.5},{i * 0.25}" for i in range(40))
    with pytest.raises(ValueError, match=r"'w', does not look like classes; .*\(--target\): it may be 'kind'"):
        read_table(write(tmp_path, f"kind,v,w\n{rows}\n"))
    named = write(tmp_path, f"label,v,w\n{rows}\n")
    assert read_table(named).target == "label"


# --- another table


def test_another_table(table, frame, tmp_path):
    other = frame.drop(columns=["row", "site", "note", "outcome"]).head(4).copy()
    other["city"] = ["ROME", "Berlin", "", "Oslo"]
    other["age"] = [30.0, np.nan, 40.0, 50.0]
    other["income"] = ["$1,000", "cheap", "", "2000"]
    other["clinic"] = ["c1", "c999", "", "c2"]
    other.loc[3, "seen"] = "sometime"
    other["extra"] = 5
    path = tmp_path / "new.csv"
    other[sorted(other.columns)].to_csv(path, index=False)
    found = read_table(path, preparation=table.preparation)
    assert found.X.shape == (4, table.X.shape[1])
    assert np.isfinite(found.X).all()
    assert found.y is None
    place = [name.lower() for name in table.feature_names].index("city=rome")
    assert found.X[:, place].tolist() == [1.0, 0.0, 0.0, 0.0]
    notes = "\n".join(found.notes)
    assert "Columns not used: 'extra'" in notes
    assert "a value that the first table did not have" in notes
    with pytest.raises(ValueError, match="lacks the columns 'clinic'"):
        read_table(other.drop(columns="clinic"), preparation=table.preparation)


@for_each(
    "treatment, key, value",
    [
        ("NumberFeature", "spread", -1.0),
        ("CategoryFeatures", "categories", [1, 2]),
        ("CategoryFeatures", "n_hidden", 7),
        ("SharesFeatures", "shares", np.zeros((2, 2))),
        ("SharesFeatures", "spread", np.zeros(1)),
        ("SharesFeatures", "frequent", {"treatment": "NumberFeature"}),
        ("DateFeatures", "parts", ["century"]),
        ("TextFeatures", "directions", np.full((4096, 2), np.nan)),
        ("TextFeatures", "unit", "pickles"),
        ("CategoryFeatures", "has_other", 20_000_000),
        ("CategoryFeatures", "tells_gaps", 1),
        ("CategoryFeatures", "n_hidden", True),
        ("DateFeatures", "fill", 1e30),
        ("NumberFeature", "center", True),
        ("NumberFeature", "levels", [0.5]),
        ("NumberFeature", "levels", [1.0, 1.0]),
        ("NumberFeature", "levels", [float(k) for k in range(10_000)]),
        ("SharesFeatures", "labels", ["a"] * 9),
        ("NumberFeature", "treatment", "os.system"),
    ],
)
def test_a_tampered_preparation_is_refused(table, treatment, key, value):
    stored = table.preparation.to_dict()
    column = next(each for each in stored["columns"] if each["treatment"] == treatment)
    column[key] = value
    with pytest.raises(ValueError, match="described by"):
        Preparation.from_dict(stored)
    for changed in (stored | {"columns": None}, stored | {"more": 1}, None):
        with pytest.raises(ValueError, match="a table is described by other values"):
            Preparation.from_dict(changed)


# --- transformers


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_a_transformer_of_ones_own(frame):
    own = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["city"]), (SimpleImputer(), ["age"]), verbose_feature_names_out=False
    )
    table = read_table(frame, target="outcome", prepare=own)
    expected = own.fit_transform(frame)
    np.testing.assert_allclose(table.X, expected)
    assert table.feature_names[-1] == "age"
    assert len(table.values_of(0)) == table.X.shape[1]
    report = difficulty_report(frame, "outcome", prepare=own, effort="fast")
    assert report.summary["data"]["n_features"] == expected.shape[1]
    with pytest.raises(ValueError, match="The 'prepare' parameter must be"):
        read_table(frame, target="outcome", prepare="magic")


def test_table_preparer_in_a_pipeline(frame):
    X, y = frame.drop(columns="outcome"), frame.outcome
    scores = cross_val_score(make_pipeline(TablePreparer(), LogisticRegression()), X, y)
    assert scores.mean() > 0.8  # the remark gives the label away
    preparer = TablePreparer(drop="remark").set_output(transform="pandas")
    made = preparer.fit_transform(X, y)
    assert list(made.columns) == list(preparer.get_feature_names_out())
    assert "lab=(missing)" in made.columns
    assert {each.name: each.kind for each in preparer.columns_}["seen"] == "date"
    assert preparer.transform(X.head(3)).shape == (3, made.shape[1])


def test_table_preparer_of_numbers():
    X = np.random.default_rng(0).normal(size=(30, 2))
    np.testing.assert_allclose(TablePreparer().fit_transform(X), (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-12)
    with pytest.raises(ValueError, match="encode"):
        TablePreparer(encode="magic").fit(X)
