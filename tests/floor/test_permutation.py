"""Labels permuted, from a file to what is reached: a small part of benchmarks/permutation.py."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).parents[2] / "benchmarks" / "permutation.py"


def load():
    spec = importlib.util.spec_from_file_location("permutation", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


permutation = load()


@pytest.mark.parametrize("table", ["the best of many columns", "two categories of many values"])
def test_nobody_sees_the_labels(table):
    """Fitted to all labels, the best of many columns have an AUC of .8."""
    found = [permutation.run_one(table, seed, ["gaussian"]) for seed in range(2)]
    assert np.mean([record["value"] for record in found]) < 0.5 + 3 * 0.5 / 400**0.5
    assert all(record["is_covered"] for record in found)


@pytest.mark.slow
@pytest.mark.parametrize("table", permutation.KINDS)
def test_nobody_sees_the_labels_of_any_table(table):
    records = [permutation.run_one(table, seed, ["gaussian", "nominal", "linear"]) for seed in range(4)]
    values = np.array([record["value"] for record in records])
    no_skill = 0.0 if permutation.KINDS[table].is_number else 0.5
    assert values.mean() < no_skill + max(3 * values.std() / len(values) ** 0.5, 0.03)
    assert sum(record["is_covered"] for record in records) >= 3


def test_there_are_tables_of_both_tasks():
    numbers = [kind.is_number for kind in permutation.KINDS.values()]
    assert len(numbers) >= 30
    assert 5 <= sum(numbers) <= len(numbers) - 20


def test_the_page_says_what_is_wrong():
    records = [
        {"table": "a", "task": "classification", "n": 9, "value": value, "is_covered": value < 0.55, "seconds": 1.0}
        for value in (0.5, 0.52, 0.6)
    ]
    page = "\n".join(permutation.summarise(records))
    assert "mean 0.5400 ± 0.0306" in page  # standard deviation .05292, over the root of 3
    assert "NOT within 0.005 of 0.5" in page
    assert "Intervals right in 66.7%, NOT as the 97.5%" in page
