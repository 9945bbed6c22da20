"""Figures on problems of known floor have problems, and not samples, as their unit."""

import numpy as np
import pytest

from benchmarks.truth.truth import of_halves, over_problems


def sample(problem, low, high, *, estimate=0.2, half="held-out", n=500):
    found = {"estimate": estimate, "interval": [low, high], "seconds": 1.0}
    return {"scenario": problem, "half": half, "n": n, "truth": 0.2, "learned floor": found}


RECORDS = [
    sample("often drawn", 0.1, 0.3, estimate=0.25),
    sample("often drawn", 0.1, 0.3, estimate=0.15),
    sample("often drawn", 0.22, 0.3, estimate=0.26),
    sample("often drawn", 0.1, 0.18, estimate=0.14),
    sample("drawn once", 0.15, 0.25, estimate=0.2),
]


def test_a_problem_counts_once_however_many_samples_it_has():
    means = over_problems(RECORDS, "learned floor")
    assert means.of_each["often drawn"]["covered"] == 0.5
    assert means.mean["covered"] == 0.75  # samples as the unit would say 0.6
    assert means.mean["above"] == 0.125
    assert means.mean["errors"] == pytest.approx((0.22 / 4 + 0.0) / 2)
    assert means.mean["bias"] == pytest.approx((0.05 - 0.05 + 0.06 - 0.06) / 8)
    assert (means.n_problems, means.n_always) == (2, 1)


def test_the_error_is_that_of_a_mean_over_problems():
    rng = np.random.default_rng(0)
    shares = rng.integers(0, 5, 40) / 4
    records = [
        sample(f"problem {k}", *((0.1, 0.3) if j < 4 * share else (0.25, 0.3)))
        for k, share in enumerate(shares)
        for j in range(4)
    ]
    means = over_problems(records, "learned floor")
    drawn = [rng.choice(shares, len(shares)).mean() for _ in range(20_000)]
    assert means.error["covered"] == pytest.approx(np.std(drawn), rel=0.05)
    assert np.isnan(over_problems(records[:4], "learned floor").error["covered"])


def test_both_halves_and_all_sizes_have_a_row():
    table = of_halves([*RECORDS, sample("large", 0.1, 0.3, n=2000), sample("other", 0.1, 0.3, half="design")])
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    assert [row[:4] for row in rows] == [
        ["design", "500", "1", "1"],
        ["design", "all", "1", "1"],
        ["held-out", "500", "2", "5"],
        ["held-out", "2000", "1", "1"],
        ["held-out", "all", "3", "6"],
    ]
    assert rows[-1][4:6] == ["83.3% ± 16.7%", "2 of 3"]
