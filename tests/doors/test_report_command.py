"""`bayesfloor report`: files, exit codes, and a command that makes the same report again."""

import json

import numpy as np
import pytest

from helpers.one_case import for_each
from helpers.terminal import complaint, rows_of, three_classes, write_csv

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))


@for_each("name, begins", [("a.md", "# table.csv"), ("a.json", "{"), ("a.txt", "table.csv"), ("a.htm", "<")])
def test_the_ending_says_what_is_written(run, table, tmp_path, name, begins):
    assert run(f"report table.csv --effort fast --out {name}").code == 0
    assert (tmp_path / name).read_text().startswith(begins)
    assert not (tmp_path / "table-report.html").exists()


def test_json_on_stdout_writes_no_page(run, table, tmp_path):
    outcome = run("report table.csv --effort fast --json --target-value 0.9")
    found = json.loads(outcome.out)
    assert found["command"] == "report"
    assert found["result"]["goal"]["verdict"] == "feasible"
    assert found["data"]["n_rows"] == found["result"]["data"]["n_rows"]
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_rows_to_look_at_in_a_file(run, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    names = np.array(["=left", "right"])[y]
    names[[20, 141]] = "right", "=left"  # lines 22 and 143 of the file
    x = rng.normal(size=200) + 8 * y
    colours = np.array(["red", "blue"])[rng.integers(0, 2, 200)]
    lines = [f"{value:.3f},{colour},{name}" for value, colour, name in zip(x, colours, names, strict=True)]
    (tmp_path / "sides.csv").write_text("\n".join(["x,colour,side", *lines]) + "\n")
    outcome = run("report sides.csv --target side --out-rows rows.csv")
    assert outcome.code == 0
    assert "2 rows to look at are in 'rows.csv'" in outcome.err
    header, *rows = rows_of((tmp_path / "rows.csv").read_text())
    assert header == ["line", "x", "colour", "side", "suggested", "score"]
    assert sorted(int(row[0]) for row in rows) == [22, 143]
    for row in rows:
        value, colour, name = lines[int(row[0]) - 2].split(",")
        assert (float(row[1]), row[2]) == (float(value), colour)
        assert {row[3].removeprefix("'"), row[4].removeprefix("'")} == {"=left", "right"}
        assert row[3].removeprefix("'") == name
        assert float(row[5]) >= 0.5
    assert {row[3][:2] for row in rows} == {"'=", "ri"}  # no spreadsheet takes the name for a formula
    assert "rows.csv' exists; --force" in complaint(run("report sides.csv --target side --out-rows rows.csv"), 2)
    assert "both name 'a.md'" in complaint(run("report sides.csv --target side --out a.md --out-rows a.md"), 2)


def test_an_own_page_is_replaced_and_nothing_else(run, table, tmp_path):
    outcome = run("report table.csv --effort fast")
    assert outcome.code == 0
    assert "The floor is about" in outcome.out
    assert "The report is in 'table-report.html'" in outcome.err
    page = (tmp_path / "table-report.html").read_text()
    assert page.lower().startswith("<!doctype html>")
    assert "The floor is about" in page
    assert run("report table.csv --effort fast --seed 1").code == 0
    page = tmp_path / "table-report.html"
    assert "--seed 1" in page.read_text()
    page.write_text("my own notes")
    assert "exists; --force replaces it" in complaint(run("report table.csv --effort fast"), 2)
    assert page.read_text() == "my own notes"
    assert run("report table.csv --effort fast --force").code == 0
    assert page.read_text() != "my own notes"


@for_each(
    "call, code, says",
    [
        ("report", 2, "FILE"),
        ("report tabel.csv", 2, "no such file"),
        ("report table.csv --target nothing", 2, "has no column 'nothing'"),
        ("report table.csv --target-value 2", 2, "--target-value"),
        ("report table.csv --target-value nan", 2, "--target-value"),
        ("report table.csv --target-value 1.2 --metric f1", 2, "--target-value 1.2: must be from 0 to 1"),
        ("report table.csv --fast", 2, "--fast"),
        ("report table.csv --out report.pdf", 2, "must be one of .html"),
        ("report table.csv --out nowhere/report.html", 2, "no such folder"),
        ("report table.csv --out .", 2, "must be one of"),
        ("report one.csv --target kind", 3, "needs two classes, got 1: 'a'"),
        ("report numbers.csv --target y --task classification", 3, "this looks like regression"),
        ("report empty.csv", 3, "empty"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(run, table, tmp_path, call, code, says):
    files = {
        "one.csv": "x,kind\n1,a\n2,a\n3,a\n",
        "numbers.csv": "x,y\n" + "".join(f"{n},{n + 0.5}\n" for n in range(40)),
        "empty.csv": "",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert says in complaint(run(call), code)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_subgroups(run, tmp_path):
    points, labels = three_classes(90)
    write_csv(tmp_path / "t.csv", np.column_stack([points, np.arange(90) % 2]), labels, ("x1", "x2", "site", "kind"))
    outcome = run("floor t.csv --by site --json")
    assert outcome.code == 0
    found = json.loads(outcome.out)["result"]["subgroups"]
    assert (found["names"], found["n_rows"]) == (["0", "1"], [45, 45])
    assert found["column"] == "site"
    assert 0 < found["reached_p_value"] <= 1
    assert run("floor t.csv --by site --drop site --quiet").out.splitlines()[5].split()[:3] == ["group", "rows", "of"]
    outcome = run("report t.csv --by site --out t.html")
    assert "Subgroups by site" in outcome.out
    page = (tmp_path / "t.html").read_text()
    assert '<section id="subgroups">' in page
    assert "bayesfloor report t.csv --by site" in page
    assert "--by and --fast exclude each other" in complaint(run("floor t.csv --by site --fast"), 2)
    assert "no column 'town'" in complaint(run("report t.csv --by town"), 2)


def test_fail_above(run, tmp_path):
    rng = np.random.default_rng(0)
    write_csv(tmp_path / "hard.csv", rng.normal(size=(80, 2)), np.array(["a", "b"])[np.arange(80) % 2])
    outcome = run("report hard.csv --effort fast --fail-above 0.05 --quiet")
    assert outcome.code == 1
    assert "above 0.05" in outcome.err
    assert (tmp_path / "hard-report.html").exists()
