"""Families for many rows: their cost grows no faster than the rows, up to a logarithm.

Rows come in float32 and in random order, so the first of them are
a random sample::

    simple      prior, LDA, QDA, Gaussian naive Bayes and logistic regression of a sample: they have few parameters
    deep trees  randomised trees with pure leaves; neighbours, and kernel ridge regression of the nearest rows and of
                landmarks, where their importances scale features
    unit        neighbours, and kernel ridge regression of them, where columns keep a unit that they share, as pixels do
    landmarks   the landmark model of `LandmarkClassifier`
    boosting    gradient boosting over histograms, of a sample of the rows and of all of them
    network     a small network, where columns are 0 or 1
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.learn.decision_trees import Grown, TableNumbers, grow_ensemble
from bayesfloor.learn.discriminants import Gaussians, Logistic
from bayesfloor.learn.landmarks.efforts import EFFORTS
from bayesfloor.learn.landmarks.feature_map import F32, FeatureMap
from bayesfloor.learn.landmarks.fitting import fit_model, order_rows, probabilities_of, scores_of
from bayesfloor.learn.learner import Constant, Fitted, InSpace, Learner, Look, OfCodes, Output, Rows, Together
from bayesfloor.learn.nearest import LOCAL_ROWS, FittedNearest, near_names, outputs_nearby
from bayesfloor.learn.records import record, require
from bayesfloor.learn.ridge import KernelRidge
from bayesfloor.learn.training_rows import Directions, InDouble, Projected, Space, Train
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.threads import WorkerPool

#: Most rows for discriminants, and for logistic regression: models of few parameters gain nothing from more.
GAUSSIAN_ROWS, LOGISTIC_ROWS = 20_000, 50_000
#: Minimum and maximum number of trees; in between, as many as have so many rows together.
FEWEST_TREES, MOST_TREES, TREE_ROWS = 16, 60, 6_000_000
#: Rows of a node that a cut is chosen by; a larger node is looked at in part.
LOOKED_AT = 2048
#: Different values of a feature that trees tell apart: those of 16 bits.
MOST_RANKS = 65_536
#: Minimum and maximum number of landmarks m; in between, as many as keep n·m² within this budget.
FEWEST_LANDMARKS, MOST_LANDMARKS, LANDMARK_WORK = 200, 850, 3e10
#: Width of the kernel, as a share of the median distance between landmarks.
LANDMARK_WIDTH = 0.5
#: Most rows of a landmark model, which takes them in float64.
LANDMARK_ROWS = 200_000
#: Bytes of its features in memory, or those of the rows if these are more; others are computed in each of ten passes.
LANDMARK_BYTES = 2**26
#: Rows of all passes of the network together.
NETWORK_ROWS = 1_000_000


class Simple(Learner):
    """Discriminants, naive Bayes and logistic regression of a sample of the rows: models of few parameters."""

    name = "simple"
    outputs = (*Gaussians.outputs, *Logistic.outputs)

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Fit each of them to as many rows as it gains from."""
        parts = []
        learners: tuple[tuple[Learner, int], ...] = (Gaussians(), GAUSSIAN_ROWS), (Logistic(), LOGISTIC_ROWS)
        for learner, n_rows in learners:
            if requested.isdisjoint(learner.names):
                continue
            some, space = train.first(n_rows), Projected.to_fewer(train.X.shape[1])
            train.check()
            sample = some._replace(X=space.of(some.X.astype(np.float64)), table=None)
            parts.append(InSpace(space, learner.fit(sample, requested, seed)))
        return InSpace(InDouble(), Together(tuple(parts)))


# --- decision trees, and distances by their importances


def _of_space(space: str) -> tuple[str, ...]:
    return tuple(name for kind in near_names(space) for name in kind)


