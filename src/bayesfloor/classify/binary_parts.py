"""Base of the classifiers made of binary ones: fits the parts, scores rows, and follows scikit-learn's protocol.

A part tells one set of classes, its left side, from another, its right side. Its estimator sees the rows of these
classes only, with labels 0 (left) and 1 (right).
"""

from abc import ABCMeta, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayesfloor.classify.linear.path_classifiers import LinearSVCCV
from bayesfloor.classify.training import F64, I64, Training, check_rows, check_training
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.limits import one_of_a_pool
from bayesfloor.runtime.text import listed


@dataclass(frozen=True, eq=False)
class BinaryProblem:
    """One part's share of the training set.

    Attributes
    ----------
    rows : ndarray of shape (n,), int64
        Rows of the training set.
    right : ndarray of shape (n,), int64
        1 where the row belongs to the right side, else 0.
    name : str
        What is told from what, for messages.
    """

    rows: I64
    right: I64
    name: str


def binary_problem(training: Training, sides: NDArray[np.int8]) -> BinaryProblem:
    """Take the rows of some classes: -1 for classes on the left side, +1 on the right, 0 for the others."""
    side = sides[training.codes]
    rows = np.flatnonzero(side)
    left, right = (listed([*map(repr, training.classes[sides == sign].tolist())]) for sign in (-1, 1))
    return BinaryProblem(rows, (side[rows] > 0).astype(np.int64), f"{left} from {right}")


def fit_part(estimator: Any, X: Any, problem: BinaryProblem, fit_params: dict[str, Any], seed: int | None) -> Any:
    """Fit a clone of an estimator to a problem.

    Parameters
    ----------
    estimator : estimator
        A binary classifier.
    X : ndarray or sparse matrix
        All rows of the training set.
    problem : BinaryProblem
        Which rows to take, and their sides.
    fit_params : dict
        Further arguments of its ``fit``, with a value for each row of X.
    seed : int or None
        Put in place of every ``random_state`` of the estimator, unless None.

    Returns
    -------
    estimator
        The fitted clone. An exception carries a note that says which part it was.
    """
    part = _seeded_clone(estimator, seed)
    try:
        params = {name: values[problem.rows] for name, values in fit_params.items()}
        part.fit(take_rows(X, problem.rows), problem.right, **params)
    except Exception as error:
        error.add_note(f"This happened while fitting {type(part).__name__} to tell {problem.name}.")
        raise
    return part


def _seeded_clone(estimator: Any, seed: int | None) -> Any:
    part = clone(estimator)
    if seed is not None:
        names = [name for name in sorted(part.get_params()) if name.split("__")[-1] == "random_state"]
        seeds = np.random.SeedSequence(seed).generate_state(len(names)).tolist()
        part.set_params(**dict(zip(names, seeds, strict=True)))
    return part


def part_scores(part: Any, X: Any) -> F64:
    """Return a score for each row, above 0 where the part decides for its right side.

    The decision function; else the probability of the right side less 1/2; else the decision itself as 1 or -1.
    """
    if X.shape[0] == 0:
        return np.empty(0)
    if is_regressor(part):
        scores = np.asarray(part.predict(X)) - 0.5
    elif hasattr(part, "decision_function"):
        scores = part.decision_function(X)
    elif hasattr(part, "predict_proba"):
        scores = part_probability(part, X) - 0.5
    else:
        scores = np.where(part.predict(X) == 1, 1.0, -1.0)
    return _checked(part, scores, X)


def part_probability(part: Any, X: Any) -> F64:
    """Return the probability of the right side for each row."""
    return _checked(part, part.predict_proba(X)[:, 1], X)


def _checked(part: Any, values: Any, X: Any) -> F64:
    values = np.asarray(values, np.float64).reshape(X.shape[0])
    if np.isnan(values).any():
        raise ValueError(f"{type(part).__name__} answered NaN for {np.count_nonzero(np.isnan(values))} rows")
    return values


