"""Numbers of very different magnitudes in one set: the true trees, or a refusal that names the rows, in every way."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from bayesfloor import spanning_forests
from bayesfloor.forest.order.points import Extent
from helpers.naive_forests import naive_forests
from helpers.one_case import for_each
from helpers.random_cases import WAYS, differences, draw_case, usable_ways

SMALLEST = 5e-324  # the least number above 0

rng = np.random.default_rng(0)
near, far = rng.standard_normal((2, 12, 2))
SETS = {
    "1e-140 and 1e140": np.vstack([1e-140 * near, 1e140 * far]),
    "1e-170 and 1": np.vstack([1e-170 * near, far]),
    "1e-250 and 1, some twice": np.vstack([1e-250 * near, 1e-250 * near[:5], far]),
    "1e-30 and 1e230": np.vstack([1e-30 * near, 1e230 * far]),
    "columns of 1e-130 and 1e130, few values in the second": np.column_stack(
        [1e-130 * near[:, 0], 1e130 * (np.arange(12) % 3)]
    ),
    "the least numbers": SMALLEST * rng.integers(0, 2**20, (24, 2)),
    "the least numbers, other columns tell rows apart": np.column_stack(
        [SMALLEST * rng.integers(0, 2**20, (24, 2)), rng.standard_normal(24)]
    ),
}
TOO_WIDE = {
    "the least numbers and 1": np.vstack([SMALLEST * rng.integers(1, 2**20, (12, 2)), far]),
    "1e-300 and 1e300": np.vstack([1e-300 * near, 1e300 * far]),
    "one pair": np.vstack([1e300 * far, [[1e300, 0.0], [1e300, 1e-200]]]),
}


def exact_lengths(X):
    """The squared lengths of a minimum spanning tree's edges, sorted, in exact arithmetic."""
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    edges = sorted(
        (sum((a - b) ** 2 for a, b in zip(rows[i], rows[j], strict=True)), i, j)
        for i, j in combinations(range(len(X)), 2)
    )
    component = list(range(len(X)))
    lengths = []
    for d2, i, j in edges:
        old, new = component[i], component[j]
        if old != new:
            component = [new if c == old else c for c in component]
            lengths.append(d2)
    return lengths


def by(way, X):
    """A case of some points, computed in a way."""
    y = np.arange(len(X)) % 3 if WAYS[way].labels == "always" else None
    input_ = "npy" if "array" not in WAYS[way].inputs else "array"
    case = draw_case(0, 0, [way])
    settings = case.settings | {"all_pairs_below": 2, "tile_size": 4}
    return replace(case, X=np.ascontiguousarray(X), y=y, input=input_, settings=settings, n_trees=2)


@for_each("name", SETS)
def test_lengths_are_those_of_exact_arithmetic(name):
    expected = exact_lengths(SETS[name])
    for forests_of in (naive_forests, spanning_forests):
        lengths = sorted(forests_of(SETS[name], n_trees=1).weights.tolist())
        assert len(lengths) == len(expected)
        for length, d2 in zip(lengths, expected, strict=True):
            # the least numbers have few digits: a length is rounded to a whole number of them
            off = abs(Fraction(length) ** 2 - d2)
            assert off <= d2 / 10**14 or off <= 2 * Fraction(length) * Fraction(SMALLEST)


@pytest.mark.parametrize("way", [way for way in WAYS if way != "cluster"])
def test_every_way_finds_the_same_or_refuses_rows_whose_distance_has_no_square(way, tmp_path):
    if way not in usable_ways():
        pytest.skip("needs a package of an extra")
    for X in SETS.values():
        assert differences(by(way, X), tmp_path) == []
    for X in TOO_WIDE.values():
        with pytest.raises(ValueError, match=r"rows \d+ and \d+ differ only in values below"):
            differences(by(way, X), tmp_path)


def test_the_refusal_names_rows_and_magnitudes():
    """Points of up to 2^2 are scaled to 2^490, where 2^-420 is the limit."""
    X = np.array([[1.0, 0.0], [3.0, 0.0], [1.0, 1e-300]])
    message = rf"rows 0 and 2 differ only in values below {2.0**-908:.3g}, where others reach 3: .* small values to 0\."
    with pytest.raises(ValueError, match=message):
        spanning_forests(X)
    assert spanning_forests(np.where(np.abs(X) < 2.0**-908, 0.0, X)).sites.max() == 1


@pytest.mark.parametrize("way", ["at once", "out of core", "device"])
def test_lengths_beyond_float64_are_refused(way, tmp_path):
    if way not in usable_ways():
        pytest.skip("needs a package of an extra")
    X = np.where(far > 0, 1.7e308, -1.7e308)
    with pytest.raises(ValueError, match=r"from -1.7e\+308 to 1.7e\+308: distances of its rows may exceed"):
        differences(by(way, X), tmp_path)
    X = 1e307 * near  # not nearly as far apart
    assert differences(by(way, X), tmp_path) == []


@for_each("n", [1, 7, 20_000])
def test_extent(n):
    X = np.random.default_rng(n).standard_normal((n, 3)) * [1.0, -0.0, 1e-310]
    size = np.abs(X[X != 0])
    assert Extent.of(X) == (X.min(), X.max(), size.min())
    assert Extent.of(np.zeros((n, 2))) == (0.0, 0.0, np.inf)
    assert Extent.union([Extent.of(X[:1]), Extent.of(X)]) == Extent.of(X)


def test_ordinary_points_are_not_scaled():
    assert Extent(-1e90, 1.0, 1e-137).exponent == 0
    assert Extent(0.0, 0.0, np.inf).exponent == 0
