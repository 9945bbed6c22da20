"""The floor from rows of probabilities: as given, and calibrated by labels."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from bayesfloor import soft_label_floor
from helpers.one_case import for_each
from helpers.refusals import options_not_refused


def drawn(rng, p):
    return (rng.random((len(p), 1)) > p.cumsum(axis=1)).sum(axis=1)


def sharpened(p, power):
    return p**power / (p**power).sum(axis=1, keepdims=True)


def test_without_labels_it_is_a_mean_with_students_interval():
    P = np.random.default_rng(0).dirichlet([2, 1, 1], 40)
    found = soft_label_floor(P)
    errors = 1 - P.max(axis=1)
    assert found.estimate == pytest.approx(errors.mean())
    expected = t.interval(0.95, 39, errors.mean(), errors.std(ddof=1) / np.sqrt(40))
    assert found.interval == pytest.approx(expected)
    assert found.agreement == pytest.approx((P**2).sum(axis=1).mean())
    assert (found.reached, found.calibration_z) == (None, None)
    assert repr(found).endswith("40 of 40 samples, 3 classes)")


@for_each(("power", "how"), [(3.0, "too sure"), (0.4, "not sure enough")])
def test_probabilities_that_are_off_are_calibrated(power, how):
    rng = np.random.default_rng(1)
    p = rng.dirichlet([1, 0.6, 0.4], 3000)
    y = drawn(rng, p)
    found = soft_label_floor(sharpened(p, power), y)
    truth = (1 - p.max(axis=1)).mean()
    assert abs(found.uncalibrated - truth) > 0.05
    assert found.estimate == pytest.approx(truth, abs=0.02)
    (finding,) = found.findings
    assert finding.code == "BF046"
    assert how in finding.sentence
    assert found.calibration_gap > 0.03
    assert found.frame()["measure"].tolist()[1] == "before calibration"
    assert f"uncalibrated {found.uncalibrated:.4f}" in repr(found)


def test_probabilities_that_are_right_are_left_about_where_they_are():
    rng = np.random.default_rng(2)
    z, moved = [], []
    for _ in range(20):
        p = rng.dirichlet([1, 1], 400)
        found = soft_label_floor(p, drawn(rng, p))
        z.append(found.calibration_z)
        moved.append(found.estimate - found.uncalibrated)
        assert found.reached_interval[0] <= found.reached <= found.reached_interval[1]
    assert abs(np.mean(z)) < 3.5 / np.sqrt(20)  # it is standard normal
    assert 0.55 < np.std(z) < 1.5
    # the labels of 400 rows move the floor by a standard error of .02
    assert np.mean(moved) == pytest.approx(0.0, abs=0.015)


def test_the_order_of_rows_does_not_matter_and_labels_find_their_columns():
    rng = np.random.default_rng(4)
    p = rng.dirichlet([1, 1, 1], 100)
    y = np.array(["b", "c", "a"])[drawn(rng, p)]
    frame = pd.DataFrame(p, columns=["b", "c", "a"])
    found = soft_label_floor(frame, y)
    order = rng.permutation(100)
    again = soft_label_floor(p[order], y[order], classes=["b", "c", "a"])
    assert found.estimate == again.estimate
    assert found.reached == again.reached
    assert found.classes.tolist() == ["b", "c", "a"]
    assert soft_label_floor(p[:20], y[:20], classes=["b", "c", "a"]).estimate == pytest.approx(
        (1 - p[:20].max(axis=1)).mean()  # too few rows to calibrate
    )


def test_certain_probabilities():
    sure = soft_label_floor([[1.0, 0.0], [0.0, 1.0]] * 30, [0, 1] * 30)
    assert (sure.estimate, sure.calibration_z, sure.findings) == (0.0, 0.0, ())
    assert soft_label_floor([[1.0, 0.0], [0.0, 1.0]] * 30, [1, 0] * 30).calibration_z == np.inf


REFUSED = [
    ([[0.5, 0.5], [np.nan, 1]], {}, "1 rows of P are no probabilities, the first is row 1: NaN or infinite"),
    ([[1.5, -0.5], [0, 1]], {}, "first is row 0: values below zero"),
    ([[2, 1], [0, 3]], {}, "a sum other than 1; for counts of votes there is vote_floor"),
    ([0.5, 0.5], {}, r"got the shape \(2,\)"),
    ([[1.0], [1.0]], {}, r"got the shape \(2, 1\)"),
    ([["a", "b"]], {}, "P should hold numbers"),
    ([[0.5, 0.5]] * 3, {"y": [0, 1, 2]}, "y holds 2, for which P has no column"),
    ([[0.5, 0.5]] * 3, {"y": [0, 1]}, "inconsistent numbers of samples"),
    ([[0.5, 0.5]] * 3, {"y": [0, None, 1]}, "missing label"),
    ([[0.5, 0.5]] * 3, {"classes": ["a", "a"]}, "classes should name each of the 2 columns of P once"),
    ([[0.5, 0.5]] * 3, {"confidence": 2}, "confidence"),
]


def test_what_cannot_be_used_is_named():
    table = [({"P": P, **options}, words) for P, options, words in REFUSED]
    assert options_not_refused(soft_label_floor, table) == []
