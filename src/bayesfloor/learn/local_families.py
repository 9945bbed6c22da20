"""Families that compare rows by their distance: neighbours, Gaussian kernels, and decision trees that scale both.

Neighbours and kernel ridge regression are good where distances mean something. So they come in several spaces: columns
that are standardised, that keep a unit which they share, that are scaled by the importances of decision trees, and that
are scaled or turned by the gradients of what was learned before.
"""

import numpy as np
from scipy import linalg

from bayesfloor.learn.decision_trees import grow_ensemble, numbers_of_table
from bayesfloor.learn.nearest import LOCAL_PENALTY, LOCAL_WIDTH, near_learners
from bayesfloor.learn.ridge import Landmarks, kernel_ridge
from bayesfloor.learn.training_rows import Train, components, most_telling
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


def neighbours(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return means of 5, 15 and 50 nearest rows; for classes also kernel ridge regression of them."""
    train = train.first(MOST_ROWS)
    means = {f"{k} neighbours": k for k in N_NEIGHBORS}
    has_ridge = train.n_classes > 0 and train.X.shape[1] <= MANY_COLUMNS
    return near_learners(train, test, means, {"local ridge": LOCAL_FIT} if has_ridge else {}, LOCAL_ROWS)


def kernels(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return kernel ridge regression at several widths; the landmarks of a wide kernel are the first of the others."""
    n_narrow = MANY_LANDMARKS if train.X.shape[1] <= MANY_COLUMNS else N_LANDMARKS
    of_width = {**dict.fromkeys(NARROW, n_narrow), WIDE: N_LANDMARKS}
    if not train.n_classes:
        of_width = dict.fromkeys(NUMBER_WIDTHS, N_LANDMARKS)
    space, found = None, {}
    for width, n_landmarks in of_width.items():
        if train.wants(f"kernel ridge {width}"):
            space = Landmarks(train, seed, max(of_width.values())) if space is None else space
            predicted = space.fit(width, n_landmarks).predict(test)
            found[f"kernel ridge {width}"] = train.within(predicted, 0.5 / (len(train.X) + 1.0))
    return found


def unit(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return kernel ridge regression and neighbours in the unit that columns share.

    The edge of an image is nearly constant; standardised, its noise counts as much as the middle.
    """
    of_kernel, of_mean, of_ridge = "kernel ridge, one unit", "5 neighbours, one unit", "local ridge, one unit"
    if not train.wants(of_kernel, of_mean, of_ridge):
        return {}
    found = {}
    points, others = components(train.X, test, np.broadcast_to(train.spread, train.X.shape[1]))
    in_unit = train._replace(X=points, table=None)
    if train.wants(of_kernel):
        width, n_landmarks = (NARROW[1], MANY_LANDMARKS) if train.n_classes else (NUMBER_WIDTHS[1], N_LANDMARKS)
        found[of_kernel] = kernel_ridge(in_unit, others, seed, (width,), n_landmarks)
    ridges = {of_ridge: LOCAL_FIT} if train.n_classes else {}
    return found | near_learners(in_unit.first(MOST_ROWS), others, {of_mean: 5}, ridges, LOCAL_ROWS)


def trees(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return randomised trees, and neighbours and kernel ridge where features are scaled by their importance."""
    of_trees, of_means = ("trees", "deep trees"), "trees of means"
    of_mean, of_ridge, of_kernel = "15 neighbours, scaled", "local ridge, scaled", "kernel ridge, scaled"
    n_trees, found = n_trees_for(train), {}
    if train.wants(*of_trees, of_mean, of_ridge, of_kernel):
        grown = grow_ensemble(train, test if train.wants(*of_trees) else train.X[:0], seed, n_trees)
        predicted = zip(of_trees, (grown.shallow, grown.deep), strict=True)
        found = {name: mean for name, mean in predicted if train.wants(name)}
        used = np.sort(np.argsort(-grown.importance, kind="stable")[:MOST_SCALED])
        scale = grown.importance[used]
        scaled, others = train._replace(X=train.X[:, used] * scale, table=None), test[:, used] * scale
        ridges = {of_ridge: LOCAL_FIT} if train.n_classes else {}
        found |= near_learners(scaled.first(5 * MOST_ROWS), others, {of_mean: 15}, ridges, LOCAL_ROWS)
        if train.wants(of_kernel):
            widths = SCALED_WIDTHS if train.n_classes else SCALED_NUMBER_WIDTHS
            found[of_kernel] = kernel_ridge(scaled, others, seed, widths, N_LANDMARKS)
    if train.table is not None and not train.n_classes and train.wants(of_means):
        known, of_test = numbers_of_table(train, train.table)
        found[of_means] = grow_ensemble(train._replace(X=known), of_test, seed, n_trees).shallow
    return found


def n_trees_for(train: Train) -> int:
    """Return how many trees are grown: fewer where rows and features are many."""
    most = N_TREES if train.n_classes else N_NUMBER_TREES
    return max(FEWEST_TREES, min(most, most * TREE_WORK // train.X.size))


def gradients(train: Train, test: Floats, seed: int) -> dict[str, Floats]:
    """Return kernels in spaces that the gradients of earlier fits scale, or turn (Radhakrishnan et al. 2024).

    With M = mean of ∇f ∇f', points become M^½ x, or are scaled by the square roots of its diagonal: what does not
    change the prediction does not count as distance any more.
    """
    is_turned = {"kernel ridge, scaled by gradients": False, "kernel ridge, turned by gradients": True}
    wanted = [name for name in is_turned if train.wants(name)]
    if not wanted:
        return {}
    used: Ints = np.arange(train.X.shape[1])
    if len(used) > MOST_GRADIENTS:
        used = np.sort(most_telling(train)[:MOST_GRADIENTS])
    some, others = train._replace(X=train.X[:, used], table=None), test[:, used]
    first = _mean_slopes(some, np.eye(len(used)), seed)
    found = {}
    for name in wanted:
        products, turn = first, np.eye(len(used))
        for number in range(GRADIENT_ROUNDS):
            products = _mean_slopes(some, turn, seed) if number else products
            if not is_turned[name]:
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
        found[name] = kernel_ridge(turned, others @ turn, seed, SCALED_NUMBER_WIDTHS, N_LANDMARKS)
    return found


def _mean_slopes(train: Train, turn: Floats, seed: int) -> Floats:
    """Return the mean of ∇f ∇f' of a kernel fit in a space."""
    train.check()
    turned = train._replace(X=train.X @ turn)
    fit = Landmarks(turned, seed, GRADIENT_LANDMARKS).fit(1.0)
    slopes = fit.gradients(turned.X[:GRADIENT_ROWS]) @ turn.T
    return slopes.T @ slopes / len(slopes)
