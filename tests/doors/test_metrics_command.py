"""`--metric`, `--costs`, `--positive` and limits: what the library computes, and one line for what cannot be done."""

import json
import shlex

import numpy as np
import pytest

from bayesfloor import learned_floor, read_table
from helpers.one_case import for_each
from helpers.terminal import complaint, write_csv

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))

CLASSES = np.array(["bad", "good"])


@pytest.fixture
def two(tmp_path):
    """two.csv with classes bad and good, and costs.csv."""
    rng = np.random.default_rng(0)
    y = CLASSES[np.arange(80) % 4 // 3 ^ 1]
    write_csv(tmp_path / "two.csv", rng.normal(size=(80, 2)) + 1.5 * (y == "bad")[:, None], y)
    (tmp_path / "costs.csv").write_text("true,good,bad,ask\ngood,0,1,0.3\nbad,5,0,0.3\n")
    return tmp_path


def test_several_metrics_from_one_fit(run, two):
    matrix = [[0, 5, 0.3], [1, 0, 0.3]]
    expected = learned_floor(read_table(two / "two.csv"), metric=["roc_auc", "log_loss"], costs=matrix)
    call = "floor two.csv --metric roc_auc --metric log_loss --costs costs.csv"
    found = json.loads(run(f"{call} --json").out)["result"]
    assert list(found["metrics"]) == list(expected.metrics)
    for name, each in found["metrics"].items():
        own = expected.metrics[name]
        assert each["estimate"] == pytest.approx(own.estimate, abs=1e-9)
        assert each["interval"] == pytest.approx(list(own.interval), abs=1e-9)
        assert (each["reached"], each["baseline"]) == (own.reached, own.baseline)
    assert (found["metric"], found["estimate"]) == ("roc_auc", found["metrics"]["roc_auc"]["estimate"])
    assert found["cost"]["costs"] == matrix
    assert found["cost"]["undecided"] == pytest.approx(expected.cost.pair_rows[:, -1].sum())
    shown = run(f"{call} --fail-below 0.999 --fail-above 1")
    assert shown.code == 1
    assert "the ceiling of the ROC AUC is" in shown.err.splitlines()[-1]
    assert shown.err.splitlines()[-1].endswith("below 0.999")
    lines = shown.out.splitlines()
    assert lines[1].startswith("ROC AUC       ceiling")
    assert lines[2].startswith("log-loss      floor")
    assert f"{expected.metrics['error'].estimate:.4f}" in lines[4]
    assert "no decision" in shown.out
    assert "No class weights lead to the same decisions." in shown.out
    assert expected.metrics["log_loss"].sentence() in shown.err


def test_a_report_and_the_command_that_makes_it_again(run, two):
    call = "report two.csv --metric f1 --positive bad --costs costs.csv --target-value 0.4 --fail-above 0.01 --quiet"
    outcome = run(f"{call} --json")
    assert outcome.code == 1
    assert "the ceiling of the F1 for 'bad' is" in outcome.err
    first = json.loads(outcome.out)["result"]
    assert (first["floor"]["metric"], first["floor"]["title"]) == ("f1", "F1 for 'bad'")
    words = shlex.split(first["command"])
    assert shlex.join(words[3:]) == "--metric f1 --costs costs.csv --positive bad --target-value 0.4 --seed 0"
    again = json.loads(run(*words[1:], "--json", "--quiet").out)["result"]
    for each in (first, again):
        del each["created"], each["seconds"]
        del each["fast_model"]["seconds"], each["fast_model"]["sentence"]  # which says how long it took
    assert again == first


def test_costs_may_be_negative_and_beyond_1(run, two):
    (two / "gains.csv").write_text(
        "\ufefftrue;'bad';good\r\n\r\nbad; -2e2 ;500\r\ngood;100;0\r\n".replace("'", '"'), encoding="utf-8"
    )
    outcome = run("floor two.csv --costs gains.csv --fail-below -1000 --fail-above -1000 --json --quiet")
    result = json.loads(outcome.out)["result"]
    assert result["metric"] == "cost"
    assert -50 <= result["estimate"] <= 75  # a quarter of the rows are bad: all right, and all called bad
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1].endswith("above -1000")


