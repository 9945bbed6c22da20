"""Which representation of the data keeps the classes apart: transforms compared by the floor they leave.

A transform that never sees labels cannot flatter itself, and is fitted to all rows. One that learns from labels can: on
the rows that it was fitted to, classes look farther apart than they are. If there is such a one, rows are cut into two
halves. It is fitted to one half and its floor is measured on the other, both ways, and *all* transforms are measured
on these halves, since a floor of fewer rows comes out higher and would not compare with one of all rows.
"""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.manifold import SpectralEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, RobustScaler, StandardScaler
from sklearn.utils import _safe_indexing, get_tags

from bayesfloor.choose.floor_levels import (
    CRITERIA,
    FloorSet,
    class_floors,
    difference_interval,
    mean_of_halves,
    pair_floors,
    whole_floor,
)
from bayesfloor.choose.transform_results import TransformComparison, TransformFloors
from bayesfloor.data.folds import grouped_folds
from bayesfloor.data.labels import check_labels
from bayesfloor.data.points import check_points
from bayesfloor.data.prepared_table import Table, points_and_labels
from bayesfloor.data.row_groups import check_groups
from bayesfloor.data.sampling import CHOICE_ROWS, halves, stratified_rows
from bayesfloor.floor.trees.cross_edges import pairs_of
from bayesfloor.floor.trees.problem import Options, check_options
from bayesfloor.forest import class_forests
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.checks import ParameterError, check_max_rows, check_option
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.frames import column_named, like_input
from bayesfloor.runtime.text import listed, shown
from bayesfloor.tables.arguments import table_of

#: Coordinates of the larger principal-component and eigenmap transforms; the smaller ones have 2.
_N_COMPONENTS = 10
#: Landmarks of the Nystroem approximation of the radial kernel, which are its features.
_N_LANDMARKS = 100


def default_transforms(n_rows: int, n_features: int) -> dict[str, Any]:
    """Return transforms by name.

    Scalers change which features distances see; principal components and Laplacian eigenmaps reduce the
    dimension; the radial kernel's map leaves the order of distances as it is, up to its approximation, and with it the
    floor. It is there to show that a kernel adds no information, whatever it does for linear classifiers.

    Parameters
    ----------
    n_rows, n_features : int
        Shape of the data. Maps to more dimensions than that are left out.

    Returns
    -------
    dict
    """
    transforms: dict[str, Any] = {
        "as it is": "passthrough",
        "standardised": StandardScaler(),
        "median and quartiles": RobustScaler(),
        "normal scores": QuantileTransformer(n_quantiles=min(1000, n_rows), output_distribution="normal"),
    }
    for n_components in (2, _N_COMPONENTS):
        if n_components < min(n_rows, n_features):
            name = f"{n_components} principal components"
            transforms[name] = make_pipeline(StandardScaler(), PCA(n_components, random_state=0))
        if n_components + 1 < n_rows:
            name = f"{n_components} Laplacian eigenmaps"
            transforms[name] = make_pipeline(StandardScaler(), SpectralEmbedding(n_components, random_state=0))
    landmarks = min(_N_LANDMARKS, n_rows)
    transforms["radial kernel"] = make_pipeline(StandardScaler(), Nystroem(n_components=landmarks, random_state=0))
    return transforms


def check_transforms(transforms: Any, X: Any) -> dict[str, Any]:
    """Return the transforms by name; X has the shape that the default set is made for."""
    if isinstance(transforms, str) and transforms == "default":
        return default_transforms(*check_points(X).shape)
    if not isinstance(transforms, Mapping) or not transforms:
        raise ParameterError("transforms", "a dict of transformers by name, or 'default'", transforms)
    for name, transform in transforms.items():
        if not isinstance(name, str):
            raise TypeError(f"Names of transforms must be text, got {name!r}.")
        _check_transform(name, transform)
    return dict(transforms)


def _check_transform(name: str, transform: Any) -> None:
    if isinstance(transform, str) and transform == "passthrough":
        return
    if isinstance(transform, type) or not (hasattr(transform, "fit_transform") or hasattr(transform, "transform")):
        raise TypeError(f"Transform {shown(name)} must be a transformer or 'passthrough'; got {transform!r}.")
    if needs_labels(transform) and not takes_new_rows(transform):
        raise TypeError(
            f"Transform {shown(name)} learns from the labels and has no transform() for other rows, so its floor could "
            "only be measured on labels that it has seen."
        )


def takes_new_rows(transform: Any) -> bool:
    """Tell whether a transform can be applied to rows that it was not fitted to."""
    return isinstance(transform, str) or hasattr(transform, "transform")


