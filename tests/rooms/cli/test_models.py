"""fit writes a model that predict reads, and neither leaves half a file or runs what a file holds."""

import errno
import functools
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from sklearn.base import clone

from bayesfloor import LandmarkClassifier, SmartSVC, read_table
from bayesfloor.cli import main
from bayesfloor.cli.models import as_csv
from benchmarks.tools import fuzz_models
from helpers.one_case import for_each
from helpers.terminal import rows_of, three_classes, write_csv

skops_io = pytest.importorskip("skops.io")


CLASSIFIERS = {"landmarks": LandmarkClassifier(), "smartsvm": SmartSVC(routing="soft")}


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """What fit writes of table.csv by each model, computed once."""
    folder = tmp_path_factory.mktemp("model")
    write_csv(folder / "table.csv", *three_classes())
    for kind in CLASSIFIERS:
        out = folder / f"{kind}.skops"
        assert main(["fit", str(folder / "table.csv"), "--model", kind, "--out", str(out), "--quiet"]) == 0
    return {kind: (folder / f"{kind}.skops").read_bytes() for kind in CLASSIFIERS}


@pytest.fixture
def kind():
    """Which model the fixture `model` is; tests that are about both ask for both."""
    return "landmarks"


@pytest.fixture
def model(table, fitted, kind):
    file = table.with_name("model.skops")
    file.write_bytes(fitted[kind])
    return file


of_both_kinds = pytest.mark.parametrize("kind", CLASSIFIERS)


@of_both_kinds
def test_predictions_are_those_of_the_classifier(run, model, kind, tmp_path):
    first = read_table(tmp_path / "table.csv")
    classifier = clone(CLASSIFIERS[kind]).fit(first.X, first.y)
    points, labels = three_classes(30, seed=5)
    write_csv(tmp_path / "new.csv", points, labels)
    new = read_table(tmp_path / "new.csv", preparation=first.preparation)
    outcome = run("predict model.skops new.csv")
    head, *rows = rows_of(outcome.out)
    assert head == ["line", "predicted", "p(a)", "p(b)", "p(c)"]
    assert [int(row[0]) for row in rows] == list(range(2, 32))
    predicted = classifier.predict(new.X)
    assert [row[1] for row in rows] == predicted.tolist()
    np.testing.assert_allclose(np.array([row[2:] for row in rows], float), classifier.predict_proba(new.X), atol=1e-6)
    assert f"{(predicted != labels).sum()} of 30 labels in new.csv are not those predicted" in outcome.err
    found = json.loads(run("predict model.skops new.csv --json").out)["result"]
    assert found["classes"] == ["a", "b", "c"]
    np.testing.assert_allclose(found["probability"], classifier.predict_proba(new.X), atol=1e-6)
    assert run("predict model.skops new.csv --json --out p.csv").code == 2
    write_csv(tmp_path / "one.csv", *three_classes(1))
    outcome = run("predict model.skops one.csv")
    assert rows_of(outcome.out)[1][1] == "a"
    assert "The labels are left aside: one.csv: the target 'kind' needs two classes" in outcome.err


def test_columns_may_come_in_another_order_and_without_labels(run, model, tmp_path):
    points, labels = three_classes(9, seed=6)
    write_csv(tmp_path / "new.csv", points, labels)
    swapped = "\n".join(f"{b},extra,{a}" for a, b in points.tolist())
    (tmp_path / "swapped.csv").write_text(f"x2,more,x1\n{swapped}\n")
    outcome = run("predict model.skops swapped.csv")
    assert outcome.out == run("predict model.skops new.csv").out
    assert "Columns not used: 'more'" in outcome.err
    assert "labels" not in outcome.err
    (tmp_path / "other.csv").write_text("x1,z\n1,2\n")
    outcome = run("predict model.skops other.csv")
    assert outcome.code == 3
    assert "other.csv lacks the columns 'x2'" in outcome.err


def test_labels_that_say_there_is_none(run, table, model, tmp_path):
    points, labels = three_classes(30, seed=5)
    write_csv(tmp_path / "new.csv", points, ["?", *labels[1:]])
    outcome = run("predict model.skops new.csv")
    assert len(rows_of(outcome.out)) == 31
    assert "1 of 30 rows have no label in 'kind': the labels are left aside." in outcome.err
    write_csv(tmp_path / "marked.csv", points, np.where(np.arange(len(points)) % 5, labels, "?"))
    outcome = run("fit marked.csv --effort fast --out left_out.skops --json")
    assert json.loads(outcome.out)["data"]["n_rows"] == 24
    assert "Missing labels in 'kind': '?' (6)" in outcome.err
    assert run("fit marked.csv --effort fast --out kept.skops --keep-missing-as-class").code == 0
    outcome = run("predict kept.skops marked.csv")
    assert "p(?)" in outcome.out
    assert "of 30 labels in marked.csv are not those predicted" in outcome.err


