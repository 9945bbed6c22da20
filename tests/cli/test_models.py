"""fit writes a model that predict reads, and neither leaves half a file or runs what a file holds."""

import csv
import errno
import functools
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest

from bayesfloor import SmartSVC, read_table
from bayesfloor.cli import main
from bayesfloor.cli.models import as_csv

from .small_tables import three_classes, write_csv

skops_io = pytest.importorskip("skops.io")


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """What fit writes of table.csv, computed once."""
    folder = tmp_path_factory.mktemp("model")
    write_csv(folder / "table.csv", *three_classes())
    assert main(["fit", str(folder / "table.csv"), "--out", str(folder / "model.skops"), "--quiet"]) == 0
    return (folder / "model.skops").read_bytes()


@pytest.fixture
def model(table, fitted):
    file = table.with_name("model.skops")
    file.write_bytes(fitted)
    return file


def test_predictions_are_those_of_the_classifier(run, model, tmp_path):
    first = read_table(tmp_path / "table.csv")
    classifier = SmartSVC(routing="soft").fit(first.X, first.y)
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


def test_columns_may_come_in_another_order_and_without_labels(run, model, tmp_path):
    points, labels = three_classes(9, seed=6)
    write_csv(tmp_path / "new.csv", points, labels)
    swapped = "\n".join(f"{b},extra,{a}" for a, b in points.tolist())
    (tmp_path / "swapped.csv").write_text(f"x2,more,x1\n{swapped}\n")
    outcome = run("predict model.skops swapped.csv")
    assert outcome.out == run("predict model.skops new.csv").out
    assert "Columns not used: 'more'" in outcome.err
    assert "labels" not in outcome.err


def test_labels_that_cannot_be_used_are_left_aside(run, model, tmp_path):
    write_csv(tmp_path / "one.csv", *three_classes(1))
    outcome = run("predict model.skops one.csv")
    assert outcome.code == 0
    assert rows_of(outcome.out)[1][1] == "a"
    assert "The labels are left aside: one.csv: the target 'kind' needs two classes" in outcome.err


def test_text_columns_and_gaps_are_prepared_alike(run, tmp_path):
    rows = [f"{i % 5},{'uv'[i % 2]},{['no', 'yes'][i % 2]}" for i in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["n,letter,y", *rows]) + "\n")
    assert run("fit t.csv --strict --encode onehot --impute median --out t.skops").code == 0
    (tmp_path / "new.csv").write_text("letter,n\nv,2\nu,\n")
    assert [row[1] for row in rows_of(run("predict t.skops new.csv").out)] == ["predicted", "yes", "no"]
    (tmp_path / "new.csv").write_text("letter,n\nw,2\n")
    outcome = run("predict t.skops new.csv")
    assert outcome.code == 3
    assert "'w' is not among the values known" in outcome.err


def test_other_columns_are_refused(run, model, tmp_path):
    (tmp_path / "other.csv").write_text("x1,z\n1,2\n")
    outcome = run("predict model.skops other.csv")
    assert outcome.code == 3
    assert "other.csv lacks the columns 'x2'" in outcome.err


def test_class_of_one_row(run, tmp_path):
    points, labels = three_classes(31)
    labels = labels.copy()
    labels[labels == "c"] = "b"
    labels[4] = "c"
    write_csv(tmp_path / "t.csv", points, labels)
    assert run("fit t.csv --out t.skops").code == 0


def test_json(run, model):
    fitted = json.loads(run("fit table.csv --out again.skops --json").out)["result"]
    assert fitted["tree"] == ["a", ["b", "c"]]
    assert 0 <= fitted["cv_error"] < 0.4
    found = json.loads(run("predict model.skops table.csv --json").out)["result"]
    assert found["classes"] == ["a", "b", "c"]
    assert np.array(found["probability"]).shape == (60, 3)
    np.testing.assert_allclose(np.sum(found["probability"], axis=1), 1)
    assert run("predict model.skops table.csv --json --out p.csv").code == 2


