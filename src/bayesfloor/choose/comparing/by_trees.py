"""Representations compared by spanning trees alone: no model is trained.

A step that never sees labels cannot flatter itself, and is fitted to all rows. One that learns from labels can: on the
rows that it was fitted to, classes look farther apart than they are. If there is such a one, rows are cut into two
halves. It is fitted to one half and its floor is measured on the other, both ways, and *all* representations are
measured on these halves, since a floor of fewer rows comes out higher and would not compare with one of all rows.
"""

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.choose.comparing.differences import p_value_of
from bayesfloor.choose.comparing.representations import Representation, RowFeatures
from bayesfloor.choose.comparing.results import FeatureDifference, FeatureFloor
from bayesfloor.choose.floor_levels import DirectedFloor, difference_interval, mean_of_halves, pair_floors, whole_floor
from bayesfloor.data.folds import grouped_folds
from bayesfloor.data.points import check_points
from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import halves
from bayesfloor.floor.trees.problem import Options
from bayesfloor.forest import class_forests
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.text import listed, quoted, shown


@dataclass(frozen=True, eq=False)
class TreeFloors:
    """Floors of one representation, from the same forests."""

    name: str
    n_features: int
    seconds: float
    whole: DirectedFloor
    pairs: Floats


def measure_by_trees(
    representations: list[Representation], shared: Problem, y: NDArray[Any], keys: NDArray[np.uint64], options: Options
) -> list[TreeFloors]:
    """Measure the floors of all representations of all rows of a problem.

    Parameters
    ----------
    representations : list of Representation
        What to measure.
    shared : Problem
        Labels and groups of the rows.
    y : ndarray of shape (n,)
        Their labels as steps are given them.
    keys : ndarray of shape (n,)
        Random numbers, by which rows are dealt out to halves.
    options : Options
        How to count.

    Returns
    -------
    list of TreeFloors
    """
    every = np.arange(len(y))
    learning = [each.name for each in representations if each.needs_labels]
    parts = [every] if not learning else _halves(shared, keys, learning)
    return [_measure(each, shared, y, parts, options) for each in representations]


def _halves(shared: Problem, keys: NDArray[np.uint64], learning: list[str]) -> list[Ints]:
    """Cut rows, or groups of them, into two halves that have all classes."""
    if shared.groups is None:
        parts = list(halves(shared.codes, keys))
        what = "rows"
    else:
        half = grouped_folds(shared.codes, shared.groups, 2, keys, spread_classes=True)
        parts = [np.flatnonzero(half == 0), np.flatnonzero(half == 1)]
        what = "groups"
    lacking = sorted({k for part in parts for k in np.setdiff1d(np.arange(len(shared.classes)), shared.codes[part])})
    if lacking:
        few = listed([shown(shared.classes[k]) for k in lacking])
        raise ValueError(
            f"The features {quoted(learning[0])} learn from the labels, so floors are measured on halves of the "
            f"{what}. That takes some of each class in both; there are too few of {few}."
        )
    return parts


def _measure(
    representation: Representation, shared: Problem, y: NDArray[Any], parts: list[Ints], options: Options
) -> TreeFloors:
    """Make the features and measure all floors."""
    started = perf_counter()
    if representation.needs_labels:
        views = [_held_out(representation, y, known, rows) for rows, known in (parts, parts[::-1])]
    else:
        points = representation.points(np.arange(len(y)))
        views = [points[part] for part in parts]
    found = []
    for view, part in zip(views, parts, strict=True):
        codes = shared.codes[part]
        groups = None if shared.groups is None else np.unique(shared.groups[part], return_inverse=True)[1]
        forests = class_forests(view, codes, **options.engine(options.random_state))
        n_classes = len(shared.classes)
        whole = whole_floor(forests.whole, codes, n_classes, options, directed=True, groups=groups)
        found.append((whole, pair_floors(forests, codes, options, groups)))
    whole, pairs = found[0]
    if len(found) > 1:
        whole, pairs = mean_of_halves(whole, found[1][0]), 0.5 * (pairs + found[1][1])
    n_features = max(view.shape[1] for view in views)
    return TreeFloors(representation.name, n_features, perf_counter() - started, whole, pairs)


def _held_out(representation: Representation, y: NDArray[Any], fitted_to: Ints, rows: Ints) -> Floats:
    """Fit the steps to some rows with their labels, and return the features of others."""
    steps = RowFeatures(representation.parts)
    steps.fit_transform(fitted_to, y[fitted_to])
    return check_points(steps.transform(rows))


def tree_difference(first: TreeFloors, second: TreeFloors, n_rows: int) -> FeatureDifference:
    """Compare the floors of two representations of the same rows."""
    interval = difference_interval(first.whole, second.whole)
    value = first.whole.floor - second.whole.floor
    p_value = p_value_of(value, interval, first.whole.confidence)
    names = first.name, second.name
    return FeatureDifference(*names, None, None, None, value, interval, p_value, None, n_rows)


def tree_summary(found: TreeFloors, representation: Representation, n_samples: int, n_rows: int) -> FeatureFloor:
    """Return the floor of a representation as it is shown."""
    level = found.whole.level()
    return FeatureFloor(
        name=found.name,
        n_features=found.n_features,
        estimate=level.floor,
        interval=(level.low, level.high),
        reached=None,
        reached_interval=None,
        curve=None,
        is_improving=None,
        n_samples=n_samples,
        n_rows=n_rows,
        is_stopped=False,
        takes_new_rows=representation.takes_new_rows,
        sides=representation.sides,
        seconds=found.seconds,
    )
