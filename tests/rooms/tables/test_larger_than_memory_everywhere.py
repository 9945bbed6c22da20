"""Functions and estimators take tables that are not in memory, to the answer for a data frame of the same values."""

import gzip
import warnings

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.naive_bayes import GaussianNB

from bayesfloor import (
    LandmarkClassifier,
    LandmarkRegressor,
    StackedClassifier,
    StackedRegressor,
    TablePreparer,
    bayes_error,
    compare_features,
    difficulty_report,
    drift,
    floor_gap,
    learned_floor,
    read_table,
    regression_floor,
)
from bayesfloor.tables import sources

N_ROWS = 400
QUICK = {"learners": ["gaussian"]}


def numbers():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N_ROWS, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=N_ROWS) > 0).astype(int)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})


def mixed():
    """Text, gaps and a group beside numbers."""
    rng = np.random.default_rng(2)
    frame = numbers()
    frame["kind"] = np.array(["red", "green", "blue"])[rng.integers(0, 3, N_ROWS)]
    frame.loc[rng.random(N_ROWS) < 0.1, "b"] = np.nan
    frame["site"] = rng.integers(0, 40, N_ROWS)
    frame["z"] = frame["a"] * 2 + rng.normal(size=N_ROWS)
    return frame


def in_every_form(frame, folder):
    """Return a frame in each form that is not in memory, by name."""
    parts = folder / "parts"
    parts.mkdir()
    for number, first in enumerate(range(0, len(frame), 150)):
        pl.from_pandas(frame[first : first + 150]).write_parquet(parts / f"{number}.parquet")
    pl.from_pandas(frame).write_csv(folder / "table.csv")
    return {
        "folder": parts,
        "csv": folder / "table.csv",
        "csv files": _files_of(frame, folder),
        "lazy": pl.from_pandas(frame).lazy(),
        "dask": dask.dataframe.from_pandas(frame, npartitions=3),
    }


def _files_of(frame, folder):
    files = [folder / "first.csv", folder / "second.csv.gz"]
    pl.from_pandas(frame[:170]).write_csv(files[0])
    files[1].write_bytes(gzip.compress(pl.from_pandas(frame[170:]).write_csv(separator=";").encode()))
    return files


@pytest.fixture
def few_rows(monkeypatch, set_limits):
    """Have 100 rows be too many for memory."""
    monkeypatch.setattr(sources, "FITTING_VALUES", 100)
    monkeypatch.setattr(sources, "DRAWN_VALUES", 400)
    set_limits(learned_rows=100)
    set_limits(chunk_rows=64)


def test_read_table(tmp_path):
    expected = read_table(mixed(), target="y", groups="site", drop="z")
    for name, given in in_every_form(mixed(), tmp_path).items():
        table = read_table(given, target="y", groups="site", drop="z")
        np.testing.assert_allclose(table.X, expected.X, rtol=1e-12, atol=1e-12, err_msg=name)
        assert table.feature_names == expected.feature_names
        assert list(map(str, table.y)) == list(map(str, expected.y))
        assert not table.origin.is_drawn


def features(given):
    """Rows without their target, which a model of numbers would take for another number."""
    return given[["a", "b", "c"]] if isinstance(given, pd.DataFrame) else given


