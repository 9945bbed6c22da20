"""Text to numbers, gaps filled and scales made alike, beside scikit-learn and pandas."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import MinMaxScaler, OrdinalEncoder, StandardScaler

from bayesfloor.tables.datasets import load_dataset
from bayesfloor.tables.read import read_table
from helpers.one_case import for_each


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": np.round(rng.normal(5, 3, 60), 3),
            "color": rng.choice(["red", "green", "blue"], 60),
            "b": rng.integers(0, 9, 60),
            "size": rng.choice(["10", "9", "x"], 60),
            "y": rng.choice(["p", "q"], 60),
        }
    )


@pytest.fixture
def save(tmp_path):
    def save(frame, name="data.csv"):
        frame.to_csv(tmp_path / name, index=False)
        return tmp_path / name

    return save


def test_dummies_and_codes_are_those_of_pandas_and_scikit_learn(frame, save):
    table = read_table(save(frame), encode="onehot", scale="none")
    expected = pd.get_dummies(frame.drop(columns="y"), columns=["color", "size"], drop_first=True, prefix_sep="=")
    assert sorted(table.feature_names) == sorted(expected.columns)
    np.testing.assert_array_equal(table.X, expected[list(table.feature_names)])
    scaled = read_table(save(frame), encode="onehot")
    dummies = [j for j, name in enumerate(scaled.feature_names) if "=" in name]
    np.testing.assert_array_equal(scaled.X[:, dummies], table.X[:, dummies])  # they stay 0 and 1
    table = read_table(save(frame), encode="ordinal", scale="none")
    np.testing.assert_array_equal(table.X[:, [1, 3]], OrdinalEncoder().fit_transform(frame[["color", "size"]]))


def test_codes_that_are_numbers_keep_their_order(save):
    frame = pd.DataFrame({"c": [10, 9, 100, 9], "y": [0, 1, 0, 1]})
    table = read_table(save(frame), encode="ordinal", scale="none", categorical=["c"])
    assert table.X[:, 0].tolist() == [1, 0, 2, 0]


@for_each("scale, scaler", [("standard", StandardScaler()), ("minmax", MinMaxScaler())])
def test_scales_are_those_of_scikit_learn(frame, save, scale, scaler):
    numbers = frame[["a", "b", "y"]]
    table = read_table(save(numbers), scale=scale, encode="onehot")  # so that few numbers are no codes
    np.testing.assert_allclose(table.X, scaler.fit_transform(numbers[["a", "b"]]), rtol=1e-12, atol=1e-12)


def test_columns_of_extreme_values(tmp_path, save):
    np.savez(tmp_path / "constant.npz", X=[[7.1, 1], [7.1, 2], [7.1, 3]], y=[0, 1, 0])
    for scale in ("standard", "minmax"):
        assert load_dataset("constant", data_dir=tmp_path, scale=scale).X[:, 0].tolist() == [0, 0, 0]
    np.savez(tmp_path / "far.npz", X=[[1.7e308], [-1.7e308], [0.0], [0.0]], y=[0, 1, 0, 1])
    scaled = load_dataset("far", data_dir=tmp_path, scale="standard").X[:, 0]
    np.testing.assert_allclose(scaled, np.sqrt([2, 2, 0, 0]) * [1, -1, 0, 0], rtol=1e-12)
    with pytest.raises(ValueError, match="too large for scale='minmax'"):
        load_dataset("far", data_dir=tmp_path, scale="minmax")
    path = save(pd.DataFrame({"a": [1.6e308, 1.2e308, None, 1.4e308], "y": [0, 1, 0, 1]}))
    assert read_table(path, impute="mean", scale="none", numeric="a").X[2, 0] == pytest.approx(1.4e308)


@for_each("factor", [1e-300, 1e-150, 1.0, 1e150, 1e307])
def test_scaling_at_any_magnitude(tmp_path, factor):
    values = np.array([1.0, 2.0, 4.0, 9.0, -3.0, 17.0])
    expected = (values - values.mean()) / values.std()
    np.savez(tmp_path / "far.npz", X=values[:, np.newaxis] * factor, y=[0, 1] * 3)
    table = load_dataset("far", data_dir=tmp_path, scale="standard")
    np.testing.assert_allclose(table.X[:, 0], expected, rtol=1e-12)


@for_each("impute", ["mean", "median", "most_frequent"])
def test_gaps_are_filled_as_scikit_learn_does(frame, save, impute):
    numbers = frame[["a", "b", "y"]].astype({"b": float})
    numbers.loc[3:9, "a"] = np.nan
    numbers.loc[7, "b"] = np.nan
    table = read_table(save(numbers), scale="none", impute=impute)
    expected = SimpleImputer(strategy=impute).fit_transform(numbers[["a", "b"]])
    np.testing.assert_allclose(table.X, expected, rtol=1e-14)
    gaps_filled = [each.treatment.partition(" filled by the ") for each in table.columns]
    how = impute.replace("_", " ")
    assert gaps_filled == [(f"not scaled, {gaps}", " filled by the ", how) for gaps in ("7 gaps", "1 gap")]


def test_names_of_dummies(save):
    frame = pd.DataFrame({"s": ["u", "v", "u", "v"], "s=v": [1, 2, 3, 4], "y": [0, 1, 0, 1]})
    with pytest.raises(ValueError, match="columns 's' and 's=v' both give a feature 's=v'"):
        read_table(save(frame), encode="onehot")
    frame = pd.DataFrame({"s": ["u"] * 4, "a": [1.5, 2.5, 3.5, 4.5], "y": [0, 1, 0, 1]})
    table = read_table(save(frame), encode="onehot")
    assert table.feature_groups == ((0,),)
    assert table.column_names == ("a",)
    assert "Column 's': constant; left out: one value only." in table.notes


def test_a_table_that_does_not_fit_is_refused(frame, save):
    numbers = frame[["a", "b", "y"]]
    preparation = read_table(save(numbers), prepare=None).preparation
    for changed, words in (
        (numbers.drop(columns="a"), "other.csv lacks the columns 'a'"),
        (numbers.assign(a=np.nan), "other.csv, line 2, column 'a': there is no finite number"),
        (numbers.assign(a="text"), "other.csv, line 2, column 'a': there is no finite number"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)):
            read_table(save(changed, "other.csv"), preparation=preparation)
