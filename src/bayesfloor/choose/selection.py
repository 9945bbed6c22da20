"""Which features carry the information: selection by the floor, as a scikit-learn selector."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesfloor.choose.floor_levels import CRITERIA, FloorLevel, criterion_level, level_without_features
from bayesfloor.choose.search import Groups, Step, n_candidates_at_most, search_backward, search_forward
from bayesfloor.choose.selection_path import SelectionPath, SelectionStep
from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import CHOICE_ROWS, keys_of_values, stratified_rows
from bayesfloor.floor.trees.assembly import count_cross_edges, whole_result
from bayesfloor.floor.trees.problem import Options, Progress, check_options, check_problem
from bayesfloor.runtime.arrays import Bools, Ints
from bayesfloor.runtime.checks import ParameterError, check_max_rows, check_option, is_int
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.text import shown
from bayesfloor.runtime.threads import Crew, supervise


class BayesErrorSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features with which the floor is lowest.

    Forward selection starts from nothing and adds the feature with the smallest resulting floor (Berisha, Wisler, Hero
    and Spanias 2016); backward selection starts from all and removes the one without which the floor is smallest. No
    classifier is trained. Distances are Euclidean: scale the features as you would for neighbours.

    Parameters
    ----------
    n_features_to_select : int or "auto", default="auto"
        How many features to select, a group counting as one. "auto" adds features as long as each lowers the floor by
        more than its standard error, and removes them as long as the floor does not rise above the lowest so far by
        more than that. At least one feature is selected.
    direction : {"forward", "backward"}, default="forward"
        Whether to add features or to remove them.
    criterion : {"whole", "mean", "worst"}, default="whole"
        The floor to lower: of the whole problem, the mean over all pairs of classes, or that of the worst pair.
    feature_groups : sequence of sequences or None, default=None
        Columns that enter or leave together, such as the dummies of one categorical variable: names, or numbers
        from 0. A column in no group is on its own.
    lookahead : {1, 2}, default=1
        2 lets forward selection add two features at once where no single one lowers the floor enough. It then
        tries all pairs, and finds features that say nothing by themselves, as in an exclusive or.
    max_rows : int or None, default=None
        Use at most so many rows, chosen by the seed, with the same share of each class; None for 5000
        (`data.sampling.CHOICE_ROWS`).
    n_trees : int, default=3
        How many edge-disjoint spanning trees to count in.
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
        The floor after every step, with ``frame()`` and ``plot()``.
    floor_ : BayesError
        The floor of the whole problem with the selected features, and findings.
    n_rows_ : int
        How many rows were used.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X has names that are all strings.

    Notes
    -----
    The floors on the path are those of the best of many candidates, and so a little too low. And features that all
    help raise the floor when there are too many for the number of rows (finding BF008): this looks for a small set.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from bayesfloor import BayesErrorSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = BayesErrorSelector().fit((X - X.mean()) / X.std(), y)
    >>> selector.get_feature_names_out().tolist()
    ['flavanoids', 'color_intensity', 'proline']
    """

    def __init__(
        self,
        n_features_to_select: Any = "auto",
        *,
        direction: str = "forward",
        criterion: str = "whole",
        feature_groups: Sequence[Sequence[Any]] | None = None,
        lookahead: int = 1,
        max_rows: int | None = None,
        n_trees: int = 3,
        confidence: float = 0.95,
        n_jobs: int | None = None,
        random_state: Any = 0,
        progress: Progress = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.direction = direction
        self.criterion = criterion
        self.feature_groups = feature_groups
        self.lookahead = lookahead
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
            The labels, of any type that can be sorted.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one patient, have the same value. The floor is then that of rows
            of new groups.

        Returns
        -------
        BayesErrorSelector
            This selector.
        """
        problem = check_problem(X, y, groups)
        validate_data(self, X, skip_check_array=True)  # only n_features_in_, feature_names_in_
        check_option("criterion", self.criterion, CRITERIA)
        columns_of, n_wanted = check_search(self, problem.feature_names)
        options = check_options(
            n_trees=self.n_trees, confidence=self.confidence, n_jobs=1, random_state=self.random_state
        )
        most = check_max_rows(self.max_rows, len(problem.classes), CHOICE_ROWS)
        keys = keys_of_values(problem.X, problem.codes, options.random_state, problem.groups)
        rows = stratified_rows(problem.codes, most, keys)
        of_rows = None if problem.groups is None else problem.groups[rows]
        sample = Problem(problem.X[rows], problem.classes, problem.codes[rows], problem.feature_names, of_rows)

        def level_of(columns: Ints) -> FloorLevel:
            points = np.ascontiguousarray(sample.X[:, columns])
            return criterion_level(points, sample.codes, len(sample.classes), self.criterion, options, sample.groups)

        start = level_without_features(sample.class_counts, self.criterion)
        steps = run_search(self, level_of, start, columns_of, n_wanted)
        columns = keep_selected(self, steps, columns_of)
        self.path_ = SelectionPath(
            tuple(with_names(step, columns_of, names_of_features(self)) for step in steps),
            direction=self.direction,
            criterion=self.criterion,
            n_rows=len(rows),
            n_samples=len(problem.X),
            confidence=options.confidence,
        )
        self.floor_ = _whole_floor(sample, columns, options)
        self.n_rows_ = len(rows)
        self.classes_ = problem.classes
        return self

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def check_search(selector: Any, names: Sequence[Any] | None) -> tuple[list[Ints], int | None]:
    """Check what a selector searches by.

    Parameters
    ----------
    selector : BayesErrorSelector or NoiseVarianceSelector
        With the parameters that both have.
    names : sequence or None
        Names of the columns.

    Returns
    -------
    columns_of : list of ndarray
        The columns of each group.
    n_wanted : int or None
        How many groups to select; None for "auto".
    """
    columns_of = check_feature_groups(selector.feature_groups, selector.n_features_in_, names)
    check_option("direction", selector.direction, ("forward", "backward"))
    check_option("lookahead", selector.lookahead, (1, 2))
    wanted, n_groups = selector.n_features_to_select, len(columns_of)
    if isinstance(wanted, str) and wanted == "auto":
        return columns_of, None
    if not is_int(wanted) or not 1 <= wanted <= n_groups:
        of_what = "features and groups" if selector.feature_groups is not None else "features"
        expected = f"'auto' or an int from 1 to the number of {of_what}, {n_groups}"
        raise ParameterError("n_features_to_select", expected, wanted)
    return columns_of, int(wanted)


def run_search(
    selector: Any,
    level_of: Callable[[Ints], FloorLevel],
    start: FloorLevel,
    columns_of: list[Ints],
    n_wanted: int | None,
) -> list[Step]:
    """Search for features, candidates in threads.

    Parameters
    ----------
    selector : BayesErrorSelector or NoiseVarianceSelector
        With the parameters that both have.
    level_of : callable
        Gives the floor of some columns.
    start : FloorLevel
        The floor without any.
    columns_of : list of ndarray
        The columns of each group.
    n_wanted : int or None
        How many groups to select; None for "auto".

    Returns
    -------
    list of Step
    """

    def level_of_groups(in_use: Groups) -> FloorLevel:
        return level_of(np.sort(np.concatenate([columns_of[group] for group in in_use])))

    def work(crew: Crew) -> list[Step]:
        n_groups = len(columns_of)
        crew.expect(n_candidates_at_most(n_groups, n_wanted, selector.direction, selector.lookahead))

        def try_all(candidates: Sequence[Groups]) -> list[FloorLevel]:
            return crew.run(level_of_groups, [(each,) for each in candidates], [1] * len(candidates))

        if selector.direction == "backward":
            return search_backward(try_all, n_groups, n_wanted)
        return search_forward(try_all, start, n_groups, n_wanted, lookahead=selector.lookahead)

    return supervise(work, check_n_jobs(selector.n_jobs), selector.progress)


def keep_selected(selector: Any, steps: list[Step], columns_of: list[Ints]) -> Ints:
    """Store which features are selected, and return their columns."""
    selected = next(step.in_use for step in reversed(steps) if step.selected)
    columns = np.sort(np.concatenate([columns_of[group] for group in selected]))
    selector.support_ = np.isin(np.arange(selector.n_features_in_), columns)
    selector.n_features_ = len(columns)
    return columns


def names_of_features(selector: Any) -> Sequence[Any]:
    """Return the names of the features that a selector was fitted with; x0, x1, … where they have none."""
    names: Sequence[Any] | None = getattr(selector, "feature_names_in_", None)
    return [f"x{column}" for column in range(selector.n_features_in_)] if names is None else names


def with_names(step: Step, groups: list[Ints], names: Sequence[Any]) -> SelectionStep:
    """Return a step of the search as the path shows it."""
    features = tuple(str(names[column]) for group in step.changed for column in groups[group])
    n_features = sum(len(groups[group]) for group in step.in_use)
    return SelectionStep(features, n_features, step.level, step.selected, step.n_candidates, step.seconds)


def _whole_floor(sample: Problem, columns: Ints, options: Options) -> Any:
    names = None if sample.feature_names is None else [sample.feature_names[column] for column in columns]
    part = Problem(np.ascontiguousarray(sample.X[:, columns]), sample.classes, sample.codes, names, sample.groups)
    return whole_result(count_cross_edges(part, options, whole=True), part, options)


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
