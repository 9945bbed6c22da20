"""bayesfloor compare: files of features, a file of labels, and exit codes."""

import json

import numpy as np
import polars
import pytest

from helpers.one_case import for_each


@pytest.fixture
def files(tmp_path):
    """a.npy and b.parquet of 120 rows; labels in y.csv, plain.txt, y.npy and rows.csv."""
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((120, 2)), rng.standard_normal((120, 3))
    y = np.where(first[:, 0] + second[:, 0] + 0.3 * rng.standard_normal(120) > 0, "yes", "no")
    np.save(tmp_path / "a.npy", first.astype(np.float32))
    polars.DataFrame(second, schema=["p", "q", "r"]).write_parquet(tmp_path / "b.parquet")
    (tmp_path / "y.csv").write_text("\n".join(["kind", *y]) + "\n")
    (tmp_path / "plain.txt").write_text("\n".join(y) + "\n")
    np.save(tmp_path / "y.npy", y)
    rows = [f"{label},{place // 4},{first[place, 0]:.4f}" for place, label in enumerate(y)]
    (tmp_path / "rows.csv").write_text("\n".join(["kind,who,amount", *rows]) + "\n")
    return tmp_path


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_json_is_as_published(run, files):
    outcome = run("compare a.npy b.parquet --labels y.csv --effort fast --json")
    assert outcome.code == 0, outcome.err
    printed = json.loads(outcome.out)
    assert printed["schema"] == "bayesfloor/compare/1"
    best = printed["result"]["best"]
    assert {each["name"]: each["n_features"] for each in printed["result"]["features"]} == {"a": 2, "b": 3}
    assert outcome.err.startswith(f"With your 120 rows '{best}' reaches an error of ")


def test_labels_of_any_file(run, files):
    expected = run("compare a.npy b.parquet --labels y.csv --fast --json")
    assert expected.code == 0, expected.err
    for labels in ("plain.txt", "y.npy", "rows.csv --target kind"):
        assert run(f"compare a.npy b.parquet --labels {labels} --fast --json").out == expected.out, labels


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_numbers_and_groups(run, files):
    outcome = run("compare a.npy b.parquet --labels rows.csv --target amount --groups who --effort fast --quiet")
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert lines[0].split()[:6] == ["features", "columns", "rows", "reached", "from", "to"]
    assert [line.split()[0] for line in lines[1:3]] == ["a", "b"]
    assert lines[4].split()[:2] == ["features", "ceiling"]


@for_each(
    "call, code, said",
    [
        ("compare a.npy b.parquet", 2, "--labels is missing"),
        ("compare --labels y.csv", 2, "FILE is missing"),
        ("compare a.npy none.npy --labels y.csv", 2, "no such file"),
        ("compare a.npy a.npy --labels y.csv", 2, "a file is named twice"),
        ("compare a.npy --labels rows.csv", 2, "has the columns 'kind', 'who', 'amount'; name that of the labels"),
        ("compare a.npy --labels rows.csv --target kind --groups nobody", 2, "'nobody': 'rows.csv' has no such"),
        ("compare a.npy --labels y.npy --target kind", 2, "'y.npy' has no columns"),
        ("compare a.npy --labels y.csv --fast --metric roc_auc", 2, "--fast trains nothing"),
        ("compare a.npy --labels a.npy", 3, "labels are one number or text for each row, got shape (120, 2)"),
    ],
)
def test_exit_codes(run, files, call, code, said):
    outcome = run(call)
    assert outcome.code == code
    assert said in outcome.err
