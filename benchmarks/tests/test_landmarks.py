"""The benchmark of LandmarkClassifier: which sets, what is counted, and what the page says."""

import math

import numpy as np
import pandas as pd
import pytest

from benchmarks.problems.landmark_sets import (
    DESIGN_SETS,
    FURTHER_SETS,
    KEEL_SETS,
    TABLES,
    as_points,
    best_error,
    make_blobs,
)
from benchmarks.problems.real_tables import SPECS
from benchmarks.real import landmarks, landmarks_page
from benchmarks.real.landmarks import Cell, calibration_error
from benchmarks.study.plan import PAPER_SETS
from benchmarks.study.records import write_record
from benchmarks.tests.study.made_records import made_record
from benchmarks.tools import pages
from benchmarks.tools.records import read_records


def test_further_sets_are_no_design_sets():
    """Nor versions of them: spam7 is spambase, Pima_tr is pima, and KEEL has some of the paper's under other names."""
    seen = {*DESIGN_SETS, *PAPER_SETS, "penbased", "spam7", "Pima_tr", "wine_red_noleak", "wine_white_noleak"}
    assert len(set(FURTHER_SETS)) == len(FURTHER_SETS) >= 20
    assert not seen & set(FURTHER_SETS)
    assert set(TABLES) <= SPECS["tables"].keys()
    assert not {SPECS["tables"][name]["member"] for name in TABLES} & (seen | set(KEEL_SETS))


def test_a_table_as_points():
    frame = pd.DataFrame(
        {
            "number": [1.0, np.nan, 3.0, 5.0] * 15,
            "constant": [7] * 60,
            "yes or no": ["y", "n", "y", "n"] * 15,
            "colour": ["red", "green", None, "red"] * 15,
            "name": [f"name {j}" for j in range(60)],
        }
    )
    X, y = as_points(frame, ["a", "b"] * 28 + ["rare", "rare", "", "NA"])
    assert len(y) == 56  # without the class of two rows, and without rows that have no label
    # the number with its median in the gaps, one column for yes or no, three for colours and gaps; names are left out
    assert X.shape == (56, 5)
    np.testing.assert_array_equal(X[:4, 0], [1, 3, 3, 5])
    np.testing.assert_array_equal(X[:4, 1], [1, 0, 1, 0])
    np.testing.assert_array_equal(X[:4, 2:], [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_the_best_rule_knows_the_densities():
    X, y, centres = make_blobs(300, 4, 6, 3.0)
    densities = np.exp(-((X[:, None, None] - centres) ** 2).sum(axis=3) / 2).sum(axis=2)
    assert best_error(X, y, centres) == np.mean(densities.argmax(axis=1) != y) > 0
    assert np.bincount(y).min() >= 5


def test_calibration_error_by_hand():
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.35, 0.65], [1.0, 0.0]])
    # .9 is right half of the time, .65 is right, and so is 1
    expected = (2 * abs(0.9 - 0.5) + abs(0.65 - 1) + 0) / 4
    assert calibration_error(probabilities, np.array([0, 1, 1, 0])) == pytest.approx(expected)


def cells(**by_method):
    return {
        ("yeast", name): {split: {"ari": ari} for split, ari in enumerate(aris)} for name, aris in by_method.items()
    }


def test_beside_the_best_of_the_six():
    [found] = landmarks_page.beside_six(
        cells(Landmarks=[0.5, 0.7, 0.9], OvO=[0.4, 0.5, 0.6], DAG=[0.1, 0.2]), "Landmarks"
    )
    assert (found.rival, found.splits) == ("OvO", 3)
    assert found.lead == pytest.approx(0.2)
    assert found.error == pytest.approx(0.1 / math.sqrt(3))
    assert found.is_clear
    # a rival with fewer splits counts on those
    [found] = landmarks_page.beside_six(
        cells(Landmarks=[0.5, 0.7, 0.9], OvO=[0.4, 0.5, 0.6], DAG=[0.6, 0.9]), "Landmarks"
    )
    assert (found.rival, found.splits) == ("DAG", 2)
    assert found.lead == pytest.approx(-0.15)
    assert not found.is_level
    # behind by less than one standard error is level; ahead by next to nothing is not clear
    [found] = landmarks_page.beside_six(cells(Landmarks=[0.5, 0.4], OvO=[0.4, 0.6]), "Landmarks")
    assert found.is_level
    [found] = landmarks_page.beside_six(cells(Landmarks=[0.501, 0.401], OvO=[0.5, 0.4]), "Landmarks")
    assert found.is_level
    assert not found.is_clear


def made(model, name, *, part="further", split=0, status="done", version="new", **figures):
    found = {"ari": 0.5, "accuracy": 0.5, "log_loss": 1.0, "calibration_error": 0.1, "cpu_seconds": 1.0, "peak_gb": 1.0}
    if status != "done":
        found = {"limit": 150.0} if status == "over limit" else {}
    return {"part": part, "set": name, "split": split, "model": model, "version": version, "status": status} | (
        found | figures
    )