@dataclass(frozen=True, eq=False)
class DeepTrees(Learner):
    """Deep trees, and neighbours and kernel ridge regression where features are scaled by their importance.

    Attributes
    ----------
    n_rows : int or None, default=None
        Rows that bound the work, those of all if a training set is one of several: fewer rows must not have more trees,
        or their error would not tell what the rows are worth. None for those of the training set.
    """

    n_rows: int | None = None

    name = "deep trees"
    takes_weights = True
    outputs = (
        Output("deep trees", "tree"),
        Output("deep trees of shares", "tree"),
        *outputs_nearby("scaled", *_of_space("scaled")),
        Output("landmark ridge", "kernel"),
    )

    def suited(self, look: Look) -> Learner | None:
        """Return the learner for so many rows."""
        return replace(self, n_rows=look.n_rows)

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Grow trees."""
        n_rows = len(train.X) if self.n_rows is None else self.n_rows
        n_trees = int(np.clip(TREE_ROWS // n_rows, FEWEST_TREES, MOST_TREES))
        n_landmarks = int(np.clip((LANDMARK_WORK / n_rows) ** 0.5, FEWEST_LANDMARKS, MOST_LANDMARKS))
        parts: list[Fitted] = []
        means, ridges = near_names("scaled")
        is_scaled = not requested.isdisjoint((*means, *ridges, "landmark ridge"))
        if is_scaled or "deep trees" in requested:
            test = None if rows is None else rows.X
            grown, ranks = grow_deep(train, test if "deep trees" in requested else train.X[:0], n_trees, seed)
            if "deep trees" in requested:
                parts.append(InSpace(ranks, grown.fitted(train, {"deep trees": 0})))
        if train.table is not None and "deep trees of shares" in requested:
            known, numbers = TableNumbers.of_train(train)
            test = None if rows is None else rows.of_codes(numbers)
            of_shares, ranks = grow_deep(train._replace(X=known), test, n_trees, seed)
            fitted = InSpace(ranks, of_shares.fitted(train, {"deep trees of shares": 0}))
            parts.append(OfCodes(numbers, fitted))
        if is_scaled:
            space = Directions.of_points(train.X, grown.importance)
            scaled = train._replace(X=space.of(train.X), table=None)
            near = FittedNearest.of_train(scaled, requested, means, ridges, LOCAL_ROWS)
            parts.append(InSpace(space, near))
            if "landmark ridge" in requested:
                ridge = KernelRidge.of_train("landmark ridge", scaled, seed, (LANDMARK_WIDTH,), n_landmarks)
                parts.append(InSpace(space, ridge))
        return Together(tuple(parts))


class UnitOfMany(Learner):
    """Neighbours and local ridge regression in the unit that columns share."""

    name = "unit"
    takes_weights = True
    outputs = outputs_nearby("one unit", *_of_space("one unit"))

    def suited(self, look: Look) -> Learner | None:
        """Return the learner for columns that share a unit."""
        return self if look.shares_a_unit else None

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Move rows to their unit."""
        space = Directions.of_points(train.X, np.asarray(train.spread))
        in_unit = train._replace(X=space.of(train.X), table=None)
        return InSpace(space, FittedNearest.of_train(in_unit, requested, *near_names("one unit"), LOCAL_ROWS))


@record
class Ranks(Space):
    """The ranks of the values of each feature among the different ones; one between two others has that of the nearer.

    Attributes
    ----------
    cuts : tuple of ndarray
        What lies between two ranks, for each feature.
    """

    cuts: tuple[NDArray[Any], ...]

    @classmethod
    def of_points(cls, X: NDArray[Any]) -> "Ranks":
        """Rank the values of rows."""
        cuts = []
        for values in X.T:
            known = np.unique(values)
            if len(known) > MOST_RANKS:
                known = known[np.linspace(0, len(known) - 1, MOST_RANKS).astype(np.int64)]
            cuts.append(known[:-1] + (known[1:] - known[:-1]) / 2)
        return cls(tuple(cuts))

    def of(self, rows: NDArray[Any]) -> NDArray[np.uint16]:
        """Return the ranks of values, feature by feature in memory."""
        ranks = np.empty((len(self.cuts), len(rows)), np.uint16)
        for j, of_column in enumerate(self.cuts):
            ranks[j] = np.searchsorted(of_column, rows[:, j])
        return ranks.T


def grow_deep(train: Train, test: NDArray[Any] | None, n_trees: int, seed: int) -> tuple[Grown, Ranks]:
    """Grow trees of ranks to pure leaves; parameters are those of `grow_ensemble`."""
    ranks = Ranks.of_points(train.X)
    d = train.X.shape[1]
    n_tries = min(d, max(10, round(d**0.5)))
    others = None if test is None else ranks.of(test)
    known = train._replace(X=ranks.of(train.X))
    return grow_ensemble(known, others, seed, n_trees, n_tries=n_tries, min_rows=1, n_looked_at=LOOKED_AT), ranks


# --- the landmark model


@record
class FittedLandmarks(Fitted):
    """A landmark model of some of the classes; others have the probability 0."""

    feature_map: FeatureMap
    coefficients: F32
    classes: Ints
    n_classes: int

    def check(self) -> None:
        """Every feature has a coefficient, and every class is there."""
        require(self.coefficients.shape == (len(self.classes), self.feature_map.n_features))
        require((self.classes >= 0).all() and (self.classes < self.n_classes).all())

    def predict(self, rows: Rows) -> dict[str, Floats]:
        """Return the probabilities of the classes."""
        points = np.ascontiguousarray(rows.X, np.float64)
        scores = scores_of(points, self.feature_map, self.coefficients, None, WorkerPool(1))
        probability = np.zeros((len(points), self.n_classes))
        probability[:, self.classes] = probabilities_of(scores)
        return {"landmark model": probability}


class LandmarksOfMany(Learner):
    """A landmark model: random features, and multinomial regression on them."""

    name = "landmarks"
    takes_weights = True
    outputs = (Output("landmark model", "kernel"),)

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Fit the model without members: the stack has others."""
        # several sets are trained at the same time
        train = train.first(LANDMARK_ROWS)
        kept_bytes = max(LANDMARK_BYTES, 8 * train.X.size)
        effort = replace(EFFORTS["default"], members=(), kept_bytes=kept_bytes)
        classes, codes = np.unique(train.codes, return_inverse=True)
        if len(classes) < 2:
            return Constant(self.names, train.prior, True)
        train.check()
        ordered = order_rows(np.ascontiguousarray(train.X, np.float64), codes, train.weights, seed, None, effort)
        model = fit_model(ordered, len(classes), effort, seed, WorkerPool(1))
        return FittedLandmarks(model.feature_map, model.coefficients, classes, train.n_classes)
