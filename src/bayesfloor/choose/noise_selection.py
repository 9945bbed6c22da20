"""Which features say something about a number: selection by the noise variance, as a scikit-learn selector."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesfloor.choose.floor_levels import FloorLevel
from bayesfloor.choose.selection import check_search, keep_selected, names_of_features, run_search, with_names
from bayesfloor.choose.selection_path import SelectionPath
from bayesfloor.data.sampling import CHOICE_ROWS, keys_of_values, stratified_rows
from bayesfloor.floor.trees.noise_variance import noise_variance_from_trees, quick_noise, standard_columns
from bayesfloor.floor.trees.number_problem import NumberProblem, check_number_problem
from bayesfloor.floor.trees.problem import Progress, check_options
from bayesfloor.runtime.arrays import Bools, Ints
from bayesfloor.runtime.checks import check_max_rows
from bayesfloor.runtime.frames import like_input


class NoiseVarianceSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features with which the least of a number is noise.

    The counterpart of `BayesErrorSelector` where y is a number: forward selection starts from nothing and adds the
    feature with the smallest resulting noise variance; backward selection starts from all and removes the one without
    which it is smallest. No regressor is chosen. Features are put on the same scale.

    Parameters
    ----------
    n_features_to_select : int or "auto", default="auto"
        How many features to select, a group counting as one. "auto" adds features as long as each lowers the noise by
        more than its standard error, and removes them as long as the noise does not rise above the lowest so far by
        more than that. At least one feature is selected.
    direction : {"forward", "backward"}, default="forward"
        Whether to add features or to remove them.
    feature_groups : sequence of sequences or None, default=None
        Columns that enter or leave together, such as the dummies of one categorical variable: names, or numbers
        from 0. A column in no group is on its own.
    lookahead : {1, 2}, default=1
        2 lets forward selection add two features at once where no single one lowers the noise enough. It then
        tries all pairs, and finds features that say nothing by themselves, as in a product.
    max_rows : int or None, default=None
        Use at most so many rows, chosen by the seed; None for 5000 (`data.sampling.CHOICE_ROWS`).
    n_trees : int, default=3
        How many edge-disjoint spanning trees to take differences over.
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
        The noise after every step, as a share of the variance of y: one minus the best R².
    noise_ : NoiseFromTrees
        The noise with the selected features, and findings.
    n_rows_ : int
        How many rows were used.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when X has names that are all strings.

    See Also
    --------
    BayesErrorSelector : The same where y holds classes.
    noise_variance_from_trees : The estimate for one set of features.

    Notes
    -----
    Candidates are compared by a quick estimate: half the mean squared difference of what a linear function leaves, over
    the edges of all trees. It is above the noise where edges are long, and so prefers few features. ``noise_`` is the
    full estimate.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bayesfloor import NoiseVarianceSelector
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> NoiseVarianceSelector().fit(X, y).get_feature_names_out().tolist()
    ['bmi', 's5', 's6']
    """

    def __init__(
        self,
        n_features_to_select: Any = "auto",
        *,
        direction: str = "forward",
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
            The target, finite numbers.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one patient, have the same value. The noise is then that of rows
            of new groups.

        Returns
        -------
        NoiseVarianceSelector
            This selector.
        """
        problem = check_number_problem(X, y, groups, prepare="strict")
        validate_data(self, X, skip_check_array=True)  # only n_features_in_, feature_names_in_
        columns_of, n_wanted = check_search(self, problem.feature_names)
        options = check_options(
            n_trees=self.n_trees, confidence=self.confidence, n_jobs=1, random_state=self.random_state
        )
        rows = _rows(problem, check_max_rows(self.max_rows, 1, CHOICE_ROWS), options.random_state)
        sample = problem.take(rows)
        Z, _ = standard_columns(sample.X)
        target = (sample.y - sample.y.mean()) / sample.y.std()
        z = float(ndtri(0.5 + 0.5 * options.confidence))

        def level_of(columns: Ints) -> FloorLevel:
            noise, error = quick_noise(np.ascontiguousarray(Z[:, columns]), target, sample.groups, options)
            wide = np.exp(z * error / noise) if noise > 0 else 1.0
            return FloorLevel(noise, noise / wide, noise * wide, error)

        start = FloorLevel(1.0, 1.0, 1.0, 0.0)
        steps = run_search(self, level_of, start, columns_of, n_wanted)
        columns = keep_selected(self, steps, columns_of)
        self.path_ = SelectionPath(
            tuple(with_names(step, columns_of, names_of_features(self)) for step in steps),
            direction=self.direction,
            criterion="noise",
            n_rows=len(rows),
            n_samples=len(problem.X),
            confidence=options.confidence,
        )
        self.noise_ = noise_variance_from_trees(
            np.ascontiguousarray(sample.X[:, columns]),
            sample.y,
            groups=sample.groups,
            n_trees=options.n_trees,
            confidence=options.confidence,
            n_jobs=self.n_jobs,
            random_state=options.random_state,
        )
        self.n_rows_ = len(rows)
        return self

    def _get_support_mask(self) -> Bools:
        check_is_fitted(self)
        support: Bools = self.support_
        return support

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def _rows(problem: NumberProblem, most: int | None, seed: int) -> Ints:
    """Choose rows by their values, in an order that depends on nothing else."""
    values = np.ascontiguousarray(np.column_stack([problem.X, problem.y]))
    alike = np.zeros(len(values), np.int64)
    keys = keys_of_values(values, alike, seed, problem.groups)
    rows = stratified_rows(alike, most, keys)
    return rows[np.argsort(keys[rows], kind="stable")]
