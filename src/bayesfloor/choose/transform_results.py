"""What `compare_transforms` returns: a ranked table, the best for every pair of classes, and what sets two apart."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.choose.floor_levels import MEASURE_OF, FloorLevel
from bayesfloor.floor.trees.cross_edges import pairs_of
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import PlottedResult
from bayesfloor.runtime.text import listed, shown

FIGURES = ("whole", "mean_pair", "worst_pair", "mean_class", "worst_class")


@dataclass(frozen=True)
class TransformFloors:
    """The floors of the data as one transform shows them.

    Attributes
    ----------
    name : str
        Name of the transform.
    n_features : int
        Dimension of what it returns.
    seconds : float
        How long it took to fit and to apply it.
    takes_new_rows : bool
        Whether it can be applied to rows that it was not fitted to.
    whole : FloorLevel
        Floor of the whole problem.
    mean_pair, worst_pair : FloorLevel
        Mean over all pairs of classes, and the highest among them.
    mean_class, worst_class : FloorLevel
        The same for each class against the rest.
    worst_pair_classes : tuple of two labels
        The pair with the highest floor.
    worst_class_label : label
        The class with the highest floor.
    """

    name: str
    n_features: int
    seconds: float
    takes_new_rows: bool
    whole: FloorLevel
    mean_pair: FloorLevel
    worst_pair: FloorLevel
    mean_class: FloorLevel
    worst_class: FloorLevel
    worst_pair_classes: tuple[Any, Any]
    worst_class_label: Any


@dataclass(frozen=True, eq=False, repr=False)
class TransformComparison(PlottedResult, display="TransformComparisonDisplay"):
    """Transforms of the same rows, ranked by the floor that each leaves.

    `frame` has a row for each transform, the best first.

    First comes the transform with the lowest floor. Where others cannot be told from it, the one of these with the
    fewest dimensions goes first, and any that can be applied to new rows before one that cannot. Then the same among
    the rest, and so on.

    Attributes
    ----------
    transforms : tuple of TransformFloors
        The best first.
    criterion : {"whole", "mean", "worst"}
        Which floor ranks them.
    difference : ndarray of shape (n_transforms, n_transforms)
        By how much the criterion's floor of one transform is above that of another.
    difference_interval : ndarray of shape (n_transforms, n_transforms, 2)
        Confidence intervals of that. The same rows and labels are behind both, so they are narrower than two
        intervals side by side suggest.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    pair_floor : ndarray of shape (n_transforms, n_pairs)
        Floor of each pair of classes: (0, 1), (0, 2), ..., (1, 2), ...
    pair_interval : ndarray of shape (n_transforms, n_pairs, 2)
        Their confidence intervals.
    pair_best : ndarray of shape (n_pairs,)
        Which transform is the best for each pair, by the same rule.
    n_rows, n_samples : int
        Rows that the floors come from, and rows that there were.
    held_out : bool
        Whether floors are means over two halves of the rows, because some transform learns from labels.
    confidence : float
        Level of the intervals, and of the differences that count.
    findings : tuple of Finding
        What a reader should know.
    """

    transforms: tuple[TransformFloors, ...]
    criterion: str
    difference: Floats
    difference_interval: Floats
    classes: NDArray[Any]
    pair_floor: Floats
    pair_interval: Floats
    pair_best: Ints
    n_rows: int
    n_samples: int
    held_out: bool
    confidence: float
    findings: tuple[Finding, ...]

    @property
    def names(self) -> list[str]:
        """Names of the transforms, the best first."""
        return [each.name for each in self.transforms]

    @property
    def best(self) -> str:
        """Name of the best transform."""
        return self.transforms[0].name

    def distinguishable(self, first: str, second: str) -> bool:
        """Tell whether the floors of two transforms differ: whether the interval of their difference leaves out 0."""
        low, high = self.difference_interval[self._place(first), self._place(second)]
        return bool(low > 0.0 or high < 0.0)

    def best_for(self, first: Any, second: Any) -> str:
        """Name the best transform for the problem of two classes."""
        labels = self.classes.tolist()
        for label in (first, second):
            if label not in labels:
                raise ValueError(f"{shown(label)} is not one of the classes {listed(list(map(shown, labels)))}")
        a, b = sorted((labels.index(first), labels.index(second)))
        if a == b:
            raise ValueError(f"a pair needs two different classes, got {shown(first)} twice")
        starts, ends = pairs_of(len(labels))
        return self.names[self.pair_best[np.flatnonzero((starts == a) & (ends == b))[0]]]

    def _columns(self) -> dict[str, Any]:
        """Return a row for each transform, the best first.

        ``difference`` is by how much the criterion's floor is above that of the first, with its confidence interval;
        ``distinguishable`` whether that leaves out 0.
        """
        columns: dict[str, Any] = {
            "rank": np.arange(1, len(self.transforms) + 1),
            "transform": self.names,
            "n_features": [each.n_features for each in self.transforms],
            "seconds": [each.seconds for each in self.transforms],
            "takes_new_rows": [each.takes_new_rows for each in self.transforms],
        }
        for figure in FIGURES:
            levels: list[FloorLevel] = [getattr(each, figure) for each in self.transforms]
            columns[figure] = [level.floor for level in levels]
            columns[f"{figure}_low"] = [level.low for level in levels]
            columns[f"{figure}_high"] = [level.high for level in levels]
        columns["difference"] = self.difference[:, 0]
        columns["difference_low"], columns["difference_high"] = self.difference_interval[:, 0].T
        columns["distinguishable"] = [self.distinguishable(name, self.best) for name in self.names]
        return columns

    def pairs(self) -> Any:
        """Return a data frame with one row per pair of classes and the best transform for it."""
        first, second = pairs_of(len(self.classes))
        every = np.arange(len(first))
        lowest = self.pair_floor.argmin(axis=0)
        return self._frame_of(
            {
                "first": self.classes[first],
                "second": self.classes[second],
                "transform": [self.names[place] for place in self.pair_best],
                "n_features": [self.transforms[place].n_features for place in self.pair_best],
                "floor": self.pair_floor[self.pair_best, every],
                "interval_low": self.pair_interval[self.pair_best, every, 0],
                "interval_high": self.pair_interval[self.pair_best, every, 1],
                "lowest_transform": [self.names[place] for place in lowest],
                "lowest_floor": self.pair_floor[lowest, every],
            }
        )

    def _drawn(self, names: Iterable[str]) -> dict[str, Any]:
        ranked_by = MEASURE_OF[self.criterion]
        return super()._drawn(names) | {"measure": ranked_by, "ranked_by": ranked_by}

    def __repr__(self) -> str:
        first = self.transforms[0]
        alike = [shown(name) for name in self.names[1:] if not self.distinguishable(name, first.name)]
        as_good = f"; not distinguishable from {listed(alike)}" if alike else ""
        return (
            f"TransformComparison(best of {len(self.transforms)}: {shown(first.name)}, {first.n_features} features, "
            f"floor {first.whole.floor:.4f}{as_good})"
        )

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"{shown(name)} is not one of the transforms {listed(list(map(shown, self.names)))}")
        return self.names.index(name)
