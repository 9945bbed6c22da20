"""Figures in their order: which tables there are, and that each rule can be broken."""

import copy

import numpy as np
import pytest

from benchmarks.truth import order_of_figures as script

RIGHT = {
    "baseline": 0.4,
    "reached": 0.3,
    "reached_interval": [0.2, 0.45],
    "estimate": 0.25,
    "interval": [0.0, 0.45],
    "perfect": 0.0,
}
RECORD = {"kind": "classes, some, rows alone", "sample": 0, "rows": 100, "counts": [60, 40]}


def record_of(name="error", **figures):
    return copy.deepcopy(RECORD | {"metrics": {name: RIGHT | figures}})


def test_kinds_have_everything_that_may_stand_beside_rows():
    kinds = script.kinds()
    assert len(kinds) == len(set(kinds)) == 38
    assert {kind.split(", ")[2] for kind in kinds} == set(script.BESIDE)
    assert len(script.keys()) >= 500


@pytest.mark.parametrize("kind", script.kinds())
def test_tables_are_small_and_can_be_split(kind):
    X, y, beside = script.draw(kind, 0)
    assert 60 <= len(X) == len(y) <= 240
    assert all(len(values) == len(y) for values in beside.values())
    if kind.startswith("classes"):
        assert np.bincount(y).min() >= 3


def test_right_figures_break_no_rule():
    assert script.broken_rules(record_of(), "error") == []


@pytest.mark.parametrize(
    ("figures", "rule"),
    [
        ({"estimate": 0.35}, "the floor is no worse than what was reached"),
        ({"estimate": 0.42, "reached": 0.43}, "the floor is no worse than what needs no features"),
        ({"estimate": 0.05, "interval": [0.1, 0.45]}, "the floor is in its range"),
        ({"interval": [-0.1, 0.45]}, "the better end is no better than perfect"),
        ({"interval": [0.21, 0.45]}, "the better end is no worse than that of what was reached"),
        ({"interval": [0.0, 0.26]}, "the worse end is no better than what was reached, or needs no features"),
        ({"interval": [0.0, 0.6]}, "the worse end is no worse than what needs no features"),
        (
            {"interval": [0.0, 0.42], "reached_interval": [0.2, 0.39]},
            "the worse end is no worse than what needs no features",
        ),
        ({"reached_interval": [0.31, 0.45]}, "what was reached is in its range"),
    ],
)
def test_each_rule_can_be_broken(figures, rule):
    assert script.broken_rules(record_of(**figures), "error") == [rule]


def test_rules_turn_where_larger_is_better():
    figures = {"baseline": 0.5, "reached": 0.6, "reached_interval": [0.45, 0.7], "estimate": 0.7, "perfect": 1.0}
    right = record_of("roc_auc", **figures, interval=[0.5, 1.0])
    assert script.broken_rules(right, "roc_auc") == []
    wrong = record_of("roc_auc", **figures, interval=[0.45, 1.0])
    assert script.broken_rules(wrong, "roc_auc") == ["the worse end is no worse than what needs no features"]


def test_the_page_counts_results_that_break_rules():
    records = [record_of(), record_of(estimate=0.35)]
    assert script.count_by(records, lambda _, name: name) == [
        ["error", 2, 1, "the floor is no worse than what was reached (1)"]
    ]


def test_a_table_is_measured():
    record = script.measure("classes, three classes, rows alone", 0)
    assert {"error", "cost", "top_2_error", "f1"} <= set(record["metrics"])
    assert all(script.broken_rules(record, name) == [] for name in record["metrics"])