def take_rows(X: Any, rows: I64) -> Any:
    """Take some rows, given ascending; all of them without a copy."""
    return X if len(rows) == X.shape[0] else X[rows]


class BinaryPartsClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Base class of classifiers made of binary ones: scikit-learn's tags, sample weights and groups.

    A subclass says how its parts are fitted (`_fit_parts`) and how they decide (`_decide`).
    """

    estimator: Any
    class_weight: Any = None
    n_jobs: int | None
    classes_: NDArray[Any]
    estimators_: list[Any]

    @abstractmethod
    def _fit_parts(self, training: Training, groups: I64 | None, fit_params: dict[str, Any]) -> None:
        """Fit the parts, with the codes of groups and what each part's ``fit`` gets besides X and y."""

    @abstractmethod
    def _decide(self, rows: Any) -> I64:
        """Return the code of the class of each checked row."""

    @like_input
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the binary classifiers.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points; sparse where the estimator takes it.
        y : array-like of shape (n_samples,)
            The labels, of any type that can be sorted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. Rows of weight zero are left out.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one patient, have the same value. Estimators that cross-validate
            get them, and no group is in two folds of a calibration.

        Returns
        -------
        Self
            This estimator.
        """
        beside = {"sample_weight": sample_weight, "groups": groups}
        training = check_training(
            self, X, y, **beside, class_weight=self.class_weight, accept_sparse=self._accepts_sparse
        )
        group_codes = training.groups_of(groups)
        self._fit_parts(training, group_codes, self._part_params(training, group_codes))
        self.classes_ = training.classes
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        check_is_fitted(self)
        return self.classes_[self._decide(self._rows(X))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        return tags

    @property
    def _accepts_sparse(self) -> bool:
        return bool(get_tags(self._part_estimator()).input_tags.sparse)

    def _part_estimator(self) -> Any:
        """Return the estimator of which parts are clones."""
        return LinearSVCCV() if self.estimator is None else self.estimator

    def _part_params(self, training: Training, groups: I64 | None) -> dict[str, Any]:
        """Return what each part's ``fit`` gets besides X and y, with a value for each row of the training set.

        Groups are for estimators that take them; the others have nothing to keep together.
        """
        estimator = self._part_estimator()
        params: dict[str, Any] = {}
        if groups is not None and has_fit_parameter(estimator, "groups"):
            params["groups"] = groups
        if training.sample_weight is not None:
            params["sample_weight"] = training.sample_weight
        if training.class_weight is not None:
            params["sample_weight"] = training.class_weight * params.get("sample_weight", 1.0)
        if "sample_weight" in params and not has_fit_parameter(estimator, "sample_weight"):
            raise TypeError(self._why_no_weights(estimator, training.class_weight is not None))
        return params

    def _why_no_weights(self, estimator: Any, is_of_classes: bool) -> str:
        """Say that the parts take no weights, and for a pipeline what to do."""
        said = f"Underlying estimator {type(estimator).__name__} does not support sample weights"
        said += ", which class_weight needs." if is_of_classes else "."
        steps = getattr(estimator, "steps", [])
        if len(steps) > 1:
            *before, last = (f"{type(step).__name__}()" for _, step in steps)
            inside = f"{type(self).__name__}({last}{', class_weight=…' if is_of_classes else ''})"
            said += f" Put the steps before the classifier: make_pipeline({', '.join([*before, inside])})."
        return said

    def _rows(self, X: Any) -> Any:
        return check_rows(self, X, accept_sparse=get_tags(self.estimators_[0]).input_tags.sparse)

    def _run(self, task: Any, arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
        """Call a task with each of the arguments, in `n_jobs` threads.

        Threads, because numerical estimators mostly release the lock, and X need not be copied to other processes.
        """
        n_threads = effective_n_jobs(self.n_jobs)

        def run(*each: Any) -> Any:
            with one_of_a_pool(n_threads):
                return task(*each)

        parallel = Parallel(n_jobs=self.n_jobs, prefer="threads")
        return list(parallel(delayed(run)(*each) for each in arguments))