@pytest.mark.filterwarnings("default:Some of the 10 folds lack a class:UserWarning")
def test_class_of_one_row(run, tmp_path):
    points, labels = three_classes(31)
    labels = labels.copy()
    labels[labels == "c"] = "b"
    labels[4] = "c"
    write_csv(tmp_path / "t.csv", points, labels)
    fitted = run("fit t.csv --model smartsvm --out s.skops")
    assert fitted.code == 0
    assert "Some of the 10 folds lack a class: 'c' (1 row in 1)" in fitted.err
    assert len(rows_of(run("predict s.skops t.csv").out)[0]) == 5


def test_what_fit_shows(run, table):
    told = run("fit table.csv --out landmarks.skops --effort fast --json")
    found = json.loads(told.out)["result"]
    first = read_table(table)
    classifier = LandmarkClassifier("fast").fit(first.X, first.y)
    assert found.pop("seconds") > 0
    assert found == {
        "model": "landmarks",
        "out": "landmarks.skops",
        "effort": "fast",
        "n_features": 2,
        "n_landmarks": len(classifier.feature_map_.landmarks),
        "n_rules": len(classifier.feature_map_.rule_first),
        "n_rows_kept": 0,
        "held_out_error": classifier.held_out_error_,
        "held_out_log_loss": classifier.held_out_log_loss_,
    }
    assert "The held-out figures are of rows that the model was trained without" in told.err
    shown = run("fit table.csv --effort fast --force --out landmarks.skops").out.splitlines()
    names = ["model", "written to", "held-out error", "held-out log-loss", "landmarks", "rules", "seconds"]
    assert [line.rsplit(maxsplit=1)[0].rstrip() for line in shown] == names


def test_a_linear_model_shows_its_tree(run, table):
    found = json.loads(run("fit table.csv --model smartsvm --out s.skops --json").out)["result"]
    assert found["tree"] == ["a", ["b", "c"]]
    assert 0 <= found["cv_error"] < 0.4
    assert "└─ cut" in run("fit table.csv --model smartsvm --out again.skops").out
    outcome = run("fit table.csv --model smartsvm --effort fast --out more.skops")
    assert outcome.code == 2
    assert "--effort is for --model landmarks and --model stack alone" in outcome.err