PARTS = {"first": ["a"], "all": ["a", "b", "c"]}
#: Each takes its rows through the door of `read_table`: one form stands for the others.
CALLS = [
    ("folder", "y", lambda given: learned_floor(given, "y", **QUICK).estimate),
    ("lazy", "z", lambda given: regression_floor(given, "z", groups="site", learners=["linear"]).estimate),
    ("dask", "y", lambda given: difficulty_report(given, "y", effort="fast").learned.reached),
    ("lazy", "y", lambda given: floor_gap(GaussianNB(), given, "y", **QUICK).value),
    ("dask", "y", lambda given: [f.estimate for f in compare_features(PARTS, "y", X=given, **QUICK).features]),
    ("folder", "y", lambda given: drift(given, numbers().assign(a=lambda t: t["a"] + 1), learners=None).p_value),
    ("csv", "y", lambda given: LandmarkClassifier(effort="fast").fit(given, "y").predict_proba(features(given))),
    ("lazy", "y", lambda given: StackedClassifier(**QUICK).fit(given, "y").predict_proba(given)),
    ("dask", "t", lambda given: LandmarkRegressor(effort="fast").fit(given, "t").predict(features(given))),
    ("csv files", "t", lambda given: StackedRegressor(learners=["linear"]).fit(given, "t").predict(given)),
]


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_functions_and_estimators(tmp_path):
    frames = {"y": numbers(), "z": mixed().drop(columns="y")}
    frames["t"] = frames["y"].assign(t=lambda table: table["a"] + table.pop("y"))
    forms = {target: in_every_form(frame, _made(tmp_path / target)) for target, frame in frames.items()}
    for form, target, call in CALLS:
        found, expected = (np.asarray(call(given)) for given in (forms[target][form], frames[target]))
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=f"{form}, {target}")


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_a_dask_array_with_its_labels():
    frame = numbers()
    X, y = frame[["a", "b", "c"]].to_numpy(), frame["y"].to_numpy()
    expected = learned_floor(X, y, **QUICK)
    chunked = dask.array.from_array(X, chunks=(90, 2))
    for labels in (y, dask.array.from_array(y, chunks=130), dask.dataframe.from_pandas(frame, npartitions=2)["y"]):
        assert learned_floor(chunked, labels, **QUICK).estimate == expected.estimate


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_rows_are_drawn_where_there_are_too_many(tmp_path, few_rows):
    estimates = {}
    for name, given in in_every_form(mixed(), tmp_path).items():
        floor, model = learned_floor(given, "y", by="kind", **QUICK, return_model=True)
        assert (floor.n_samples, floor.n_rows) == (N_ROWS, 100), name
        assert floor.findings[0].sentence == "The figures come from 100 of 400 rows, drawn at random.", name
        assert floor.subgroups is not None
        estimates[name] = floor.estimate
        assert model.predict(given).shape == (N_ROWS,)
        table = read_table(given, target="y")
        assert (len(table.X), table.n_samples, table.origin.is_drawn) == (100, N_ROWS, True)
        assert any("100 of 400 rows are used, drawn at random" in note for note in table.notes)
    assert len({round(value, 9) for value in estimates.values()}) == 1, estimates
    found = regression_floor(tmp_path / "parts", "z", learners=["linear"])
    assert (found.n_samples, found.n_rows) == (N_ROWS, 100)


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_the_seed_decides_which_rows_are_drawn(tmp_path, few_rows):
    frame = numbers()
    given = in_every_form(frame, tmp_path)["folder"]
    chosen = {seed: sources.sample_of(sources.source_of(given), 100, seed).rows for seed in (0, 5)}
    assert len(np.intersect1d(chosen[0], chosen[5])) < 50  # 25 of 100 are expected
    for seed, rows in chosen.items():
        own = frame.iloc[rows]
        np.testing.assert_array_equal(read_table(given, target="y", random_state=seed).lines, rows + 1)
        found, expected = (learned_floor(each, "y", **QUICK, random_state=seed) for each in (given, own))
        assert found.reached == pytest.approx(expected.reached)
    found, expected = (difficulty_report(each, "y", effort="fast", random_state=5) for each in (given, own))
    assert found.learned.reached == pytest.approx(expected.learned.reached)
    assert (found.summary["data"]["n_samples"], found.summary["data"]["n_rows"]) == (N_ROWS, 100)
    with pytest.warns(UserWarning, match="100 of 400 rows are used, drawn at random"):
        found = bayes_error(given, "y", random_state=5)
    assert (found.n_samples, found.n_rows) == (N_ROWS, 100)
    assert found.estimate == pytest.approx(bayes_error(own, "y", random_state=5).estimate)
    with pytest.warns(UserWarning, match="drawn at random"):
        model = LandmarkClassifier(effort="fast", random_state=5).fit(given, "y")
    X = own[["a", "b", "c"]]
    expected = LandmarkClassifier(effort="fast", random_state=5).fit(X, own["y"]).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-5)


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_rows_that_stand_out_are_counted_among_those_drawn(tmp_path, few_rows):
    frame = numbers()
    frame["y"] = (frame["a"] > 0).astype(int)
    frame.loc[::20, "y"] = 1 - frame.loc[::20, "y"]
    given = in_every_form(frame.assign(z=frame["a"]), tmp_path)["folder"]
    found = learned_floor(given, "y", **QUICK).suspicious
    assert (found.n_drawn, found.n_samples) == (100, N_ROWS)
    assert repr(found).endswith("of 400 samples tested, rows counted among 100 that were drawn)")
    drawn = sources.sample_of(sources.source_of(given), 100).rows
    assert len(found)
    np.testing.assert_array_equal(frame["y"].to_numpy()[drawn[found.row]], found.given)
    assert learned_floor(frame, "y", **QUICK).suspicious.n_drawn is None
    assert regression_floor(given, "z", learners=["linear"], checks=False).suspicious.n_drawn == 100


