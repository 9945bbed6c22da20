"""Stacks of learners of all rows and of samples of several sizes, judged on problems whose answer is known."""

from types import SimpleNamespace

import numpy as np
import pytest

from bayesfloor.floor.learned.targets import ClassTarget
from benchmarks.speed import sample_rows
from benchmarks.speed.sample_rows import LARGER, SHARES, SIZES, USUAL, Judge, stacks_of
from benchmarks.tools import pages

N = 2000


@pytest.fixture(scope="module")
def judge():
    """A stack gains from the logistic regression of the largest sample: other learners of a sample know nothing."""
    rng = np.random.default_rng(0)
    scores = rng.normal(0.0, 2.0, (2, N))
    codes = (rng.random(N) < 1.0 / (1.0 + np.exp(-scores.sum(axis=0)))).astype(np.int64)
    problem = SimpleNamespace(classes=np.arange(2), codes=codes, sample_weight=None, groups=None)
    plan = SimpleNamespace(predicted=np.arange(N), is_many=False, folds=np.arange(N) % 5)

    def logarithms(score):
        return -np.logaddexp(0.0, np.stack([score, -score], axis=1)).astype(np.float32)

    predicted = {("boosting", 10**6): logarithms(scores[0])}
    for n_rows in SIZES:
        nothing = logarithms(rng.normal(0.0, 2.0, N))
        predicted["logistic", n_rows] = logarithms(scores[1]) if n_rows == SIZES[-1] else nothing
        predicted[SHARES, n_rows] = predicted[LARGER, n_rows] = nothing
    return Judge(ClassTarget(problem, plan, 0.05), plan, predicted)


def test_losses_of_a_learner(judge):
    log_p = judge.predicted["boosting", 10**6]
    expected = [-log_p[np.arange(N), judge.target.codes], log_p.argmax(axis=1) != judge.target.codes]
    np.testing.assert_array_equal(judge.losses(log_p), np.asarray(expected, np.float64))


def test_stacks_of_known_gain(judge):
    records = stacks_of(judge, [("boosting", 10**6)], {"logistic", SHARES})
    found = {(each["which"], each["n_rows"]): each for each in records}
    assert len(found) == len(records) == 1 + 2 * len(SIZES) + 2
    usual, largest = found["all", USUAL], found["few parameters", SIZES[-1]]
    assert usual["log_loss_change"] == usual["log_loss_standard_error"] == usual["error_change"] == 0.0
    assert usual["weight"] == pytest.approx(0.0, abs=0.02)
    # both halves of the score are worth the same
    assert largest["weight"] == pytest.approx(0.5, abs=0.1)
    for metric in ("log_loss", "error"):
        change = largest[f"{metric}_change"]
        assert change == pytest.approx(largest[metric] - usual[metric])
        assert change < -5.0 * largest[f"{metric}_standard_error"] < 0.0


def test_page(judge, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    learners = [
        {"what": "learner", "learner": name, "n_rows": n_rows, "cpu_seconds": 1.5, "log_loss": n_rows / 2**20}
        for name, n_rows in judge.predicted
    ]
    records = [*learners, *stacks_of(judge, [("boosting", 10**6)], {"logistic", SHARES})]
    learners[0]["in_parts"] = True
    sample_rows.write_table([{"table": "made"} | each for each in records])
    text = (tmp_path / "sample_rows.md").read_text(encoding="utf-8")
    assert "| made | logistic | 0.0312 | 0.0625 | 0.1250 | 0.2500 | 0.5000 |  | 1.5 | 1.5 |" in text
    assert "| made | boosting |  |  |  |  |  | 0.9537 |  | 1.5 |" in text
    assert text.count("| +0.0000 ± 0.0000 |") >= 4
