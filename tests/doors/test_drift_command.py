"""bayesfloor drift: two files, what moved between them, and exit codes."""

import json

import numpy as np
import pytest

from helpers.one_case import for_each


@pytest.fixture
def files(tmp_path):
    """old.csv, same.csv and moved.csv."""
    rng = np.random.default_rng(0)
    for name, shift in (("old", 0.0), ("same", 0.0), ("moved", 1.5)):
        rows = [
            f"{rng.normal() + shift:.4f},{rng.normal():.4f},{rng.choice(['n', 's'])},{rng.choice(['yes', 'no'])}"
            for _ in range(80)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,site,ill", *rows]) + "\n")
    (tmp_path / "other.csv").write_text("a,b,place\n1,2,n\n2,3,s\n")
    return tmp_path


def test_what_moved_is_listed(run, files):
    outcome = run("drift old.csv moved.csv --fast")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[1].startswith("p-value of the columns")
    first = next(place for place, line in enumerate(lines) if line.startswith("column ")) + 1
    assert lines[first].split()[:2] == ["a", "values"]
    assert "rows of a kind" in outcome.out
    assert outcome.err.startswith("The columns differ: p = ")


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_models_that_tell_tables_apart_fail(run, files):
    outcome = run("drift old.csv moved.csv --target ill --effort fast --json --fail-above 0.6")
    assert outcome.code == 1
    assert "the ROC AUC of telling the tables apart is 0." in outcome.err
    printed = json.loads(outcome.out)
    assert printed["result"]["moved"] == ["a"]
    assert printed["result"]["separability"]["reached"] > 0.7
    assert printed["result"]["target"]["target"] == "ill"
    shown = run("drift old.csv moved.csv --effort fast").out
    assert "ROC AUC of telling the tables apart, reached" in shown


@for_each(
    "call, code, said",
    [
        ("drift old.csv same.csv --fast --fail-below 0.01", 0, "Nothing shows"),
        ("drift old.csv moved.csv --fast --fail-below 0.01", 1, "the p-value of the columns is 0.00"),
        ("drift old.csv moved.csv --fast --fail-above 0.6", 2, "--fail-above is about models"),
        ("drift old.csv none.csv --fast", 2, "no such file"),
        ("drift - - --fast", 2, "stdin can be read once"),
        ("drift old.csv moved.csv --fast --target nothing", 2, "has no column 'nothing'"),
        ("drift old.csv other.csv --fast", 3, "old.csv lacks 'place', which other.csv has"),
    ],
)
def test_exit_codes(run, files, call, code, said):
    outcome = run(call)
    assert outcome.code == code
    assert said in outcome.err


def test_time_is_no_feature_and_rows_that_follow_each_other_are_kept_together(run, tmp_path):
    rng = np.random.default_rng(0)
    level = np.zeros(600)
    for row in range(1, 600):
        level[row] = 0.9 * level[row - 1] + rng.normal()
    rows = [f"{row},{value:.4f}" for row, value in enumerate(level)]
    for name, part in (("old", rows[:300]), ("new", rows[300:])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["minute,level", *part]) + "\n")
    outcome = run("drift old.csv new.csv --fast --drop minute --json")
    assert [each["code"] for each in json.loads(outcome.out)["findings"]] == ["BF069"]
    outcome = run("drift old.csv new.csv --fast --time minute --json")
    printed = json.loads(outcome.out)
    assert [each["column"] for each in printed["result"]["moves"]] == ["level"]
    assert "BF069" not in [each["code"] for each in printed["findings"]]
    assert run("drift old.csv new.csv --fast --time minute --groups level").code == 2
