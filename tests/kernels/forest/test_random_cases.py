"""A slice of fuzz_forests.py: whatever the points, their type and the way, the naive forests come out."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.tools import fuzz_forests
from helpers import random_cases
from helpers.naive_forests import naive_forests
from helpers.random_cases import INPUTS, WAYS, differences, draw_case, forests_differ, usable_ways

# A cluster has tests of its own.
TESTED = [way for way in WAYS if way != "cluster"]


@pytest.mark.parametrize("way", TESTED)
def test_the_naive_forests_come_out(tmp_path, way):
    if way not in usable_ways():
        pytest.skip("needs a package of an extra")
    share = WAYS[way].share
    for number in range(5 + int(40 * share)):
        case = draw_case(0, number, [way])
        assert differences(case, tmp_path) == [], str(case)


def test_cases_repeat_themselves():
    for number in range(50):
        one, other = draw_case(3, number), draw_case(3, number)
        assert str(one) == str(other)
        np.testing.assert_array_equal(one.X, other.X)


def test_inputs_hold_the_values_they_are_said_to(tmp_path):
    """Or else the reference would be that of other points."""
    X = np.random.default_rng(0).integers(-5, 6, (9, 3)) + 0.3
    for name, input_ in INPUTS.items():
        if not random_cases.is_installed(input_.needs):
            continue
        made = input_.make(X, tmp_path)
        if isinstance(made, Path):
            made = np.load(made) if made.suffix == ".npy" else random_cases.polars.read_parquet(made)
        if hasattr(made, "toarray"):
            made = made.toarray()
        np.testing.assert_array_equal(np.asarray(made, dtype=np.float64), input_.values(X), err_msg=name)


def test_a_difference_is_found(tmp_path, monkeypatch):
    case = draw_case(0, 0, ["at once"])
    monkeypatch.setattr(
        random_cases, "naive_forests", lambda X, n_trees, seed: naive_forests(X[::-1], n_trees, seed + 1)
    )
    assert "forests.edges" in differences(replace(case, n_trees=2), tmp_path)
    expected = naive_forests(np.arange(6.0)[:, None] ** 2, 1)
    weights = expected.weights.copy()
    weights[0] = np.nextafter(weights[0], 2.0)
    found = random_cases.spanning_forests(np.arange(6.0)[:, None] ** 2, n_trees=1)
    assert list(forests_differ("forests", found, expected)) == []
    assert list(forests_differ("forests", found, replace(expected, weights=weights))) == ["forests.weights"]


def test_the_script_tells_how_to_repeat_a_case(monkeypatch, capsys):
    monkeypatch.setattr(fuzz_forests, "differences", lambda case, folder: ["edges"] if case.number == 2 else [])
    assert fuzz_forests.fuzz(4, range(5), 60.0, ["at once"]) == 1
    (command,) = [line for line in capsys.readouterr().out.splitlines() if "python" in line]
    assert command.strip() == 'python -m benchmarks.tools.fuzz_forests --seed 4 --case 2 --way "at once"'
    monkeypatch.undo()
    monkeypatch.setattr(sys, "argv", shlex.split(command)[2:])
    with pytest.raises(SystemExit) as end:
        fuzz_forests.main()
    assert end.value.code == 0
    assert "0 of 1 cases differ, seed 4" in capsys.readouterr().out