def test_groups_of_a_table(run, tmp_path):
    points, labels = three_classes()
    points, labels = points[labels != "a"], labels[labels != "a"]
    rows = [f"{a},{b},g{i % 10},{label}" for i, ((a, b), label) in enumerate(zip(points.tolist(), labels, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(["x1,x2,who,y", *rows]) + "\n")
    first = read_table(tmp_path / "t.csv", target="y", groups="who")
    fitted = {
        "landmarks": LandmarkClassifier("fast").fit(first.X, first.y, groups=first.groups),
        "smartsvm": SmartSVC(routing="soft").fit(first.X, first.y, groups=first.groups),
    }
    call = "fit t.csv --target y --groups who --json --model"
    found = json.loads(run(f"{call} landmarks --effort fast --out l.skops").out)["result"]
    assert found["held_out_log_loss"] == fitted["landmarks"].held_out_log_loss_
    found = json.loads(run(f"{call} smartsvm --out s.skops").out)["result"]
    assert found["cv_error"] == pytest.approx(1.0 - fitted["smartsvm"].cv_scores_.mean(axis=1).max())


def test_same_seed_same_model(run, table, model):
    assert run("fit table.csv --out again.skops --threads 1").code == 0
    assert table.with_name("again.skops").stat().st_mode == table.stat().st_mode  # readable as others are
    assert run("predict again.skops table.csv").out == run("predict model.skops table.csv --threads 2").out


def test_spreadsheets_see_no_formulas():
    labels = np.array(["=cmd()", "@x", "-1", "+2.5", "-a", "x,y", 'say "no"'], dtype=object)
    text, n_escaped = as_csv(np.arange(7), labels, labels[:2], np.full((7, 2), 0.5))
    rows = rows_of(text)
    assert [row[1] for row in rows[1:]] == ["'=cmd()", "'@x", "-1", "+2.5", "'-a", "x,y", 'say "no"']
    assert n_escaped == 3
    assert not any(name.startswith(("=", "@", "+", "-")) for name in rows[0])
    numbers = np.array([-1, 1])
    assert rows_of(as_csv(np.arange(2), numbers, numbers, np.eye(2))[0])[1] == ["0", "-1", "1.000000", "0.000000"]


def test_escaped_cells_are_mentioned(run, model, tmp_path):
    stored = skops_io.load(model)
    classes = ["=cmd()", *stored["parts"]["classes_"][1:]]
    model.write_bytes(skops_io.dumps(with_part(stored, ("parts", "classes_"), classes)))
    outcome = run("predict model.skops table.csv --out p.csv")
    assert "has an apostrophe in front, in 20 of 60 rows" in outcome.err
    assert rows_of((tmp_path / "p.csv").read_text())[1][1] == "'=cmd()"


def test_nothing_is_replaced_unasked(run, model, tmp_path):
    before = model.read_bytes()
    assert run("fit table.csv --seed 7 --out model.skops").code == 2
    (tmp_path / "p.csv").write_text("mine")
    assert run("predict model.skops table.csv --out p.csv").code == 2
    assert (tmp_path / "p.csv").read_text() == "mine"
    assert model.read_bytes() == before
    assert run("predict model.skops table.csv --out p.csv --force").code == 0
    assert len(rows_of((tmp_path / "p.csv").read_text())) == 61
    assert {file.name for file in tmp_path.iterdir()} == {"table.csv", "model.skops", "p.csv"}


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_no_half_file(run, table, monkeypatch, step):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, full)
    outcome = run("fit table.csv --out model.skops --force")
    assert outcome.code == 3
    assert outcome.err.splitlines()[-1].endswith("model.skops': No space left on device")
    assert [file.name for file in table.parent.iterdir()] == ["table.csv"]


def test_a_link_is_followed(run, model, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "inner" / "p.csv")
    assert run("predict model.skops table.csv --out link.csv --force").code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "inner" / "p.csv").read_text().startswith("line,")


def refused(run, contents, tmp_path):
    (tmp_path / "bad.skops").write_bytes(contents)
    outcome = run("predict bad.skops table.csv")
    assert outcome.code == 3
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    return outcome.err


def test_unknown_types_are_refused_and_not_run(run, model, tmp_path):
    stored = skops_io.load(model)
    stored["parts"]["coef_"] = functools.partial(os.system, f"touch {tmp_path / 'ran'}")
    message = refused(run, skops_io.dumps(stored), tmp_path)
    assert "holds types that are not known, and is refused" in message
    assert "system" in message
    assert not (tmp_path / "ran").exists()


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("ran",)


def test_other_files_are_refused(run, model, tmp_path):
    assert "is not a model" in refused(run, pickle.dumps(Bomb()), tmp_path)
    assert not (tmp_path / "ran").exists()
    assert "is not a model" in refused(run, b"", tmp_path)
    assert "is not a model" in refused(run, model.read_bytes()[:-99], tmp_path)
    assert "is not a model" in refused(run, skops_io.dumps({"format": "other"}), tmp_path)
    assert "is not a model" in refused(run, skops_io.dumps([1, 2]), tmp_path)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("schema.json", "[]")
    assert "is not a model" in refused(run, archive.getvalue(), tmp_path)


def with_part(stored, path, value):
    """Replace what is at the end of a path of keys."""
    key, *rest = path
    return stored | {key: with_part(stored[key], rest, value) if rest else value}


def bad_arrays(values):
    """Of another length, dimension, type, and with what is no number."""
    yield from (np.repeat(values, 2, axis=0), values[..., None], [1.0], None, values.astype(np.float16))
    if values.dtype.kind == "f":
        yield np.full_like(values, np.nan)


