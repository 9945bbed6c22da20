"""GenSVM that finds its own parameters by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Self

import numpy as np
from scipy.stats import rankdata

from bayesfloor.classify.training import F64, I64, Training
from bayesfloor.data.folds import fold_keys
from bayesfloor.runtime.checks import ParameterError, check_random_state_seed
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.threads import WorkerPool
from benchmarks.study.joint.gensvm import SimplexClassifier, check_dense_training, check_loss, rows_of, solve
from benchmarks.study.joint.gensvm_solver import scale_rows, walk_path
from benchmarks.study.joint.path_scores import check_effort, path_scores

#: The 342 combinations that the paper tries.
PAPER_GRID: dict[str, tuple[Any, ...]] = {
    "p": (1.0, 1.5, 2.0),
    "kappa": (-0.9, 0.5, 5.0),
    "lmd": tuple(2.0**power for power in range(-18, 20, 2)),
    "weights": ("unit", "group"),
}

#: How far above the optimum the loss may end where a fold is left out: accuracies do not need more.
TOL_OF_FOLDS = 1e-5


class GenSVCCV(SimplexClassifier):
    """GenSVM with its parameters chosen by cross-validated accuracy.

    Fits what ``GridSearchCV(GenSVC(), grid, cv=10)`` fits, faster: each λ starts from the solution of the one before.

    Parameters
    ----------
    grid : "paper" or dict, default="paper"
        The values to try of "p", "kappa", "lmd" and "weights"; those left out have the defaults of `GenSVC`. "paper"
        is the grid of the paper: 3 p, 3 κ, 19 λ from 2^-18 to 2^18 and both weights, 342 combinations.
    cv : int, splitter or iterable, default=10
        Folds of the cross-validation. Each row must be tested once.
    max_iter : int, default=500
        Most Newton steps for each combination.
    tol : float, default=1e-10
        How far above its optimum the loss may end, as a part of it. Where a fold is left out, no less than 1e-5.
    n_jobs : int or None, default=None
        Threads; None for every core.
    random_state : int, None or random generator, default=0
        Seed of the folds. Which rows fall together depends on their values and the seed, not on their order.

    Attributes
    ----------
    best_params_ : dict
        The combination in use: best on average over the folds, then of the largest λ, then the first in the grid.
    best_score_ : float
        Its accuracy, the mean over the folds.
    cv_results_ : dict of arrays
        A table of all combinations, as in ``GridSearchCV``: param_p, param_kappa, param_lmd, param_weights,
        split0_test_score and so on, mean_test_score, std_test_score, rank_test_score.
    n_not_converged_ : int
        How many of the fits without a fold took `max_iter` steps.
    classes_, coef_, intercept_, loss_, n_iter_, n_features_in_, feature_names_in_
        Of the final fit on all rows, as in `GenSVC`.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from benchmarks.study.joint.gensvm_cv import GenSVCCV
    >>> X, y = load_wine(return_X_y=True)
    >>> svm = GenSVCCV({"kappa": [-0.9, 5.0], "lmd": [0.25, 0.0625, 0.015625]}, cv=5).fit(scale(X), y)
    >>> svm.cv_results_["mean_test_score"].shape
    (6,)
    """

    def __init__(
        self,
        grid: Any = "paper",
        *,
        cv: Any = 10,
        max_iter: int = 500,
        tol: float = 1e-10,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.grid = grid
        self.cv = cv
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the parameters and fit the classifier.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The points. Features should be on comparable scales. A sparse matrix is made dense.
        y : array-like of shape (n_samples,)
            The labels, of any type that can be sorted.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, in the loss and in the accuracies.

        Returns
        -------
        GenSVCCV
            This estimator.
        """
        losses, lmds = _check_grid(self.grid)
        check_effort(self.max_iter, self.tol)
        n_threads = check_n_jobs(self.n_jobs)
        training = check_dense_training(self, X, y, sample_weight)
        keys = fold_keys(training.X, check_random_state_seed(self.random_state))
        folds = training.folds(self.cv, keys)
        scores, self.n_not_converged_ = self._path_scores(training, folds, losses, lmds, n_threads)

        # λ first, because argmax takes the first of several maxima
        level, number = divmod(int(np.argmax(scores.mean(axis=2).T)), len(losses))
        p, kappa, weights = losses[number]
        self.best_params_ = {"p": p, "kappa": kappa, "lmd": float(lmds[level]), "weights": weights}
        self.best_score_ = float(scores[number, level].mean())
        self.cv_results_ = _table(scores, losses, lmds)
        rows = rows_of(training, weights)
        (solution,) = solve(rows, lmds[level : level + 1], p, kappa, self.tol, self.max_iter)
        self._adopt(training.classes, rows, solution)
        return self

    def _path_scores(
        self, training: Training, folds: I64, losses: list[tuple[float, float, str]], lmds: F64, n_threads: int
    ) -> tuple[F64, int]:
        """Return the accuracy of each loss at each λ on each fold, and how many fits did not converge."""
        X, weight, keys = training.X, training.weight, fold_keys(training.X, 0)
        tol = max(self.tol, TOL_OF_FOLDS)

        def walk(
            number: int, train: I64, known: I64, n_classes: int, test: I64, pool: WorkerPool
        ) -> Iterator[tuple[F64, bool]]:
            p, kappa, weights = losses[number]
            rows = scale_rows(X[train], known, n_classes, weight[train], weights, keys[train])
            held_out = rows.scaled(X[test])
            for solution in walk_path(rows, lmds, p, kappa, tol=tol, max_iter=self.max_iter, check=pool.check):
                yield held_out @ solution.coefficients.T, solution.converged

        return path_scores(training.codes, weight, folds, (len(losses), len(lmds)), walk, n_threads)


