"""fit --model stack writes the stack as plain values, and predict and gap read it."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayesfloor import StackedClassifier, StackedRegressor, load_model, read_table
from bayesfloor.cli import main
from benchmarks.tools import fuzz_models
from helpers.terminal import rows_of

skops_io = pytest.importorskip("skops.io")

#: Families that between them go through every compiled function, and the column that they predict.
STACKS = [
    ("kind", ["trees", "nominal"]),
    ("kind", ["boosting", "gaussian"]),
    ("kind", ["neighbours", "kernels"]),
    ("kind", ["pairs", "triples"]),
    ("num", ["trees", "boosting"]),
    ("num", ["additive", "linear"]),
    ("num", ["neighbours", "gradients"]),
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Tables of columns of all kinds, of which every second row is new to the models."""
    folder = tmp_path_factory.mktemp("tables")
    fuzz_models.write_tables(folder, np.random.default_rng(0))
    head, *rows = (folder / "mixed.csv").read_text().splitlines()
    (folder / "known.csv").write_text("\n".join([head, *rows[::2]]) + "\n")
    (folder / "new.csv").write_text("\n".join([head, *rows[1::2]]) + "\n")
    return folder


@pytest.fixture(scope="module")
def stacks(tables):
    """Each stack, with the rows that are new to it, and its file beside the tables."""
    trained = {}
    for target, families in STACKS:
        known = read_table(tables / "known.csv", target=target, task="auto" if target == "kind" else "regression")
        kind = StackedClassifier if target == "kind" else StackedRegressor
        stack = kind(learners=families, max_models=6, n_jobs=1).fit(known)
        name = f"{target}-{families[0]}.skops"
        stack.save(tables / name)
        trained[name] = stack, read_table(tables / "new.csv", preparation=known.preparation)
    return trained


def test_a_stack_is_read_as_it_was_written(tables, stacks):
    for name, (trained, new) in stacks.items():
        stored = load_model(tables / name)
        method = "predict_proba" if name.startswith("kind") else "predict"
        assert_allclose(getattr(stored, method)(new), getattr(trained, method)(new), rtol=1e-6, atol=1e-9, err_msg=name)
        if method == "predict":
            low, high = stored.predict_interval(new, confidence=0.8).T
            inside = ((low <= new.y) & (new.y <= high)).mean()
            assert 0.7 < inside < 0.92, name


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_fit_and_predict(run, tables):
    outcome = run(f"fit {tables / 'known.csv'} --target kind --model stack --effort fast --out m.skops --json")
    found = json.loads(outcome.out)["result"]
    assert found["model"] == "stack"
    assert set(found["held_out"]["error"]) >= {"value", "interval"}
    assert found["learners"].keys() <= {"prior", "LDA", "QDA", "Gaussian naive Bayes"}
    gap = run(f"gap {tables / 'known.csv'} --target kind --model m.skops --quiet --json")
    assert gap.code == 0, gap.err
    outcome = run(f"predict m.skops {tables / 'new.csv'}")
    rows = rows_of(outcome.out)
    assert rows[0] == ["line", "predicted", "p(a)", "p(b)", "p(c)"]
    assert len(rows) == 121
    assert_allclose([sum(map(float, row[2:])) for row in rows[1:]], 1.0, atol=2e-6)
    assert "labels in new.csv are not those predicted" in outcome.err


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_fit_and_predict_numbers(run, tables):
    outcome = run(f"fit {tables / 'known.csv'} --target num --model stack --effort fast --out m.skops")
    assert "held-out R²" in outcome.out
    outcome = run(f"predict m.skops {tables / 'new.csv'} --confidence 0.8")
    rows = rows_of(outcome.out)
    assert rows[0] == ["line", "predicted", "low", "high"]
    assert all(float(low) <= float(middle) <= float(high) for _, middle, low, high in rows[1:])


def test_few_rows(run):
    lines = [f"{i % 2}.{i},{'ab'[i % 2]}" for i in range(12)]
    Path("few.csv").write_text("\n".join(["x,kind", *lines]) + "\n")
    outcome = run("fit few.csv --model stack --out m.skops --json")
    assert json.loads(outcome.out)["result"]["held_out"] == {}
    assert "too few" in outcome.err
    assert run("predict m.skops few.csv").code == 0


# --- what is read is not trusted


def test_edited_stacks_predict_or_are_refused(stacks, tables):
    """A slice of benchmarks/tools/fuzz_models.py."""
    names = [name for name in stacks if name.startswith("kind")]
    for number in range(20):
        _, where, contents = fuzz_models.make_case(number, 0, tables, names)
        (tables / "case.skops").write_bytes(contents)
        fault, _, said = fuzz_models.judge(main, tables / "case.skops", tables / "new.csv")
        assert not fault, (number, where, said)


def test_learners_of_the_caller_are_not_written(tables):
    from sklearn.linear_model import LogisticRegression

    known = read_table(tables / "known.csv", target="kind")
    trained = StackedClassifier(learners={"own": LogisticRegression()}, n_jobs=1).fit(known)
    with pytest.raises(ValueError, match="learners of your own"):
        trained.save(tables / "own.skops")
