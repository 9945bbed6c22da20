"""Random problems of known truth: that the truth is one, and what is fitted to them."""

import json

import numpy as np
import pytest

from benchmarks.problems import random_problems as problems
from benchmarks.problems.random_problems import COLUMNS, FUNCTIONS, LAWS, MANY_COLUMNS, draw_problem
from benchmarks.tools.records import append_record, read_records
from benchmarks.truth import random_problems as script

N = 20_000


@pytest.mark.parametrize("seed", range(12))
def test_labels_are_drawn_from_the_posterior(seed):
    problem = draw_problem("classes", np.random.default_rng([5, seed]))
    X, y = problem.sample(N, np.random.default_rng(seed))
    posterior, _ = problem.known(X)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    error = (posterior.argmax(axis=1) != y).mean()
    assert error == pytest.approx(problem.truth, abs=4 * 0.5 / N**0.5 + 0.01)


@pytest.mark.parametrize("seed", range(12))
def test_numbers_have_the_best_r2_that_is_said(seed):
    problem = draw_problem("numbers", np.random.default_rng([5, seed]))
    X, y = problem.sample(N, np.random.default_rng(seed))
    mean, _ = problem.known(X)
    assert 1 - ((y - mean[:, 0]) ** 2).mean() / y.var() == pytest.approx(problem.truth, abs=0.08)


@pytest.mark.parametrize("law", dict.fromkeys(LAWS), ids=lambda law: law.__name__)
@pytest.mark.parametrize("function", dict.fromkeys(FUNCTIONS), ids=lambda function: function.__name__)
def test_every_law_goes_with_every_function(law, function, monkeypatch):
    monkeypatch.setattr(problems, "LAWS", (law,))
    monkeypatch.setattr(problems, "FUNCTIONS", (function,))
    monkeypatch.setattr(problems, "N_SCALED", 200)
    monkeypatch.setattr(problems, "N_TRUTH", 200)
    for n_columns in (COLUMNS, MANY_COLUMNS):
        problem = draw_problem("classes", np.random.default_rng(0), n_columns)
        X, _ = problem.sample(50, np.random.default_rng(1))
        assert n_columns[0] <= X.shape[1] <= n_columns[1]
        assert np.isfinite(X).all()
        assert 0 <= problem.truth < 1


def test_a_problem_follows_from_its_seed(tmp_path):
    first, second = (script.measure("classes", 1, 17, COLUMNS) for _ in range(2))
    assert first == second
    assert {"truth", "curve", "signs"} <= set(first)
    append_record(tmp_path / "records.jsonl", first)
    assert read_records(tmp_path / "records.jsonl") == [first]


def records_of(rng, n, task):
    """Records whose truth is a linear function of the signs, and noise of known quantiles."""
    signs = rng.standard_normal((n, 11))
    share = 0.5 + 0.1 * signs[:, 0] + 0.1 * (rng.random(n) - 0.5)
    return [
        {
            "task": task,
            "problem": f"law, function {place % 12}",
            "n": 200,
            "truth": 0.4 * share[place],
            "reached": 0.4,
            "baseline": 1.0,
            "curve": [0.35, 0.0, 0.5],
            "lead": [1.0, 1.5],
            "signs": signs[place].tolist(),
        }
        for place in range(n)
    ]


def test_mean_and_quantiles_are_recovered(tmp_path):
    rng = np.random.default_rng(0)
    records = [each for task in script.TASKS for each in records_of(rng, 1500, task)]
    script.write_coefficients(records, tmp_path / "found.json")
    found = json.loads((tmp_path / "found.json").read_text())
    for task in script.TASKS:
        for name, offset in {"mean": 0.0, "lower": -0.0475, "upper": 0.0475}.items():
            intercept, first, *others = found[task][name]
            assert intercept == pytest.approx(0.5 + offset, abs=0.01)
            assert first == pytest.approx(0.1, abs=0.012)
            assert np.abs(others).max() < 0.01


def test_coefficients_of_the_package_follow_from_the_records(tmp_path):
    records = [record for record in read_records(script.RECORDS) if "truth" in record]
    script.write_coefficients(records, tmp_path / "found.json")
    found, stored = (json.loads(file.read_text()) for file in (tmp_path / "found.json", script.COEFFICIENTS))
    for task in script.TASKS:
        for name, values in stored[task].items():
            np.testing.assert_allclose(found[task][name], values, atol=2e-3)


def test_page_compares_curve_and_average(monkeypatch):
    rng = np.random.default_rng(0)
    pages = []
    monkeypatch.setattr(script, "write_page", lambda *parts: pages.append(parts))
    script.write_table([each for task in script.TASKS for each in records_of(rng, 240, task)])
    rows = [line for part in pages[0] for line in part.splitlines() if line.startswith("| 200 ")]
    assert len(rows) == 2
    before, after = rows[0].split("|")[3].split("→")
    assert float(after) < 0.7 * float(before)