@for_each(
    "options, says",
    [
        ("--metric auc", "Did you mean 'roc_auc'?"),
        ("--metric r2 --metric rmes", "Did you mean 'rmse'?"),
        ("--metric rmes --task regression", "Did you mean 'rmse'?"),
        ("--metric top_0_error", "top_k_error"),
        ("--metric f1 --metric f1", "named twice"),
        ("--metric cost", "needs costs"),
        ("--metric f1 --fast", "leave out --fast, or --metric f1"),
        ("--costs costs.csv --fast", "leave out --fast, or --costs"),
        ("--costs nowhere.csv", "no such file"),
        ("--costs .", "not a plain file"),
        ("--metric f1 --positive gut", "--positive 'gut': no class of 'kind' has that name"),
        ("--metric f1 --positive Good", "did you mean 'good'?"),
        ("--metric roc_auc --fail-below 1.5", "--fail-below 1.5: must be from 0 to 1 for the metric 'roc_auc'"),
        ("--metric log_loss --fail-above -1", "--fail-above -1: must be finite, and not negative"),
        ("--metric log_loss --fail-above inf", "--fail-above inf"),
        ("--costs costs.csv --fail-above nan", "must be finite for the metric 'cost'"),
        ("--fail-below 2", "--fail-below 2"),
    ],
)
def test_usage(run, two, options, says):
    assert says in complaint(run(f"floor two.csv --quiet {options}"), 2)


@for_each(
    "text, says",
    [
        ("", "needs a first line"),
        ("true,bad,good\n", "needs a first line"),
        ("true\nbad\ngood\n", "needs a first line"),
        ("true,bad,good\nbad,0,1\ngood,1\n", "line 3, has 2 cells; the first line has 3"),
        ("true,bad,good\nbad,0,1\n", "no line for 'good'"),
        ("true,bad,goood\nbad,0,1\ngood,1,0\n", "no column for 'good'; no class is called 'goood'"),
        ("true,bad,good\nbad,0,1\ngood,1,0\nugly,1,1\n", "a line for 'ugly', which no class is called"),
        ("true,bad,good,bad\nbad,0,1,2\ngood,1,0,2\n", "two columns are called 'bad'"),
        ("true,bad,good\nbad,0,1\nbad,0,1\ngood,1,0\n", "two lines are called 'bad'"),
        ("true,bad,good,ask,wait\nbad,0,1,1,1\ngood,1,0,1,1\n", "only one, the cost of not deciding"),
        ("true,bad,good\nbad,0,much\ngood,1,0\n", "line 2, column 'good': 'much' is not a number"),
        ("true,bad,good\nbad,0,\ngood,1,0\n", "'' is not a number"),
        ("true,bad,good\nbad,0,inf\ngood,1,0\n", "'inf' is not a number"),
        ("true,bad,good\nbad,0,nan\ngood,1,0\n", "'nan' is not a number"),
        ("true,bad,good\nbad,5,1\ngood,1,0\n", "less than naming it rightly"),
        ("true,bad,good\nbad,1,1\ngood,1,1\n", "All costs are the same"),
        ('true,bad,good\nbad,0,"1\ngood,1,0\n', "line 3"),
        ("true,bad,good\nbad,0,1\ngood,1,\x00\n", "NUL byte"),
        ("true,bad,\x1b[31mred\nbad,0,1\ngood,1,0\n", "\\x1b[31mred"),
    ],
)
def test_files_of_costs_that_cannot_be_used(run, two, text, says):
    (two / "costs.csv").write_text(text)
    assert says in complaint(run("floor two.csv --quiet --costs costs.csv"), 3)


def test_bytes_that_are_no_text(run, two, monkeypatch):
    (two / "costs.csv").write_bytes("true,bad,güt\n".encode("latin-1"))
    assert "not UTF-8 text" in complaint(run("floor two.csv --quiet --costs costs.csv"), 3)
    monkeypatch.setattr("bayesfloor.cli.metrics._MOST_BYTES", 2)
    assert "no file of costs" in complaint(run("floor two.csv --quiet --costs costs.csv"), 3)
