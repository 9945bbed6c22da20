"""Tables whose rows depend on each other: what is drawn, and what the page says."""

import numpy as np
import pytest

from benchmarks.truth import drift_dependence as script


def test_a_pair_is_recorded_once_and_the_same_again(monkeypatch):
    monkeypatch.setattr(script, "AT_ONCE", 1)
    kind = ("40 patients, 1 to 9 rows, 3 columns", 0.5)
    first, again = (script.measure("paired", kind, 7) for _ in range(2))
    assert first == again
    assert [(record["part"], record["kind"], record["pair"]) for record in first] == [("paired", list(kind), 7)]
    assert first[0]["t_test"] < 0.05


def test_halves_are_compared_with_and_without_their_time():
    found = script.time(500, 0.95, 2, 0.0, np.random.default_rng(0))
    assert found["without time"] <= 0.05 < found["p_value"]
    assert found["told"]


@pytest.mark.parametrize("name", ["number, far", "12 levels, far"])
def test_shares_are_those_of_the_drawn_laws(name):
    said = [script.share(name, np.random.default_rng(seed))["share"] for seed in range(20)]
    assert np.mean(said) == pytest.approx(script.SHARES[name][0], abs=0.06)


def test_the_page_says_how_many_were_found():
    kind = ["40 patients, 5 rows each, 3 columns", 0.5]
    records = [
        {"part": "paired", "kind": kind, "pair": pair, "p_value": 0.01 + 0.1 * (pair == 3), "t_test": 0.001}
        for pair in range(4)
    ]
    assert script.rows_of("paired", records) == [[*kind, 4, "0.750 ± 0.217", "1.000 ± 0.000"]]
    series = [500, 0.8, 3, 0.0]
    record = {"part": "time", "kind": series, "pair": 0, "p_value": 0.2, "without time": 0.001, "told": True}
    assert script.rows_of("time", [record]) == [[*series, 1, "0.000 ± 0.000", "1.000 ± 0.000", "1.00"]]
    record = {"part": "target", "kind": ["80 rows, 2 columns"], "pair": 0, "p_value": 0.2, "verdict": "none"}
    assert script.rows_of("target", [record]) == [["80 rows, 2 columns", 1, "0.000"]]