@of_both_kinds
def test_parts_that_do_not_belong_together(run, model, kind, tmp_path):
    stored = skops_io.load(model)
    parts = stored["parts"]
    arrays = {("parts", name): values for name, values in parts.items() if isinstance(values, np.ndarray)}
    if kind == "landmarks":
        of_map = parts["feature_map_"]["fields"]
        # as many as there are, whatever their number
        free = {"landmarks", "cut_columns", "rule_first"}
        arrays |= {
            ("parts", "feature_map_", "fields", name): values
            for name, values in of_map.items()
            if isinstance(values, np.ndarray) and values.size and name not in free
        }
    assert len(arrays) >= 3
    for path, values in arrays.items():
        for bad in bad_arrays(values):
            message = refused(run, skops_io.dumps(with_part(stored, path, bad)), tmp_path)
            said = ("values that no fit gives", f"the array {path[-1]!r} holds", "gives no probabilities")
            assert any(each in message for each in said), path
    fewer = {**stored["preparation"], "columns": stored["preparation"]["columns"][1:]}
    assert "no fit gives" in refused(run, skops_io.dumps(stored | {"preparation": fewer}), tmp_path)
    for changed in (parts | {"leaves": np.zeros(2)}, {"coef_": parts["coef_"]}, [1]):
        assert "its parts are not" in refused(run, skops_io.dumps(stored | {"parts": changed}), tmp_path)
    other = next(each for each in CLASSIFIERS if each != kind)
    assert "its parts are not" in refused(run, skops_io.dumps(stored | {"kind": other}), tmp_path)
    if kind == "landmarks":
        swapped = with_part(stored, ("parts", "classes_"), ["b", "a", "c"])
        assert "the classes are not sorted" in refused(run, skops_io.dumps(swapped), tmp_path)
    assert "not known, 'more'" in refused(run, skops_io.dumps(stored | {"kind": "more"}), tmp_path)


@for_each(
    "name, value",
    [
        ("cut_columns", np.array([0, 2])),
        ("cut_columns", np.array([-1, 0])),
        ("rule_first", np.array([0, 2, 1])),
        ("rule_second", np.array([0, 1, -1])),
        ("cut_columns", np.array([0.0, 1.0])),
        ("landmarks", np.zeros((4, 3), np.float32)),
        ("axes", np.zeros((3, 2), np.float32)),
        ("gamma", -1.0),
        ("gamma", float("inf")),
    ],
)
def test_rules_point_to_cuts_and_cuts_to_columns(run, model, tmp_path, name, value):
    """Compiled code does not look whether there is such a column."""
    stored = skops_io.load(model)
    of_map = stored["parts"]["feature_map_"]["fields"]
    of_map |= {
        "cut_columns": np.array([0, 1]),
        "cut_values": np.zeros(2, np.float32),
        "rule_first": np.array([0, 0, 1]),
        "rule_second": np.array([0, 1, 1]),
    }
    n_features = 1 + 2 + len(of_map["landmarks"]) + 3
    stored["parts"]["coef_"] = np.ones((3, n_features), np.float32)
    (tmp_path / "good.skops").write_bytes(skops_io.dumps(stored))
    assert run("predict good.skops table.csv").code == 0
    of_map[name] = value
    assert "finite" in (said := refused(run, skops_io.dumps(stored), tmp_path)) or "no fit gives" in said


def test_fit_keeps_rows_that_help(run, tmp_path, monkeypatch):
    """Squares of a grid, a class each, are more than eight landmarks can tell: the nearest rows know better."""
    rng = np.random.default_rng(0)
    points = rng.uniform(0, 8, size=(900, 2))
    labels = np.array([f"c{first}{second}" for first, second in np.floor(points).astype(int)])
    write_csv(tmp_path / "grid.csv", points, labels)
    first = read_table(tmp_path / "grid.csv", target="kind")
    classifier = LandmarkClassifier(n_landmarks=8).fit(first.X, first.y)
    assert classifier.members_.n_rows_kept == 900
    classifier.preparation_ = first.preparation
    classifier.save(tmp_path / "grid.skops")
    classifier.preparation_ = None
    found = json.loads(run("predict grid.skops grid.csv --json").out)["result"]
    np.testing.assert_allclose(found["probability"], classifier.predict_proba(first.X), atol=1e-6)
    stored = skops_io.load(tmp_path / "grid.skops")
    (member,) = stored["parts"]["members_"]["fields"]["fitted"]
    for ridge in member["fields"]["fitted"]["fields"]["ridges"].values():
        ridge["fields"]["codes"][0] = 10**6  # a class that is not there
    (tmp_path / "bad.skops").write_bytes(skops_io.dumps(stored))
    assert "a member holds values that no fit gives" in run("predict bad.skops grid.csv").err
    monkeypatch.setattr("bayesfloor.classify.model_archive.UNPACKED_MODEL_LIMIT", 1000)
    outcome = run("fit grid.csv --target kind --out more.skops")
    assert outcome.code == 3
    assert "'predict' would refuse to read" in outcome.err
    assert not (tmp_path / "more.skops").exists()


