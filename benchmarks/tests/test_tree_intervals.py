"""Floors from spanning trees: which cells there are, problems of known error, and what the page says."""

import numpy as np
import pytest

from benchmarks.truth import tree_intervals as script


def test_cells_cover_priors_columns_and_rows():
    cells = list(script.CELLS.values())
    assert len(cells) == 24
    assert {cell.prior for cell in cells} == {0.5, 0.7, 0.9, 0.98}
    assert {cell.n_columns for cell in cells} == {2, 5, 10, 20}
    assert {(cell.prior, cell.n_rows) for cell in cells} == {
        (p, n) for p in (0.5, 0.7, 0.9, 0.98) for n in (200, 1000, 5000)
    }
    X, y = script.CELLS["3 classes, prior 0.98, 20 columns, 200 rows"].draw(0)
    assert X.shape == (200, 20)
    assert np.bincount(y).min() >= 2


def test_half_of_the_null_settings_have_few_values():
    assert len(script.NULLS) == 12
    n_distinct = [len(np.unique(draw(n, np.random.default_rng(0)), axis=0)) for draw, n, _ in script.NULLS.values()]
    assert sum(n <= 100 for n in n_distinct) == 6


@pytest.mark.parametrize("error", script.BIAS_ERRORS)
@pytest.mark.parametrize("family", script.FAMILIES)
def test_the_best_rule_errs_as_often_as_is_said(family, error):
    X, y = script.FAMILIES[family][1](200_000, 2, error, np.random.default_rng(0))
    score = {
        "gaussian": -X[:, 0] - script.ndtri(error),  # the second class lies to the right of the middle
        "product of two": X[:, 0] * X[:, 1],
    }.get(family, X[:, 0])
    named = score < 0 if family == "gaussian" else score > 0
    assert np.mean(named != y) == pytest.approx(error, abs=5 * (error / 200_000) ** 0.5)


def test_the_page_has_coverage_and_the_narrowest():
    name = next(iter(script.CELLS))
    parts = {of: {"covered": [0.95, 0.9], "narrowest": 0.125, "mean": [0.1, 0.2]} for of in ("whole", "pairs")}
    parts |= {
        "cross edges": {"covered": [0.96], "narrowest": 9.0},
        "one-vs-rest": {"covered": [1.0], "narrowest": 0.25},
    }
    (row,) = script.coverage_rows([{"part": "coverage", "name": name, **parts}])
    assert row == [name, "0.960", "0.900", "0.900", "1.000", "0.1250"]


def test_the_page_has_shares_of_small_p_values():
    p_values = [0.001, 0.04, 0.05, *np.linspace(0.1, 1.0, 17)]
    (row,) = script.test_rows([{"part": "tests", "name": "five values", "p_values": p_values}])
    assert row[:4] == ["five values", 400, "0.150", "0.050"]
    assert float(row[4]) == pytest.approx(0.1)  # three of twenty up to .05, where one is uniform


def test_the_page_sorts_cells_by_whether_the_finding_speaks():
    record = {"part": "bias", "name": "cube", "rows": 100, "columns": 2, "error": 0.1}
    records = [record | {"above": above, "spoken": spoken} for above, spoken in ((0.1, 0.0), (0.3, 0.4), (0.9, 1.0))]
    rows = script.bias_rows(records)
    assert ["cube", "design", 100, 2, "0.20", "0.30", 1, "0.90", "0.90"] in rows


def test_a_small_cell_is_measured(monkeypatch):
    monkeypatch.setattr(script, "N_COVERAGE", 3)
    record = script.measure("coverage", "2 classes, prior 0.9, 2 columns, 200 rows")
    assert record["one-vs-rest"]["mean"][0] == pytest.approx(record["whole"]["mean"][0], abs=2e-5)
    assert record["pairs"]["narrowest"] > 0
    assert script._key_of(record) in script.keys_of("coverage")
