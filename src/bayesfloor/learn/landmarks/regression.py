"""From rows and numbers to a landmark model: the features of the classes' model under a ridge penalty."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.learn.boosting import boosting
from bayesfloor.learn.landmarks.efforts import Effort
from bayesfloor.learn.landmarks.feature_choice import FeaturePlan, Sample, choose_features
from bayesfloor.learn.landmarks.feature_map import F32, FeatureMap
from bayesfloor.learn.landmarks.fitting import Rows, plan_features
from bayesfloor.learn.landmarks.members import LANDMARKS, MOST_ROWS, Members, fit_number_weights
from bayesfloor.learn.landmarks.multinomial import Penalty, cholesky, penalty_of, solve
from bayesfloor.learn.landmarks.row_sums import RowSums, Sums, over_blocks
from bayesfloor.learn.later import Later, steps_of
from bayesfloor.learn.ridge import PLATEAU
from bayesfloor.learn.training_rows import Train
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.threads import WorkerPool

#: Take as many landmarks as for this number of classes: ridge regression needs no steps, so there is time for more.
LIKE_CLASSES = 10
#: Penalties to try, from large to small, as multiples of that of ridge regression on a few rows.
PATH = 10.0 ** np.arange(2.0, -7.0, -0.5)
#: Up to `FEW_ROWS` rows, choose the penalty by `N_FOLDS`-fold cross-validation; with more rows, hold a part out once.
FEW_ROWS, N_FOLDS = 10_000, 5
#: Maximum share of the rows that features are chosen on. The penalty is chosen on others, since rules fit the rows that
#: they were chosen on too well.
FEW_SHARE = 0.6
#: Rows and landmarks on which the width of the kernel and the weights of the columns are chosen, and the power of the
#: gradients. One target costs less than many classes do, and its gradients are less noisy.
WIDTH_CHOICE = (1200, 192, 0.5)
#: Factors for the penalty of rules, taken where held-out rows show a gain, and factors of all penalties with them.
RULE_PENALTIES, NEARBY = (10.0, 1e4), (10.0**0.5, 1.0, 10.0**-0.5)
#: Stop the path after this number of penalties that do not improve on the best.
MOST_WORSE = 3


class HeldOutRows(NamedTuple):
    """Rows that were predicted by a fit that had not seen them, with features that were chosen on others.

    Attributes
    ----------
    predicted, target : ndarray of shape (n,), float32
        What was predicted, and what is there, both standardised.
    weight : ndarray of shape (n,), float32
        Weights, of mean 1 over all rows of the fit.
    group : ndarray of shape (n,)
        Numbers of groups from 0, by where these come first; those of the rows where no rows belong together.
    """

    predicted: F32
    target: F32
    weight: F32
    group: Ints

    @property
    def mse(self) -> float:
        """Mean squared error."""
        return self._mean_of((self.target.astype(np.float64) - self.predicted) ** 2)

    @property
    def r2(self) -> float:
        """Share of the variance that is explained; 0 where there is none."""
        variance = self._mean_of((self.target - self._mean_of(self.target)) ** 2)
        return 1.0 - self.mse / variance if variance > 0.0 else 0.0

    def _mean_of(self, values: Any) -> float:
        return float(np.average(values.astype(np.float64), weights=self.weight.astype(np.float64)))


class RidgeModel(NamedTuple):
    """A fitted model of the standardised target.

    Attributes
    ----------
    feature_map : FeatureMap
        From rows to features.
    coefficients : ndarray of shape (n_features,), float32
        From features to the target.
    members : Members or None
        Boosting that is stacked with it.
    penalty : float
        The penalty in use.
    held_out : HeldOutRows
        Held-out rows and what the fit without them predicts; penalty and weights of members were chosen on these rows.
    """

    feature_map: FeatureMap
    coefficients: F32
    members: Members | None
    penalty: float
    held_out: HeldOutRows


def fit_numbers(
    rows: Rows,
    targets: F32,
    effort: Effort,
    seed: int,
    pool: WorkerPool,
    *,
    n_landmarks: int | None = None,
    n_rules: int | None = None,
) -> RidgeModel:
    """Choose features and a penalty, and regress a standardised target on all rows.

    Parameters
    ----------
    rows : Rows
        Rows in order; their classes are not read.
    targets : ndarray of shape (n,), float32
        The target of each row.
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
    RidgeModel
    """
    n, n_kept = len(targets), rows.n_kept
    scaling, columns, plan = plan_features(rows, LIKE_CLASSES, effort, seed, n_landmarks, n_rules)
    plan = FeaturePlan(*plan[:3], *WIDTH_CHOICE)
    parts = _parts(n, n_kept, rows.groups is not None)
    n_few = min(effort.n_tune, max(2, int(FEW_SHARE * n)), n_kept)
    sample = Sample.of(columns[:n_few], targets[:n_few, np.newaxis], rows.weight[:n_few])
    feature_map, strength = choose_features(scaling, sample, columns[: plan.n_landmarks], plan, seed)
    pool.check()
    pool.expect(2)
    penalty = penalty_of(feature_map)
    sums = [RowSums(feature_map, columns[part], rows.codes[part], rows.weight[part], pool) for part in parts]
    products = [each.products() for each in sums]
    of_moments = partial(over_blocks, _moments)
    moments = [each.add_up(of_moments, targets[part])[0] for each, part in zip(sums, parts, strict=True)]
    pool.advance(1)
    all_products, all_moments = np.sum(products, axis=0), np.sum(moments, axis=0)
    judged = [number for number, part in enumerate(parts) if part.start >= n_few] or [len(parts) - 1]
    left_out = np.concatenate([np.arange(parts[number].start, parts[number].stop) for number in judged])
    group = np.arange(len(left_out)) if rows.groups is None else _numbered(rows.groups[left_out])

    def held_out(strength: float, of_rules: float) -> HeldOutRows:
        """Predict the parts that had no say in the choice of features, each left out in turn."""
        predicted = []
        for number in judged:
            pool.check()
            fitted = solve_ridge(
                all_products - products[number],
                all_moments - moments[number],
                _with_rules(penalty, feature_map, of_rules),
                strength,
            )
            predicted.append(_predictions(sums[number], fitted))
        return HeldOutRows(np.concatenate(predicted), targets[left_out], rows.weight[left_out], group)

    best = _choose_penalty(held_out, strength, has_rules=len(feature_map.rule_first) > 0)
    pool.advance(1)
    penalty = _with_rules(penalty, feature_map, best.of_rules)
    fitted = solve_ridge(all_products, all_moments, penalty, best.strength)
    found, members = best.held_out, None
    if effort.members and scaling.axes is None and len(parts) > 1:
        learn = partial(_boosted, columns, targets, rows.weight, seed=seed, check=pool.check)
        found, members = _with_boosting(found, learn, columns, [parts[number] for number in judged], pool)
    return RidgeModel(feature_map, fitted, members, best.strength, found)


def _boosted(
    columns: F32, targets: F32, weight: F32, rows: Ints, *, seed: int, check: Callable[[], None]
) -> dict[str, Any]:
    """Train boosting on some rows, at most `MOST_ROWS`, and return what it does with rows to come."""
    some = rows[:MOST_ROWS]
    of_rows = None if (weight == 1).all() else weight[some].astype(np.float64)
    X, y = columns[some].astype(np.float64), targets[some].astype(np.float64)
    return dict(boosting(Train.of_numbers(X, y, of_rows, check=check), Later.rows(), seed))  # type: ignore[arg-type]


def _with_boosting(
    held_out: HeldOutRows,
    learn: Callable[[Ints], dict[str, Any]],
    columns: F32,
    left_out: list[slice],
    pool: WorkerPool,
) -> tuple[HeldOutRows, Members | None]:
    """Weigh boosting beside the ridge regression on held-out rows; if it helps, train it on all rows."""
    every = np.arange(len(columns))

    def predict(part: slice) -> F32:
        others = np.concatenate([every[: part.start], every[part.stop :]])
        trained = Members({}, steps_of(learn(others)), None)
        ridge = np.zeros((part.stop - part.start, 1), np.float32)
        return trained.numbers(columns[part], ridge)["boosting"][:, 0]

    predicted = np.concatenate(pool.run(predict, [(part,) for part in left_out]))
    found = {LANDMARKS: held_out.predicted, "boosting": predicted}
    weights = fit_number_weights(found, held_out.target, held_out.weight)
    if "boosting" not in weights:
        return held_out, None
    stacked = weights[LANDMARKS] * held_out.predicted + weights["boosting"] * predicted
    return held_out._replace(predicted=stacked.astype(np.float32)), Members(weights, steps_of(learn(every)), None)


class _Choice(NamedTuple):
    """A penalty, how many times larger that of rules is, and what held-out rows say of both."""

    strength: float
    of_rules: float
    held_out: HeldOutRows

    def is_better_than(self, other: "_Choice") -> bool:
        return self.held_out.mse < (1.0 - PLATEAU) * other.held_out.mse


def _choose_penalty(held_out: Callable[[float, float], HeldOutRows], middle: float, *, has_rules: bool) -> _Choice:
    """Go along falling penalties, and then try heavier ones of rules, by the error on held-out rows."""

    def tried(strength: float, of_rules: float = 1.0) -> _Choice:
        return _Choice(strength, of_rules, held_out(strength, of_rules))

    best, n_worse = tried(middle * float(PATH[0])), 0
    for factor in PATH[1:]:
        other = tried(middle * float(factor))
        if other.is_better_than(best):
            best, n_worse = other, 0
            continue
        n_worse += 1
        if n_worse == MOST_WORSE:
            break
    if has_rules:
        middle = best.strength
        for heavier in RULE_PENALTIES:
            for factor in NEARBY:
                other = tried(middle * factor, heavier)
                best = other if other.is_better_than(best) else best
    return best


def _numbered(groups: Ints) -> Ints:
    """Number groups from 0, by where they come first: what they are called has no say."""
    _, first, codes = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")[codes]


def _with_rules(penalty: Penalty, feature_map: FeatureMap, times: float) -> Penalty:
    """Return the penalty with that of rules multiplied."""
    diagonal = penalty.diagonal.copy()
    diagonal[feature_map.n_features - len(feature_map.rule_first) :] *= times
    return penalty._replace(diagonal=diagonal)


def _parts(n: int, n_kept: int, has_groups: bool) -> list[slice]:
    """Return parts of the rows; some of the last ones are left out in turn to choose the penalty."""
    if n > FEW_ROWS or has_groups:
        return [slice(0, n_kept), slice(n_kept, n)] if n_kept < n else [slice(0, n)]
    cuts = np.linspace(0, n, min(N_FOLDS, n) + 1).astype(np.int64).tolist()
    return [slice(*ends) for ends in pairwise(cuts)]


def solve_ridge(products: Floats, moments: F32, penalty: Penalty, strength: float) -> F32:
    """Return the minimiser of ½ Σ_i w_i (y_i - f_i'b)² + (λ/2) b'Rb.

    Parameters
    ----------
    products : ndarray of shape (n_features, n_features)
        Σ_i w_i f_i f_i', the lower triangle.
    moments : ndarray of shape (n_features,), float32
        Σ_i w_i y_i f_i.
    penalty : Penalty
        R.
    strength : float
        λ.

    Returns
    -------
    ndarray of shape (n_features,), float32
    """
    return solve(cholesky(products, penalty, strength), moments[np.newaxis])[0]


def _moments(rows: RowSums, block: slice, targets: F32) -> Sums:
    """Return the sum over rows of weight times target times features."""
    return [(rows.weight[block] * targets[block]) @ rows.features(block)]


def _predictions(rows: RowSums, coefficients: F32) -> F32:
    """Return what is predicted for all rows."""
    blocks = [(block,) for block in rows.blocks]
    return np.concatenate(rows.pool.run(lambda block: rows.features(block) @ coefficients, blocks))
