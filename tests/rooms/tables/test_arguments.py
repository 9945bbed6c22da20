"""The one door for X and y: whatever the rows come in, the problem is the same."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from bayesfloor import (
    LandmarkClassifier,
    drift,
    learned_floor,
    read_table,
    regression_floor,
)
from bayesfloor.tables.arguments import check_problem, problem_and_table
from helpers.one_case import for_each

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
LABELS = np.array(["no", "yes"])[np.arange(N) % 2]
AMOUNTS = RNG.normal(size=N)
WHO, WHEN, WEIGHT = np.arange(N) // 3, np.arange(N)[::-1].astype(float), 1.0 + RNG.random(N)
SITE = np.array(["north", "south", "west"])[np.arange(N) % 3]
KNOWN = {"groups": WHO, "time": WHEN, "sample_weight": WEIGHT, "by": SITE}


def frame_of(kind, y):
    columns = {"a": X[:, 0], "b": X[:, 1], "y": y, "who": WHO, "when": WHEN, "weight": WEIGHT}
    return kind(columns)


def check_known(problem):
    np.testing.assert_array_equal(problem.X, X)
    np.testing.assert_array_equal(problem.groups, WHO)
    np.testing.assert_array_equal(np.argsort(problem.time), np.argsort(WHEN))
    np.testing.assert_allclose(problem.sample_weight, WEIGHT / WEIGHT.mean())
    assert problem.by.names == ("north", "south", "west")
    np.testing.assert_array_equal(np.array(problem.by.names)[problem.by.codes], SITE)


@for_each("points", [X, X.tolist(), pd.DataFrame(X), pl.DataFrame(X), sparse.csr_array(X)])
def test_classes_beside_points_of_any_type(points):
    problem, table = problem_and_table(points, LABELS, **KNOWN)
    assert table is None
    assert problem.task == "classification"
    assert problem.classes.tolist() == ["no", "yes"]
    assert problem.class_counts.tolist() == [30, 30]
    np.testing.assert_array_equal(problem.classes[problem.codes], LABELS)
    assert len(problem.y) == 0
    check_known(problem)


@for_each("task", ["regression", "auto"])
def test_numbers_are_a_target_too(task):
    problem = check_problem(X, AMOUNTS, task=task, **KNOWN)
    assert problem.task == "regression"
    np.testing.assert_array_equal(problem.y, AMOUNTS)
    assert problem.class_counts.tolist() == [N]
    check_known(problem)
    assert check_problem(X, LABELS, task="auto").task == "classification"


def test_what_a_table_knows_is_used_unless_something_else_is_given():
    table = read_table(
        frame_of(pd.DataFrame, LABELS).assign(site=SITE), target="y", groups="who", time="when", by="site"
    )
    problem, given = problem_and_table(table)
    assert given is table
    np.testing.assert_array_equal(problem.groups, WHO)
    assert problem.by.column == "site"
    assert problem.tabular is table.tabular
    other = np.arange(N) % 5
    np.testing.assert_array_equal(check_problem(table, groups=other).groups, other)


@for_each(
    "given, message",
    [
        ({"y": None}, "requires y to be passed"),
        ({"y": LABELS[:-1]}, "inconsistent numbers of samples"),
        ({"groups": "who"}, "groups='who' names a column, but X is no data frame"),
        ({"sample_weight": "w"}, "sample_weight='w' names a column, but X is no data frame"),
        ({"by": "site"}, "by='site' names a column, but X is no data frame"),
        ({"sample_weight": -WEIGHT}, "sample_weight must be finite and not below zero"),
        ({"groups": np.zeros(N)}, "at least two groups are needed"),
        ({"time": np.zeros(N)}, "rows cannot be put in order"),
        ({"by": SITE[1:]}, "one value for each of the 60 rows"),
        ({"prepare": "none"}, "prepare"),
    ],
)
def test_what_cannot_be_used(given, message):
    with pytest.raises(ValueError, match=message):
        check_problem(X, **{"y": LABELS, **given})


def test_what_is_wrong_names_what_to_do():
    with pytest.raises(ValueError, match="sample_weight='mass': there is no such column"):
        check_problem(frame_of(pd.DataFrame, LABELS), "y", sample_weight="mass")
    y = np.arange(80) % 2
    with pytest.raises(ValueError, match=r"Flatten each sample: X\.reshape\(80, -1\)"):
        learned_floor(np.ones((80, 3, 2)), y)
    with pytest.raises(ValueError, match=r"Of one-hot rows, pass y\.argmax\(axis=1\)\."):
        learned_floor(np.ones((80, 3)), np.eye(2)[y])
    frame = pd.DataFrame({"a": np.arange(40.0), "t": ["x", "y"] * 20})
    with pytest.raises(ValueError, match=r"such as 'x', not numbers\. Classes need learned_floor, or task="):
        regression_floor(frame, "t")


@for_each("y", [LABELS, AMOUNTS])
def test_some_of_the_rows(y):
    rows = np.array([5, 2, 40])
    problem = check_problem(X, y, task="auto", **KNOWN)
    part = problem.take(rows)
    assert part.task == problem.task
    for name in ("X", "codes", "groups", "time", "sample_weight"):
        np.testing.assert_array_equal(getattr(part, name), getattr(problem, name)[rows])
    np.testing.assert_array_equal(part.y, problem.y[rows] if len(problem.y) else [])
    np.testing.assert_array_equal(part.by.codes, problem.by.codes[rows])
    assert part.classes is problem.classes


@for_each("y", [LABELS, AMOUNTS])
def test_keys_follow_the_rows(y):
    order = RNG.permutation(N)
    moved = check_problem(X[order], y[order], task="auto", time=WHEN[order], sample_weight=WEIGHT[order])
    problem = check_problem(X, y, task="auto", time=WHEN, sample_weight=WEIGHT)
    np.testing.assert_array_equal(moved.keys(3), problem.keys(3)[order])
    assert len(np.unique(problem.keys(3))) == N
    assert not np.array_equal(problem.keys(3), problem.keys(4))


def write_file(folder, y):
    """Write a file with gaps in the target: rows 7 and 30 have no label."""
    frame = frame_of(pd.DataFrame, y).assign(site=SITE)
    frame["y"] = frame["y"].astype(object)
    frame.loc[[7, 30], "y"] = None
    frame.to_csv(folder / "rows.csv", index=False)
    return folder / "rows.csv", np.delete(np.arange(N), [7, 30])


@for_each("as_text", [True, False])
@for_each("y", [LABELS, AMOUNTS])
def test_a_path_is_read_as_a_table(tmp_path, as_text, y):
    file, kept = write_file(tmp_path, y)
    named = {"groups": "who", "time": "when", "sample_weight": "weight", "by": "site"}
    problem, table = problem_and_table(str(file) if as_text else file, "y", task="auto", **named)
    expected = read_table(file, target="y", groups="who", time="when", by="site", drop="weight")
    np.testing.assert_array_equal(problem.X, expected.X)
    assert table.lines.tolist() == (kept + 2).tolist()  # the first line has the names
    assert table.notes[0] == expected.notes[0]
    np.testing.assert_array_equal(problem.classes[problem.codes] if y is LABELS else problem.y, y[kept])
    np.testing.assert_allclose(problem.sample_weight, WEIGHT[kept] / WEIGHT[kept].mean())
    assert problem.by.column == "site"
    assert problem.feature_names == expected.feature_names


def test_weights_of_a_folder_of_files(tmp_path):
    frame = frame_of(pl.DataFrame, LABELS)
    (tmp_path / "parts").mkdir()
    for number, part in enumerate((frame[:25], frame[25:])):
        part.write_parquet(tmp_path / "parts" / f"{number}.parquet")
    problem = check_problem(tmp_path / "parts", "y", sample_weight="weight")
    np.testing.assert_allclose(problem.sample_weight, WEIGHT / WEIGHT.mean())


@for_each(
    "given, kind, message",
    [
        ({"X": "nowhere.csv"}, FileNotFoundError, "nowhere.csv"),
        ({"y": "z"}, ValueError, "rows.csv has no column 'z'"),
        ({"y": 4}, ValueError, "y=4: the file has no column of that name"),
        ({"groups": "whom"}, ValueError, "did you mean 'who'?"),
        ({"sample_weight": "mass"}, ValueError, "rows.csv has no column 'mass'"),
        ({"sample_weight": "site"}, ValueError, "the column 'site' holds no numbers, so it is no sample_weight"),
        ({"by": "sites"}, ValueError, "did you mean 'site'?"),
        ({"y": LABELS[:-1]}, ValueError, "inconsistent numbers of samples"),
        ({"prepare": None}, ValueError, "rows.csv: column 'site' does not hold numbers alone"),
    ],
)
def test_what_cannot_be_used_of_a_file(tmp_path, given, kind, message):
    asked = {"X": write_file(tmp_path, LABELS)[0], "y": "y", **given}
    with pytest.raises(kind, match=message):
        check_problem(**asked)


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_arrays_on_disk_are_taken_at_every_door(tmp_path):
    path = tmp_path / "points.NPY"
    with path.open("wb") as file:
        np.save(file, X)
    assert learned_floor(str(path), LABELS).interval == learned_floor(X, LABELS).interval
    assert drift(path, X, learners=None).p_value == 1.0
    fitted = LandmarkClassifier(effort="fast").fit(path, LABELS)
    np.testing.assert_array_equal(fitted.predict_proba(path), fitted.predict_proba(X))


def test_dates_written_as_text_beside_an_array_are_read_as_in_a_frame():
    rng = np.random.default_rng(0)
    days = np.datetime64("2021-01-03") + np.arange(80)
    written = [f"{day:%d.%m.%Y}" for day in days.astype(object)]
    y = np.arange(80) % 2
    points = rng.normal(size=(80, 2))
    seconds = (days - np.datetime64("1970-01-01")).astype(float) * 86_400.0
    for time in (written, np.array(written), np.array(written, object), pd.Series(written)):
        np.testing.assert_array_equal(check_problem(points, y, time=time).time, seconds)
    with pytest.raises(ValueError, match="time must hold numbers or dates"):
        check_problem(points, y, time=["soon", *written[1:]])