def test_same_seed_same_model(run, model, tmp_path):
    assert run("fit table.csv --out again.skops --threads 1").code == 0
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


def test_escaped_cells_are_mentioned(run, tmp_path):
    points, labels = three_classes()
    write_csv(tmp_path / "t.csv", points, ["=cmd()" if label == "a" else label for label in labels])
    assert run("fit t.csv --out t.skops").code == 0
    outcome = run("predict t.skops t.csv --out p.csv")
    assert "has an apostrophe in front, in 20 of 60 rows" in outcome.err
    assert outcome.out == ""
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


def test_a_folder_where_nothing_can_be_written(run, table, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "aside")

    monkeypatch.setattr("tempfile.TemporaryFile", denied)
    outcome = run("fit table.csv --out model.skops")
    assert outcome.code == 3
    assert "model.skops': Permission denied" in outcome.err


def test_a_link_is_followed(run, model, tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "inner" / "p.csv")
    assert run("predict model.skops table.csv --out link.csv --force").code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "inner" / "p.csv").read_text().startswith("line,")


def test_files_are_readable_as_others_are(run, table):
    assert run("fit table.csv --out model.skops").code == 0
    assert table.with_name("model.skops").stat().st_mode == table.stat().st_mode


def refused(run, contents, tmp_path):
    (tmp_path / "bad.skops").write_bytes(contents)
    outcome = run("predict bad.skops table.csv")
    assert outcome.code == 3
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    return outcome.err


def test_unknown_types_are_refused_and_not_run(run, model, tmp_path):
    stored = skops_io.load(model)
    stored["coef"] = functools.partial(os.system, f"touch {tmp_path / 'ran'}")
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


def test_parts_that_do_not_belong_together(run, model, tmp_path):
    stored = skops_io.load(model)
    for name in ("coef", "intercept", "platt"):
        for bad in (stored[name][:1], stored[name][..., None], np.full_like(stored[name], np.nan), [1.0], None):
            assert f"the array '{name}'" in refused(run, skops_io.dumps(stored | {name: bad}), tmp_path)
    fewer = {**stored["preparation"], "columns": stored["preparation"]["columns"][1:]}
    assert "the array 'coef'" in refused(run, skops_io.dumps(stored | {"preparation": fewer}), tmp_path)


def places(part):
    """Walk through nested dicts and lists: each container with the keys in it."""
    for key in list(part) if isinstance(part, dict) else range(len(part)):
        yield part, key
        if isinstance(part[key], dict | list):
            yield from places(part[key])


def test_damaged_parts_are_bad_data(run, model, tmp_path):
    """Each entry removed, and replaced by something else: refused in one line, or the same answers."""
    expected = run("predict model.skops table.csv").out
    n_places = len(list(places(skops_io.load(model))))
    rng = np.random.default_rng(0)
    n_refused = 0
    for number in rng.permutation(n_places)[:10]:
        for change in ("remove", None, -1, "x", 1e9, []):
            stored = skops_io.load(model)
            part, key = list(places(stored))[number]
            if change == "remove":
                del part[key]
            elif isinstance(part[key], float | int) and isinstance(change, float | int):
                continue  # another number, which nobody can tell from the right one
            else:
                part[key] = change
            (tmp_path / "bad.skops").write_bytes(skops_io.dumps(stored))
            outcome = run("predict bad.skops table.csv")
            assert outcome.code == 3 or outcome.out == expected, (key, change)
            assert outcome.code == 0 or outcome.err.count("\n") == 1
            n_refused += outcome.code == 3
    assert n_refused > 20


def test_a_model_that_unpacks_to_too_much(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr("bayesfloor.cli.model_file.UNPACKED_MODEL_LIMIT", 1000)
    assert "no model is that large" in refused(run, model.read_bytes(), tmp_path)