def needs_labels(transform: Any) -> bool:
    """Tell whether a transformer, or any estimator among its parameters, is fitted to labels."""
    if not hasattr(transform, "get_params"):
        return False
    parts = [transform, *transform.get_params(deep=True).values()]
    return any(hasattr(part, "fit") and not isinstance(part, type) and _is_supervised(part) for part in parts)


def _is_supervised(estimator: Any) -> bool:
    """Tell by the tag, or by the arguments: not all that need labels are tagged, such as SelectKBest and PLS."""
    try:
        tagged = bool(get_tags(estimator).target_tags.required)
    except (AttributeError, TypeError):  # an estimator of another library that has no tags
        tagged = False
    return tagged or _requires_y(estimator.fit) or _requires_y(getattr(estimator, "score_func", None))


def _requires_y(function: Any) -> bool:
    if not callable(function):
        return False
    argument = inspect.signature(function).parameters.get("y")
    return argument is not None and argument.default is inspect.Parameter.empty


def check_halves(learning: list[str], classes: NDArray[Any], codes: Ints) -> None:
    """Refuse to measure on halves of the rows where a class would be missing from one."""
    alone = np.flatnonzero(np.bincount(codes) < 2)
    if len(alone):
        raise ValueError(
            f"Transform {shown(learning[0])} learns from the labels, so floors are measured on halves of the rows. "
            f"That takes two rows of each class; there is one of {listed([shown(classes[k]) for k in alone])}."
        )


def check_group_halves(learning: list[str], classes: NDArray[Any], halves: list[Ints]) -> None:
    """Refuse to measure on halves of the groups where a class is missing from one."""
    missing = sorted({k for half in halves for k in np.setdiff1d(np.arange(len(classes)), half).tolist()})
    if missing:
        few = listed([shown(classes[k]) for k in missing])
        raise ValueError(
            f"Transform {shown(learning[0])} learns from the labels, so floors are measured on halves of the groups. "
            f"That takes groups of each class in both; there are too few of {few}."
        )


def find_in_transforms(by_name: dict[str, Any], n_rows: int, n_samples: int) -> Iterator[Finding]:
    """Say what bears on the comparison."""
    learning = [shown(name) for name, transform in by_name.items() if needs_labels(transform)]
    if learning:
        plural = "transforms learn" if len(learning) > 1 else "transform learns"
        yield Finding(
            "BF031",
            f"{len(learning)} {plural} from the labels: {listed(learning)}. All floors are means over two halves "
            f"of the {n_rows} rows, each measured with what such a transform learned from the other half.",
            "They compare with each other, and are higher than floors of all rows would be.",
        )
    if n_rows < n_samples:
        yield Finding(
            "BF032",
            f"The floors come from {n_rows} of the {n_samples} rows, the same share of each class.",
            "Raise max_rows to use more.",
        )
    fixed = [shown(name) for name, transform in by_name.items() if not takes_new_rows(transform)]
    if fixed:
        plural = "transforms have" if len(fixed) > 1 else "transform has"
        yield Finding(
            "BF033",
            f"{len(fixed)} {plural} no transform() for rows that come later: {listed(fixed)}.",
            "Their floors tell about these rows; a classifier for new ones needs another map.",
        )


