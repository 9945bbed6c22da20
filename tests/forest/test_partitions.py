"""A slice of benchmarks/fuzz_partitions.py: however rows are cut into blocks, the forests of the array come out."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "fuzz_partitions.py"


def load():
    spec = importlib.util.spec_from_file_location("fuzz_partitions", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


fuzz = load()

# In the last ones, tasks of different depth need the same input: several classes of unequal size, cut into blocks.
CASES = [*range(6), 59, 114, 135, 153]


@pytest.mark.parametrize("number", CASES)
def test_from_a_file(tmp_path, number):
    assert fuzz.run_case(fuzz.draw_case(0, number), "file", tmp_path, None) == []


@pytest.mark.parametrize("how", ["tasks", "tasks from a file"])
@pytest.mark.parametrize("number", CASES[::2])
def test_tasks_of_a_cluster(tmp_path, number, how):
    pytest.importorskip("distributed", reason="needs the extra dask")
    with fuzz.tasks_here(0, number) as client:
        assert fuzz.run_case(fuzz.draw_case(0, number), how, tmp_path, client) == []


def test_a_difference_is_found():
    case = fuzz.draw_case(0, 59)
    forests = fuzz.forests_of(case, case.X)
    assert list(fuzz.differences(case, forests, forests)) == []
    other = fuzz.forests_of(case, case.X[::-1])
    assert "whole.edges" in list(fuzz.differences(case, forests, other))
