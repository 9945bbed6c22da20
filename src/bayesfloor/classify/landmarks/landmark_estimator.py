"""What the classifier and the regressor on landmarks share: settings, threads, and scores of rows."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from sklearn.base import BaseEstimator

from bayesfloor.classify.training import check_rows
from bayesfloor.learn.landmarks.efforts import EFFORTS, Effort
from bayesfloor.learn.landmarks.feature_map import F32, FeatureMap
from bayesfloor.learn.landmarks.fitting import scores_of
from bayesfloor.learn.landmarks.local_rows import LocalRows
from bayesfloor.runtime.checks import check_int, check_option, check_random_state_seed
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.threads import WorkerPool, supervise

T = TypeVar("T")


class Settings(NamedTuple):
    """Checked parameters of a fit."""

    effort: Effort
    seed: int
    n_landmarks: int | None
    n_rules: int | None


class LandmarkEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of estimators on landmarks."""

    feature_map_: FeatureMap

    def __init__(
        self,
        effort: str = "default",
        *,
        n_landmarks: int | None = None,
        n_rules: int | None = None,
        n_jobs: int | None = None,
        progress: Any = False,
        random_state: Any = 0,
    ) -> None:
        self.effort = effort
        self.n_landmarks = n_landmarks
        self.n_rules = n_rules
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def _settings(self) -> Settings:
        return Settings(
            EFFORTS[check_option("effort", self.effort, EFFORTS)],
            check_random_state_seed(self.random_state),
            None if self.n_landmarks is None else check_int("n_landmarks", self.n_landmarks),
            None if self.n_rules is None else check_int("n_rules", self.n_rules, 0),
        )

    def _supervised(self, work: Callable[[WorkerPool], T]) -> T:
        return supervise(work, check_n_jobs(self.n_jobs), self.progress)

    def _scores_by(self, X: Any, coefficients: F32, local: LocalRows | None = None) -> F32:
        """Return the scores of rows, (n, number of rows of the coefficients)."""
        points = check_rows(self, X, accept_sparse=True)
        n_threads = check_n_jobs(self.n_jobs)
        return supervise(lambda pool: scores_of(points, self.feature_map_, coefficients, local, pool), n_threads, False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