def test_arrays_in_the_other_order_of_memory(run, model, tmp_path):
    stored = skops_io.load(model)
    parts = stored["parts"]
    of_map = parts["feature_map_"]["fields"]
    parts["coef_"], of_map["landmarks"] = np.asfortranarray(parts["coef_"]), np.asfortranarray(of_map["landmarks"])
    (tmp_path / "other.skops").write_bytes(skops_io.dumps(stored))
    assert run("predict other.skops table.csv").out == run("predict model.skops table.csv").out


def test_a_model_that_unpacks_to_too_much(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr("bayesfloor.classify.model_archive.UNPACKED_MODEL_LIMIT", 1000)
    assert "the model takes more than" in refused(run, model.read_bytes(), tmp_path)


@for_each(
    "path, value",
    [
        (("coef_",), 1e30),
        (("feature_map_", "fields", "landmarks"), 1e30),
        (("feature_map_", "fields", "weights"), 0.0),
        (("feature_map_", "fields", "scale"), -1.0),
        (("feature_map_", "fields", "centre"), 1e200),
    ],
)
def test_numbers_that_no_fit_gives(run, model, tmp_path, path, value):
    stored = skops_io.load(model)
    values = functools.reduce(lambda part, key: part[key], path, stored["parts"])
    changed = with_part(stored, ("parts", *path), np.full_like(values, value))
    assert "values that no fit gives" in refused(run, skops_io.dumps(changed), tmp_path)


def test_a_long_text_makes_no_long_line(run, model, tmp_path):
    stored = skops_io.load(model)
    for path in (("format",), ("kind",), ("preparation", "task"), ("preparation", "target")):
        changed = with_part(stored, path, "x" * 10**6)
        (tmp_path / "long.skops").write_bytes(skops_io.dumps(changed))
        assert max(map(len, run("predict long.skops table.csv").err.splitlines())) < 1000
    classes = [*stored["parts"]["classes_"][:-1], "z" * 10**6]  # once, predictions of 240 rows took a gigabyte
    message = refused(run, skops_io.dumps(with_part(stored, ("parts", "classes_"), classes)), tmp_path)
    assert "a name of 1,000,000 letters" in message
    stored["preparation"]["columns"][0]["name"] = "x" * 10**6
    assert len(refused(run, skops_io.dumps(stored), tmp_path)) < 1000


@of_both_kinds
def test_edits_of_the_fuzzer(model, kind, tmp_path):
    """A slice of benchmarks/tools/fuzz_models.py."""
    for number in range(15):
        _, where, contents = fuzz_models.make_case(number, 0, tmp_path, [model.name])
        (tmp_path / "case.skops").write_bytes(contents)
        fault, _, said = fuzz_models.judge(main, tmp_path / "case.skops", tmp_path / "table.csv")
        assert not fault, (number, where, said)


def test_learners_beside_landmarks_are_stored(run, tmp_path):
    """Parity of three of eight columns of two values: a network and boosting know what no column says alone."""
    rng = np.random.default_rng(0)
    points = rng.integers(0, 2, (900, 8)).astype(float)
    labels = np.array(["even", "odd"])[(points[:, 0] + points[:, 3] + points[:, 5]).astype(int) % 2]
    labels[rng.random(900) < 0.1] = "odd"
    write_csv(tmp_path / "parity.csv", points, labels, [*(f"x{j}" for j in range(8)), "kind"])
    first = read_table(tmp_path / "parity.csv")
    classifier = LandmarkClassifier().fit(first.X, first.y)
    assert len(classifier.members_.fitted) == 2
    classifier.preparation_ = first.preparation
    classifier.save(tmp_path / "parity.skops")
    classifier.preparation_ = None
    found = json.loads(run("predict parity.skops parity.csv --json").out)["result"]
    np.testing.assert_allclose(found["probability"], classifier.predict_proba(first.X), atol=1e-6)
    stored = skops_io.load(tmp_path / "parity.skops")
    fields = {"names": ["boosting"], "line": np.ones(3), "are_classes": True}
    constant = {"record": "Constant", "fields": fields}
    for name, value, message in (
        ("weights", {"landmarks": 1.0, "trees": 1.0}, "weights are not those of its members"),
        ("weights", {"landmarks": -1.0}, "no fit gives"),
        ("weights", {"boosting": 1.0}, "no fit gives"),
        ("fitted", [constant | {"record": "Members"}], "not known"),
        ("fitted", [constant], "no fit gives"),
    ):
        changed = with_part(stored, ("parts", "members_", "fields", name), value)
        (tmp_path / "bad.skops").write_bytes(skops_io.dumps(changed))
        outcome = run("predict bad.skops parity.csv")
        assert outcome.code == 3
        assert message in outcome.err
