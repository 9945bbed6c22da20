"""Which features carry the information: selection by the floor, as a scikit-learn selector.

A search compares many sets of columns of the same rows. `ClassColumns` and `NumberColumns` choose those rows once, by
their values and the seed, and answer the same three questions: the floor without any column (`start`), a quick figure
for a candidate (`level`) and the floor of what was chosen (`floor`), with classes a full estimate.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesfloor.choose.floor_levels import FloorLevel, level_without_features, whole_floor
from bayesfloor.choose.linear_residuals import quick_noise, standard_columns
from bayesfloor.choose.search import (
    Groups,
    SelectionPath,
    SelectionStep,
    Step,
    n_candidates_at_most,
    search_backward,
    search_forward,
)
from bayesfloor.data.numbers import TASKS
from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import CHOICE_ROWS, stratified_rows
from bayesfloor.floor.trees.assembly import count_cross_edges, whole_result
from bayesfloor.floor.trees.problem import Options, Progress, check_options
from bayesfloor.floor.trees.results import BayesError
from bayesfloor.forest import spanning_forests
from bayesfloor.runtime.arrays import Bools, Floats, Ints
from bayesfloor.runtime.checks import ParameterError, check_max_rows, check_option, is_int
from bayesfloor.runtime.frames import like_input, with_text_names
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.text import shown
from bayesfloor.runtime.threads import WorkerPool, supervise
from bayesfloor.tables.arguments import check_problem


@dataclass(frozen=True, eq=False)
class ClassColumns:
    """A sample of rows with classes, and their floor to lower."""

    sample: Problem
    n_samples: int
    options: Options

    @classmethod
    def choose(cls, problem: Problem, max_rows: int | None, options: Options) -> Self:
        """Choose rows, with the same share of each class."""
        most = check_max_rows(max_rows, len(problem.classes), CHOICE_ROWS)
        sample = problem.take(stratified_rows(problem.codes, most, problem.keys(options.random_state)))
        return cls(sample, len(problem.X), options)

    @property
    def start(self) -> FloorLevel:
        """The error of always predicting the commonest class."""
        return level_without_features(self.sample.class_counts)

    def level(self, columns: Ints) -> FloorLevel:
        """Return the floor with some columns."""
        sample, options = self.sample, self.options
        forests = spanning_forests(np.ascontiguousarray(sample.X[:, columns]), **options.engine(options.random_state))
        n_classes = len(sample.classes)
        return whole_floor(forests, sample.codes, n_classes, options, directed=False, groups=sample.groups).level()

    def floor(self, columns: Ints, n_jobs: int | None) -> BayesError:
        """Return the floor of the whole problem."""
        sample, options = self.sample, replace(self.options, n_jobs=n_jobs)
        names = None if sample.feature_names is None else [sample.feature_names[column] for column in columns]
        part = replace(sample, X=np.ascontiguousarray(sample.X[:, columns]), feature_names=names)
        return whole_result(count_cross_edges(part, options, whole=True), part, options)


@dataclass(frozen=True, eq=False)
class NumberColumns:
    """A sample of rows with numbers; columns and target are standardised for the quick figure."""

    sample: Problem
    n_samples: int
    Z: Floats
    target: Floats
    options: Options

    @classmethod
    def choose(cls, problem: Problem, max_rows: int | None, options: Options) -> Self:
        """Choose rows, and put them into an order that depends on their values alone."""
        keys = problem.keys(options.random_state)
        rows = stratified_rows(problem.codes, check_max_rows(max_rows, 1, CHOICE_ROWS), keys)
        sample = problem.take(rows[np.argsort(keys[rows], kind="stable")])
        target = (sample.y - sample.y.mean()) / sample.y.std()
        return cls(sample, len(problem.X), standard_columns(sample.X), target, options)

    @property
    def start(self) -> FloorLevel:
        """The variance of y: without features all of it is noise."""
        return FloorLevel(1.0, 1.0, 1.0, 0.0)

    def level(self, columns: Ints) -> FloorLevel:
        """Return a quick estimate of the noise, as a share of the variance of y."""
        points = np.ascontiguousarray(self.Z[:, columns])
        noise, error = quick_noise(points, self.target, self.sample.groups, self.options)
        z = float(ndtri(0.5 + 0.5 * self.options.confidence))
        wide = np.exp(z * error / noise) if noise > 0 else 1.0
        return FloorLevel(noise, noise / wide, noise * wide, error)

    def floor(self, columns: Ints, n_jobs: int | None) -> FloorLevel:
        """Return the same: `regression_floor` is the full estimate."""
        return self.level(columns)


class FloorSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features with which the floor is lowest.

    Forward selection starts from nothing and adds the feature with the smallest resulting floor (Berisha, Wisler, Hero
    and Spanias 2016); backward selection starts from all and removes the one without which the floor is smallest. The
    floor is the Bayes error where y holds classes and the noise variance where it holds numbers. No model is trained.

    Parameters
    ----------
    n_features_to_select : int or "auto", default="auto"
        How many features to select, a group counting as one. "auto" adds features as long as each lowers the floor by
        more than its standard error, and removes them as long as the floor does not rise above the lowest so far by
        more than that. At least one feature is selected.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y holds classes or numbers; "auto" decides by its values.
    direction : {"forward", "backward"}, default="forward"
        Whether to add features or to remove them.
    feature_groups : sequence of sequences or None, default=None
        Columns that enter or leave together, such as the dummies of one categorical variable: names, or numbers
        from 0. A column in no group is on its own.
    max_rows : int or None, default=None
        Use at most so many rows, chosen by the seed, with the same share of each class; None for 5000
        (`data.sampling.CHOICE_ROWS`).
    n_trees : int, default=3
        How many edge-disjoint spanning trees to use.
    confidence : float, default=0.95
        Level of the intervals on the path.
    n_jobs : int or None, default=None
        How many sets of features to try at once, in threads; None for every core.
    random_state : int, None or random generator, default=0
        Seed of the choice of rows and of how ties are broken. None of it depends on the order of the rows.
    progress : bool or callable, default=False
        Show progress on a terminal, or call ``progress(done, total)``. "auto" may be done before the total.

    Attributes
    ----------
    support_ : ndarray of shape (`n_features_in_`,)
        Which features are selected.
    n_features_ : int
        How many are.
    path_ : SelectionPath
        The floor after every step, with ``frame()`` and ``plot()``. For numbers it is a share of the variance of y, one
        minus the best R².
    floor_ : BayesError or FloorLevel
        The floor of the whole problem with the selected features; with classes with findings. For numbers it is that of
        the path, and above the noise; `regression_floor` of the selected features is the full estimate.
    task_ : {"classification", "regression"}
        What y holds.
    n_rows_ : int
        How many rows were used.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; with classes only.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X has names that are all strings.

    See Also
    --------
    bayes_error : The floor of one set of features, for classes.
    regression_floor : The same for numbers.

    Notes
    -----
    The floors on the path are those of the best of many candidates, and so a little too low. And features that all
    help raise the floor when there are too many for the number of rows (finding BF008): this looks for a small set.

    Distances are Euclidean. For classes, scale the features as you would for neighbours. For numbers, features are
    standardised, and candidates are compared by a quick estimate: half the mean squared difference of what a linear
    function leaves, over the edges of all trees. It is above the noise where edges are long, and so prefers few
    features.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes, load_wine
    >>> from bayesfloor import FloorSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = FloorSelector().fit((X - X.mean()) / X.std(), y)
    >>> selector.get_feature_names_out().tolist()
    ['flavanoids', 'color_intensity', 'proline']

    y may hold numbers:

    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> FloorSelector().fit(X, y).get_feature_names_out().tolist()
    ['bmi', 's5', 's6']
    """

    def __init__(
        self,
        n_features_to_select: Any = "auto",
        *,
        task: str = "auto",
        direction: str = "forward",
        feature_groups: Sequence[Sequence[Any]] | None = None,
        max_rows: int | None = None,
        n_trees: int = 3,
        confidence: float = 0.95,
        n_jobs: int | None = None,
        random_state: Any = 0,
        progress: Progress = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.direction = direction
        self.feature_groups = feature_groups
        self.max_rows = max_rows
        self.n_trees = n_trees
        self.confidence = confidence
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    @like_input
    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Search for features.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.
        y : array-like or series of shape (n_samples,)
            The target: labels of any type that can be sorted, or finite numbers.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one patient, have the same value. The floor is then that of rows
            of new groups.

        Returns
        -------
        FloorSelector
            This selector.
        """
        options = check_options(
            n_trees=self.n_trees, confidence=self.confidence, n_jobs=1, random_state=self.random_state
        )
        floors = self._floors(X, y, groups, options)
        validate_data(self, with_text_names(X), skip_check_array=True)  # only n_features_in_, feature_names_in_
        columns_of = check_feature_groups(self.feature_groups, self.n_features_in_, floors.sample.feature_names)
        steps = self._search(floors, columns_of)
        selected = next(step.in_use for step in reversed(steps) if step.selected)
        columns = np.sort(np.concatenate([columns_of[group] for group in selected]))
        self.support_ = np.isin(np.arange(self.n_features_in_), columns)
        self.n_features_ = len(columns)
        self.floor_ = floors.floor(columns, self.n_jobs)
        self.n_rows_ = len(floors.sample.X)
        names = getattr(self, "feature_names_in_", [f"x{column}" for column in range(self.n_features_in_)])
        self.path_ = SelectionPath(
            tuple(_with_names(step, columns_of, names) for step in steps),
            direction=self.direction,
            criterion="whole" if self.task_ == "classification" else "noise",
            n_rows=self.n_rows_,
            n_samples=floors.n_samples,
            confidence=options.confidence,
        )
        return self

    def _floors(self, X: Any, y: Any, groups: Any, options: Options) -> ClassColumns | NumberColumns:
        """Check the data and choose the rows to search on."""
        check_option("task", self.task, TASKS)
        how: dict[str, Any] = {"prepare": None, "seed": options.random_state, "needs_all": True}
        problem = check_problem(X, y, task=self.task, groups=groups, **how)
        self.task_ = problem.task
        self.__dict__.pop("classes_", None)
        if problem.task == "classification":
            self.classes_ = problem.classes
            return ClassColumns.choose(problem, self.max_rows, options)
        return NumberColumns.choose(problem, self.max_rows, options)

    def _search(self, floors: ClassColumns | NumberColumns, columns_of: list[Ints]) -> list[Step]:
        """Search for groups of columns, candidates in threads."""
        n_groups, n_wanted = len(columns_of), self._n_groups_wanted(len(columns_of))
        check_option("direction", self.direction, ("forward", "backward"))

        def level_of(in_use: Groups) -> FloorLevel:
            return floors.level(np.sort(np.concatenate([columns_of[group] for group in in_use])))

        def work(pool: WorkerPool) -> list[Step]:
            pool.expect(n_candidates_at_most(n_groups, n_wanted, self.direction))

            def try_all(candidates: Sequence[Groups]) -> list[FloorLevel]:
                return pool.run(level_of, [(each,) for each in candidates], [1] * len(candidates))

            if self.direction == "backward":
                return search_backward(try_all, n_groups, n_wanted)
            return search_forward(try_all, floors.start, n_groups, n_wanted)

        return supervise(work, check_n_jobs(self.n_jobs), self.progress)

    def _n_groups_wanted(self, n_groups: int) -> int | None:
        wanted = self.n_features_to_select
        if isinstance(wanted, str) and wanted == "auto":
            return None
        if is_int(wanted) and 1 <= wanted <= n_groups:
            return int(wanted)
        of_what = "features and groups" if self.feature_groups is not None else "features"
        expected = f"'auto' or an int from 1 to the number of {of_what}, {n_groups}"
        raise ParameterError("n_features_to_select", expected, wanted)

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def _with_names(step: Step, groups: list[Ints], names: Sequence[Any]) -> SelectionStep:
    features = tuple(str(names[column]) for group in step.changed for column in groups[group])
    n_features = sum(len(groups[group]) for group in step.in_use)
    return SelectionStep(features, n_features, *step[2:])


def check_feature_groups(feature_groups: Any, n_features: int, names: Sequence[Any] | None) -> list[Ints]:
    """Return the columns of each group, groups in the order of their first column.

    Parameters
    ----------
    feature_groups : sequence of sequences or None
        Columns that belong together, by name or by number. A column in none is a group of its own.
    n_features : int
        Number of columns.
    names : sequence or None
        Names of the columns.

    Returns
    -------
    list of ndarray
    """
    if feature_groups is None:
        return [np.array([column]) for column in range(n_features)]
    if isinstance(feature_groups, str) or not all(isinstance(group, Sequence | np.ndarray) for group in feature_groups):
        raise ParameterError("feature_groups", "a sequence of sequences of columns, or None", feature_groups)
    numbers = {} if names is None else {name: column for column, name in enumerate(names)}
    group_of: dict[int, int] = {}
    for number, group in enumerate(feature_groups):
        if isinstance(group, str) or len(group) == 0:
            raise ValueError(f"Each group must name its columns; got {group!r}.")
        for column in group:
            place = _number_of(column, numbers, n_features)
            if place in group_of:
                raise ValueError(f"Column {shown(column)} is in more than one group, or twice in one.")
            group_of[place] = number
    members: dict[Any, list[int]] = {}
    for column in range(n_features):
        members.setdefault(group_of.get(column, ("alone", column)), []).append(column)
    return [np.array(columns) for columns in members.values()]


def _number_of(column: Any, numbers: dict[Any, int], n_features: int) -> int:
    if column in numbers:
        return numbers[column]
    if is_int(column) and 0 <= column < n_features:
        return int(column)
    raise ValueError(f"feature_groups names column {shown(column)}, which is not among the {n_features} columns of X.")
