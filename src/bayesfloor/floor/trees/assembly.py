"""From a checked problem to records: build forests, count once per tie draw, apply the equations.

One set of forests serves every view of the problem that is asked for: the whole, each class, each pair.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesfloor.data.problem import Problem
from bayesfloor.floor.trees import henze_penrose as hp
from bayesfloor.floor.trees.cross_edges import (
    CrossEdges,
    as_matrix,
    of_each_class,
    of_each_pair,
    of_whole,
    of_whole_and_classes,
    pairs_of,
)
from bayesfloor.floor.trees.findings import find_held, find_in_data, find_in_test
from bayesfloor.floor.trees.permuted import permuted_p_values, permuted_p_values_of_pairs
from bayesfloor.floor.trees.problem import Options, floors_of
from bayesfloor.floor.trees.results import (
    BayesError,
    Floors,
    OneVsRestBayesError,
    PairwiseBayesError,
)
from bayesfloor.forest import ClassForests, Forests, class_forests, spanning_forests
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.findings import Finding, in_order
from bayesfloor.runtime.text import shown


@dataclass(frozen=True, eq=False)
class Draws:
    """Cross edges by tie draw, of those views of the problem that were asked for; and the first draw's forests."""

    whole: list[CrossEdges]
    classes: list[CrossEdges]
    pairs: list[CrossEdges]
    findings: tuple[Finding, ...]
    forests: Forests | None = None


def count_cross_edges(
    problem: Problem,
    options: Options,
    *,
    whole: bool = False,
    classes: bool = False,
    pairs: bool = False,
) -> Draws:
    """Count cross edges in the forests of each tie draw; findings come from the first draw."""
    draws = Draws([], [], [], ())
    K = len(problem.classes)
    source = getattr(problem.X, "source", problem.X)  # the engine reads files and Dask collections itself
    for seed in options.seeds():
        by_class = None
        if pairs:
            by_class = class_forests(source, problem.codes, **options.engine(seed))
            forests = by_class.whole
            draws.pairs.append(of_each_pair(by_class, problem.codes, problem.groups))
        else:
            forests = spanning_forests(source, **options.engine(seed))
        at_once = whole and classes and problem.groups is None
        if at_once:
            of_all, of_each = of_whole_and_classes(forests, problem.codes, K)
            draws.whole.append(of_all)
            draws.classes.append(of_each)
        if whole and not at_once:
            draws.whole.append(of_whole(forests, problem.codes, K, problem.groups))
        if classes and not at_once:
            draws.classes.append(of_each_class(forests, problem.codes, K, problem.groups))
        if problem.groups is None:
            _permute(draws, by_class, forests, problem.codes)
        if seed == options.random_state:
            draws = replace(draws, findings=find_in_data(problem, forests, options.n_trees), forests=forests)
    return draws


def _permute(draws: Draws, by_class: ClassForests | None, forests: Forests, codes: Ints) -> None:
    """Take the p-values of the last draw from permutations where values are few."""
    if by_class is not None:
        draws.pairs[-1] = replace(draws.pairs[-1], permuted=permuted_p_values_of_pairs(by_class, codes))
    p_values = permuted_p_values(forests, codes, int(codes.max()) + 1) if draws.whole or draws.classes else None
    if p_values is None:
        return
    for of_view, p_value in ((draws.whole, p_values[-1]), (draws.classes, p_values[:-1])):
        if of_view:
            of_view[-1] = replace(of_view[-1], permuted=p_value)


def _each(floors: Floors[Floats, Floats], convert: Callable[[Floats], Any]) -> dict[str, Any]:
    """Return the fields of floors with all figures converted, as to another shape."""
    others = {name: convert(value) for name, value in vars(floors).items() if name != "cross_edges"}
    return others | {"cross_edges": floors.cross_edges._each(convert)}


def whole_result(
    draws: Draws, problem: Problem, options: Options, pairs: PairwiseBayesError | None = None
) -> BayesError:
    """Make the record of the whole problem; with the sum of pairs if these are given."""
    counts = problem.class_counts
    largest_floor = 1.0 - counts.max() / counts.sum()
    floors = floors_of(draws.whole, len(counts), largest_floor, options)
    return BayesError(
        **_each(floors, lambda value: float(value) if value.ndim == 0 else tuple(value.tolist())),
        sum_of_pairs=None if pairs is None else pairs.sum_of_pairs,
        classes=problem.classes,
        class_counts=counts,
        n_samples=problem.n_samples,
        confidence=options.confidence,
        findings=in_order([*draws.findings, *find_held(floors, largest_floor), *find_in_test(float(floors.p_value))]),
        n_groups=None if problem.groups is None else len(np.unique(problem.groups)),
    )


def pairwise_result(draws: Draws, problem: Problem, options: Options, normalize: bool) -> PairwiseBayesError:
    """Make the record of all pairs."""
    counts = problem.class_counts
    codes = pairs_of(len(counts))
    first, second = (counts[classes] for classes in codes)
    largest_floor = np.minimum(first, second) / (first + second)
    floors = floors_of(draws.pairs, 2, largest_floor, options)
    names = [f"{shown(problem.classes[a])} and {shown(problem.classes[b])}" for a, b in zip(*codes, strict=True)]
    matrices = _each(floors, lambda values: as_matrix(values, len(counts)))
    np.fill_diagonal(matrices["p_value"], 1.0)
    return PairwiseBayesError(
        **matrices,
        classes=problem.classes,
        sum_of_pairs=hp.sum_of_pairs_bounds(matrices["lower"], matrices["upper"], counts),
        class_counts=counts,
        normalize=bool(normalize),
        confidence=options.confidence,
        findings=in_order([*draws.findings, *find_held(floors, largest_floor, names)]),
    )


def one_vs_rest_result(draws: Draws, problem: Problem, options: Options) -> OneVsRestBayesError:
    """Make the record of each class against the rest."""
    counts = problem.class_counts
    priors = counts / counts.sum()
    largest_floor = np.minimum(priors, 1.0 - priors)
    floors = floors_of(draws.classes, 2, largest_floor, options)
    return OneVsRestBayesError(
        **vars(floors),
        classes=problem.classes,
        class_counts=counts,
        confidence=options.confidence,
        findings=in_order([*draws.findings, *find_held(floors, largest_floor, [*map(shown, problem.classes)])]),
    )
