"""`difficulty_report`: what it computes, what it says, and that what it says is true."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.datasets import load_iris, make_blobs

from bayesfloor import bayes_error, difficulty_report, learned_floor, pairwise_bayes_error, read_table
from bayesfloor.report.figures import MOST_CLASSES_DRAWN
from bayesfloor.report.metric_words import verdict_on
from bayesfloor.report.sections.answer import answer_of_models, answer_of_ranking
from bayesfloor.report.sections.subgroups import answer_on_subgroups
from bayesfloor.report.verdict import limit_of
from bayesfloor.results import DifficultyReport
from bayesfloor.runtime.text import percent

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))


@pytest.fixture(scope="module")
def iris():
    return difficulty_report(*load_iris(return_X_y=True))


@pytest.fixture(scope="module")
def learned():
    return learned_floor(*load_iris(return_X_y=True))


def test_the_figures_are_those_of_the_functions_that_make_them(iris, learned):
    X, y = load_iris(return_X_y=True)
    floor = iris.summary["floor"]
    assert floor["estimate"] == learned.estimate == iris.learned.estimate
    assert (floor["low"], floor["high"]) == learned.interval
    assert floor["reached"]["value"] == learned.reached
    hardest = pairwise_bayes_error(X, y).hardest(1)[0]
    first = iris.summary["pairs"]["rows"][0]
    assert (first["first"], first["second"]) == (str(hardest.first), str(hardest.second)) == ("1", "2")
    assert iris.summary["tree"]["pairs"][0]["floor"] == hardest.estimate
    assert first["confused"] == iris.learned.pair_reached[1, 2]
    assert iris.summary["tree"]["pairs"][0]["normalized"] == hardest.normalized


def test_models_say_which_labels_look_wrong():
    X, y = make_blobs(200, centers=[[0, 0], [12, 0], [0, 12]], random_state=0)
    bad = [3, 50, 120, 199]
    right = y.copy()
    y[bad] = (y[bad] + 1) % 3
    report = difficulty_report(X, y)
    suspects = report.summary["suspects"]
    assert sorted(row["row"] for row in suspects["rows"]) == bad == sorted(report.learned.suspicious.row.tolist())
    for row in suspects["rows"]:
        assert row["looks_like"] == row["other_label"] == str(right[row["row"]])
        assert row["distance"] == pytest.approx(np.linalg.norm(X[row["row"]] - X[row["other_row"]]))
    number = suspects["n_wrong"]
    assert number["low"] <= 4 <= number["high"]
    assert "Of the 200 labels tested, about" in suspects["note"]
    # as many would differ by noise that is the same everywhere
    assert number["low"] == 0
    assert not any(step.action == "mend labels" for step in report.verdict.steps)
    header, *rows = csv.reader(io.StringIO(report.to_csv()))
    assert header == ["row", "x0", "x1", "y", "suggested", "score"]
    for row in rows:
        place = int(row[0])
        assert [float(row[1]), float(row[2])] == pytest.approx(X[place].tolist(), rel=1e-5)
        assert row[3:5] == [str(y[place]), str(right[place])]


def test_labels_are_to_be_mended_where_overlap_fades_and_they_do_not():
    """With noise that is the same everywhere as many rows are listed, and that is no step."""
    rng = np.random.default_rng(0)
    truth = np.arange(800) % 2
    wrong = rng.random(800) < 0.05
    report = difficulty_report(rng.normal(size=(800, 1)) + 2.5 * truth[:, None], np.where(wrong, 1 - truth, truth))
    n_listed = len(report.learned.suspicious)
    assert any(s.action == "mend labels" and f"{n_listed} rows" in s.sentence for s in report.verdict.steps)
    levels = rng.integers(0, 6, 500)
    report = difficulty_report(
        levels[:, None].astype(float), (rng.random(500) < np.where(levels < 3, 0.25, 0.75)).astype(int), checks=False
    )
    assert report.learned.suspicious.n_wrong_interval[0] == 0.0
    assert not any(step.action == "mend labels" for step in report.verdict.steps)


def test_nothing_is_listed_where_nothing_errs():
    X, y = make_blobs(120, centers=[[0, 0], [100, 0], [0, 100]], random_state=0)
    report = difficulty_report(X, y)
    assert report.summary["suspects"]["rows"] == report.summary["suspects"]["table"]["rows"] == []
    assert "No label stands out" in report.to_text(width=500)
    assert "no two classes look alike" in report.summary["answer"][1]
    assert not any(step.action == "mend labels" for step in report.verdict.steps)


@settings(deadline=None, max_examples=60)
@given(target=st.floats(0, 1), reached=st.floats(0, 0.6), below=st.floats(0, 1), spread=st.floats(0, 0.1))
def test_nothing_is_called_impossible_that_was_done(learned, target, reached, below, spread):
    low = below * reached
    moved = replace(
        learned.metrics["error"],
        estimate=(low + reached) / 2,
        interval=(low, reached + spread),
        reached=reached,
        reached_interval=(max(reached - spread, 0.0), reached + spread),
    )
    verdict, _ = verdict_on(moved, target)
    if target >= reached + spread:
        assert verdict == "feasible"
    elif target >= reached:
        assert verdict == "undecided"  # done on this sample, but not surely
    elif target < low:
        assert verdict == "not feasible"
    else:
        assert verdict == "undecided"


def test_labels_that_have_nothing_to_do_with_the_points():
    rng = np.random.default_rng(0)
    report = difficulty_report(rng.normal(size=(200, 3)), rng.integers(0, 2, 200))
    assert "Nothing that was tried surely beats" in report.summary["answer"][1]
    assert "against" not in report.summary["answer"][1]  # there is one pair only


def with_first(learned, findings, **changes):
    """The same floor with other figures of its first metric, and other findings."""
    first = replace(learned.metrics[learned.metric], **changes)
    return replace(learned, metrics=learned.metrics | {learned.metric: first}, findings=findings)


def told_of(learned, codes=(), hardest=""):
    return answer_of_models(limit_of(learned.metrics["error"], codes), learned.n_rows, hardest)


def test_more_rows_would_help(learned):
    falling = with_first(learned, (), reached=0.135, estimate=0.044, interval=(0.003, 0.151))
    text = told_of(falling, {"BF025"}, "4 against 9 is the hardest pair")
    assert text == [
        "The floor is about 4.4% (95% range 0.30–15.1%).",
        "The best model tried reaches 13.5% and is still improving with more data; 4 against 9 is the hardest pair.",
    ]
    flat = with_first(falling, (), estimate=0.130)
    assert "more rows would change that little" in told_of(flat)[1]
    assert "how far cannot be told" in told_of(flat, {"BF039"})[1]  # what the curve shows says more than its end
    assert "too few rows to tell" in told_of(falling)[1]
    few = with_first(falling, (), reached=0.0, estimate=0.0, interval=(0.0, 0.02), reached_interval=(0.0, 0.024))
    assert "too few rows to tell" in told_of(few)[1]
    perfect = with_first(falling, (), reached=0.0, estimate=0.0, interval=(0.0, 0.0), reached_interval=(0.0, 0.004))
    assert "makes no error on 150 rows" in told_of(perfect)[1]


def test_a_table_is_shown_as_its_file_has_it(tmp_path):
    file = tmp_path / "people.csv"
    rng = np.random.default_rng(0)
    lines = ["height,colour,id,kind"]
    for n in range(60):
        colour = ["red", "green", "blue"][n % 3]
        lines.append(f"{rng.normal(170 + 10 * (n % 2), 4):.1f},{colour},{n},{'ab'[n % 2]}")
    lines[5] = lines[5].replace(",a", ",b") if lines[5].endswith("a") else lines[5].replace(",b", ",a")
    file.write_text("\n".join(lines) + "\n")
    table = read_table(file, encode="onehot", drop="id")
    report = difficulty_report(table)
    suspects = report.summary["suspects"]
    assert suspects["columns"] == ["height", "colour"]
    assert suspects["row_word"] == "line"
    for row in suspects["rows"]:
        for line, label, values in (
            (row["row"], row["label"], row["values"]),
            (row["other_row"], row["other_label"], row["other_values"]),
        ):
            height, colour, _, kind = lines[line - 1].split(",")
            assert kind == label
            assert [float(values[0]), values[1]] == [float(height), colour]
    assert report.summary["title"] == "people.csv"


def test_renderings_are_written_to_files(iris, tmp_path):
    assert str(iris) == iris.to_text()
    assert iris.summary["answer"][0] in repr(iris)
    for form, name in (("to_markdown", "a.md"), ("to_json", "a.json"), ("to_html", "a.html")):
        assert getattr(iris, form)(tmp_path / name) == (tmp_path / name).read_text() == getattr(iris, form)()
    with pytest.raises(OSError, match="nowhere"):
        iris.to_html(tmp_path / "nowhere" / "page.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.json", "a.md"]


def test_the_order_of_rows_changes_nothing_but_their_numbers(iris):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))
    other = difficulty_report(X[order], y[order], n_jobs=1)
    for key in ("answer", "floor", "classes", "pairs", "tree", "curve", "findings"):
        assert other.summary[key] == iris.summary[key], key


def test_findings_are_those_of_trees_and_models(iris):
    assert iris.findings == (*iris.pairs.findings, *iris.learned.findings)
    assert sorted(each.code for each in iris.findings) == sorted(each["code"] for each in iris.summary["findings"])
    assert iris.pairs.findings[0].code == "BF002"  # many equal distances: stands with the class tree
    details = iris.to_markdown().partition("### Class tree")[2]
    assert "'bayesfloor explain BF002' says more." in details
    assert "BF002" not in iris.to_text()


def test_the_frame_lists_all_rows_to_look_at_however_many():
    rng = np.random.default_rng(0)
    y = np.arange(1200) % 2
    X = rng.normal(size=(1200, 2)) + 6.0 * y[:, None]
    y[:90] = 1 - y[:90]
    report = difficulty_report(X, y, effort="fast", checks=False, n_jobs=1)
    assert len(report.frame()) == len(report.learned.suspicious) > 60
    assert next(iter(report.frame()["row"])) == report.summary["suspects"]["rows"][0]["row"]


def test_the_call_that_makes_it_again_has_what_was_asked_for():
    frame = load_iris(as_frame=True).frame.assign(patient=np.arange(150) // 3)
    asked = {"task": "classification", "max_rows": 140, "confidence": 0.9, "groups": "patient"}
    report = difficulty_report(frame, "target", effort="fast", **asked)
    call = ", ".join(f"{name}={value!r}" for name, value in asked.items())
    assert report.summary["command"] == f"difficulty_report(X, 'target', effort='fast', {call})"
    by_array = difficulty_report(*load_iris(return_X_y=True), groups=np.arange(150), effort="fast")
    assert by_array.summary["command"] == "difficulty_report(X, y, effort='fast', groups=groups)"


def test_arguments_are_checked_first():
    for arguments, says in [
        ({"target_value": 1.5}, "target_value"),
        ({"target_value": True}, "target_value"),
        ({"target_value": 1.5, "metric": "f1"}, r"range \[0, 1\]"),
        ({"target_value": -0.1, "metric": "log_loss"}, r"range \[0, inf\)"),
        ({"target_value": np.inf, "costs": 1 - np.eye(3)}, r"range \(-inf, inf\)"),
        ({"metric": "auc"}, "'roc_auc'"),
        ({"metric": ["roc_auc", "roc_auc"]}, "named twice"),
        ({"metric": "cost"}, "needs costs"),
        ({"metric": "f1", "positive": "x"}, "none of the classes"),
        ({"costs": [[0, 1], [1, 0]]}, "3 rows"),
        ({"max_rows": 3}, "max_rows=3"),
        ({"confidence": 1}, "confidence"),
    ]:
        with pytest.raises(ValueError, match=says):
            difficulty_report(*load_iris(return_X_y=True), **arguments)
    with pytest.raises(ValueError, match="at least 20 rows to train models and to test them, got 12"):
        difficulty_report(np.arange(12.0)[:, None], [0] * 6 + [1] * 6)


def test_labels_come_with_a_table_or_by_themselves(tmp_path):
    with pytest.raises(ValueError, match="only a Table has its labels with it"):
        difficulty_report(load_iris().data)
    file = tmp_path / "t.csv"
    file.write_text("x,kind\n1,a\n2,b\n3,a\n")
    with pytest.raises(ValueError, match="leave out y"):
        difficulty_report(read_table(file), [1, 2, 1])


def test_many_rows_are_sampled(set_limits):
    X, y = make_blobs(300, centers=3, random_state=0)
    set_limits(tree_rows=60)
    report = difficulty_report(X, y, max_rows=100)
    assert report.pairs.class_counts.sum() == 60
    assert report.learned.n_rows == 100
    assert "from 60 of the rows" in report.summary["tree"]["note"]
    assert report.summary["data"]["n_rows"] == 300
    assert isinstance(report, DifficultyReport)


def test_many_classes():
    n = 48  # more than are drawn, with more pairs than are listed
    rng = np.random.default_rng(0)
    centres = np.append(np.arange(n - 1) * 10.0, (n - 2) * 10.0)  # the last two lie on top of each other
    y = np.repeat(np.arange(n), 5)
    report = difficulty_report(centres[y, None] + rng.normal(size=(len(y), 1)), y, effort="fast", checks=False)
    summary = report.summary
    assert len(summary["classes"]) == n
    assert len(summary["pairs"]["rows"]) == 500
    assert summary["pairs"]["n_pairs"] == n * (n - 1) // 2
    names, matrix = summary["pairs"]["names"], summary["pairs"]["confused"]
    assert len(names) == len(matrix) == summary["tree"]["n_classes"] == MOST_CLASSES_DRAWN
    assert set(names) == {each["name"] for each in summary["classes"][:MOST_CLASSES_DRAWN]}
    hardest = summary["pairs"]["rows"][0]
    assert {hardest["first"], hardest["second"]} == {"46", "47"}
    assert matrix[names.index("46")][names.index("47")] == hardest["confused"]
    whole = summary["tree"]["whole"]
    assert (len(whole["classes"]), len(whole["children"]), len(whole["floors"])) == (n, n - 1, n - 1)
    assert "The tree of the 40 hardest of 48 classes" in report.to_markdown()
    assert len(report.to_html().encode()) < 500_000


@pytest.fixture(scope="module")
def by_region():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 2))
    region = np.array(["<b>C</b>", "|D|", "E"])[np.repeat([0, 1, 2], [80, 157, 3])]
    y = X[:, 0] > 0
    y[:40] = rng.random(40) < 0.5
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "region": region, "y": np.where(y, "yes", "no")})
    return difficulty_report(frame, "y", by="region")


def test_subgroups_are_those_of_the_floor(by_region):
    found, subgroups = by_region.learned.subgroups, by_region.summary["subgroups"]
    assert subgroups["column"] == "region"
    # those that surely err most come first
    order = np.argsort(-found.reached_interval[:, 0])
    assert [row["name"] for row in subgroups["rows"]] == [found.names[code] for code in order]
    for row, code in zip(subgroups["rows"], order, strict=True):
        assert row["reached"] == found.reached[code]
        assert row["floor"] == (None if found.names[code] == "E" else found.estimate[code])
        assert (row["low"], row["high"]) == tuple(found.interval[code])
        assert row["share_of_errors"] == found.share_of_errors[code]
    assert "differ in their errors (p " in subgroups["sentence"]
    assert "Too few rows, fewer than 5, to tell a floor: 'E'." in subgroups["note"]
    assert json.loads(by_region.to_json())["subgroups"] == subgroups
    markdown = by_region.to_markdown()
    assert "## Subgroups by region" in markdown
    assert "&lt;b&gt;C&lt;/b&gt;" in markdown
    assert "\\|D\\|" in markdown
    assert "by='region'" in by_region.summary["command"]
    assert any(part["heading"] == "Subgroups" for part in by_region.summary["how_to_read"])


def test_whether_subgroups_differ(by_region):
    subgroups = by_region.learned.subgroups
    for reached_p, floor_p, said in [
        (0.5, 0.9, "That the subgroups differ in their errors is not shown (p = .50)."),
        (0.0005, 0.9, "differ in their errors (p < .001); that their floors differ is not shown (p = .90)."),
        (0.01, 0.02, "differ in their errors (p = .01); their floors differ too (p = .02)."),
    ]:
        found = replace(subgroups, reached_p_value=reached_p, floor_p_value=floor_p)
        assert answer_on_subgroups(found).endswith(said)
    assert "nothing to compare" in answer_on_subgroups(replace(subgroups, names=("all",)))


def rare_positives(n=4000, n_rare=30, seed=0):
    """Rows of which a few, at a distance of 3, are the rare class."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n_rare, "fraud", "ok")
    return rng.normal(size=(n, 3)) + 3.0 * (y == "fraud")[:, None] * [1.0, 0.0, 0.0], y


