"""A Table stands for X and y in every public function that takes them."""

import inspect
from dataclasses import replace

import numpy as np
import pytest

import bayesfloor
from one_case import for_each

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))

FEW_LEARNERS = {"learners": ["gaussian"], "n_jobs": 1}

#: Every public function of (X, y): what to call it with beside them, and what to compare of its result.
CALLS = {
    "bayes_class_weight": ({}, lambda result: list(result.values())),
    "bayes_cost_matrix": ({}, lambda result: result.cost),
    "bayes_error": ({}, lambda result: result.interval),
    "class_affinity": ({"affinity": "bhattacharyya"}, lambda result: result[1]),
    "class_forests": ({}, lambda result: result.pair_cross_counts),
    "difficulty_report": ({"effort": "fast"}, lambda result: result.learned.interval),
    "henze_penrose_divergence": ({}, lambda result: result.interval),
    "learned_floor": (FEW_LEARNERS, lambda result: result.interval),
    "one_vs_rest_bayes_error": ({}, lambda result: result.interval),
    "pairwise_bayes_error": ({}, lambda result: result.interval),
}
#: The same of numbers.
CALLS_OF_NUMBERS = {"regression_floor": ({"learners": ["linear"], "n_jobs": 1}, lambda result: result.interval)}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal() + i % 2:.3f},{rng.normal():.3f},5,{'ab'[i % 2]}" for i in range(40)]
    file = tmp_path_factory.mktemp("data") / "t.csv"
    file.write_text("\n".join(["width,height,fixed,kind", *rows]) + "\n")
    return bayesfloor.read_table(file, prepare=None)


@pytest.fixture(scope="module")
def numbers(table):
    rng = np.random.default_rng(1)
    return replace(table, y=table.X[:, 0] + rng.normal(size=40), task="regression")


def test_no_function_is_left_out():
    public = {name: getattr(bayesfloor, name) for name in bayesfloor.__all__}
    takes_both = {
        name
        for name, function in public.items()
        if inspect.isfunction(function) and list(inspect.signature(function).parameters)[:2] == ["X", "y"]
    }
    assert takes_both == CALLS.keys() | CALLS_OF_NUMBERS.keys()


@for_each("name", CALLS)
def test_a_table_stands_for_its_points_and_labels(table, name):
    check_table(table, name, *CALLS[name])


@for_each("name", CALLS_OF_NUMBERS)
def test_a_table_stands_for_its_points_and_numbers(numbers, name):
    check_table(numbers, name, *CALLS_OF_NUMBERS[name])


def check_table(table, name, arguments, figures):
    function = getattr(bayesfloor, name)
    whole, parts = function(table, **arguments), function(table.X, table.y, **arguments)
    np.testing.assert_array_equal(figures(whole), figures(parts))
    with pytest.raises(ValueError, match="leave out y"):
        function(table, table.y, **arguments)
    with pytest.raises(ValueError, match=r"t\.csv was read without its labels"):
        function(replace(table, y=None), **arguments)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        function(table.X, **arguments)


def test_findings_name_the_columns_of_a_table(table):
    (finding,) = [f for f in bayesfloor.bayes_error(table).findings if "constant" in str(f)]
    assert "'fixed'" in str(finding)


def test_spanning_forests_need_no_labels(table):
    expected = bayesfloor.spanning_forests(table.X)
    np.testing.assert_array_equal(bayesfloor.spanning_forests(replace(table, y=None)).edges, expected.edges)
