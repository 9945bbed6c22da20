"""Transformers hand on data frames in scikit-learn's own way, `set_output`, with the names of their columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from bayesfloor import FloorSelector, TablePreparer
from helpers.one_case import for_each
from helpers.pairwise_design import all_pairs

FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
Y = np.arange(60) % 2


def table():
    rng = np.random.default_rng(0)
    columns = {"noise": rng.normal(size=60), "size": rng.normal(size=60) + 4 * Y}
    return pd.DataFrame(columns | {"city": np.array(["x", "y", "z"])[rng.integers(0, 3, 60)]}, index=range(100, 160))


@for_each("kind, given, task", all_pairs(FRAMES, ["pandas", "polars", "array"], ["classification", "regression"]))
def test_selectors(kind, given, task):
    selector = FloorSelector(1)
    X = table()[["noise", "size"]]
    y = Y if task == "classification" else X["size"].to_numpy()
    X = {"pandas": X, "polars": pl.from_pandas(X), "array": X.to_numpy()}[given]
    found = selector.set_output(transform=kind).fit(X, y).transform(X)
    assert type(found) is FRAMES[kind]
    assert list(found.columns) == list(selector.get_feature_names_out()) == ["x1" if given == "array" else "size"]
    np.testing.assert_array_equal(found.to_numpy()[:, 0], table()["size"])
    if kind == given == "pandas":
        assert found.index[0] == 100


@for_each("kind, given", all_pairs(FRAMES, ["pandas", "polars", "pyarrow"]))
def test_the_preparation_of_tables(kind, given):
    X = {"pandas": table(), "polars": pl.from_pandas(table()), "pyarrow": pa.table(dict(table()))}[given]
    preparer = TablePreparer().set_output(transform=kind)
    found = preparer.fit_transform(X, Y)
    names = ["noise", "size", "city=x", "city=y", "city=z"]
    assert type(found) is FRAMES[kind]
    assert list(found.columns) == list(preparer.get_feature_names_out()) == names
    again = preparer.transform(X)
    assert type(again) is FRAMES[kind]
    np.testing.assert_array_equal(again.to_numpy(), found.to_numpy())
    np.testing.assert_array_equal(TablePreparer().fit_transform(X, Y), found.to_numpy())


@for_each("kind", FRAMES)
def test_a_pipeline(kind):
    X = table() if kind == "pandas" else pl.from_pandas(table())
    pipeline = make_pipeline(TablePreparer(), FloorSelector(1), LogisticRegression()).set_output(transform=kind)
    pipeline.fit(X, Y)
    assert pipeline[-1].feature_names_in_.tolist() == pipeline[:-1].get_feature_names_out().tolist() == ["size"]
    assert type(pipeline[:-1].transform(X)) is FRAMES[kind]
    assert pipeline.score(X, Y) > 0.9