def test_values_beside_rows_that_were_drawn(few_rows):
    frame = numbers()
    X = dask.array.from_array(frame[["a", "b", "c"]].to_numpy(), chunks=100)
    y = frame["y"]
    weight = np.ones(N_ROWS)
    rows = sources.sample_of(sources.source_of(X), 100).rows
    floor = learned_floor(X, y, sample_weight=weight, **QUICK)
    assert floor.n_samples == N_ROWS
    as_table = frame.iloc[rows].rename(columns={"a": "x0", "b": "x1", "c": "x2"})
    expected = learned_floor(as_table, "y", **QUICK)
    assert floor.reached == pytest.approx(expected.reached)
    with pytest.raises(ValueError, match="y has 399 values, and the Dask array 400 rows"):
        learned_floor(X, y[1:], **QUICK)


def _made(folder):
    folder.mkdir()
    return folder


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_estimators_fitted_to_rows_that_were_drawn(tmp_path, few_rows):
    frame = numbers()
    X = frame[["a", "b", "c"]]
    form = in_every_form(frame.assign(w=1.0), tmp_path)["folder"]
    with pytest.warns(UserWarning, match="fitted to 100 of 400 rows, drawn at random"):
        model = LandmarkClassifier(effort="fast").fit(form, "y", sample_weight="w")
    assert (model.predict(X) == frame["y"]).mean() > 0.7
    np.testing.assert_array_equal(model.predict(form), model.predict(X))
    chunked = dask.array.from_array(X.to_numpy(), chunks=70)
    stack = StackedClassifier(**QUICK).fit(chunked, frame["y"])
    np.testing.assert_allclose(stack.predict_proba(chunked), stack.predict_proba(X.to_numpy()))


@pytest.mark.parametrize("is_drawn", [False, True])
def test_preparer(tmp_path, request, is_drawn):
    frame = mixed().drop(columns=["y"])
    if is_drawn:
        request.getfixturevalue("few_rows")
    for name, given in in_every_form(frame, tmp_path).items():
        preparer = TablePreparer()
        X = preparer.fit_transform(given)
        assert X.shape[0] == N_ROWS, name
        np.testing.assert_allclose(preparer.transform(given), preparer.transform(frame), atol=1e-12, err_msg=name)
        if not is_drawn:
            np.testing.assert_allclose(X, TablePreparer().fit_transform(frame), atol=1e-12, err_msg=name)


@pytest.mark.slow
def test_values_beside_both_tables_of_which_rows_were_drawn(tmp_path, few_rows):
    old, new = numbers(), numbers().assign(a=lambda frame: frame["a"] + 2)
    forms = in_every_form(old, tmp_path)["folder"], in_every_form(new, _made(tmp_path / "new"))["folder"]
    groups = np.arange(N_ROWS) // 4, np.arange(N_ROWS) // 4 + 1000
    found = drift(*forms, y="y", groups=groups, random_state=3)
    rows = sources.sample_of(sources.source_of(forms[0]), 100, 3).rows
    of_rows = [frame.iloc[rows].assign(site=own[rows]) for frame, own in zip((old, new), groups, strict=True)]
    expected = drift(*of_rows, y="y", groups="site", random_state=3)
    assert (found.p_value, found.n_samples) == (expected.p_value, 2 * N_ROWS)
    with pytest.raises(ValueError, match=r"groups has shape \(399,\) for .*, which has 400 rows"):
        drift(*forms, groups=(groups[0][1:], groups[1]))


def test_nonsense_is_refused():
    empty = dask.dataframe.from_pandas(numbers()[:0], npartitions=1)
    with pytest.raises(ValueError, match="the Dask data frame has no rows"):
        learned_floor(empty, "y")
    with pytest.raises(ValueError, match="the lazy frame has no rows"):
        learned_floor(pl.from_pandas(numbers()[:0]).lazy(), "y")
    with pytest.raises(ValueError, match="two dimensions"):
        learned_floor(dask.array.zeros((2, 2, 2)), [0, 1])
    with pytest.raises(ValueError, match="nothing"):
        learned_floor(pl.from_pandas(numbers()).lazy(), "nothing")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unknown = dask.dataframe.from_pandas(numbers(), npartitions=3).clear_divisions()
        assert learned_floor(unknown, "y", **QUICK).n_samples == N_ROWS