def _check_grid(grid: Any) -> tuple[list[tuple[float, float, str]], F64]:
    """Return the combinations of p, kappa and weights, and falling values of λ."""
    if isinstance(grid, str) and grid == "paper":
        grid = PAPER_GRID
    if not isinstance(grid, Mapping):
        raise ParameterError("grid", "'paper' or a dict", grid)
    unknown = sorted(map(repr, grid.keys() - PAPER_GRID.keys()))
    if unknown:
        raise ValueError(f"The 'grid' parameter has no place for {', '.join(unknown)}; it has for {list(PAPER_GRID)}.")
    values: dict[str, list[Any]] = {"p": [1.0], "kappa": [0.0], "lmd": [2.0**-8], "weights": ["unit"]}
    for name, given in grid.items():
        if isinstance(given, str) or len(given) == 0:
            raise ValueError(f"The 'grid' parameter needs a list of values for {name!r}. Got {given!r} instead.")
        values[name] = list(dict.fromkeys(given))
    for p, kappa, lmd, weights in product(values["p"], values["kappa"], values["lmd"], values["weights"]):
        check_loss(p, kappa, lmd, weights)
    losses = [
        (float(p), float(kappa), str(w)) for p, kappa, w in product(values["p"], values["kappa"], values["weights"])
    ]
    return losses, np.array(sorted(map(float, values["lmd"]), reverse=True))


def _table(scores: F64, losses: list[tuple[float, float, str]], lmds: F64) -> dict[str, Any]:
    """Lay the accuracies out as GridSearchCV does, a row for each combination."""
    combinations = [(*loss, lmd) for loss, lmd in product(losses, lmds.tolist())]
    p, kappa, weights, lmd = zip(*combinations, strict=True)
    by_row = scores.reshape(len(combinations), -1)
    mean = by_row.mean(axis=1)
    return {
        "param_p": np.array(p),
        "param_kappa": np.array(kappa),
        "param_lmd": np.array(lmd),
        "param_weights": np.array(weights),
        **{f"split{fold}_test_score": column for fold, column in enumerate(by_row.T.copy())},
        "mean_test_score": mean,
        "std_test_score": by_row.std(axis=1),
        "rank_test_score": rankdata(-mean, method="min").astype(np.int64),
    }
