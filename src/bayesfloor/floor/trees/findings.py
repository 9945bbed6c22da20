"""What a reader should know about the data before trusting the numbers.

Each finding has a code that never changes its meaning, a plain sentence with the figures, and a
hint. `bayesfloor.runtime.findings` finds the page on each.

======  ====================================================================
BF001   a class with very few rows
BF002   many equal distances between different points
BF003   identical rows within a class
BF004   identical rows in different classes
BF005   all rows identical
BF006   constant features
BF007   features on very different scales
BF008   high dimension for the number of rows: a floor is estimated too high, a divergence too low
BF009   a feature that gives the label away
BF010   trees that do not span
BF011   no sign that the classes differ
BF012   later trees cross far more often than the first: the floor is estimated too high
BF013   a class whose rows are all in one group
BF016   an estimate that is held at the error of always predicting the commonest class
BF038   rows that are nearly copies of each other
======  ====================================================================
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesfloor.data.problem import Problem
from bayesfloor.floor.trees.finding_kernels import two_nearest
from bayesfloor.floor.trees.near_copies import find_near_copies, near_copies
from bayesfloor.floor.trees.results import Floors
from bayesfloor.forest import Forests
from bayesfloor.forest.order.label_kernels import count_classes_at_sites
from bayesfloor.forest.results import PLAIN_EDGE_S
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.findings import Finding, in_order
from bayesfloor.runtime.kernels import spare_compilation
from bayesfloor.runtime.text import listed, shown

#: Report a class of fewer rows as tiny (BF001): its floor rests on a handful of edges.
TINY_CLASS = 10
#: Report ties (BF002) above this share of edges that have the length of another one.
MANY_TIES = 0.1
#: Report rows that repeat others (BF003) above this share of them: fewer change no figure that is shown.
FEW_COPIES = 0.005
#: Report scales (BF007) above this ratio of the widest to the narrowest range of a feature.
WIDE_SCALES = 100.0
#: Report the dimension (BF008) above this number of dimensions per doubling of the rows, d / log2 n: beyond, the lower
#: bound is above the Bayes error in more than a few samples (benchmarks/truth/tree_intervals.py).
HIGH_DIMENSION = 0.4
#: Maximum number of distinct values of a feature that is searched for leaks (BF009), each on five rows on average.
MOST_CODES = 256
#: Report a rise (BF012) above this ratio of cross edges in the last spanning tree to those in the first.
RISING = 1.25
#: Report classes that do not differ (BF011) above this p-value of the permutation test.
CHANCE_LEVEL = 0.05


def find_in_data(problem: Problem, forests: Forests, n_trees: int) -> tuple[Finding, ...]:
    """Look for everything that can be told from the points, the labels and their forests.

    Parameters
    ----------
    problem : Problem
        Points and labels.
    forests : Forests
        The forests of all rows.
    n_trees : int
        How many trees were asked for.

    Returns
    -------
    tuple of Finding
        In the order of their codes.
    """
    X, codes = problem.X, problem.codes
    names = range(X.shape[1]) if problem.feature_names is None else problem.feature_names
    with spare_compilation(PLAIN_EDGE_S * len(forests.edges), two_nearest):
        found = [
            *_about_classes(problem.classes, problem.class_counts),
            *_about_ties(forests),
            *_about_identical_rows(forests, codes, len(problem.classes)),
            *_about_near_copies(forests, problem),
            *_about_features(X, names),
            *find_high_dimension(X.shape, forests),
            *_about_leaks(X, codes, names),
            *find_unspanned(forests, n_trees),
            *_about_later_trees(forests, codes),
            *_about_groups(problem),
            *problem.findings,
        ]
    return in_order(found)


def find_in_test(p_value: float) -> Iterator[Finding]:
    """Say so when there are no fewer cross edges than chance would give."""
    if p_value > CHANCE_LEVEL:
        yield Finding(
            "BF011",
            f"There are about as many cross edges as labels dealt at random would give (p = {p_value:.2g}).",
            "These points, as they are scaled, may tell nothing about the classes.",
        )


def find_held(floors: Floors[Floats, Floats], largest: ArrayLike, problems: Sequence[str] = ()) -> Iterator[Finding]:
    """Say which estimates, if there are several, are held at the error of always predicting the commonest class."""
    held = np.flatnonzero(np.isclose(floors.estimate, largest, rtol=1e-9, atol=0.0))
    if len(held):
        which = "it is held there."
        if problems:
            which = f"{len(held)} of {len(problems)} are held there: {listed([problems[at] for at in held.tolist()])}."
        yield Finding(
            "BF016",
            "An estimate from cross edges alone would be above the error of always predicting the commonest class: "
            + which,
            "The interval is about how common the classes are, and the p-value about whether the points tell them "
            "apart. Models may find more.",
        )


def _about_classes(classes: NDArray[Any], counts: Ints) -> Iterator[Finding]:
    tiny = np.flatnonzero(counts < TINY_CLASS)
    if len(tiny):
        text = listed([f"{shown(classes[k])} ({counts[k]})" for k in tiny])
        plural = "classes have" if len(tiny) > 1 else "class has"
        yield Finding(
            "BF001",
            f"{len(tiny)} {plural} fewer than {TINY_CLASS} rows: {text}.",
            "Their floors rest on a handful of edges: read the intervals, or merge classes.",
        )


def _about_ties(forests: Forests) -> Iterator[Finding]:
    lengths = forests.weights[forests.weights > 0]
    if not len(lengths):
        return
    lengths = np.sort(lengths)
    is_equal = np.diff(lengths) <= 1e-12 * lengths[1:]  # rounding may split what is equal
    share = np.mean(np.append(is_equal, False) | np.append(False, is_equal))
    if share > MANY_TIES:
        yield Finding(
            "BF002",
            f"{share:.0%} of the edges have the same length as another one, so the trees, and "
            "with them the cross edges, depend on how ties are broken.",
            "Try other values of random_state, and look at how far the estimates are apart.",
        )


def _about_identical_rows(forests: Forests, codes: Ints, n_classes: int) -> Iterator[Finding]:
    n, n_sites = forests.n_samples, int(forests.sites.max()) + 1
    if n_sites == n:
        return
    start, _, count = count_classes_at_sites(forests.sites, codes, n_sites, n_classes)
    if n_sites == 1:
        yield Finding(
            "BF005",
            f"All {n} rows are identical, so no classifier can do better than always predicting the commonest class.",
            "Check how the features were read.",
        )
    repeated = int(np.sum(count - 1))
    if repeated > FEW_COPIES * n:
        yield Finding(
            "BF003",
            f"{repeated} of {n} rows {'repeats' if repeated == 1 else 'repeat'} another row of the same class.",
            "Edges of length zero join them. If they are copies of one observation, drop them: "
            "they make the floor look lower and surer than it is.",
        )
    mixed = np.diff(start) > 1
    if mixed.any():
        rows = np.bincount(forests.sites, minlength=n_sites)
        largest = np.maximum.reduceat(count, start[:-1])
        lost = int(np.sum((rows - largest)[mixed]))
        yield Finding(
            "BF004",
            f"{int(rows[mixed].sum())} of {n} rows are identical to a row of another class; on "
            f"these rows alone any classifier errs on at least {lost}, a share of "
            f"{lost / n:.4f} of all.",
            "Only further features can tell them apart.",
        )


def _about_near_copies(forests: Forests, problem: Problem) -> Iterator[Finding]:
    is_first = forests.tree == 0
    edges, weights = forests.edges[is_first], forests.weights[is_first]
    places = near_copies(edges, weights, forests.n_samples, len(problem.classes))
    if places is None:
        return
    i, j = edges[places[edges[:, 0]] == places[edges[:, 1]]].T
    if problem.groups is None or np.any(problem.groups[i] != problem.groups[j]):
        yield find_near_copies(
            edges,
            weights,
            places,
            "Edges between them make the floor look lower and surer than it is.",
            "Keep one of each, or give those of one place the same value in groups.",
        )


def _about_features(X: Floats, names: Sequence[Any]) -> Iterator[Finding]:
    with np.errstate(over="ignore"):
        width = X.max(axis=0) - X.min(axis=0)
    constant = np.flatnonzero(width == 0).tolist()
    if len(constant):
        text = listed([shown(names[j]) for j in constant])
        plural = "features are" if len(constant) > 1 else "feature is"
        yield Finding("BF006", f"{len(constant)} {plural} constant: {text}.", "They change nothing and can be dropped.")
    varying = np.flatnonzero(width > 0)
    if len(varying) < 2:
        return
    widest, narrowest = (int(varying[pick(width[varying])]) for pick in (np.argmax, np.argmin))
    if width[widest] > WIDE_SCALES * width[narrowest]:
        yield Finding(
            "BF007",
            f"Feature {shown(names[widest])} spans {width[widest]:.3g}, feature "
            f"{shown(names[narrowest])} only {width[narrowest]:.3g}: distances see the first "
            "and hardly the second.",
            "Unless that is meant, standardise the features (StandardScaler).",
        )


def intrinsic_dimension(forests: Forests) -> float:
    """Estimate in how many directions the points spread locally, by the ratio of two distances.

    The k forests contain each point's k nearest neighbours, so with two trees or more the distances
    r1 < r2 to the two nearest are at hand, and d ≈ 1 / mean log(r2 / r1) (Facco et al. 2017). Points
    with a copy of themselves are left out. NaN when nothing is left.
    """
    nearest, second = two_nearest(forests.n_samples, forests.edges, forests.weights)
    usable = (nearest > 0) & np.isfinite(second)
    logs = np.log(second[usable]) - np.log(nearest[usable])
    return float(1.0 / logs.mean()) if len(logs) and logs.mean() > 0 else float("nan")


def find_high_dimension(shape: tuple[int, ...], forests: Forests) -> Iterator[Finding]:
    """Say so when rows are too few for the dimension, whatever is made of the cross edges."""
    n, d = shape
    dimension = float(d)
    if forests.n_trees > 1 and d > 1:
        dimension = np.fmin(intrinsic_dimension(forests), d)
    per_doubling = dimension / np.log2(n)
    if per_doubling > HIGH_DIMENSION:
        yield Finding(
            "BF008",
            f"The {d} features spread the {n} rows over about {dimension:.0f} dimensions, so that even nearest "
            "neighbours are far apart and too many edges cross: a floor is estimated too high, by about "
            f"{excess_at_a_tenth(per_doubling):.0%} on Gaussian classes with a floor of 0.1; its lower bound may be "
            "above the truth, too, and a divergence is estimated too low.",
            "Compare with a good classifier: the floor cannot be above the error it reaches.",
        )


def excess_at_a_tenth(per_doubling: float) -> float:
    """How much too high the estimate of a floor of 0.1 comes out, as a share.

    Measured on two Gaussian classes (benchmarks/truth/floor_bias.py): from 500 to 20 000 rows and 8 to 64
    features the excess depends on little else than the dimension per doubling of the rows, d / log2 n,
    and is about a third of it.
    """
    return per_doubling / 3.0


def feature_gives_label(values: Floats, codes: Ints, most: int) -> bool:
    """Tell whether each distinct value occurs in one class only, with at most `most` values.

    Looks at a few rows first: most features have too many values there, or one in two classes.
    """
    distinct = values[:0]
    for n_rows in sorted({min(2 * MOST_CODES, len(values)), min(8192, len(values)), len(values)}):
        distinct, place = np.unique(values[:n_rows], return_inverse=True)
        if len(distinct) > most:
            return False
        code_of = np.empty(len(distinct), np.int64)
        code_of[place] = codes[:n_rows]
        if np.any(code_of[place] != codes[:n_rows]):
            return False
    return len(distinct) > 1


def _about_leaks(X: Floats, codes: Ints, names: Sequence[Any]) -> Iterator[Finding]:
    most = min(MOST_CODES, len(X) // 5)
    giving = [j for j in range(X.shape[1]) if feature_gives_label(X[:, j], codes, most)]
    if giving:
        text = listed([shown(names[j]) for j in giving])
        plural = "features give" if len(giving) > 1 else "feature gives"
        yield Finding(
            "BF009",
            f"{len(giving)} {plural} the label away, each value occurring in one class only: {text}.",
            "If it would not be known at prediction time, drop it: the floor is then far too low.",
        )


def find_unspanned(forests: Forests, n_trees: int) -> Iterator[Finding]:
    """Say so when fewer trees span the rows than were asked for."""
    n_spanning = int(np.count_nonzero(forests.n_components == 1))
    if n_spanning < n_trees:
        yield Finding(
            "BF010",
            f"{n_trees} trees were asked for; only {n_spanning} could span the {forests.n_samples} "
            "rows without sharing an edge.",
            "The others count as far as they go. Ask for fewer trees.",
        )


def _about_later_trees(forests: Forests, codes: Ints) -> Iterator[Finding]:
    spanning = np.flatnonzero(forests.n_components == 1)
    if len(spanning) < 2:
        return
    # The first tree takes the edges of length zero between copies, which mostly share their class. They would make it
    # look better than the others at any distance, so only edges between different points are compared.
    apart = forests.weights > 0
    tree = forests.tree[apart]
    different = forests
    if len(tree) < len(apart):
        different = replace(forests, edges=forests.edges[apart], weights=forests.weights[apart], tree=tree)
    crossing = different.cross_counts(codes).sum(axis=(1, 2)) / 2.0
    n_edges = np.bincount(tree, minlength=forests.n_trees)
    first, last = spanning[0], spanning[-1]
    if n_edges[first] == 0:
        return
    shares = crossing[[first, last]] / n_edges[[first, last]]
    # Trees share labels, so two shares differ by less than independent ones would.
    noise = np.sqrt(np.sum(crossing[[first, last]] / n_edges[[first, last]] ** 2))
    if shares[1] > RISING * shares[0] and shares[1] - shares[0] > 3.0 * noise:
        yield Finding(
            "BF012",
            f"Between different points, {shares[0]:.4f} of the edges cross in the first tree and {shares[1]:.4f} in "
            f"tree {last + 1}, whose edges are longer: how often neighbours differ in class depends on how far apart "
            "they are. At distance zero, which is what counts, it would be less: the floor is estimated too high.",
            "n_trees=1 is less biased, and less sure; so are more rows, or features scaled to matter alike.",
        )


def _about_groups(problem: Problem) -> Iterator[Finding]:
    if problem.groups is None:
        return
    cells = np.unique(np.column_stack([problem.codes, problem.groups]), axis=0)
    alone = np.flatnonzero(np.bincount(cells[:, 0]) == 1)
    if len(alone):
        text = listed([shown(problem.classes[k]) for k in alone])
        plural = "classes have" if len(alone) > 1 else "class has"
        yield Finding(
            "BF013",
            f"{len(alone)} {plural} all rows in one group: {text}.",
            "Nothing tells the class from the group there, so no edge between groups can join two of its rows.",
        )