@like_input
def compare_transforms(
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    transforms: Any = "default",
    criterion: str = "whole",
    max_rows: int | None = None,
    n_trees: int = 3,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    device: Any = "auto",
    random_state: Any = 0,
    client: Any = None,
) -> TransformComparison:
    """Compare transforms of the data by the floor that is left after each.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features), or Table
        The data, as the transforms take it. A `Table` from `read_table` has its labels with it.
    y : array-like or series of shape (n_samples,), default=None
        The labels, of any type that can be sorted; left out with a Table.
    groups : array-like of shape (n_samples,), default=None
        Rows that belong together, such as those of one patient, have the same value. Floors are then those of rows of
        new groups, and no group is in both halves (BF031). None for the groups of a Table, if it has any.
    transforms : dict or "default", default="default"
        Transformers by name, or "passthrough" for the data as it is. They are cloned, never fitted themselves.
        "default" is a set of scalers, principal components, Laplacian eigenmaps and a radial kernel.
    criterion : {"whole", "mean", "worst"}, default="whole"
        The floor that ranks them: of the whole problem, the mean over all pairs of classes, or that of the worst pair.
    max_rows : int or None, default=None
        Use at most so many rows, chosen by the seed, with the same share of each class; None for 5000
        (`data.sampling.CHOICE_ROWS`).
    n_trees : int, default=3
        How many edge-disjoint spanning trees to count in.
    confidence : float, default=0.95
        Level of the intervals, and of the differences that count.
    n_jobs, device, client
        As for `bayes_error`.
    random_state : int, None or random generator, default=0
        Seed of the choice of rows, of the halves and of how ties are broken. Transforms have their own.

    Returns
    -------
    TransformComparison
        A ranked table, the best transform for every pair of classes, and findings.

    Notes
    -----
    A transform is given the labels only if it, or any estimator inside it, cannot do without. Floors are then measured
    on rows that it has not seen (finding BF031).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bayesfloor import compare_transforms
    >>> X, y = load_wine(return_X_y=True)
    >>> compared = compare_transforms(X, y, transforms={"raw": "passthrough", "standardised": StandardScaler()})
    >>> compared.best, compared.distinguishable("raw", "standardised")
    ('standardised', True)
    """
    check_option("criterion", criterion, CRITERIA)
    options = check_options(
        n_trees=n_trees, confidence=confidence, n_jobs=n_jobs, device=device, random_state=random_state, client=client
    )
    if column_named(X, y) is not None:  # a whole table; any other frame is left to the transforms
        X, y, groups = table_of(X, y, groups=groups), None, None
    groups = X.groups if groups is None and isinstance(X, Table) else groups
    X, y = points_and_labels(X, y)
    n_given = X.shape[0] if hasattr(X, "shape") else len(X)
    classes, codes = check_labels(y, n_given)
    groups = check_groups(groups, n_given)
    keys = np.random.default_rng(options.random_state).integers(2**64, size=n_given, dtype=np.uint64)
    rows = stratified_rows(codes, check_max_rows(max_rows, len(classes), CHOICE_ROWS), keys)
    if len(rows) < n_given:
        X, codes, keys = _safe_indexing(X, rows), codes[rows], keys[rows]
        groups = None if groups is None else np.unique(groups[rows], return_inverse=True)[1]
    by_name = check_transforms(transforms, X)
    learning = [name for name, transform in by_name.items() if needs_labels(transform)]
    parts: tuple[Any, ...] = (slice(None),)
    if learning:
        check_halves(learning, classes, codes)
        parts = halves(codes, keys)
        if groups is not None:
            half = grouped_folds(codes, groups, 2, keys, spread_classes=True)
            parts = np.flatnonzero(half == 0), np.flatnonzero(half == 1)
            check_group_halves(learning, classes, [codes[part] for part in parts])
    data = _Data(X, classes, codes, groups, parts)

    measured = _ranked([_measure(name, transform, data, options) for name, transform in by_name.items()], criterion)
    by_criterion = [each.by_criterion(criterion) for each in measured]
    floors = np.array([each.floor[0] for each in by_criterion])
    intervals = np.array([[np.concatenate(difference_interval(a, b)) for b in by_criterion] for a in by_criterion])
    intervals[np.diag_indices(len(measured))] = 0.0
    return TransformComparison(
        transforms=tuple(each.summary(classes) for each in measured),
        criterion=criterion,
        difference=floors[:, None] - floors[None, :],
        difference_interval=intervals,
        classes=classes,
        pair_floor=np.array([each.pairs.floor for each in measured]),
        pair_interval=np.array([each.pairs.interval for each in measured]),
        pair_best=_best_for_pairs(measured),
        n_rows=len(rows),
        n_samples=n_given,
        held_out=bool(learning),
        confidence=options.confidence,
        findings=tuple(find_in_transforms(by_name, len(rows), n_given)),
    )


@dataclass(frozen=True, eq=False)
class _Data:
    """What transforms are given, and the parts of the rows on which floors are measured: all, or two halves."""

    X: Any
    classes: NDArray[Any]
    codes: Ints
    groups: Ints | None
    parts: tuple[Any, ...]

    def groups_of(self, part: Any) -> Ints | None:
        """Return the groups of some rows, counted from 0."""
        return None if self.groups is None else np.unique(self.groups[part], return_inverse=True)[1]


@dataclass(frozen=True, eq=False)
class _Measured:
    """All floors of one transform."""

    name: str
    n_features: int
    seconds: float
    takes_new_rows: bool
    whole: FloorSet
    of_classes: FloorSet
    pairs: FloorSet

    @property
    def inconvenience(self) -> tuple[bool, int]:
        """What decides between equals: a map that leaves out new rows is no use to a classifier; then the dimension."""
        return not self.takes_new_rows, self.n_features

    def by_criterion(self, criterion: str) -> FloorSet:
        if criterion == "whole":
            return self.whole
        return self.pairs.mean() if criterion == "mean" else self.pairs.among(np.array([self.pairs.worst]))

    def summary(self, classes: NDArray[Any]) -> TransformFloors:
        first, second = pairs_of(len(classes))
        worst_pair, worst_class = self.pairs.worst, self.of_classes.worst
        return TransformFloors(
            name=self.name,
            n_features=self.n_features,
            seconds=self.seconds,
            takes_new_rows=self.takes_new_rows,
            whole=self.whole.level(),
            mean_pair=self.pairs.mean().level(),
            worst_pair=self.pairs.level(worst_pair),
            mean_class=self.of_classes.mean().level(),
            worst_class=self.of_classes.level(worst_class),
            worst_pair_classes=(classes[first[worst_pair]], classes[second[worst_pair]]),
            worst_class_label=classes[worst_class],
        )


