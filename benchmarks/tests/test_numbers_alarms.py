"""Tables of numbers of which it is known what may be said: what is drawn, and what the page says."""

from functools import partial

import numpy as np
import pytest

from benchmarks.truth import numbers_alarms as script


@pytest.mark.parametrize("noise", script.NOISES)
def test_noise_has_the_deviation_that_a_table_says(noise):
    noise_of = script.noise_of(noise, 200_000, np.random.default_rng(0))
    assert noise_of.mean() == pytest.approx(0.0, abs=0.01)
    assert noise_of.var() == pytest.approx(1.0, abs=0.05)
    for draw in range(10):
        X, y, sd = script.plain_table(noise, draw, np.random.default_rng(draw))
        assert len(X) == len(y) == len(sd)
        assert np.mean(sd**2) ** 0.5 == pytest.approx((0.3, 1.0)[draw // 5])
        assert (np.ptp(sd) > 0) == (noise == "uneven")


@pytest.mark.parametrize("kind", script.TARGETS)
def test_the_least_absolute_error_is_known(kind):
    """Numbers of one place are as far from their median as is said."""
    X = np.repeat(np.random.default_rng(0).standard_normal((10, 3)), 500, axis=0)
    y, distances = script.target_of(kind, X, np.random.default_rng(1))
    of_places = y.reshape(10, 500)
    from_medians = np.abs(of_places - np.median(of_places, axis=1)[:, np.newaxis])
    assert from_medians.mean() == pytest.approx(distances.mean(), abs=0.04)


def test_a_table_is_recorded_once_and_the_same_again(monkeypatch):
    monkeypatch.setattr(script, "AT_ONCE", 1)
    monkeypatch.setattr(script, "plain_table", lambda *_: plain())
    quick = partial(script.floor_of, learners=["linear"])
    monkeypatch.setattr(script, "floor_of", quick)
    first, again = (script.measure("shifted", ("normal",), 7) for _ in range(2))
    assert first == again
    (record,) = first
    assert (record["part"], record["kind"], record["draw"]) == ("shifted", ["normal"], 7)
    assert record["found"] <= min(record["shifted"], record["listed"])


def plain():
    """Few rows of a straight line, with noise of .3."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 2))
    return X, X[:, 0] + 0.3 * rng.standard_normal(120), np.full(120, 0.3)


def test_the_page_counts_alarms_and_what_was_found():
    codes = [["BF052"], ["BF051", "BF054"], [], []]
    clean = [
        {"part": "clean", "kind": ["skewed"], "draw": draw, "codes": each, "suspicious": 2 * (draw == 3)}
        for draw, each in enumerate(codes)
    ]
    cells = ["0.250 ± 0.217", "0.250 ± 0.217", "0.250 ± 0.217"]
    assert script.rows_of("clean", clean) == [["skewed", 4, *cells], ["all", 4, *cells]]
    open_ends = [{"part": "unfinished", "kind": ["rough", 500], "draw": 0, "codes": each} for each in codes[:2]]
    assert script.rows_of("unfinished", open_ends) == [["rough", 500, 2, "0.500 ± 0.354", "1.000 ± 0.000"]]
    shifted = {"part": "shifted", "kind": ["normal"], "draw": 0, "shifted": 8, "found": 6, "listed": 7}
    assert script.rows_of("shifted", [shifted])[0] == ["normal", 1, 8, "0.750 ± 0.000", "1 of 7"]
    absolute = {"part": "absolute", "kind": ["skewed"], "draw": 0, "truth": 0.5, "figures": [0.55, 0.4, 0.49, 0.6]}
    assert script.rows_of("absolute", [absolute]) == [
        ["skewed", 1, "0.500", "1.100", "1.200", "0.000 ± 0.000"],
    ]
    inside = {"part": "intervals", "kind": ["normal", 300], "draw": 0, "inside": [0.81, 0.9, 0.95]}
    assert script.rows_of("intervals", [inside]) == [
        ["normal", 300, 1, "0.810 ± 0.000", "0.900 ± 0.000", "0.950 ± 0.000"],
    ]
