"""Exit codes, and errors of one line."""

import json
import pickle
import sys

import numpy as np
import pytest

from helpers.one_case import for_each
from helpers.terminal import complaint


@for_each(
    "call, says",
    [
        ("flor table.csv", "Did you mean"),
        ("floor", "FILE"),
        ("floor table.csv --nonsense 3", "--nonsense"),
        ("floor table.csv other.csv", "other.csv"),
        ("floor table.csv --threads 0", "--threads"),
        ("floor table.csv --threads two", "--threads"),
        ("floor table.csv --max-rows 1", "--max-rows"),
        ("floor table.csv --seed -1", "--seed"),
        ("floor table.csv --fail-above 2", "--fail-above"),
        ("floor table.csv --fail-above nan", "--fail-above"),
        ("floor table.csv --rows-for 2", "--rows-for"),
        ("floor table.csv --rows-for 0.1 --fast", "--rows-for needs a learning curve"),
        ("floor table.csv --target kindd", "table.csv has no column 'kindd'; did you mean 'kind'?"),
        ("floor table.csv --drop x3", "has no column 'x3'"),
        ("floor table.csv --drop -", "has no column '-'"),
        ("floor table.csv --type zz=categorical", "has no column 'zz'"),
        ("floor table.csv --type x1", "--type 'x1': write NAME=KIND; kinds are categorical, numeric, text, date"),
        ("floor table.csv --type x1=number", "write NAME=KIND"),
        ("floor tabel.csv", "'tabel.csv': no such file"),
        ("floor iriss", "did you mean 'iris'?"),
        ("floor letter", "'letter': no such file, and no data set of that name"),
        ("floor .", "'.' is a folder"),
        ("pairs table.csv --top 0", "--top"),
        ("fit table.csv", "--out"),
        ("fit table.csv --out .", "'.' is a folder"),
        ("fit table.csv --out no/model.skops", "'no': no such folder"),
        ("fit table.csv --out table.csv", "'table.csv' exists; --force replaces it"),
        ("fit table.csv --out /dev/null --force", "'/dev/null' is not a plain file"),
        ("predict model.skops table.csv", "'model.skops': no such file"),
        ("predict table.csv .", "'.' is a folder"),
    ],
)
def test_usage(run, table, call, says):
    assert says in complaint(run(call), 2)


@for_each(
    "contents, says",
    [
        (b"", "is empty"),
        (b"a,y\n1,u\n2,u\n3,u\n", "needs two classes, got 1: 'u'"),
        (b"a,y\n1,0.5\n2,0.25\n3,1.5\n4,0.1\n", "regression"),
        (b"a,b,y\n1,2,u\n1,v\n3,4,u\n", "line 3"),
    ],
)
def test_bad_data(run, tmp_path, contents, says):
    (tmp_path / "bad.csv").write_bytes(contents)
    target = " --target y" if b"y\n" in contents else ""
    line = complaint(run(f"pairs bad.csv{target}"), 3)
    assert says in line
    assert "bad.csv" in line


def test_few_rows_for_a_learning_curve(run, tmp_path):
    (tmp_path / "few.csv").write_text("a,y\n1,u\n2,v\n3,u\n4,v\n")
    assert "at least 20 rows" in complaint(run("floor few.csv"), 3)
    assert run("floor few.csv --fast").code == 0


def test_files_that_could_run_code(run, tmp_path):
    (tmp_path / "table.pkl").write_bytes(pickle.dumps([1, 2]))
    assert "a pickle" in complaint(run("floor table.pkl"), 3)
    np.savez(tmp_path / "objects.npz", X=np.array([[None], [1]], dtype=object), y=np.array([0, 1]))
    assert "object" in complaint(run("floor objects.npz"), 3)


def test_what_is_missing(run, table, monkeypatch, set_limits):
    monkeypatch.setitem(sys.modules, "skops", None)
    assert "skops" in complaint(run("fit table.csv --out m.skops"), 4)
    monkeypatch.setitem(sys.modules, "distributed", None)
    call = "floor table.csv --fast --cluster tcp://127.0.0.1:9 --quiet"
    assert "bayesfloor[dask]" in complaint(run(call), 4)
    set_limits(memory=100)
    assert "of memory" in complaint(run("pairs table.csv"), 3)


@for_each("command, name", [("floor", "the floor is"), ("pairs", "'b' against 'c'")])
def test_fail_above(run, table, command, name):
    fast = " --fast" * (command == "floor")
    for quiet in ("", " --quiet"):
        # --top shows some pairs, but the limit is for all of them
        outcome = run(f"{command} table.csv{fast or ' --top 1'} --fail-above 0.01{quiet}")
        assert outcome.code == 1
        last = outcome.err.splitlines()[-1]
        assert last.startswith("bayesfloor: ")
        assert name in last
        assert last.endswith("above 0.01")
        assert outcome.out  # the result is there all the same
    assert run(f"{command} table.csv{fast} --fail-above 0.6").code == 0


def test_debug_shows_where(run, table):
    outcome = run("floor table.csv --target kindd --debug")
    assert outcome.code == 2
    assert "Traceback" in outcome.err
    assert outcome.err.splitlines()[-1].startswith("bayesfloor: ")


