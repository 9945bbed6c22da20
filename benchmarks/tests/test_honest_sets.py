"""Sets that nothing was designed on: which they are, how models are judged on them, and the page."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.problems import honest_sets as problems
from benchmarks.problems.honest_sets import CLASSES, DESIGN, NUMBERS, HonestSet
from benchmarks.problems.landmark_sets import DESIGN_SETS, FURTHER_SETS
from benchmarks.problems.real_columns import TABLES
from benchmarks.problems.real_tables import SPECS, half_of
from benchmarks.real import honest_sets as script
from benchmarks.real import stacked, unseen_tables
from benchmarks.study.plan import PAPER_SETS


def test_no_set_was_designed_on():
    names = {each.name for each in (*CLASSES, *NUMBERS)}
    assert (len(CLASSES), len(NUMBERS), len(names)) == (20, 20, 40)
    taken = {*DESIGN_SETS, *FURTHER_SETS, *PAPER_SETS, *stacked.SETS, *unseen_tables.TABLES}
    taken |= {each.name for each in (*TABLES, *DESIGN)}
    assert not names & taken
    ours = [name for name in names if name in SPECS["tables"]]
    assert all(SPECS["tables"][name]["half"] == "fresh" or half_of(name) == "heldout" for name in ours)


@pytest.fixture
def made(monkeypatch, tmp_path):
    """A table with text, gaps, a rare class and a number of rows, in place of a downloaded one."""
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame({
        "rownames": np.arange(n),
        "size": np.where(rng.random(n) < 0.1, np.nan, rng.standard_normal(n)),
        "colour": rng.choice(["red", "green", "blue"], n),
        "empty": np.nan,
    })  # fmt: skip
    score = frame["size"].fillna(0.0) + (frame["colour"] == "red") + 0.3 * rng.standard_normal(n)
    label = np.where(score > 0.5, "high", "low").astype(object)
    label[:3], label[3:5] = "rare", None
    frame = frame.assign(label=label, amount=score)
    sets = [HonestSet("made", "classes", "none", "", "label", ("amount",))]
    sets.append(HonestSet("numbers", "numbers", "none", "", "amount", ("label",)))
    monkeypatch.setattr(HonestSet, "original", lambda self, packages: frame.copy())
    monkeypatch.setattr(problems, "BY_NAME", {each.name: each for each in sets})
    monkeypatch.setattr(script, "BY_NAME", {each.name: each for each in sets})
    problems.fetch(tmp_path, tuple(sets))
    return tmp_path


def test_rows_and_columns_that_are_used(made):
    X, y = problems.load_set("made", made)
    assert list(X) == ["size", "colour"]
    assert (len(X), set(y)) == (295, {"high", "low"})
    X, y = problems.load_set("numbers", made)
    assert (len(X), y.dtype) == (300, np.float64)


@pytest.mark.parametrize("name", ["boosting", "extra trees", "RBF-SVM, tuned", "linear"])
@pytest.mark.parametrize("table", ["made", "numbers"])
def test_models_learn_from_text_and_gaps(made, table, name):
    record = script.measure(made, table, 0, name)
    assert record["accuracy" if table == "made" else "r2"] > (0.75 if table == "made" else 0.5)
    assert record["seconds"] > 0
    assert record["rows_per_s"] > 0


def test_classifiers_are_judged_by_their_probabilities():
    class Known:
        classes_ = np.array(["a", "b"])

        def predict_proba(self, X):
            return np.array([[0.8, 0.2], [0.4, 0.6], [0.1, 0.9], [0.6, 0.4]])

    labels = np.array(["a", "a", "b", "b"])
    found = script.judged_classes(Known(), None, labels)
    assert found["accuracy"] == 0.5
    assert found["log_loss"] == pytest.approx(-np.log([0.8, 0.4, 0.9, 0.4]).mean())
    assert found["auc"] == roc_auc_score(labels == "b", [0.2, 0.6, 0.9, 0.4]) == 0.75


def records():
    accuracy = {"one": (0.9, 0.8), "two": (0.7, 0.7), "three": (0.6, 0.8)}
    for name, values in accuracy.items():
        for split in (0, 1):
            for model, value in zip(("stack", "boosting"), values, strict=True):
                found = {"accuracy": value, "log_loss": 1 - value, "ari": value, "auc": value}
                record = {"set": name, "task": "classes", "split": split, "model": model, "n": 100, "d": 3, **found}
                told = {"told": {"error": [0.31, 0.25, 0.35]}, "n_test": 100} if model == "stack" else {}
                yield record | {"seconds": 1.0, "rows_per_s": 1e4} | told


def test_ranks_and_paired_standard_errors():
    header, _, first, second, *_ = script.table_of(list(records()), "classes").splitlines()
    cells = [dict(zip(header.split(" | "), line.split(" | "), strict=True)) for line in (first, second)]
    assert [each["accuracy: rank"] for each in cells] == ["1.50", "1.50"]  # ahead, level, behind
    off = np.array([-0.1, 0.0, 0.2])
    expected = f"{off.mean():+.4f} ± {off.std(ddof=1) / 3**0.5:.4f}"
    assert cells[1]["accuracy: less stack"] == expected


def test_what_is_told_beside_the_test_rows():
    # errors are .1, .3 and .4; the ranges .25 to .35, each wider by the sampling of 100 rows: .20 to .42
    said = script.told_beside_fresh(list(records()), "classes")
    assert "holds it in 67% of 6 fits" in said
    assert f"{np.mean([0.21, 0.01, -0.09]):+.4f}" in said
