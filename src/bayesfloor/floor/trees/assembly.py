"""From a checked problem to records: build forests, count, apply the equations.

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
class Counted:
    """Cross edges, of those views of the problem that were asked for, and the forests that they were counted in."""

    whole: CrossEdges | None
    classes: CrossEdges | None
    pairs: CrossEdges | None
    findings: tuple[Finding, ...]
    forests: Forests


def count_cross_edges(
    problem: Problem,
    options: Options,
    *,
    whole: bool = False,
    classes: bool = False,
    pairs: bool = False,
) -> Counted:
    """Count cross edges in forests."""
    K = len(problem.classes)
    source = getattr(problem.X, "source", problem.X)  # the engine reads files and Dask collections itself
    engine = options.engine(options.random_state)
    by_class = of_all = of_each = of_pairs = None
    if pairs:
        by_class = class_forests(source, problem.codes, **engine)
        forests = by_class.whole
        of_pairs = of_each_pair(by_class, problem.codes, problem.groups)
    else:
        forests = spanning_forests(source, **engine)
    at_once = whole and classes and problem.groups is None
    if at_once:
        of_all, of_each = of_whole_and_classes(forests, problem.codes, K)
    if whole and not at_once:
        of_all = of_whole(forests, problem.codes, K, problem.groups)
    if classes and not at_once:
        of_each = of_each_class(forests, problem.codes, K, problem.groups)
    counted = Counted(of_all, of_each, of_pairs, find_in_data(problem, forests, options.n_trees), forests)
    return counted if problem.groups is not None else _permuted(counted, by_class, problem.codes)


def _permuted(counted: Counted, by_class: ClassForests | None, codes: Ints) -> Counted:
    """Take p-values from permutations where values are few."""
    whole, classes, pairs = counted.whole, counted.classes, counted.pairs
    if by_class is not None and pairs is not None:
        pairs = replace(pairs, permuted=permuted_p_values_of_pairs(by_class, codes))
    asked = whole is not None or classes is not None
    p_values = permuted_p_values(counted.forests, codes, int(codes.max()) + 1) if asked else None
    if p_values is not None:
        whole = None if whole is None else replace(whole, permuted=p_values[-1])
        classes = None if classes is None else replace(classes, permuted=p_values[:-1])
    return replace(counted, whole=whole, classes=classes, pairs=pairs)


def _each(floors: Floors[Floats, Floats], convert: Callable[[Floats], Any]) -> dict[str, Any]:
    """Return the fields of floors with all figures converted, as to another shape."""
    others = {name: convert(value) for name, value in vars(floors).items() if name != "cross_edges"}
    return others | {"cross_edges": floors.cross_edges._each(convert)}


def whole_result(counted: Counted, problem: Problem, options: Options) -> BayesError:
    """Make the record of the whole problem."""
    assert counted.whole is not None
    counts = problem.class_counts
    largest_floor = 1.0 - counts.max() / counts.sum()
    floors = floors_of(counted.whole, len(counts), largest_floor, options)
    return BayesError(
        **_each(floors, lambda value: float(value) if value.ndim == 0 else tuple(value.tolist())),
        classes=problem.classes,
        class_counts=counts,
        n_samples=problem.n_samples,
        confidence=options.confidence,
        findings=in_order([*counted.findings, *find_held(floors, largest_floor), *find_in_test(float(floors.p_value))]),
        n_groups=None if problem.groups is None else len(np.unique(problem.groups)),
    )


def pairwise_result(counted: Counted, problem: Problem, options: Options, normalize: bool) -> PairwiseBayesError:
    """Make the record of all pairs."""
    assert counted.pairs is not None
    counts = problem.class_counts
    codes = pairs_of(len(counts))
    first, second = (counts[classes] for classes in codes)
    largest_floor = np.minimum(first, second) / (first + second)
    floors = floors_of(counted.pairs, 2, largest_floor, options)
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
        findings=in_order([*counted.findings, *find_held(floors, largest_floor, names)]),
    )


def one_vs_rest_result(counted: Counted, problem: Problem, options: Options) -> OneVsRestBayesError:
    """Make the record of each class against the rest."""
    assert counted.classes is not None
    counts = problem.class_counts
    priors = counts / counts.sum()
    largest_floor = np.minimum(priors, 1.0 - priors)
    floors = floors_of(counted.classes, 2, largest_floor, options)
    return OneVsRestBayesError(
        **vars(floors),
        classes=problem.classes,
        class_counts=counts,
        confidence=options.confidence,
        findings=in_order([*counted.findings, *find_held(floors, largest_floor, [*map(shown, problem.classes)])]),
    )
