"""From rows and classes to a landmark model: choices on a few rows, the fit on all, and scores of new rows."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bayesfloor.data.sampling import keys_of_points
from bayesfloor.learn.landmarks.efforts import MOSTLY_BINARY, Effort
from bayesfloor.learn.landmarks.feature_choice import FeaturePlan, Sample, choose_features
from bayesfloor.learn.landmarks.feature_kernels import to_probabilities
from bayesfloor.learn.landmarks.feature_map import F32, FeatureMap, Scaling, by_share_of_zeros, scale_rows, scaling_of
from bayesfloor.learn.landmarks.members import LANDMARKS, Members, Trained, Wanted, fit_stack_weights, stacked
from bayesfloor.learn.landmarks.multinomial import TOLERANCE, Fit, Memory, Objective, Penalty, descend, penalty_of
from bayesfloor.learn.landmarks.row_sums import Judged, RowSums
from bayesfloor.learn.training_rows import product
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.hash_kernels import mix64
from bayesfloor.runtime.threads import WorkerPool

#: Rows in a block of predictions. The last block is padded, so that no prediction depends on how many rows there are.
PREDICTED_ROWS = 256
#: Minimum number of rows whose products precondition the steps.
FEWEST_PRODUCT_ROWS = 4000
#: Factor that lifts products of sampled rows above those of all rows, and the minimum share of each square.
SAMPLED_MARGIN, LEAST_SHARE = 1.1, 0.2
#: Stop the path of penalties at a held-out loss above this multiple of the best, or after two in a row above the best.
HOPELESS = 1.1
#: Penalties to try per unit of weight where rows are few. They are no multiples of that of ridge regression, which is
#: its least wherever few rows are told apart by planes.
FEW_PATH = 10.0 ** np.arange(-1.0, -6.5, -0.75)
#: With few rows, fits go on until a step gains less than this per unit of weight, for at most so many steps.
FEW_TOLERANCE, FEW_STEPS = 1e-3, 30
#: Hold out quarters of few rows in turn while they number this many together at the most; one in any case.
MOST_JUDGED = 480
#: Minimum probability in the held-out loss.
LEAST_PROBABILITY = 1e-7
#: Take half of the steps where all rows number fewer than this multiple of those that the penalty was chosen on.
FEW_MORE = 2
#: Steps on all rows after a fit without the held-out rows.
STEPS_ON_ALL = 4
#: Rows, as a multiple of those that the penalty is chosen on, above which members are raced on the latter.
RACED_SHARE = 2
#: Held-out loss of the landmark model below which there is nothing to add to it.
PERFECT = 0.005
#: Maximum share of held-out rows at which the fit without them stays.
REFIT_SHARE = 1 / 7
#: Minimum and maximum weight, relative to the mean, so that no sum is 0 or infinite in float32.
LIGHTEST_ROW, HEAVIEST_ROW = 1e-12, 1e12


class Rows(NamedTuple):
    """Training rows in an order that depends on their values alone; those held out come last.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, n_columns)
        Rows.
    codes : ndarray of shape (n,)
        Classes.
    weight : ndarray of shape (n,), float32
        Weights of mean 1.
    n_kept : int
        Rows that are not held out.
    groups : ndarray of shape (n,) or None
        Rows that belong together have the same number.
    """

    X: Any
    codes: Ints
    weight: F32
    n_kept: int
    groups: Ints | None = None

    @property
    def held(self) -> slice:
        """The rows that are held out; all where none can be."""
        n = len(self.codes)
        return slice(self.n_kept, n) if self.n_kept < n else slice(0, n)


class Turn:
    """A fit along falling penalties, each from the one before, and rows that are held out of it.

    Parameters
    ----------
    sums : RowSums
        Rows of the fit.
    judged : Judged
        Rows that are not.
    n_classes : int
        How many classes.
    """

    def __init__(self, sums: RowSums, judged: Judged, n_classes: int) -> None:
        self.sums, self.judged = sums, judged
        self.coefficients = np.zeros((n_classes, sums.feature_map.n_features), np.float32)
        self._of_loss = sums.gradient(self.coefficients)
        self._memory: Memory = []

    def go_on(self, objective: Objective, n_steps: int, tolerance: float) -> F32:
        """Take steps with the next penalty; return the probabilities of the held-out rows."""
        objective = objective.of(self.sums.gradient)
        start = objective.at(self.coefficients, self._of_loss)
        weight = float(self.sums.weight.sum())
        self.coefficients, _, _, self._of_loss = descend(objective, start, n_steps, weight, self._memory, tolerance)
        probabilities: F32 = self.judged.features @ self.coefficients.T
        to_probabilities(probabilities)
        return probabilities


@dataclass(frozen=True, eq=False)
class LandmarkModel:
    """A fitted model.

    Attributes
    ----------
    feature_map : FeatureMap
        From rows to features.
    coefficients : ndarray of shape (n_classes, n_features), float32
        From features to scores.
    members : Members or None
        What is stacked with it.
    penalty : float
        The penalty in use.
    held_out_error, held_out_log_loss : float
        Error and loss on the held-out rows of the fit without them, with its members; penalty and weights of the
        members were chosen on these rows.
    """

    feature_map: FeatureMap
    coefficients: F32
    members: Members | None
    penalty: float
    held_out_error: float
    held_out_log_loss: float


def order_rows(X: Any, codes: Ints, weight: Floats, seed: int, groups: Ints | None, effort: Effort) -> Rows:
    """Put rows in a random order that depends on their values and not on where they stand, held-out rows last.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, n_columns)
        Rows, float64.
    codes : ndarray of shape (n,)
        Classes.
    weight : ndarray of shape (n,)
        Weights.
    seed : int
        Of the random order.
    groups : ndarray of shape (n,) or None
        Rows that belong together; whole groups are held out.
    effort : Effort
        How many rows are held out.

    Returns
    -------
    Rows
    """
    n = len(codes)
    X = by_share_of_zeros(X)
    keys = keys_of_points(X, seed)
    n_held = effort.n_held if n >= effort.n_tune + effort.n_held else n // 4
    if groups is None:
        order = np.lexsort((weight, codes, keys))
        n_kept = n - n_held
    else:
        _, groups = np.unique(groups, return_inverse=True)
        of_groups = np.zeros(int(groups.max()) + 1, np.uint64)
        np.add.at(of_groups, groups, mix64(keys ^ mix64(codes.astype(np.uint64))))
        by_key = np.argsort(of_groups, kind="stable")
        before = np.cumsum(np.bincount(groups)[by_key])
        is_held = np.zeros(len(of_groups), bool)
        is_held[by_key[(before <= n_held) & (np.arange(len(by_key)) < len(by_key) - 1)]] = True
        order = np.lexsort((weight, codes, keys, is_held[groups]))
        n_kept = n - int(is_held[groups].sum())
    weight = weight[order]
    largest = weight.max()
    mean_weight = float((weight / largest).mean() * largest)
    with np.errstate(over="ignore", under="ignore"):
        relative = np.clip(weight / mean_weight, LIGHTEST_ROW, HEAVIEST_ROW).astype(np.float32)
    groups = None if groups is None else groups[order]
    return Rows(X[order], codes[order], relative, max(n_kept, 1), groups)


def plan_features(
    rows: Rows, n_classes: int, effort: Effort, seed: int, n_landmarks: int | None, n_rules: int | None
) -> tuple[Scaling, F32, FeaturePlan]:
    """Return what scales columns, the scaled columns, and how many landmarks and rules there are to be."""
    n = len(rows.codes)
    scaling = scaling_of(rows.X, rows.weight, seed)
    columns = scale_rows(rows.X, scaling)
    default_landmarks, default_rules = effort.n_features(
        n, n_classes, columns.shape[1], float(scaling.is_binary.mean())
    )
    plan = FeaturePlan(
        default_landmarks if n_landmarks is None else min(n_landmarks, n),
        default_rules if n_rules is None else n_rules,
        effort.widths,
    )
    return scaling, columns, plan


def fit_model(
    rows: Rows,
    n_classes: int,
    effort: Effort,
    seed: int,
    pool: WorkerPool,
    *,
    n_landmarks: int | None = None,
    n_rules: int | None = None,
) -> LandmarkModel:
    """Choose features and a penalty, and fit the model to all rows.

    Parameters
    ----------
    rows : Rows
        Rows in order.
    n_classes : int
        How many classes.
    effort : Effort
        How much to spend.
    seed : int
        Draws pairs of rows.
    pool : WorkerPool
        Threads.
    n_landmarks, n_rules : int or None, default=None
        How many; None for the default of the effort.

    Returns
    -------
    LandmarkModel
    """
    n, held = len(rows.codes), rows.held
    scaling, columns, plan = plan_features(rows, n_classes, effort, seed, n_landmarks, n_rules)
    are_few = n < effort.n_tune + effort.n_held
    if are_few and n_rules is None and scaling.is_binary.mean() <= MOSTLY_BINARY:
        plan = plan._replace(n_rules=0)  # the best of many cuts fit few rows by chance
    few = slice(0, min(effort.n_tune, rows.n_kept))
    sample = Sample.of(columns[few], np.eye(n_classes, dtype=np.float32)[rows.codes[few]], rows.weight[few])
    feature_map, strength = choose_features(scaling, sample, columns[: plan.n_landmarks], plan, seed)
    pool.expect(2 * effort.steps + STEPS_ON_ALL)
    pool.check()
    of_kept, penalty = rows.weight.copy(), penalty_of(feature_map)
    if rows.n_kept < n:  # else all rows belong together, and judge themselves
        of_kept[held] = 0.0
    kept = RowSums(feature_map, columns, rows.codes, of_kept, pool, effort.kept_bytes)
    members = effort.members if rows.n_kept < n else ()
    wanted = Wanted.of(members, scaling.axes is None, columns, n_classes)
    if are_few:
        whole = kept.weighted(rows.weight)
        products = whole.products()
        turns = _in_turns(rows, whole, n_classes)
        kept, judged = turns[0].sums, turns[0].judged
        fit = _choose_penalty(turns, products, penalty, n * FEW_PATH, FEW_STEPS, FEW_TOLERANCE)
    else:
        first = RowSums(feature_map, columns[few], rows.codes[few], rows.weight[few], pool)
        judged = _judged(kept, held, rows.weight)
        known = np.isin(judged.codes, rows.codes[few])
        turn = Turn(first, judged.among(known), n_classes)
        path = strength * np.array(effort.path)
        fit = _choose_penalty([turn], first.products(), penalty, path, effort.path_steps)
        if rows.n_kept > RACED_SHARE * few.stop:
            wanted = wanted.raced(first, fit.coefficients, judged, seed)
        n_steps = effort.steps if n > FEW_MORE * few.stop else effort.steps // 2 + 1
        fit = _fit_all(kept, penalty, fit, effort, n_steps)
    found = Trained(()).judge(judged, kept, fit.coefficients)
    if _error_and_loss(stacked(found, {LANDMARKS: 1.0}), judged.codes, judged.weight)[1] < PERFECT:
        wanted = wanted.among(())
    trained = wanted.train(kept, rows.n_kept, fit.coefficients, seed)
    found = trained.judge(judged, kept, fit.coefficients)
    weights = fit_stack_weights(found, judged.codes, judged.weight)
    error, log_loss = _error_and_loss(stacked(found, weights), judged.codes, judged.weight)
    if n - rows.n_kept > REFIT_SHARE * n:
        whole = kept.weighted(rows.weight)
        fit = _fit_all(whole, penalty, fit, effort, 2 * STEPS_ON_ALL if are_few else STEPS_ON_ALL)
        trained = wanted.among(weights).train(whole, n, fit.coefficients, seed)
    return LandmarkModel(feature_map, fit.coefficients, trained.members(weights), fit.penalty, error, log_loss)


def _known_rows(held: slice, codes: Ints, seen: NDArray[Any]) -> Ints:
    """Return held-out rows of classes that a fit has seen, given its rows of each class; all of them if none are.

    A class that the fit has not seen tells nothing about the penalty, and its loss would outweigh all others.
    """
    is_known = seen[codes[held]] > 0
    return np.arange(held.start, held.stop)[is_known if is_known.any() else slice(None)]


def _judged(fitted: RowSums, held: slice, weight: F32) -> Judged:
    """Return held-out rows, with their weights, of classes that the rows of a fit have."""
    rows = _known_rows(held, fitted.codes, np.bincount(fitted.codes, fitted.weight))
    columns = fitted.columns[rows]
    return Judged(fitted.feature_map.features(columns), columns, fitted.codes[rows], weight[rows])


def _in_turns(rows: Rows, whole: RowSums, n_classes: int) -> list[Turn]:
    """Hold out equal parts of few rows in turn, the last one first: one part alone has too few to choose by."""
    n, size = len(rows.codes), rows.held.stop - rows.held.start
    n_turns = min(n // size, max(MOST_JUDGED // size, 1)) if rows.groups is None else 1
    turns = []
    for stop in range(n, n - n_turns * size, -size):
        weight = rows.weight.copy()
        if size < n:
            weight[stop - size : stop] = 0.0
        sums = whole.weighted(weight)
        turns.append(Turn(sums, _judged(sums, slice(stop - size, stop), rows.weight), n_classes))
    return turns


def _choose_penalty(
    turns: list[Turn], products: Floats, penalty: Penalty, path: Floats, n_steps: int, tolerance: float = TOLERANCE
) -> Fit:
    """Fit the model along falling penalties, and choose by the loss of all held-out rows; return the first turn's fit.

    After few steps, fits are far from what large penalties allow, and small ones look best for having had more of them.
    """
    codes = np.concatenate([turn.judged.codes for turn in turns])
    weight = np.concatenate([turn.judged.weight for turn in turns])
    best, n_worse = Fit(turns[0].coefficients, float(path[0]), 1.0, np.inf), 0
    for strength in path.tolist():
        objective = Objective(turns[0].sums.gradient, products, penalty, strength)
        probabilities = np.concatenate([turn.go_on(objective, n_steps, tolerance) for turn in turns])
        error, loss = _error_and_loss(probabilities, codes, weight)
        if loss < best.log_loss:
            best, n_worse = Fit(turns[0].coefficients, strength, error, loss), 0
            continue
        n_worse += 1
        if n_worse == 2 or loss > HOPELESS * best.log_loss:
            break
    return best


def _error_and_loss(probabilities: F32, codes: Ints, weight: F32) -> tuple[float, float]:
    """Return the weighted error and mean logarithmic loss."""
    own = probabilities[np.arange(len(codes)), codes].astype(np.float64)
    shares = weight.astype(np.float64) / float(weight.sum())
    error = float(shares @ (probabilities.argmax(axis=1) != codes))
    return error, float(-(shares @ np.log(np.maximum(own, LEAST_PROBABILITY))))


def _fit_all(sums: RowSums, penalty: Penalty, start: Fit, effort: Effort, n_steps: int) -> Fit:
    """Go on with a fit on these rows, with the same penalty."""
    m = sums.feature_map.n_features
    most_rows = int(max(effort.product_rows * m, FEWEST_PRODUCT_ROWS))
    if sums.n_rows <= 1.5 * most_rows:
        products = sums.products(start.coefficients)
    else:
        products = sums.products(start.coefficients, most_rows)
        products *= SAMPLED_MARGIN
        diagonal = np.diag_indices(m)
        products[diagonal] = np.maximum(products[diagonal], LEAST_SHARE * sums.squares())
    objective = Objective(sums.gradient, products, penalty, start.penalty)
    found = descend(objective, objective.at(start.coefficients), n_steps, float(sums.weight.sum()))
    return start._replace(coefficients=found.coefficients)


def scores_of(X: Any, feature_map: FeatureMap, coefficients: F32, members: Members | None, pool: WorkerPool) -> F32:
    """Return the scores of the classes of checked rows, (n, n_classes), or numbers, (n, 1)."""
    n = X.shape[0]
    out = np.empty((n, len(coefficients)), np.float32)
    transposed = coefficients.T

    def score(first: int) -> None:
        pool.check()
        part = X[first : first + PREDICTED_ROWS]
        size = part.shape[0]
        block = np.zeros((PREDICTED_ROWS, feature_map.n_axes), np.float32)
        block[:size] = _scaled(part, feature_map)
        scores: F32 = product(feature_map.features(block), transposed)
        if members is not None:
            scores = members.scores(block, np.ascontiguousarray(scores))
        out[first : first + size] = scores[:size]

    pool.run(score, [(first,) for first in range(0, n, PREDICTED_ROWS)])
    return out


def probabilities_of(scores: F32) -> Floats:
    """Return the probabilities of the classes, (n, n_classes)."""
    shifted = scores.astype(np.float64)
    shifted -= shifted.max(axis=1, keepdims=True)
    odds = np.exp(shifted)
    return odds / odds.sum(axis=1, keepdims=True)


def _scaled(part: Any, feature_map: FeatureMap) -> F32:
    """Return scaled rows of a block that is filled up, so that each row is multiplied in the same way."""
    if issparse(part):
        if feature_map.axes is not None:
            return feature_map.scaled(part)  # products of sparse rows are taken row by row
        part = part.toarray()
    filled = np.zeros((PREDICTED_ROWS, part.shape[1]))
    filled[: len(part)] = part
    return feature_map.scaled(filled)[: len(part)]
