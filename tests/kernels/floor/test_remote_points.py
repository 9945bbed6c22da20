"""Floors from files and from a cluster: the numbers and the findings of the array in memory."""

import dataclasses

import numpy as np
import polars
import pytest
from sklearn.base import clone

from bayesfloor import (
    BayesErrorEstimator,
    bayes_error,
    henze_penrose_divergence,
    one_vs_rest_bayes_error,
    pairwise_bayes_error,
)
from bayesfloor.floor.trees import problem
from bayesfloor.forest import plan


def awkward_points():
    """Points with a constant feature, a wide one, one that gives the label away, and copies across classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = rng.standard_normal((600, 6)) + y[:, None]
    X[:, 1], X[:, 2], X[:, 4] = 3.0, 1e4 * X[:, 2], y % 2
    X[500:] = X[:100]
    return X, y


def assert_same(actual, expected):
    for field in dataclasses.fields(expected):
        one, other = getattr(actual, field.name), getattr(expected, field.name)
        if dataclasses.is_dataclass(other):
            assert_same(one, other)
        else:
            np.testing.assert_equal(one, other, field.name)


@pytest.fixture(params=["npy", "parquet"])
def stored(request, tmp_path):
    X, y = awkward_points()
    if request.param == "parquet":
        polars.DataFrame(X, schema=[f"x{j}" for j in range(6)]).write_parquet(tmp_path / "X.parquet")
        return tmp_path / "X.parquet", polars.read_parquet(tmp_path / "X.parquet"), y
    np.save(tmp_path / "X.npy", X)
    return tmp_path / "X.npy", X, y


def test_floors_of_a_file(stored, monkeypatch):
    source, X, y = stored
    monkeypatch.setattr(problem, "COLUMN_BYTES", 600 * 8 * 4)  # four columns at a time, then two
    for floor in (bayes_error, pairwise_bayes_error, one_vs_rest_bayes_error, henze_penrose_divergence):
        expected = floor(X, y)
        with plan.override(partition_rows=150):
            assert_same(floor(source, y), expected)
        assert {"BF003", "BF006", "BF007"} <= {finding.code for finding in expected.findings}

    expected = BayesErrorEstimator().fit(X, y)
    with plan.override(partition_rows=150):
        actual = BayesErrorEstimator().fit(source, y)
    assert actual.n_features_in_ == 6
    assert actual.findings_ == expected.findings_
    assert_same(actual.bayes_error_, expected.bayes_error_)
    assert_same(actual.pairwise_bayes_error_, expected.pairwise_bayes_error_)


@pytest.mark.parametrize(
    "kind", ["dask.array", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("array", "dask.dataframe"))]
)
def test_floors_from_a_cluster(kind):
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    pandas = pytest.importorskip("pandas")
    X, y = awkward_points()
    table = pandas.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    expected_from = table if kind == "dask.dataframe" else X
    # Threads are enough here; tests/forest has worker processes.
    with distributed.Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as client:
        if kind == "array":
            source = X
        elif kind == "dask.array":
            source = pytest.importorskip("dask.array").from_array(X, chunks=(200, 6))
        else:
            source = pytest.importorskip("dask.dataframe").from_pandas(table, npartitions=3)
        with plan.override(partition_rows=150):
            assert_same(bayes_error(source, y, client=client), bayes_error(expected_from, y))
            estimator = clone(BayesErrorEstimator(n_trees=2, client=client))
            assert estimator.client is client
            estimator.fit(source, y)
        expected = BayesErrorEstimator(n_trees=2).fit(expected_from, y)
        assert_same(estimator.one_vs_rest_bayes_error_, expected.one_vs_rest_bayes_error_)
        assert_same(estimator.pairwise_bayes_error_, expected.pairwise_bayes_error_)
