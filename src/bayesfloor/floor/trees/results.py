"""What the functions of this room return: frozen records with a one-line repr, data frames and pictures."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesfloor.display import ClassFloorsDisplay
from bayesfloor.floor.trees.henze_penrose import confusion_rate
from bayesfloor.runtime.arrays import Floats, Ints, Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import PlottedResult, Result, columns_of
from bayesfloor.runtime.text import shown
from bayesfloor.tree import build_class_tree

Value = TypeVar("Value")
Interval = TypeVar("Interval")

#: What every data frame of floors shows.
_ROWS = "estimate interval lower upper normalized cross_edges=cross_edges.mean p_value"


def _hardest_first(estimate: Floats, low: Floats, largest: Floats) -> Ints:
    """Order floors by the lower end of their intervals, each as a share of the largest value that the floor can have.

    By the lower end, so that a class of a few rows is not first by chance. Of equals, and there are many at 0 and at
    1, the higher floor goes first, then the one that comes first.
    """
    surely = np.minimum(np.round(low / np.maximum(largest, 1e-300), 12), 1.0)
    return np.lexsort((-estimate, -surely))


def _figures(floors: "Floors[Floats, Floats]", problem: Any) -> tuple[float, Range, float]:
    """Return the floor of one of many problems, its interval, and the normalized floor."""
    low, high = floors.interval[problem].tolist()
    return float(floors.estimate[problem]), (low, high), float(floors.normalized[problem])


def _pair_columns(classes: NDArray[Any], counts: dict[str, Ints], matrices: dict[str, Any]) -> dict[str, Any]:
    """Return a row for each pair of classes, with its entries of some matrices."""
    pairs = first, second = np.triu_indices(len(classes), 1)
    names = {"first": classes[first], "second": classes[second]}
    return columns_of(names | counts | {name: values[pairs] for name, values in matrices.items()})


@dataclass(frozen=True, eq=False, repr=False)
class CrossEdgeCount(Result, Generic[Value, Interval], says="mean forced n_trees"):
    """Cross edges that floors rest on: numbers for one problem, arrays for many.

    Attributes
    ----------
    mean : float or ndarray
        Label-averaged cross edges per tree, before any correction.
    interval : (float, float) or ndarray
        Confidence interval of the mean.
    forced : float or ndarray
        Edges per tree that are there only to join classes that share no point.
    n_trees : int
        Trees asked for.
    """

    mean: Value
    interval: Interval
    forced: Value
    n_trees: int

    def _each(self, convert: Callable[[Any], Any]) -> "CrossEdgeCount[Any, Any]":
        """Return the same with all figures converted, as to another shape."""
        return CrossEdgeCount(convert(self.mean), convert(self.interval), convert(self.forced), self.n_trees)


@dataclass(frozen=True, eq=False, repr=False)
class Floors(Result, Generic[Value, Interval]):
    """Floors with everything that goes with them: numbers and their intervals for one problem, arrays for many."""

    estimate: Value
    lower: Value
    upper: Value
    interval: Interval
    lower_interval: Interval
    upper_interval: Interval
    normalized: Value
    cross_edges: CrossEdgeCount[Value, Interval]
    p_value: Value


@dataclass(frozen=True, eq=False, repr=False)
class BayesError(
    Floors[float, Range],
    says="estimate lower upper n_samples n_groups n_classes",
    rows=f"{_ROWS} n_samples n_rows n_classes",
):
    """The floor of a whole problem.

    Attributes
    ----------
    estimate : float
        The floor: the mean of the two bounds.
    lower, upper : float
        Bounds on the floor as the number of rows grows: equation (4) for two classes, those of
        Sekeh, Oselio and Hero for more.
    interval : (float, float)
        Confidence interval of the mean of `estimate` over samples of this size: what sampling
        alone may change. It is no interval of the Bayes error: the mean of two bounds is not that
        error, in two columns either, and in high dimension all three are too high (finding BF008).
    lower_interval, upper_interval : (float, float)
        The same for the two bounds.
    normalized : float
        `estimate` over its largest possible value, 1 − max prior.
    cross_edges : CrossEdgeCount
        Cross edges per tree: their `mean`, its `interval`, how many are `forced`, and `n_trees`.
    p_value : float
        Probability of so few cross edges if labels had nothing to do with the points.
    n_groups : int or None
        Groups of rows where they were given: the floor is that for rows of new groups.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts : ndarray of shape (n_classes,)
        Rows per class.
    n_samples, n_rows : int
        Rows given, and rows that have a label.
    confidence : float
        Level of the intervals.
    findings : tuple of Finding
        What a reader should know about the data.
    """

    classes: NDArray[Any]
    class_counts: Ints
    n_samples: int
    confidence: float
    findings: tuple[Finding, ...] = ()
    n_groups: int | None = None

    @property
    def n_rows(self) -> int:
        """Rows that have a label."""
        return int(self.class_counts.sum())

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def majority_error(self) -> float:
        """The error of always predicting the commonest class."""
        return 1.0 - float(self.class_counts.max()) / self.n_rows


class ClassPair(NamedTuple):
    """One pair of classes and its floor."""

    first: Any
    second: Any
    estimate: float
    interval: Range
    normalized: float


class ClassFloor(NamedTuple):
    """One class and the floor of telling it from all others."""

    label: Any
    n_rows: int
    estimate: float
    interval: Range
    normalized: float


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseBayesError(Floors[Floats, Floats], PlottedResult, display="PairwiseHeatmapDisplay"):
    """The floor of every pair of classes on its own.

    `frame` has a row for each pair, in the order of the classes.

    Matrices are symmetric with a zero diagonal; rows and columns follow `classes`.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels, sorted.
    estimate : ndarray of shape (K, K)
        The floor of each pair, among the rows of its two classes only.
    normalized : ndarray of shape (K, K)
        `estimate` over the smaller of the pair's two priors, equation (9).
    lower, upper : ndarray of shape (K, K)
        The bounds of equation (4).
    interval, lower_interval, upper_interval : ndarray of shape (K, K, 2)
        Confidence intervals of the three.
    cross_edges : CrossEdgeCount
        Cross edges per tree: their `mean` of shape (K, K), its `interval`, how many are `forced`, and `n_trees`.
    p_value : ndarray of shape (K, K)
        Probability of so few cross edges by chance; 1 on the diagonal.
    sum_of_pairs : (float, float)
        Bounds on the floor of the whole problem from those of all pairs.
    class_counts : ndarray of shape (K,)
        Rows per class.
    normalize : bool
        Whether `by_hardness` and `plot` are about the normalized floor rather than the floor itself.
    confidence : float
        Level of the intervals.
    findings : tuple of Finding
        What a reader should know about the data.
    """

    classes: NDArray[Any]
    sum_of_pairs: Range
    class_counts: Ints
    normalize: bool
    confidence: float
    findings: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        hardest = self.hardest(1)[0]
        return (
            f"PairwiseBayesError({len(self.classes)} classes, hardest pair {shown(hardest.first)} and "
            f"{shown(hardest.second)}: {hardest.estimate:.4f}, normalized {hardest.normalized:.4f})"
        )

    def by_hardness(self) -> Ints:
        """Return an array of shape (n_pairs, 2) with the codes of all pairs of classes, the hardest first.

        The hardest has the highest lower end of the interval of its normalized floor, or of the floor itself if
        `normalize` is off. A class of a few rows is therefore not first by chance.
        """
        first, second = np.triu_indices(len(self.classes), 1)
        largest = self._largest[first, second] if self.normalize else np.ones(len(first))
        estimate = self.normalized if self.normalize else self.estimate
        order = _hardest_first(estimate[first, second], self.interval[first, second, 0], largest)
        return np.column_stack([first, second])[order]

    def hardest(self, n: int | None = None) -> list[ClassPair]:
        """List the n hardest pairs, in the order of `by_hardness`; all pairs by default."""
        return [
            ClassPair(self.classes[a], self.classes[b], *_figures(self, (a, b)))
            for a, b in self.by_hardness()[:n].tolist()
        ]

    @property
    def _largest(self) -> Floats:
        """The smaller of the two priors of each pair: the largest value that its floor can have."""
        first, second = self.class_counts[:, None], self.class_counts[None, :]
        return np.asarray(np.minimum(first, second) / (first + second), dtype=np.float64)

    def _columns(self) -> dict[str, Any]:
        """Return a row for each pair, in the order of the classes."""
        first, second = np.triu_indices(len(self.classes), 1)
        counts = {"n_first": self.class_counts[first], "n_second": self.class_counts[second]}
        return _pair_columns(self.classes, counts, self._named(_ROWS.split()))

    def plot(self, ax: Any = None, *, order: Any = "tree", **options: Any) -> Any:
        """Draw the heat map of all pairs; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        order : "tree", "name" or sequence of labels, default="tree"
            The order of the classes. "tree" is that of the class tree of the normalized floors: classes next to each
            other are hard to tell apart.
        **options
            Further parameters of `PairwiseHeatmapDisplay` and of its ``plot``.

        Returns
        -------
        PairwiseHeatmapDisplay
        """
        if isinstance(order, str) and order == "tree":
            order = build_class_tree(self.normalized, self.classes).leaves
        return super().plot(ax, order=order, **options)

    def _drawn(self, names: Iterable[str]) -> dict[str, Any]:
        """Return what is drawn: the normalized floors, unless `normalize` is off."""
        drawn = {"values": self.estimate, "quantity": "floor"}
        if self.normalize:
            interval = np.minimum(self.interval / self._largest[..., None], 1.0)
            drawn = {"values": self.normalized, "interval": interval, "quantity": "normalized floor"}
        return super()._drawn(names) | drawn


@dataclass(frozen=True, eq=False, repr=False)
class OneVsRestBayesError(Floors[Floats, Floats], rows=f"class=classes n=class_counts {_ROWS}"):
    """The floor of telling each class from all others together.

    `frame` has a row for each class.

    It is Q_{e,k} of the paper's appendix A, the floor of class k and the mixture of all others, and never above
    P_{e,k} of equation (11), the errors about class k of the rule that is best for all classes at once.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels, sorted.
    estimate : ndarray of shape (K,)
        The floor of each class against the rest, among all rows.
    normalized : ndarray of shape (K,)
        `estimate` over the smaller of p_k and 1 − p_k.
    lower, upper : ndarray of shape (K,)
        The bounds of equation (4) for class k and the mixture of the others.
    interval, lower_interval, upper_interval : ndarray of shape (K, 2)
        Confidence intervals of the three.
    cross_edges : CrossEdgeCount
        Cross edges per tree: their `mean` of shape (K,), its `interval`, how many are `forced`, and `n_trees`.
    p_value : ndarray of shape (K,)
        Probability of so few cross edges by chance.
    class_counts : ndarray of shape (K,)
        Rows per class.
    confidence : float
        Level of the intervals.
    findings : tuple of Finding
        What a reader should know about the data.
    """

    classes: NDArray[Any]
    class_counts: Ints
    confidence: float
    findings: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        hardest = self.hardest(1)[0]
        return (
            f"OneVsRestBayesError({len(self.classes)} classes, hardest {shown(hardest.label)}: {hardest.estimate:.4f}, "
            f"normalized {hardest.normalized:.4f})"
        )

    def by_hardness(self) -> Ints:
        """Return the codes of all classes, the hardest first: by the lower end of the normalized floor's interval."""
        return _hardest_first(self.normalized, self.interval[:, 0], self._largest)

    def hardest(self, n: int | None = None) -> list[ClassFloor]:
        """List the n hardest classes, in the order of `by_hardness`; all classes by default."""
        return [
            ClassFloor(self.classes[k], int(self.class_counts[k]), *_figures(self, k))
            for k in self.by_hardness()[:n].tolist()
        ]

    @property
    def _largest(self) -> Floats:
        """The smaller of p_k and 1 − p_k: the largest value that the floor of each class can have."""
        priors = self.class_counts / self.class_counts.sum()
        return np.asarray(np.minimum(priors, 1 - priors), dtype=np.float64)

    def plot(
        self, ax: Any = None, *, normalize: bool = False, y_true: Any = None, y_pred: Any = None, order: Any = "floor"
    ) -> ClassFloorsDisplay:
        """Draw the floors of all classes with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        normalize : bool, default=False
            Draw the floors as shares of the largest that they could be, the smaller of p_k and 1 − p_k. This shows
            which classes are hard; the floors themselves also show which are large.
        y_true, y_pred : array-like, optional
            Labels of rows that a classifier has not seen, and what it took them for. Adds the confusion rate C_k,
            the share of rows wrongly put into class k or wrongly kept out of it, which compares with floors that are
            not normalized.
        order : "floor", "name" or sequence of labels, default="floor"
            The classes from top to bottom: the highest floor first, in the order of `classes`, or as given.

        Returns
        -------
        ClassFloorsDisplay
        """
        confusion = _confusion_rates(y_true, y_pred, self.classes)
        if normalize and confusion is not None:
            raise ValueError("The confusion rate compares with floors that are not normalized: leave normalize off")
        values, interval, quantity = self.estimate, self.interval, "floor"
        if normalize:
            interval = np.minimum(interval / self._largest[:, None], 1.0)
            values, quantity = self.normalized, "normalized floor"
        display = ClassFloorsDisplay(
            values,
            self.classes,
            interval=interval,
            confidence=self.confidence,
            confusion=confusion,
            quantity=quantity,
        )
        return display.plot(ax, order=order)


