"""From rows and numbers to a landmark model: the features of the classes' model under a ridge penalty."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.learn.boosting import Boosting
from bayesfloor.learn.landmarks.efforts import Effort
from bayesfloor.learn.landmarks.feature_choice import FeaturePlan, Sample, choose_features
from bayesfloor.learn.landmarks.feature_map import F32, FeatureMap
from bayesfloor.learn.landmarks.fitting import HEAVIEST_ROW, LIGHTEST_ROW, Rows, plan_features
from bayesfloor.learn.landmarks.members import LANDMARKS, MOST_ROWS, Members, fit_number_weights, weighted_sum
from bayesfloor.learn.landmarks.multinomial import Penalty, cholesky, penalty_of, solve
from bayesfloor.learn.landmarks.row_sums import RowSums, Sums, over_blocks
from bayesfloor.learn.learner import Fitted, fit
from bayesfloor.learn.records import LARGEST_COEFFICIENT, Record, record, require, require_within
from bayesfloor.learn.ridge import PLATEAU
from bayesfloor.learn.training_rows import Train
from bayesfloor.runtime.arrays import Bools, Floats, Ints
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
#: Parts of the held-out rows. A penalty and weights for each, and deviations that its residuals are divided by, come
#: from the others.
N_PARTS = 5
#: Stop the path after this number of penalties that do not improve on the best.
MOST_WORSE = 3


@record
class HeldOutRows(Record):
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

    def check(self) -> None:
        """A target, a weight and a group for every row."""
        n = len(self.predicted)
        require(n and all(each.shape == (n,) for each in (self.predicted, self.target, self.weight, self.group)))
        for values, least, largest in (
            (self.predicted, -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT),
            (self.target, -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT),
            (self.weight, np.float32(LIGHTEST_ROW), np.float32(HEAVIEST_ROW)),
            (self.group, 0, n - 1),
        ):
            require_within(values, least, largest)

    def parts(self) -> Iterator[Bools]:
        """Yield which rows belong to each of a few parts, of rows or whole groups, which are in random order."""
        for part in range(N_PARTS):
            yield self.group % N_PARTS == part

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
        Held-out rows and what the fit without them predicts, with a penalty and weights of members that others of these
        rows chose.
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
    apart = HeldOutRows(
        np.empty(len(left_out), np.float32),
        targets[left_out],
        rows.weight[left_out],
        np.arange(len(left_out)) if rows.groups is None else _numbered(rows.groups[left_out]),
    )

    @cache
    def predicted(strength: float, of_rules: float) -> F32:
        """Predict the parts that had no say in the choice of features, each left out in turn."""
        found = []
        for number in judged:
            pool.check()
            fitted = solve_ridge(
                all_products - products[number],
                all_moments - moments[number],
                _with_rules(penalty, feature_map, of_rules),
                strength,
            )
            found.append(_predictions(sums[number], fitted))
        return np.concatenate(found)

    learn = partial(_boosted, columns, targets, rows.weight, seed=seed, check=pool.check)
    of_members = {}
    if effort.members and scaling.axes is None and len(parts) > 1:
        of_members = {"boosting": _apart_by_boosting(learn, columns, [parts[number] for number in judged], pool)}

    def chosen(some: Ints) -> _Chosen:
        """Choose a penalty, and weights of members, by some of the held-out rows; predict all of them."""
        best = _choose_penalty(predicted, apart, some, strength, has_rules=len(feature_map.rule_first) > 0)
        found = {LANDMARKS: best.predicted, **of_members}
        known = {name: each[some] for name, each in found.items()}
        weights = fit_number_weights(known, apart.target[some], apart.weight[some])
        return _Chosen(best, weights, weighted_sum(found, weights))

    best, weights, _ = chosen(np.arange(len(left_out)))
    pool.advance(1)
    fitted = solve_ridge(all_products, all_moments, _with_rules(penalty, feature_map, best.of_rules), best.strength)
    members = Members(weights, (learn(np.arange(n)),)) if "boosting" in weights else None
    return RidgeModel(feature_map, fitted, members, best.strength, _chosen_by_others(chosen, apart))


def _boosted(columns: F32, targets: F32, weight: F32, rows: Ints, *, seed: int, check: Callable[[], None]) -> Fitted:
    """Train boosting on some rows, at most `MOST_ROWS`."""
    some = rows[:MOST_ROWS]
    of_rows = None if (weight == 1).all() else weight[some].astype(np.float64)
    X, y = columns[some].astype(np.float64), targets[some].astype(np.float64)
    return fit(Boosting(), Train.of_numbers(X, y, of_rows, check=check), None, seed)


def _apart_by_boosting(learn: Callable[[Ints], Fitted], columns: F32, left_out: list[slice], pool: WorkerPool) -> F32:
    """Predict parts of the rows by boosting on all others."""
    every = np.arange(len(columns))

    def predict(part: slice) -> F32:
        others = np.concatenate([every[: part.start], every[part.stop :]])
        trained = Members({}, (learn(others),))
        ridge = np.zeros((part.stop - part.start, 1), np.float32)
        return trained.numbers(columns[part], ridge)["boosting"][:, 0]

    return np.concatenate(pool.run(predict, [(part,) for part in left_out]))


class _Choice(NamedTuple):
    """A penalty, how many times larger that of rules is, and what held-out rows say of both."""

    strength: float
    of_rules: float
    predicted: F32
    mse: float

    def is_better_than(self, other: "_Choice") -> bool:
        return self.mse < (1.0 - PLATEAU) * other.mse


class _Chosen(NamedTuple):
    """A penalty, weights of what is stacked, and what both predict for held-out rows."""

    penalty: _Choice
    weights: dict[str, float]
    predicted: F32


def _chosen_by_others(chosen: Callable[[Ints], _Chosen], apart: HeldOutRows) -> HeldOutRows:
    """Predict each part of the held-out rows as the others choose: what was chosen on rows flatters them."""
    every, predicted = np.arange(len(apart.target)), np.empty_like(apart.target)
    for own in apart.parts():
        predicted[own] = chosen(every if own.all() else every[~own]).predicted[own]
    return replace(apart, predicted=predicted)


def _choose_penalty(
    predicted: Callable[[float, float], F32], apart: HeldOutRows, some: Ints, middle: float, *, has_rules: bool
) -> _Choice:
    """Go along falling penalties, and then try heavier ones of rules, by the error on some of the held-out rows."""

    def tried(strength: float, of_rules: float = 1.0) -> _Choice:
        found = predicted(strength, of_rules)
        known = HeldOutRows(found[some], apart.target[some], apart.weight[some], apart.group[some])
        return _Choice(strength, of_rules, found, known.mse)

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