def _measure(name: str, transform: Any, data: _Data, options: Options) -> _Measured:
    """Apply a transform and measure all floors of what it makes of the data."""
    started = perf_counter()
    if needs_labels(transform):
        first, second = data.parts
        views = [_held_out(name, transform, data, second, first), _held_out(name, transform, data, first, second)]
    else:
        points = _transformed(name, transform, data.X, len(data.codes))
        views = [points[part] for part in data.parts]
    seconds = (perf_counter() - started) / (2.0 if needs_labels(transform) else 1.0)
    floors = [
        _floors(view, data.codes[part], len(data.classes), options, data.groups_of(part))
        for view, part in zip(views, data.parts, strict=True)
    ]
    whole, of_classes, pairs = floors[0] if len(floors) == 1 else map(mean_of_halves, *floors)
    n_features = max(points.shape[1] for points in views)
    return _Measured(name, n_features, seconds, takes_new_rows(transform), whole, of_classes, pairs)


def _transformed(name: str, transform: Any, X: Any, n_rows: int) -> Floats:
    """Fit a transform to all rows, without labels, and apply it to them."""
    if isinstance(transform, str):
        return _points(name, X, n_rows)
    transform = clone(transform)
    with _naming(name):
        output = transform.fit_transform(X) if hasattr(transform, "fit_transform") else transform.fit(X).transform(X)
    return _points(name, output, n_rows)


def _held_out(name: str, transform: Any, data: _Data, fitted_to: Ints, rows: Ints) -> Floats:
    """Fit a transform to some rows with their labels, and apply it to others."""
    labels = data.classes[data.codes[fitted_to]]
    with _naming(name):
        fitted = clone(transform).fit(_safe_indexing(data.X, fitted_to), labels)
        output = fitted.transform(_safe_indexing(data.X, rows))
    return _points(name, output, len(rows))


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Name the transform in a note on any error that it raises."""
    try:
        yield
    except Exception as error:
        error.add_note(f"This came up in transform {shown(name)}.")
        raise


def _points(name: str, output: Any, n_rows: int) -> Floats:
    """Check what a transform returned."""
    try:
        points = check_points(output)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The output of transform {shown(name)} cannot be measured: {error}") from error
    if len(points) != n_rows:
        raise ValueError(f"Transform {shown(name)} made {len(points)} rows of {n_rows}.")
    return points


def _floors(
    points: Floats, codes: Ints, n_classes: int, options: Options, groups: Ints | None
) -> tuple[FloorSet, FloorSet, FloorSet]:
    """Measure the whole problem, each class and each pair from one pass."""
    forests = class_forests(points, codes, **options.engine(options.random_state))
    return (
        whole_floor(forests.whole, codes, n_classes, options, directed=True, groups=groups),
        class_floors(forests.whole, codes, n_classes, options, groups),
        pair_floors(forests, codes, options, directed=True, groups=groups),
    )


def _ranked(measured: list[_Measured], criterion: str) -> list[_Measured]:
    """Order transforms: of those that cannot be told from the lowest floor, the most convenient first."""
    left, ranked = [(each, each.by_criterion(criterion)) for each in measured], []
    while left:
        _, lowest = min(left, key=lambda pair: pair[1].floor[0])
        alike = [pair for pair in left if not _is_higher(pair[1], lowest)[0]]
        best = min(alike, key=lambda pair: (*pair[0].inconvenience, pair[1].floor[0]))
        left.remove(best)
        ranked.append(best[0])
    return ranked


def _best_for_pairs(measured: list[_Measured]) -> Ints:
    """Choose a transform for each pair of classes by the same rule."""
    floors = np.array([each.pairs.floor for each in measured])
    lowest = floors.argmin(axis=0)
    by_convenience = sorted(range(len(measured)), key=lambda place: measured[place].inconvenience)
    best = np.empty_like(lowest)
    for place in np.unique(lowest):
        problems = np.flatnonzero(lowest == place)
        reference = measured[place].pairs.among(problems)
        alike = np.array([~_is_higher(measured[other].pairs.among(problems), reference) for other in by_convenience])
        best[problems] = np.array(by_convenience)[alike.argmax(axis=0)]
    return best


def _is_higher(floors: FloorSet, reference: FloorSet) -> Bools:
    """Tell which floors are above those of another representation by more than chance would explain."""
    return difference_interval(floors, reference)[0] > 0.0
