"""What commands print is what the library computes; results go to stdout and nothing else does."""

import io
import json

import numpy as np
import pytest

from bayesfloor import (
    bayes_error,
    build_class_tree,
    learned_floor,
    one_vs_rest_bayes_error,
    pairwise_bayes_error,
    read_table,
)


def parsed(outcome):
    assert outcome.code == 0, outcome.err

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(outcome.out, parse_constant=refuse)


def test_fast_floor(run, table):
    read = read_table(table)
    expected = bayes_error(read.X, read.y)
    found = parsed(run("floor table.csv --fast --json"))
    assert found["command"] == "floor"
    assert found["data"]["n_rows"] == 60
    assert found["data"]["classes"] == ["a", "b", "c"]
    assert found["result"]["estimate"] == expected.estimate
    assert found["result"]["interval"] == list(expected.interval)
    assert found["result"]["majority_error"] == pytest.approx(2 / 3)
    assert [each["code"] for each in found["findings"]] == [each.code for each in expected.findings]
    shown = run("floor table.csv --fast")
    assert f"{expected.estimate:.4f}" in shown.out
    assert "a model may do better" in shown.err


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_learned_floor(run, table):
    expected = learned_floor(read_table(table))
    outcome = run("floor", "table.csv", "--json", "--rows-for", "0.1")
    found = parsed(outcome)["result"]
    assert found["estimate"] == pytest.approx(expected.estimate, abs=1e-9)
    assert (found["reached"], found["n_rows"]) == (expected.reached, 60)
    assert "Target: 'kind', the last column" in outcome.err
    needed = expected.rows_for(0.1)
    assert found["rows_for"]["verdict"] == needed.verdict
    assert needed.sentence() in run("floor", "table.csv", "--rows-for", "0.1").out


def test_pairs(run, table):
    """The hardest pairs come first, then each class against the rest, and the tree of the classes."""
    floors, rest = pairwise_bayes_error(read_table(table)), one_vs_rest_bayes_error(read_table(table))
    tree = build_class_tree(floors.normalized, floors.classes)
    result = parsed(run("pairs table.csv --json"))["result"]
    found, expected = result["pairs"]["hardest"], floors.hardest()
    assert [(each["first"], each["second"]) for each in found] == [(each.first, each.second) for each in expected]
    assert [each["estimate"] for each in found] == [each.estimate for each in expected]
    found = result["one_vs_rest"]["hardest"]
    assert [each["label"] for each in found] == rest.classes[rest.by_hardness()].tolist()
    assert {each["label"]: each["estimate"] for each in found} == dict(zip("abc", rest.estimate.tolist(), strict=True))
    assert result["tree"]["nested"] == tree.to_nested() == ["a", ["b", "c"]]
    shown = run("pairs table.csv --top 1").out
    assert shown.splitlines()[1].split()[:3] == ["b", "c", f"{expected[0].estimate:.4f}"]
    assert shown.splitlines()[2] == ""
    assert shown.endswith("\n\n" + tree.to_text() + "\n")


def test_data_sets_by_name(run, tmp_path, monkeypatch):
    assert parsed(run("pairs iris --json"))["data"]["source"] == "iris"
    assert run("pairs iris --type sepal_length=text").code == 2
    (tmp_path / "sets").mkdir()
    np.savez(tmp_path / "sets" / "pets.npz", X=np.eye(8), y=[0, 1] * 4, classes=["cat", "dog"])
    monkeypatch.setenv("BAYESFLOOR_DATA", "sets")
    assert parsed(run("pairs pets --json"))["data"]["classes"] == ["cat", "dog"]
    assert run("datasets").out.splitlines()[-1] == "pets"
    assert parsed(run("datasets --json"))["result"]["datasets"][2] == "digits"
    # a file goes before a set of that name
    (tmp_path / "iris").write_text("a,b\n1,x\n2,y\n3,x\n4,y\n")
    assert parsed(run("pairs iris --json"))["data"]["n_rows"] == 4


def test_options_reach_the_file(run, tmp_path):
    rows = [f"{i},{i % 7},{'uvw'[i % 3]},{i % 2 + 5},{'' if i == 3 else ['no', 'yes'][i % 2]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["id,n,letter,code,y", *rows]) + "\n")
    call = "pairs t.csv --json --drop id --drop n --type code=categorical --type letter=categorical --max-rows 20"
    outcome = run(call)
    data = parsed(outcome)["data"]
    assert (data["n_rows"], data["n_samples"], data["n_features"]) == (20, 40, 4)
    for note in ("Left out as asked: 'id', 'n'", "Column 'code': category", "A sample of 20 of 39 rows"):
        assert note in outcome.err
    assert run(call + " --seed 1").out != run(call + " --seed 2").out
    assert run(call + " --threads 1").out == outcome.out


def test_quiet_leaves_results_only(run, table):
    loud, quiet = run("pairs table.csv"), run("pairs table.csv --quiet")
    assert loud.out == quiet.out
    assert loud.err
    assert quiet.err == ""


def test_several_files_and_stdin_are_one_table(run, table, monkeypatch, tmp_path):
    lines = table.read_text().splitlines(keepends=True)
    (tmp_path / "one.csv").write_text("".join(lines[:31]))
    (tmp_path / "two.csv").write_text("".join([lines[0], *lines[31:]]))
    whole = parsed(run("pairs table.csv --json"))["result"]
    assert parsed(run("pairs one.csv two.csv --json"))["result"] == whole
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("".join(lines).encode())))
    outcome = run("pairs - --json")
    assert parsed(outcome)["result"] == whole
    assert parsed(outcome)["data"]["source"] == "stdin"
    assert "stdin can be read once" in run("pairs - -").err


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_groups_reach_the_floor(run, tmp_path):
    rng = np.random.default_rng(0)
    places = np.repeat(rng.normal(size=(40, 2)), 5, axis=0)
    labels = np.repeat(rng.choice(["a", "b"], 40), 5)
    rows = [f"p{i // 5},{u:.4f},{v:.4f},{label}" for i, ((u, v), label) in enumerate(zip(places, labels, strict=True))]
    (tmp_path / "g.csv").write_text("\n".join(["patient,u,v,y", *rows]) + "\n")
    grouped = run("floor g.csv --groups patient --json")
    expected = learned_floor(read_table(tmp_path / "g.csv", target="y", groups="patient"))
    assert parsed(grouped)["result"]["reached"] == expected.reached
    assert parsed(grouped)["result"]["interval"] == list(expected.interval)
    assert "g.csv has no column 'person'" in run("floor g.csv --groups person").err
