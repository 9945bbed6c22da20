"""The command votes: forms of files, what it prints, exit codes."""

import json

import numpy as np
import pandas as pd
import pytest

from bayesfloor import vote_floor
from helpers.one_case import for_each


def long_table():
    """60 rows, three votes each by four annotators."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, 60)
    who = np.argsort(rng.random((60, 4)), axis=1)[:, :3]
    label = hidden[:, None] ^ (rng.random((60, 3)) < 0.15)
    return pd.DataFrame(
        {
            "Item": np.repeat(np.arange(60), 3),
            "worker": np.array(["ann", "bob", "cid", "NA1"])[who.ravel()],
            "answer": np.array(["007", "=cmd()"])[label.ravel()],
        }
    )


@pytest.fixture
def long(tmp_path):
    """votes.csv in the folder where commands run."""
    frame = long_table()
    frame.to_csv(tmp_path / "votes.csv", index=False)
    return frame


@pytest.fixture(scope="module")
def expected():
    """The floor of these votes."""
    rows = long_table()
    return vote_floor(rows.assign(Item=rows["Item"].astype(str)))


def parsed(outcome, code=0):
    assert outcome.code == code, outcome.err
    return json.loads(outcome.out)


def test_a_long_table_whose_columns_are_found_by_their_names(run, long, expected):
    found = parsed(run("votes votes.csv --json"))
    assert found["command"] == "votes"
    assert found["result"]["estimate"] == expected.estimate
    assert found["result"]["interval"] == list(expected.interval)
    assert found["result"]["classes"] == ["007", "=cmd()"]
    assert found["result"]["majority"]["ceiling"]["3"] == expected.majority.ceiling[3]
    assert set(found["result"]["annotators"]["names"]) == {"ann", "bob", "cid", "NA1"}
    shown = run("votes votes.csv")
    assert f"{expected.estimate:.4f}" in shown.out
    assert "Read as a line for each vote: 180 votes at 60 rows." in shown.err
    assert expected.sentence() in shown.err


def test_columns_named_by_options_and_exit_codes(run, long, expected, tmp_path):
    renamed = long.set_axis(["a", "b", "c"], axis=1)
    renamed.to_csv(tmp_path / "other.csv", index=False)
    failed = run("votes other.csv --row a --annotator b --label c --json --fail-above 0.01 --quiet")
    assert parsed(failed, code=1)["result"]["estimate"] == expected.estimate
    assert "the floor is" in failed.err
    unknown = run("votes other.csv --row a --label d")
    assert unknown.code == 2
    assert "there is no column 'd' for the labels" in unknown.err
    assert run("votes nowhere.csv").code == 2
    assert run("votes other.csv --form counts --label c").code == 2
    assert run("votes other.csv --form counts").code == 3


def test_wide_tables(run, long, tmp_path):
    counts = pd.crosstab(long["Item"], long["answer"]).reset_index().rename(columns={"Item": "id"})
    counts.to_csv(tmp_path / "counts.csv", index=False)
    outcome = run("votes counts.csv --json")
    expected = vote_floor(counts[["007", "=cmd()"]].to_numpy())
    assert parsed(outcome)["result"]["estimate"] == expected.estimate
    assert "'id' names the rows and is left out." in outcome.err
    assert "Read as counts for each class: 180 votes" in outcome.err
    wide = long.pivot(index="Item", columns="worker", values="answer")
    wide.to_csv(tmp_path / "wide.csv", index=False)
    outcome = run("votes wide.csv --json")
    assert parsed(outcome)["result"]["agreement"] == pytest.approx(expected.agreement)
    assert "Read as labels of each annotator" in outcome.err
    numbers = wide.replace({"007": "1", "=cmd()": "2"})
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    assert parsed(run("votes numbers.csv --form labels --json"))["result"]["classes"] == ["1", "2"]


def test_labels_that_say_there_is_none_are_no_votes(run, long, expected, tmp_path):
    silent = pd.DataFrame(
        {"Item": range(20), "worker": "dot", "answer": [".", "-", "-", "."] * 4 + ["NA", "unknown"] * 2}
    )
    pd.concat([long, silent]).to_csv(tmp_path / "more.csv", index=False)
    outcome = run("votes more.csv --json")
    assert parsed(outcome)["result"]["estimate"] == expected.estimate
    assert "Missing labels, which are no votes: '-' (8), '.' (8), 'NA' (2), 'unknown' (2);" in outcome.err
    assert len(parsed(run("votes more.csv --json --keep-missing-as-class"))["result"]["classes"]) == 6


@for_each(
    "text, message",
    [
        ("row,label\n1,a\n2,b\n", "no row has two votes, of 2 with a vote"),
        ("row,label\n1,a\n1,a\n", "needs two classes, got 1: 'a'"),
        ("row,annotator,label\n1,x,a\n1,x,b\n", "annotator 'x' voted 2 times at row '1'"),
        ("a,b\n1,-2\n3,4\n", "-2 is below zero"),
        ("a,b\n0.5,0.5\n", "soft_label_floor"),
        ("row,label\n", "has a header and no rows"),
    ],
)
def test_bad_files_are_refused_in_one_line(run, tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    outcome = run("votes bad.csv --quiet")
    assert outcome.code == 3
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1