def test_interrupts_and_bugs_are_named(run, table, monkeypatch):
    def raises(error):
        def broken(*_, **__):
            raise error

        monkeypatch.setattr("bayesfloor.classify.stored_model.pack_model", broken)
        return run("fit table.csv --effort fast --out m.skops")

    assert complaint(raises(KeyboardInterrupt()), 130) == "bayesfloor: interrupted"
    assert [file.name for file in table.parent.iterdir()] == ["table.csv"]
    said = complaint(raises(ZeroDivisionError("division by zero")), 70)
    assert "unexpected ZeroDivisionError: division by zero" in said


def test_warnings_are_one_line(run, table, monkeypatch):
    import warnings

    def warn(*_, **__):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn("two\nlines", UserWarning, stacklevel=1)
        return b"model"

    monkeypatch.setattr("bayesfloor.classify.stored_model.pack_model", warn)
    assert "bayesfloor: warning: two lines\n" in run("fit table.csv --out m.skops").err
    assert run("fit table.csv --out n.skops --quiet").err == ""


#: Names that would act on a terminal or a page, and how they are shown.
HOSTILE = {"\x1b[2J": "\\x1b[2J", "<script>": "<script>", "[red]x[/red]": "[red]x[/red]", "a\u202eb": "a\\u202eb"}


@for_each("command", ["floor --fast", "pairs"])
def test_names_with_control_characters(run, tmp_path, command):
    rng = np.random.default_rng(0)
    labels = ["plain", *HOSTILE]
    rows = [[*map(str, rng.normal(size=len(HOSTILE)) + 3 * (i % 5)), labels[i % 5]] for i in range(60)]
    text = "\n".join(map(",".join, [[*HOSTILE, "y"], *rows])) + "\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    first, *rest = command.split()
    for extra in ([], ["--json"]):
        outcome = run(first, "t.csv", "--target", "y", *rest, *extra)
        assert outcome.code == 0
        shown = outcome.out + outcome.err
        assert all(character.isprintable() or character == "\n" for character in shown)
    if command == "pairs":
        printed = run(first, "t.csv", "--target", "y").out
        assert [written for written in HOSTILE.values() if written not in printed] == []


def test_messages_with_control_characters(run):
    outcome = run("floor", "\x1b[2Jnosuch\n")
    assert outcome.code == 2
    assert "\x1b" not in outcome.err
    assert outcome.err.count("\n") == 1
    assert run("floor", "a\0b").code == 2


def test_a_gpu_without_room(run, table, monkeypatch):
    from bayesfloor.forest.gpu.device import DeviceError

    def full(*_, **__):
        raise DeviceError("cuda:0 has too little memory")

    monkeypatch.setattr("bayesfloor.bayes_error", full)
    assert "cuda:0 has too little memory" in complaint(run("floor table.csv --fast --quiet"), 4)


def test_a_cluster_that_is_not_there(run, table, monkeypatch):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("bayesfloor.cli.input._PATIENCE_S", 0.2)
    line = complaint(run("floor table.csv --fast --cluster tcp://127.0.0.1:9 --quiet"), 4)
    assert "no Dask scheduler answers" in line


@pytest.fixture
def leak(tmp_path):
    """Half of the target is told by two columns, and all of it by a third."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200))
    y = a + b + 1.5 * rng.normal(size=200)
    lines = [f"{i},{j},{k + 5 * np.sign(k)},{'sick' if k > 0 else 'well'}" for i, j, k in zip(a, b, y, strict=True)]
    (tmp_path / "leak.csv").write_text("\n".join(["a,b,code,y", *lines]))
    return "leak.csv --target y --fail-above 0.15"


@pytest.mark.limits(learners=("gaussian", "linear"))
@for_each("command", ["floor", "report"])
def test_the_gate_reads_the_figure_without_leaks(run, leak, command):
    outcome = run(f"{command} {leak} --json --quiet")
    assert outcome.code == 1
    found = json.loads(outcome.out)["result"]
    estimate = found["estimate"] if command == "floor" else found["floor"]["estimate"]
    assert estimate > 0.15
    as_asked = found["as_asked"] if command == "floor" else found["verdict"]["limit"]["as_asked"]
    assert as_asked["estimate"] < 0.05
    assert run(f"{command} {leak} --no-checks --quiet").code == 0
    if command == "floor":  # what speaks against it is said all the same
        assert "'code' gives the answer away" in run(f"floor {leak} --quiet").err


def test_held_out_figures_of_a_model_are_without_leaks(run, leak):
    leak = leak.partition(" --fail")[0]
    outcome = run(f"fit {leak} --out model.skops --json")
    assert json.loads(outcome.out)["result"]["held_out_error"] > 0.2
    assert "'code' gives the answer away" in outcome.err
    assert "held-out error as asked for is 0.0" in outcome.err
    asked = run(f"fit {leak} --out model.skops --json --force --no-checks")
    assert json.loads(asked.out)["result"]["held_out_error"] < 0.1
