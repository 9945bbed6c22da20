"""A large table is announced with what it needs, and refused where it does not fit."""

import numpy as np
import pytest

from bayesfloor import read_table
from bayesfloor.cli import memory
from bayesfloor.cli.options import TableOptions
from helpers.one_case import for_each
from helpers.terminal import three_classes

polars = pytest.importorskip("polars")
N_ROWS = 24_000
#: Values that a stack is trained on at most: more than the table has.
MANY = 10**8


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Two Parquet files of 24 000 rows together: two numbers, a patient, a day, three classes."""
    points, labels = three_classes(N_ROWS)
    columns = {"x1": points[:, 0], "x2": points[:, 1], "patient": np.arange(N_ROWS) // 4, "day": np.arange(N_ROWS)}
    frame = polars.DataFrame(columns | {"kind": labels})
    folder = tmp_path_factory.mktemp("memory") / "visits"
    folder.mkdir()
    frame[:14_000].write_parquet(folder / "a.parquet")
    frame[14_000:].write_parquet(folder / "b.parquet")
    return folder


@pytest.fixture
def large(monkeypatch):
    """Have tables of any size be large."""
    monkeypatch.setattr(memory, "_MANY_VALUES", 1)


@for_each(
    "options, effort, n_values, n_rows",
    [
        ({}, "default", MANY, N_ROWS),
        ({}, "fast", MANY, 4000),
        ({}, "default", 64 * 20_000, 20_000),
        ({"groups": "patient"}, "default", 64 * 20_000, 10_000),
        ({"time": "day"}, "default", MANY, 10_000),
        ({"max_rows": 7000}, "fast", MANY, N_ROWS),  # what was read is what was asked for
    ],
)
def test_rows_that_are_trained_on(visits, options, effort, n_values, n_rows):
    table = read_table(visits, target="kind")
    assert memory.rows_to_train_on(table, TableOptions(**options), effort, n_values) == n_rows


def test_too_little_memory(run, visits, large, set_limits):
    set_limits(memory=3 * 2**20)  # more than the file is read into
    for command in ("floor", "report", "fit --out model.skops"):
        name, *more = command.split()
        outcome = run(name, str(visits), *more, "--target", "kind")
        assert outcome.code == 3
        assert "visits: 24,000 rows of 4 columns would take about" in outcome.err
        assert "are available. --max-rows N uses fewer" in outcome.err


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_a_large_table_is_announced(run, visits, request):
    call = "floor", str(visits), "--target", "kind", "--effort", "fast"
    assert "needs about" not in run(*call).err
    request.getfixturevalue("large")
    assert "visits: 24,000 rows of 4 columns, of which 4,000 are used; needs about" in run(*call).err
