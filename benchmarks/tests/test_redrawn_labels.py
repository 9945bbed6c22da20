"""The lines of FeeBee's protocol, and the estimators of nearest rows that are held against them."""

import json

import numpy as np
import pytest

from benchmarks.truth import redrawn_labels
from benchmarks.truth.redrawn_labels import (
    SHARES,
    area,
    bound_of_nearest,
    end_of_curve,
    floor_with,
    redrawn,
    write_table,
)


@pytest.mark.parametrize("share", SHARES)
def test_the_floor_of_redrawn_labels(share):
    rng = np.random.default_rng(0)
    n_classes, clean = 4, 0.15
    best = rng.integers(0, n_classes, 200_000)
    y = np.where(rng.random(len(best)) < clean, (best + rng.integers(1, n_classes, len(best))) % n_classes, best)
    error = np.mean(redrawn(y, share) != best)
    assert error == pytest.approx(floor_with(share, clean, n_classes), abs=0.004)


def test_the_bound_of_the_nearest_row_is_sharp():
    # where all classes have the same posterior (1 - e, e/3, e/3, e/3) the nearest row errs by 2e - 4/3 e²
    floor = 0.2
    assert bound_of_nearest(2 * floor - 4 / 3 * floor**2, 4) == pytest.approx(floor)
    assert bound_of_nearest(0.0, 4) == 0.0
    assert bound_of_nearest(0.9, 4) == pytest.approx(0.75)


def test_the_end_of_a_curve():
    sizes = np.array([100.0, 200.0, 400.0, 800.0])
    assert end_of_curve(sizes, 0.1 + 3.0 * sizes**-0.5) == pytest.approx(0.1, abs=0.003)
    assert end_of_curve(sizes, np.full(4, 0.3)) == pytest.approx(0.3)
    assert end_of_curve(sizes, 3.0 / sizes) == pytest.approx(0.0, abs=1e-3)
    assert end_of_curve(sizes, np.array([0.1, 0.2, 0.3, 0.4])) == pytest.approx(0.25)


def test_the_area_counts_one_side():
    assert area(np.full(len(SHARES), 0.1)) == pytest.approx(10.0)
    assert area(np.full(len(SHARES), -0.1)) == 0.0


def test_the_page_of_an_estimate_that_lies_on_a_line(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.tools.pages.RESULTS", tmp_path)
    monkeypatch.setattr(redrawn_labels, "SETS", {"made": ("", None)})
    records = [{"set": "made", "n": 100, "share": None, "clean": 0.1}]
    for share in SHARES:
        low, high = floor_with(share, 0.0, 2), floor_with(share, 0.1, 2)
        ends = {"its lower end": low, "its upper end": high}
        estimates = {"on the line": high, "too high": high + 0.05, "too low": low - 0.02, **ends}
        records.append({"set": "made", "n": 100, "share": share, "classes": 2, "seconds": 1.0, **estimates})
    file = tmp_path / "records.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    write_table(file)
    page = (tmp_path / "redrawn_labels.md").read_text()
    assert "| on the line | 0.00 | 0.00 | 0.00 |" in page
    assert "| too low | 2.00 | 0.00 | 2.00 |" in page
    assert "| too high | 0.00 | 5.00 | 5.00 |" in page
    assert "meets the two lines in 6 of 6 cells" in page
