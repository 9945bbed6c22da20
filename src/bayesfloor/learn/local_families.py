"""Families that compare rows by their distance: neighbours, Gaussian kernels, and decision trees that scale both.

Neighbours and kernel ridge regression are good where distances mean something. So they come in several spaces: columns
that are standardised, that keep a unit which they share, that are scaled by the importances of decision trees, and that
are scaled or turned by the gradients of what was learned before.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from bayesfloor.learn.decision_trees import TableNumbers, grow_ensemble
from bayesfloor.learn.learner import Fitted, InSpace, Learner, Look, OfCodes, Output, Rows, Together
from bayesfloor.learn.nearest import LOCAL_PENALTY, LOCAL_WIDTH, FittedNearest, outputs_nearby
from bayesfloor.learn.ridge import KernelRidge, Landmarks
from bayesfloor.learn.training_rows import Directions, Scaled, Train, Turned, most_telling
from bayesfloor.runtime.arrays import Floats, Ints

#: Numbers of neighbours that vote, and most rows that they are among.
N_NEIGHBORS, MOST_ROWS = (5, 15, 50), 20_000
#: Nearest rows that local ridge regression is fitted to.
LOCAL_ROWS = 32
#: Its width and its penalty.
LOCAL_FIT = (LOCAL_WIDTH, LOCAL_PENALTY)
#: Most landmarks, whose kernel is factorised for every width; for narrow kernels of classes: on letters, digits and
#: pixels a third of the error goes with more of them.
N_LANDMARKS, MANY_LANDMARKS = 300, 600
#: Features above which they have no more than the others, and above which local ridge regression is left to spaces of
#: fewer: standardised, so many are mostly noise.
MANY_COLUMNS = 256
#: Widths of kernels, as shares of the median distance between rows: narrow ones and the wide one of classes, and those
#: of numbers.
NARROW, WIDE, NUMBER_WIDTHS = (0.3, 0.6), 1.0, (0.3, 0.7, 1.5)
#: Widths in spaces scaled by what was learned, for classes and for numbers; the best by generalised cross-validation.
SCALED_WIDTHS, SCALED_NUMBER_WIDTHS = (0.5,), (0.5, 1.2)
#: Landmarks while gradients are learned, rows that they are taken at, and rounds.
GRADIENT_LANDMARKS, GRADIENT_ROWS, GRADIENT_ROUNDS = 200, 1000, 2
#: Most features whose gradients are taken.
MOST_GRADIENTS = 256
#: Trees of the ensemble, of classes and of numbers, and the fewest where rows and features are many.
N_TREES, N_NUMBER_TREES, FEWEST_TREES = 100, 80, 20
#: Rows times features that so many trees are grown for; with more of them there are fewer trees.
TREE_WORK = 250_000
#: Features of most importance that the scaled space has.
MOST_SCALED = 128


def _kernels(*names: str) -> tuple[Output, ...]:
    return tuple(Output(name, "kernel") for name in names)


@dataclass(frozen=True, eq=False)
class Neighbours(Learner):
    """Means of 5, 15 and 50 nearest rows; for classes also kernel ridge regression of them."""

    of_classes: bool

    name = "neighbours"
    takes_weights = True

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What it predicts."""
        return outputs_nearby(
            "", *(f"{k} neighbours" for k in N_NEIGHBORS), *(["local ridge"] if self.of_classes else [])
        )

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Keep the rows."""
        train = train.first(MOST_ROWS)
        means = {f"{k} neighbours": k for k in N_NEIGHBORS}
        has_ridge = self.of_classes and train.X.shape[1] <= MANY_COLUMNS
        ridges = {"local ridge": LOCAL_FIT} if has_ridge else {}
        return FittedNearest.of_train(train, requested, means, ridges, LOCAL_ROWS)


@dataclass(frozen=True, eq=False)
class Kernels(Learner):
    """Kernel ridge regression at several widths; the landmarks of a wide kernel are the first of the others."""

    of_classes: bool

    name = "kernels"
    takes_weights = True

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What it predicts."""
        return _kernels(*(f"kernel ridge {width}" for width in ((*NARROW, WIDE) if self.of_classes else NUMBER_WIDTHS)))

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Fit each width that is requested."""
        n_narrow = MANY_LANDMARKS if train.X.shape[1] <= MANY_COLUMNS else N_LANDMARKS
        of_width = {**dict.fromkeys(NARROW, n_narrow), WIDE: N_LANDMARKS}
        if not self.of_classes:
            of_width = dict.fromkeys(NUMBER_WIDTHS, N_LANDMARKS)
        space, parts = None, []
        for width, n_landmarks in of_width.items():
            name = f"kernel ridge {width}"
            if name in requested:
                space = Landmarks(train, seed, max(of_width.values())) if space is None else space
                parts.append(KernelRidge.of_fit(name, train, space.fit(width, n_landmarks)))
        return Together(tuple(parts))


@dataclass(frozen=True, eq=False)
class Unit(Learner):
    """Kernel ridge regression and neighbours in the unit that columns share.

    The edge of an image is nearly constant; standardised, its noise counts as much as the middle.
    """

    of_classes: bool

    name = "unit"
    takes_weights = True

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What it predicts."""
        ridge = ["local ridge, one unit"] if self.of_classes else []
        return *_kernels("kernel ridge, one unit"), *outputs_nearby("one unit", "5 neighbours, one unit", *ridge)

    def suited(self, look: Look) -> Learner | None:
        """Return the learner for columns that share a unit."""
        return self if look.shares_a_unit else None

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Move rows to their unit."""
        of_kernel, of_mean, of_ridge = "kernel ridge, one unit", "5 neighbours, one unit", "local ridge, one unit"
        space = Directions.of_points(train.X, np.broadcast_to(train.spread, train.X.shape[1]))
        in_unit = train._replace(X=space.of(train.X), table=None)
        parts: list[Fitted] = []
        if of_kernel in requested:
            width, n_landmarks = (NARROW[1], MANY_LANDMARKS) if self.of_classes else (NUMBER_WIDTHS[1], N_LANDMARKS)
            parts.append(KernelRidge.of_train(of_kernel, in_unit, seed, (width,), n_landmarks))
        ridges = {of_ridge: LOCAL_FIT} if self.of_classes else {}
        near = FittedNearest.of_train(in_unit.first(MOST_ROWS), requested, {of_mean: 5}, ridges, LOCAL_ROWS)
        return InSpace(space, Together((*parts, near)))


@dataclass(frozen=True, eq=False)
class Trees(Learner):
    """Randomised trees, and neighbours and kernel ridge where features are scaled by their importance."""

    of_classes: bool

    name = "trees"
    takes_weights = True

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What it predicts."""
        ridge = ["local ridge, scaled"] if self.of_classes else []
        near = *outputs_nearby("scaled", "15 neighbours, scaled", *ridge), *_kernels("kernel ridge, scaled")
        of_means = () if self.of_classes else (Output("trees of means", "tree"),)
        return Output("trees", "tree"), Output("deep trees", "tree"), *near, *of_means

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Grow trees."""
        of_mean, of_ridge, of_kernel = "15 neighbours, scaled", "local ridge, scaled", "kernel ridge, scaled"
        n_trees, parts = n_trees_for(train), []
        of_trees = {name: kind for name, kind in (("trees", -1), ("deep trees", 0)) if name in requested}
        if of_trees or not requested.isdisjoint((of_mean, of_ridge, of_kernel)):
            test = None if rows is None else rows.X
            grown = grow_ensemble(train, test if of_trees else train.X[:0], seed, n_trees)
            if of_trees:
                parts.append(grown.fitted(train, of_trees))
            used = np.sort(np.argsort(-grown.importance, kind="stable")[:MOST_SCALED])
            space = Scaled(used, grown.importance[used])
            scaled = train._replace(X=space.of(train.X), table=None)
            ridges = {of_ridge: LOCAL_FIT} if self.of_classes else {}
            near = FittedNearest.of_train(scaled.first(5 * MOST_ROWS), requested, {of_mean: 15}, ridges, LOCAL_ROWS)
            parts.append(InSpace(space, near))
            if of_kernel in requested:
                widths = SCALED_WIDTHS if self.of_classes else SCALED_NUMBER_WIDTHS
                parts.append(InSpace(space, KernelRidge.of_train(of_kernel, scaled, seed, widths, N_LANDMARKS)))
        if train.table is not None and not self.of_classes and "trees of means" in requested:
            known, numbers = TableNumbers.of_train(train)
            test = None if rows is None else rows.of_codes(numbers)
            grown = grow_ensemble(train._replace(X=known), test, seed, n_trees)
            parts.append(OfCodes(numbers, grown.fitted(train, {"trees of means": -1})))
        return Together(tuple(parts))


def n_trees_for(train: Train) -> int:
    """Return how many trees are grown: fewer where rows and features are many."""
    most = N_TREES if train.n_classes else N_NUMBER_TREES
    return max(FEWEST_TREES, min(most, most * TREE_WORK // train.X.size))


class Gradients(Learner):
    """Kernels in spaces that the gradients of earlier fits scale, or turn (Radhakrishnan et al. 2024).

    With M = mean of ∇f ∇f', points become M^½ x, or are scaled by the square roots of its diagonal: what does not
    change the prediction does not count as distance any more.
    """

    name = "gradients"
    outputs = _kernels("kernel ridge, scaled by gradients", "kernel ridge, turned by gradients")
    takes_weights = True

    def fit(self, train: Train, requested: frozenset[str], seed: int, rows: Rows | None = None) -> Fitted:
        """Find the spaces, and fit kernels there."""
        used: Ints = np.arange(train.X.shape[1])
        if len(used) > MOST_GRADIENTS:
            used = np.sort(most_telling(train)[:MOST_GRADIENTS])
        some = train._replace(X=train.X[:, used], table=None)
        first = _mean_slopes(some, np.eye(len(used)), seed)
        parts = []
        for name, is_turned in zip(self.names, (False, True), strict=True):
            if name not in requested:
                continue
            products, turn = first, np.eye(len(used))
            for number in range(GRADIENT_ROUNDS):
                products = _mean_slopes(some, turn, seed) if number else products
                if not is_turned:
                    products = np.diag(np.diag(products))
                total = float(np.trace(products))
                if not total > 0:
                    break
                s, axes = linalg.eigh(products / total)
                turn = (axes * np.sqrt(np.maximum(s, 0.0))) @ axes.T
            train.check()
            points = some.X @ turn
            if not float(points.var(axis=0).sum()) > 0:
                points, turn = some.X, np.eye(len(used))
            turned = some._replace(X=points)
            fit = KernelRidge.of_train(name, turned, seed, SCALED_NUMBER_WIDTHS, N_LANDMARKS)
            parts.append(InSpace(Turned(used, turn), fit))
        return Together(tuple(parts))


def _mean_slopes(train: Train, turn: Floats, seed: int) -> Floats:
    """Return the mean of ∇f ∇f' of a kernel fit in a space."""
    train.check()
    turned = train._replace(X=train.X @ turn)
    fit = Landmarks(turned, seed, GRADIENT_LANDMARKS).fit(1.0)
    slopes = fit.gradients(turned.X[:GRADIENT_ROWS]) @ turn.T
    return slopes.T @ slopes / len(slopes)