@pytest.fixture(scope="module")
def rare():
    return difficulty_report(*rare_positives(), max_rows=1000)


def test_a_rare_class_is_led_with(rare):
    (ranked,) = rare.summary["rare"]["rows"]
    found = rare.learned.ranking[0]
    assert (ranked["name"], ranked["n_rows"], ranked["n_used"]) == ("fraud", 30, 30)
    assert f"an ROC AUC of {found.auc:.3f}" in rare.summary["answer"][0]
    assert f"hold {percent(found.recall_at_top)} of its 30 rows" in rare.summary["answer"][0]
    assert "The error says little here" in rare.summary["answer"][2]
    assert "about 120 would halve it" in ranked["needed"]
    for text in (rare.to_text(width=1000), rare.to_markdown()):
        assert ranked["needed"] in text.replace("\\", "")
        assert f"{found.auc:.3f}" in text
    assert "The commonest class was cut down" in rare.summary["data"]["columns_note"]
    assert rare.summary["data"]["columns"][0]["name"] == "x0"
    assert any(each["heading"] == "Rare classes" for each in rare.summary["how_to_read"])


def test_a_rare_class_that_nothing_ranks(rare):
    unsure = replace(rare.learned.ranking[0], auc_interval=(0.45, 0.62))
    first, _, _ = answer_of_ranking(rare.learned.metrics["error"], [unsure])
    assert first.startswith("No model tried surely ranks fraud above the rest")