def _confusion_rates(y_true: Any, y_pred: Any, classes: NDArray[Any]) -> Floats | None:
    """Return C_k of each class, or None where there are no predictions."""
    if y_true is None and y_pred is None:
        return None
    if y_true is None or y_pred is None:
        raise ValueError("y_true and y_pred go together: give both or neither")
    known = set(classes.tolist())
    for name, labels in (("y_true", y_true), ("y_pred", y_pred)):
        strange = [label for label in dict.fromkeys(np.asarray(labels).tolist()) if label not in known]
        if strange:
            raise ValueError(f"{name} holds labels that have no floor: {', '.join(map(shown, strange[:10]))}")
    if not len(np.asarray(y_true)):
        raise ValueError("y_true is empty")
    return np.array([confusion_rate(y_true, y_pred, label) for label in classes.tolist()])


@dataclass(frozen=True, eq=False, repr=False)
class HenzePenroseDivergence(Result):
    """The Henze-Penrose divergence between every two classes: 0 the same, 1 disjoint.

    `frame` has a row for each pair, in the order of the classes.

    ``float(...)`` gives the number itself when there are two classes.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        The labels, sorted.
    estimate : ndarray of shape (K, K)
        The divergence of each pair, equation (3).
    interval : ndarray of shape (K, K, 2)
        Its confidence interval.
    cross_edges : CrossEdgeCount
        Cross edges per tree: their `mean` of shape (K, K), its `interval`, how many are `forced`, and `n_trees`.
    class_counts : ndarray of shape (K,)
        Rows per class.
    confidence : float
        Level of the intervals.
    findings : tuple of Finding
        What a reader should know about the data.
    """

    classes: NDArray[Any]
    estimate: Floats
    interval: Floats
    cross_edges: CrossEdgeCount[Floats, Floats]
    class_counts: Ints
    confidence: float
    findings: tuple[Finding, ...] = ()

    def __float__(self) -> float:
        if len(self.classes) != 2:
            raise TypeError(
                f"{len(self.classes)} classes have {len(self.classes)} x {len(self.classes)} "
                "divergences, not one number; see .estimate"
            )
        return float(self.estimate[0, 1])

    def __repr__(self) -> str:
        first, second = np.triu_indices(len(self.classes), 1)
        values = self.estimate[first, second]
        shown = f"{values[0]:.4f}" if len(values) == 1 else f"{values.min():.4f} to {values.max():.4f}"
        return f"HenzePenroseDivergence({shown}, {len(self.classes)} classes)"

    def _columns(self) -> dict[str, Any]:
        """Return a row for each pair, in the order of the classes."""
        return _pair_columns(self.classes, {}, self._named(("estimate", "interval", "cross_edges=cross_edges.mean")))
