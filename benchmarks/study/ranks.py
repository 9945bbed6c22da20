"""Average ranks over data sets, how far apart they must be, and paired tests."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

from benchmarks.study.plan import PAPER_SETS
from benchmarks.study.summary import MEASURES, Summary

#: The measures that the paper ranks.
RANKED = ("ari", "seconds", "seconds_per_configuration")


@dataclass(frozen=True)
class PairedTest:
    """Two methods compared over data sets.

    Attributes
    ----------
    first, second : str
        The methods.
    first_wins, second_wins : int
        On how many sets each is better.
    p_value : float
        Of Wilcoxon's signed-rank test.
    adjusted : float
        The same after Holm's correction for the number of pairs.
    """

    first: str
    second: str
    first_wins: int
    second_wins: int
    p_value: float
    adjusted: float


@dataclass(frozen=True)
class Ranking:
    """Methods ranked on each data set, 1 being best.

    Attributes
    ----------
    measure : str
        What they are ranked by.
    methods, datasets : tuple of str
        Which; only sets on which all methods are complete.
    values : ndarray of shape (n_datasets, n_methods)
        What was ranked.
    ranks : ndarray of shape (n_datasets, n_methods)
        The ranks; equal values share the mean of theirs.
    critical_difference : float
        Average ranks that are farther apart differ, by Nemenyi's test at 5%.
    friedman, friedman_p : float
        Friedman's statistic, and its p-value; NaN for fewer than three methods.
    tests : tuple of PairedTest
        All pairs of methods.
    """

    measure: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    values: NDArray[np.float64]
    ranks: NDArray[np.float64]
    critical_difference: float
    friedman: float
    friedman_p: float
    tests: tuple[PairedTest, ...]

    @property
    def average(self) -> NDArray[np.float64]:
        """The average rank of each method."""
        return self.ranks.mean(axis=0)


def rank_methods(
    summary: Summary, measure: str, methods: Sequence[str] | None = None, datasets: Sequence[str] | None = None
) -> Ranking | None:
    """Rank methods on the data sets on which all of them are complete.

    Parameters
    ----------
    summary : Summary
        Means over the splits.
    measure : str
        One of `MEASURES`.
    methods : sequence of str or None
        Which methods; None for all.
    datasets : sequence of str or None
        Which data sets may take part; None for those of the paper, or for all where none is of the paper.

    Returns
    -------
    Ranking or None
        None for fewer than two methods or two sets. For the total time, a set on which a smaller grid stands in for a
        method does not count.
    """
    chosen = tuple(methods or summary.methods)
    full_grids = measure == "seconds"
    complete = tuple(
        name for name in datasets or ranked_sets(summary) if summary.is_complete(name, chosen, full_grids=full_grids)
    )
    if len(chosen) < 2 or len(complete) < 2:
        return None
    values = np.array([[summary.entries[name, method].means[measure] for method in chosen] for name in complete])
    larger_is_better = MEASURES[measure][1]
    losses = -values if larger_is_better else values
    ranks = np.array([rankdata(row) for row in losses])
    statistic, p_value = _friedman(losses)
    return Ranking(
        measure,
        chosen,
        complete,
        values,
        ranks,
        nemenyi_difference(len(chosen), len(complete)),
        statistic,
        p_value,
        paired_tests(losses, chosen),
    )


def ranked_sets(summary: Summary) -> tuple[str, ...]:
    """Return the paper's sets, or all where none is of the paper: variants of a set must not count twice."""
    return tuple(name for name in summary.datasets if name in PAPER_SETS) or summary.datasets


def all_rankings(summary: Summary, datasets: Sequence[str] | None = None) -> tuple[Ranking, ...]:
    """Rank all methods by each measure, and then those that have many sets in common, where these are others.

    Parameters
    ----------
    summary : Summary
        Means over the splits.
    datasets : sequence of str or None
        As in `rank_methods`.

    Returns
    -------
    tuple of Ranking
        By measure; a slow method without results on many sets would else leave few to rank on.
    """
    found = []
    for measure in RANKED:
        rankings = [rank_methods(summary, measure, group, datasets) for group in default_groups(summary, measure)]
        found += [each for each in rankings if each is not None]
    return tuple(found)


def default_groups(summary: Summary, measure: str) -> tuple[tuple[str, ...], ...]:
    """Return which methods to rank together: all, and as many as have many sets in common, where these are others."""
    full_grids = measure == "seconds"

    def n_complete(*methods: str) -> int:
        return sum(summary.is_complete(name, methods, full_grids=full_grids) for name in ranked_sets(summary))

    by_method = {method: n_complete(method) for method in summary.methods}
    # those that are complete on at least so many sets, for each such number
    groups = [
        tuple(method for method in summary.methods if by_method[method] >= least)
        for least in sorted(set(by_method.values()))
    ]
    widest = max(groups, key=lambda group: (len(group) > 1, len(group) * n_complete(*group), n_complete(*group)))
    return (summary.methods,) if widest == summary.methods or len(widest) < 2 else (summary.methods, widest)


def nemenyi_difference(n_methods: int, n_datasets: int, level: float = 0.05) -> float:
    """Return how far apart average ranks must be to differ by Nemenyi's test (Demšar, 2006)."""
    return _studentized(n_methods, level) / math.sqrt(2) * math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))


@cache
def _studentized(n_methods: int, level: float) -> float:
    return float(studentized_range.ppf(1 - level, n_methods, np.inf))  # takes a second


def paired_tests(losses: NDArray[np.float64], methods: Sequence[str]) -> tuple[PairedTest, ...]:
    """Test all pairs of columns by Wilcoxon's signed ranks, with Holm's correction.

    Parameters
    ----------
    losses : ndarray of shape (n_datasets, n_methods)
        Less is better.
    methods : sequence of str
        Names of the columns.

    Returns
    -------
    tuple of PairedTest
    """
    pairs = list(combinations(range(len(methods)), 2))
    p_values = np.array([_wilcoxon(losses[:, first] - losses[:, second]) for first, second in pairs])
    adjusted = holm(p_values)
    return tuple(
        PairedTest(
            methods[first],
            methods[second],
            int(np.count_nonzero(losses[:, first] < losses[:, second])),
            int(np.count_nonzero(losses[:, first] > losses[:, second])),
            float(p_values[number]),
            float(adjusted[number]),
        )
        for number, (first, second) in enumerate(pairs)
    )


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Adjust p-values for their number, by Holm's step-down method."""
    order = np.argsort(p_values, kind="stable")
    steps = (len(p_values) - np.arange(len(p_values))) * p_values[order]
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def _wilcoxon(differences: NDArray[np.float64]) -> float:
    if not np.any(differences):
        return 1.0  # the same everywhere: nothing speaks against it
    return float(wilcoxon(differences).pvalue)


def _friedman(losses: NDArray[np.float64]) -> tuple[float, float]:
    if losses.shape[1] < 3 or np.all(losses == losses[:, :1]):
        return math.nan, math.nan
    found = friedmanchisquare(*losses.T)
    return float(found.statistic), float(found.pvalue)