def test_classes_of_one_and_two_rows():
    X, y = make_blobs(90, centers=2, random_state=0)
    labels = np.array(["a", "b"])[y].astype(object)
    labels[[0, 5, 6]] = ["single", "double", "double"]
    report = difficulty_report(X, labels.astype(str))
    (finding,) = (each for each in report.findings if each.code == "BF022")
    assert "'double' (2), 'single' (1)" in finding.sentence
    assert report.summary["rare"] is None  # nothing can be said of them
    assert 0 <= report.learned.estimate <= 1
    for form in ("to_text", "to_html", "to_markdown"):
        assert "single" in getattr(report, form)()


def test_columns_are_listed_with_what_was_done_and_the_left_out_last():
    rng = np.random.default_rng(0)
    n = 300
    ill = np.repeat(["no", "yes"], n // 2)
    dose = rng.normal(size=n) + 4 * (ill == "yes")
    age, colour = rng.normal(40, 9, n).round(1), rng.choice(["red", "green", "blue"], n)
    frame = pd.DataFrame({"patient": [f"p{k:03}" for k in range(n)], "age": age, "colour": colour, "dose": dose})
    frame.loc[[3, 50, 200], "age"] = np.nan
    report = difficulty_report(frame.assign(ill=ill), "ill", effort="fast", checks=False)
    columns = report.summary["data"]["columns"]
    names = [each["name"] for each in columns]
    assert (names[0], sorted(names[1:3]), names[3]) == ("dose", ["age", "colour"], "patient")
    assert (columns[0]["kind"], columns[0]["n_values"], columns[0]["n_features"]) == ("number", n, 1)
    (of_age,) = (each for each in columns if each["name"] == "age")
    assert of_age["n_missing"] == 3
    # alone, classes 4 apart have a floor of Phi(-2), of a majority error of a half
    assert columns[0]["removed"] == pytest.approx(1 - 2 * norm.cdf(-2), abs=0.05)
    assert all(each["low"] < 0.05 for each in columns[1:3])
    assert columns[3]["removed"] is None
    for text in (report.to_markdown(), report.to_text()):
        assert "left out (300" in text
    assert report.summary["suspects"]["columns"] == ["age", "colour", "dose"]


def test_columns_of_ties():
    """A constant tells nothing, a copy of the label everything, and identical values are no order."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    X = np.column_stack([np.zeros(400), y, rng.random(400) < 0.2 + 0.6 * y, rng.integers(0, 3, 400)]).astype(float)
    columns = {
        each["name"]: each for each in difficulty_report(X, y, effort="fast", checks=False).summary["data"]["columns"]
    }
    assert columns["x0"]["removed"] == 0
    assert columns["x1"]["removed"] > 0.98
    assert columns["x3"]["low"] == 0
    # one row of five has the wrong value: two rows alike differ in .32 of cases, and the bounds are .2 and .32
    assert columns["x2"]["low"] <= 1 - 0.26 / 0.5 <= columns["x2"]["high"]
    assert columns["x0"]["kind"] is None


def test_a_column_tells_something_where_one_class_has_most_rows():
    rng = np.random.default_rng(4)
    y = (np.arange(1000) < 100).astype(int)
    X = np.column_stack([rng.normal(size=1000) + 1.5 * y, rng.normal(size=1000)])
    report = difficulty_report(X, y, effort="fast", checks=False)
    first, second = report.summary["data"]["columns"]
    assert first["name"] == "x0"
    assert 0.2 < first["removed"] < 1 - 2 * norm.cdf(-0.75)  # what can be removed where both are as frequent
    assert second["low"] == 0


def test_floors_of_single_columns_are_those_of_trees():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 600)
    X = np.column_stack([rng.normal(size=600) + y, np.round(rng.normal(size=600) + 2 * y, 1), rng.normal(size=600)])
    columns = {
        each["name"]: each["floor"]
        for each in difficulty_report(X, y, effort="fast", checks=False).summary["data"]["columns"]
    }
    for place in range(3):
        assert columns[f"x{place}"] == pytest.approx(bayes_error(X[:, [place]], y).estimate, abs=0.02)


def test_very_many_columns_are_cut():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 130)), np.arange(60) % 2
    X[:, 77] += 5 * y
    data = difficulty_report(X, y, effort="fast", checks=False).summary["data"]
    assert (len(data["columns"]), data["n_columns"]) == (100, 130)
    assert data["columns"][0]["name"] == "x77"
    assert "the 100 most telling of 130 columns" in data["columns_note"]
