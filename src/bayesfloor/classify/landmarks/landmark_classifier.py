"""A classifier of near-kernel accuracy at the cost of a linear one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesfloor.classify.landmarks.feature_choice import (
    FeaturePlan,
    Sample,
    Scaling,
    choose_features,
)
from bayesfloor.classify.landmarks.feature_map import F32, FeatureMap, scaled
from bayesfloor.classify.landmarks.kernels import to_probabilities
from bayesfloor.classify.landmarks.multinomial import descend, penalty_of
from bayesfloor.classify.landmarks.row_sums import RowSums
from bayesfloor.classify.training import F64, Training, check_rows, check_training
from bayesfloor.data.folds import fold_keys
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.checks import check_option, check_random_state_seed
from bayesfloor.runtime.limits import check_n_jobs
from bayesfloor.runtime.threads import Crew, supervise

@dataclass(frozen=True)
class Effort:
    capacity: float = 1.0
    most_landmarks: int = 512
    rule_share: float = 0.5
    widths: tuple[float, ...] = (0.6, 1.0)
    n_tune: int = 1500
    n_held: int = 1000
    path: tuple[float, ...] = (1.0, 0.1, 0.01, 1e-4)
    path_steps: int = 5
    steps: tuple[int, int] = (8, 12)
    gram: float = 8.0

EFFORTS = {"fast": Effort(), "default": Effort(), "high": Effort(most_landmarks=2048, capacity=4, widths=(.25,.4,.6,1.0), n_tune=3000,path_steps=10,steps=(30,30),n_held=2000,path=(1.0,.1,.01,1e-3,1e-4,1e-5))}

#: Rows of one block of predictions; each block has as many, so that no row depends on the others of its batch.
PREDICT_ROWS = 256


def scaling_of(X: Any) -> Scaling:
    low, high = X.min(axis=0), X.max(axis=0)
    is_binary = ((X == low) | (X == high)).all(axis=0) & (high > low)
    half = np.where(is_binary, (high - low) / 2, X.std(axis=0))
    centre = np.where(is_binary, (low + high) / 2, X.mean(axis=0))
    return Scaling(centre, 1 / np.where(half > 0, half, 1.0), None, is_binary)


class LandmarkClassifier(ClassifierMixin, BaseEstimator):
    def __init__(self, effort="default", *, n_landmarks=None, n_rules=None, class_weight=None, n_jobs=None, progress=False, client=None, random_state=0, settings=None):
        self.effort = effort
        self.n_landmarks = n_landmarks
        self.n_rules = n_rules
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.progress = progress
        self.client = client
        self.random_state = random_state
        self.settings = settings

    def fit(self, X, y, sample_weight=None):
        effort = self.settings or EFFORTS[check_option("effort", self.effort, EFFORTS)]
        n_threads = check_n_jobs(self.n_jobs)
        training = check_training(self, X, y, sample_weight=sample_weight, class_weight=self.class_weight, squares=True)
        seed = check_random_state_seed(self.random_state)
        self.classes_ = training.classes
        supervise(lambda crew: self._fit(training, effort, seed, crew), n_threads, self.progress)
        return self

    def _fit(self, training, effort, seed, crew):
        X, K = training.X, len(training.classes)
        n = len(X)
        keys = fold_keys(X, seed)
        order = np.lexsort((training.codes, keys))
        rng = np.random.default_rng(seed)
        X, codes = X[order], training.codes[order]
        weight = training.weight[order].astype(np.float32)
        weight *= np.float32(n / weight.sum())
        scaling = scaling_of(X)
        columns = scaled(X, *scaling[:3])
        large = n >= effort.n_tune + effort.n_held
        n_tune = effort.n_tune if large else max(1, (3 * n) // 4)
        held = slice(n - effort.n_held, n) if large else slice(n_tune, n)
        mostly_binary = scaling.is_binary.mean() > 0.5
        D = int(min(max(48, effort.capacity * np.sqrt(n * K)), effort.most_landmarks, max(1, n // 2)))
        M = int(min(D if mostly_binary else effort.rule_share * D, n // (20 if mostly_binary else 40)))
        if mostly_binary:
            D = max(min(D, 48), D // 2)
        tune_codes = codes[:n_tune]
        sample = Sample(columns[:n_tune], np.eye(K, dtype=np.float32)[tune_codes], None)
        fm, strength = choose_features(scaling, sample, columns[:D], FeaturePlan(D, M, effort.widths), rng)
        pen = penalty_of(fm)
        tune = RowSums(fm, sample.columns, tune_codes, weight[:n_tune], crew)
        H = fm.features(columns[held])
        held_codes = codes[held]
        B = np.zeros((K, fm.n_features), np.float32)
        G = tune.products()
        best = (np.inf, strength, B); worse = 0
        for f in effort.path:
            B = descend(tune.gradient, G, pen, strength * f, B, effort.path_steps, n_tune).coefficients
            P = H @ B.T
            to_probabilities(P)
            loss = float(-np.log(np.maximum(P[np.arange(len(P)), held_codes], 1e-7)).mean())
            if loss < best[0]:
                best, worse = (loss, strength * f, B), 0
            else:
                worse += 1
                if worse == 2 or loss > 1.1 * best[0]:
                    break
        self.held_loss_, self.penalty_, B = best
        rows = RowSums(fm, columns, codes, weight, crew)
        m = fm.n_features
        n_gram = int(max(effort.gram * m, 4000))
        if n <= 1.5 * n_gram:
            G = rows.products(B)
        else:
            G = rows.products(B, n_gram) * 1.1
            diag = np.diag_indices(m)
            G[diag] += np.maximum(0, 0.2 * rows.squares() - G[diag])
        steps = effort.steps[0] if n < 4 * effort.n_tune else effort.steps[1]
        r = descend(rows.gradient, G, pen, self.penalty_, B, steps, n)
        if r.has_diverged:
            print('diverged')
            r = descend(rows.gradient, G * 5, pen, self.penalty_, B, steps, n)
        self.coef_ = r.coefficients
        self.n_iter_ = r.n_steps
        self.feature_map_ = fm

    def decision_scores(self, X):
        X = check_rows(self, X)
        out = np.empty((len(X), len(self.classes_)), np.float32)
        block = np.zeros((PREDICT_ROWS, X.shape[1]))
        for first in range(0, len(X), PREDICT_ROWS):
            part = X[first : first + PREDICT_ROWS]
            block[: len(part)] = part
            out[first : first + len(part)] = (self.feature_map_.features(self.feature_map_.scaled(block)) @ self.coef_.T)[: len(part)]
        return out

    def predict_proba(self, X):
        P = self.decision_scores(X)
        to_probabilities(P)
        return P.astype(np.float64)

    def predict(self, X):
        return self.classes_[self.decision_scores(X).argmax(axis=1)]
