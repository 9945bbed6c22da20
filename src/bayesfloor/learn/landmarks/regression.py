"""From rows and numbers to a landmark model: the features of the classes' model under a ridge penalty."""

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bayesfloor.learn.landmarks.efforts import Effort
from bayesfloor.learn.landmarks.feature_choice import FeaturePlan, Sample, choose_features
from bayesfloor.learn.landmarks.feature_map import F32, FeatureMap
from bayesfloor.learn.landmarks.fitting import Rows, plan_features
from bayesfloor.learn.landmarks.multinomial import Penalty, cholesky, penalty_of, solve
from bayesfloor.learn.landmarks.row_sums import RowSums, Sums, over_blocks
from bayesfloor.learn.ridge import PLATEAU
from bayesfloor.runtime.arrays import Floats
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


class RidgeModel(NamedTuple):
    """A fitted model of the standardised target.

    Attributes
    ----------
    feature_map : FeatureMap
        From rows to features.
    coefficients : ndarray of shape (n_features,), float32
        From features to the target.
    penalty : float
        The penalty in use.
    held_out_mse : float
        Mean squared error on held-out rows of the fit without them; the penalty was chosen on these rows.
    """

    feature_map: FeatureMap
    coefficients: F32
    penalty: float
    held_out_mse: float


def fit_numbers(
    rows: Rows,
    targets: F32,
    effort: Effort,
    seed: int,
    pool: WorkerPool,
    *,
    has_groups: bool = False,
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
    has_groups : bool, default=False
        Whether rows belong together, so that no others than the held-out ones can be left out.
    n_landmarks, n_rules : int or None, default=None
        How many; None for the default of the effort.

    Returns
    -------
    RidgeModel
    """
    n, n_kept = len(targets), rows.n_kept
    scaling, columns, plan = plan_features(rows, LIKE_CLASSES, effort, seed, n_landmarks, n_rules)
    plan = FeaturePlan(*plan[:3], *WIDTH_CHOICE)
    parts = _parts(n, n_kept, has_groups)
    n_few = min(effort.n_tune, max(2, int(FEW_SHARE * n)), n_kept)
    sample = Sample.of(columns[:n_few], targets[:n_few, np.newaxis], rows.weight[:n_few])
    feature_map, strength = choose_features(scaling, sample, columns[: plan.n_landmarks], plan, seed)
    pool.check()
    pool.expect(2)
    penalty = penalty_of(feature_map)
    sums = [RowSums(feature_map, columns[part], rows.codes[part], rows.weight[part], pool) for part in parts]
    products = [each.products() for each in sums]
    of_moments, of_squares = partial(over_blocks, _moments), partial(over_blocks, _squares)
    moments = [each.add_up(of_moments, targets[part])[0] for each, part in zip(sums, parts, strict=True)]
    pool.advance(1)
    all_products, all_moments = np.sum(products, axis=0), np.sum(moments, axis=0)
    judged = [number for number, part in enumerate(parts) if part.start >= n_few] or [len(parts) - 1]

    def error(strength: float, of_rules: float) -> float:
        """Return the mean squared error on parts that had no say in the choice of features, each left out in turn."""
        total = weight = 0.0
        for number in judged:
            pool.check()
            fitted = solve_ridge(
                all_products - products[number],
                all_moments - moments[number],
                _with_rules(penalty, feature_map, of_rules),
                strength,
            )
            total += float(sums[number].add_up(of_squares, fitted, targets[parts[number]])[0])
            weight += float(sums[number].weight.sum(dtype=np.float64))
        return total / weight

    best, lowest, n_worse = strength, np.inf, 0
    for factor in PATH:
        tried = error(strength * factor, 1.0)
        if tried < (1.0 - PLATEAU) * lowest:
            best, lowest, n_worse = strength * float(factor), tried, 0
        else:
            n_worse += 1
            if n_worse == MOST_WORSE:
                break
    of_rules = 1.0
    if len(feature_map.rule_first):
        middle = best
        for heavier in RULE_PENALTIES:
            for factor in NEARBY:
                tried = error(middle * factor, heavier)
                if tried < (1.0 - PLATEAU) * lowest:
                    best, of_rules, lowest = middle * factor, heavier, tried
    pool.advance(1)
    fitted = solve_ridge(all_products, all_moments, _with_rules(penalty, feature_map, of_rules), best)
    return RidgeModel(feature_map, fitted, best, lowest)


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


def _squares(rows: RowSums, block: slice, coefficients: F32, targets: F32) -> Sums:
    """Return the weighted sum of squared residuals."""
    residuals = targets[block] - rows.features(block) @ coefficients
    return [np.array(float(rows.weight[block] @ (residuals * residuals)))]