def test_ranks_of_sets_that_all_were_tried_on():
    records = [
        *(made("Landmarks", name, ari=0.9) for name in ("phoneme", "splice", "adult")),
        *(made("RBF-SVM", name, ari=0.8) for name in ("phoneme", "splice")),
        made("xRFM", "phoneme", ari=0.95),
        made("xRFM", "splice", status="over limit"),
        made("xRFM", "adult", ari=0.1),
    ]
    ranking = landmarks_page.rank(records, "further", "ari")
    assert ranking.methods == ("Landmarks", "RBF-SVM", "xRFM")
    assert ranking.datasets == ("phoneme", "splice")
    np.testing.assert_array_equal(ranking.ranks, [[2, 3, 1], [1, 2, 3]])


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    monkeypatch.setattr(landmarks_page, "STUDY", tmp_path / "study")
    monkeypatch.setattr(landmarks, "RECORDS", tmp_path / "landmarks.jsonl")
    return tmp_path


def test_the_page(elsewhere):
    records = [
        made("Landmarks", "phoneme", version="old", ari=0.1111),
        *(made("Landmarks", name, ari=0.7777) for name in ("phoneme", "splice")),
        *(made("RBF-SVM", name, ari=0.5555, cpu_seconds=4.0) for name in ("phoneme", "splice")),
        made("xRFM", "phoneme", status="failed", error="RuntimeError: no memory"),
        made("Landmarks", "26", part="classes", accuracy=0.8765, best_error=0.1),
        made("Landmarks-fast", "covertype", part="covertype", accuracy=0.9391),
        made("Landmarks", "n=1000", part="growth"),
    ]
    for split, ari in enumerate((0.31, 0.32)):
        for method, more, seconds in (("Landmarks", 0.1, 1.0), ("OvO", 0.0, 2.0), ("GenSVM19", 0.2, 0.1)):
            record = made_record("yeast", method, split, ari=ari + more, seconds=seconds)
            write_record(elsewhere / "study", record)
    landmarks_page.write_landmarks(records, None, None)
    page = (elsewhere / "landmarks.md").read_text(encoding="utf-8")
    assert "| RBF-SVM | 2 | 0.7777 / 0.5555 | 2 / 0 / 0 |" in page
    assert "| 2.0 / 8.0 | 4.0× |" in page
    assert "0.1111" not in page
    assert "| further | xRFM | phoneme | RuntimeError: no memory |" in page
    assert "| 26 | 0.9000 | Landmarks | 0.8765 |" in page
    assert "| Landmarks-fast | 0.9391 |" in page
    # the smaller grid stands in for GenSVM in the index, and never for its time
    assert "| yeast | 0.5150 (GenSVM) | 0.4150 | -0.1000 ± 0.0000 | behind | 2 | 2.000 (OvO) | 1.000 | 0.50 |" in page
    assert (elsewhere / "landmarks_growth.png").exists()
    assert (elsewhere / "landmarks_ranks_ari.png").exists()
    lines = landmarks_page.verdict(records, "old", None)
    assert "on 0 of 1 sets" in lines[1]
    assert any("further: Landmarks / RBF-SVM on 1 sets: ARI 0.1111 / 0.5555" in line for line in lines)


def test_what_is_recorded_is_not_measured_again(elsewhere):
    landmarks.main(["growth", "--only", "n=1000", "--models", "HistGradientBoosting", "--limit", "0.001"])
    [record] = read_records(landmarks.RECORDS)
    assert (record["status"], record["limit"]) == ("over limit", 0.001)
    cell = landmarks.cell_of(record)
    later = Cell("growth", "n=1000", 1, cell.model, cell.version)
    landmarks.run(iter([cell, later]), 100.0, own_process=False, tables="")
    assert [record["status"] for record in read_records(landmarks.RECORDS)] == ["over limit", "not tried"]


def test_what_is_measured():
    cell = Cell("growth", "n=1000", 0, "ExtraTrees", "any")
    found = landmarks.measure(landmarks.Request(cell, 100.0, "", ""))
    sizes = [found[key] for key in ("n_train", "n_test", "n_columns", "n_classes")]
    assert sizes == [1000, 2000, 30, 10]
    assert 0.3 < found["accuracy"] < 1
    assert 0 < found["calibration_error"] < 1
    assert 0 < found["log_loss"] < math.log(10)
    assert found["cpu_seconds"] > 0


def test_a_version_must_be_named(elsewhere):
    with pytest.raises(SystemExit, match="--version"):
        landmarks.main(["growth", "--only", "n=1000", "--models", "Landmarks"])
    assert not landmarks.RECORDS.exists()


def test_paired_differences():
    """Of two sets, by .1 and .3: .2, and the standard error of two numbers is half of their distance."""
    assert landmarks_page.shown_difference([("a", 0.5, 0.4), ("b", 0.7, 0.4)]) == "+0.2000 ± 0.1000"
    assert landmarks_page.shown_difference([("a", 0.5, 0.4)]) == "–"
    common = {"part": "further", "split": 0, "status": "done", "log_loss": 1.0, "accuracy": 0.5}
    records = [
        {**common, "set": name, "model": "Landmarks", "version": version, "ari": ari, "cpu_seconds": seconds}
        for version, ari, seconds in (("old", 0.4, 1.0), ("new", 0.5, 3.0))
        for name in ("adult", "hr")
    ]
    row = landmarks_page.differences_table(records, "new").splitlines()[-1]
    assert row.split(" | ")[2:5] == ["Landmarks before", "2", "+0.1000 ± 0.0000"]
    assert row.split(" | ")[-2:] == ["3.00", "3.00 |"]
