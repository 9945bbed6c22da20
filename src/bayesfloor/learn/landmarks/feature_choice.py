"""What features a landmark model gets, chosen on a sample of its rows.

Ridge regression of the class indicators on linear and Gaussian features has exact leave-one-out residuals at little
cost. They choose the width of the Gaussians. The gradients of that regression weigh the columns, and rules are chosen
by how much of its residuals they explain.
"""

from typing import NamedTuple

import numpy as np

from bayesfloor.learn.landmarks.feature_map import (
    F32,
    HEAVIEST,
    LIGHTEST,
    LINEAR_SCALE,
    FeatureMap,
    Scaling,
    gaussian,
    squares_of_rows,
)
from bayesfloor.learn.ridge import LeaveOneOut, fit_leaving_one_out, gaussian_slopes
from bayesfloor.runtime.arrays import Bools, Ints

#: Rows, and landmarks of them, on which the width of the kernel and the weights of the columns are chosen.
WIDTH_ROWS, WIDTH_LANDMARKS, GRADIENT_ROWS = 500, 64, 400
#: Landmarks of the ridge regression whose residuals rank rules.
RESIDUAL_LANDMARKS = 128
#: Ridge penalties to choose from, for 1000 rows.
RIDGE_PENALTIES = 10.0 ** np.arange(-3.0, 3.0)
#: The constant feature of ridge regression: large, so that its coefficient is hardly penalised.
CONSTANT = 10.0
#: Maximum number of columns for which ridge regression has linear features.
MOST_LINEAR = 64
#: Random pairs of rows whose median distance is the unit of widths.
N_PAIRS = 512
#: Minimum unit of widths: float32 hardly separates rows that are nearer, as all others may be beside one outlier.
LEAST_SQUARE = 1e-12
#: Power of the mean squared gradient of a column that its weight is.
GRADIENT_POWER = 0.25
#: Candidate cuts of a numeric column, and the maximum number of cuts in all.
N_QUANTILES, MOST_CUTS = 16, 64
#: Minimum number of rows for which a rule holds.
FEWEST_ROWS = 4


class Sample(NamedTuple):
    """Scaled rows that features are chosen on.

    Attributes
    ----------
    columns : ndarray of shape (n, d), float32
        Scaled columns.
    targets : ndarray of shape (n, n_classes), float32
        Indicators of their classes, or centred numbers, times the square root of the weight.
    root_weight : ndarray of shape (n, 1), float32, or None
        Square roots of weights whose mean is 1; None for equal ones.
    """

    columns: F32
    targets: F32
    root_weight: F32 | None

    @classmethod
    def of(cls, columns: F32, targets: F32, weight: F32) -> "Sample":
        """Return rows with weights, of any mean."""
        if (weight == weight[0]).all():
            return cls(columns, targets, None)
        root = np.sqrt(weight / weight.mean())[:, np.newaxis]
        return cls(columns, targets * root, root)


def ridge(sample: Sample, columns: F32, landmarks: F32, gamma: float, with_linear: bool) -> LeaveOneOut:
    """Regress indicators of the classes on linear and kernel features.

    Parameters
    ----------
    sample : Sample
        Targets and weights.
    columns : ndarray of shape (n, d), float32
        The columns of the sample, weighted as the landmarks are.
    landmarks : ndarray of shape (n_landmarks, d), float32
        Landmarks.
    gamma : float
        Of the kernel.
    with_linear : bool
        Whether columns are features too.

    Returns
    -------
    LeaveOneOut
        With coefficients of the constant, the linear features if any, and the landmarks.
    """
    n, d = columns.shape
    n_linear = d if with_linear else 0
    F = np.empty((n, 1 + n_linear + len(landmarks)), np.float32)
    F[:, 0] = CONSTANT
    F[:, 1 : 1 + n_linear] = np.float32(LINEAR_SCALE) * columns[:, :n_linear]
    F[:, 1 + n_linear :] = gaussian(columns, landmarks, gamma)
    if sample.root_weight is not None:
        F *= sample.root_weight
    return fit_leaving_one_out(F, sample.targets, RIDGE_PENALTIES * (n / 1000))


def median_square(columns: F32, rng: np.random.Generator) -> float:
    """Return the median squared distance between rows that differ, at least `LEAST_SQUARE`; 1 if none do."""
    first, second = rng.integers(0, len(columns), (2, N_PAIRS))
    distances = squares_of_rows(columns[first] - columns[second])
    distances = distances[distances > 0]
    return max(float(np.median(distances)), LEAST_SQUARE) if len(distances) else 1.0


def gradient_weights(
    columns: F32, landmarks: F32, gamma: float, fitted: LeaveOneOut, with_linear: bool, power: float
) -> F32:
    """Return a power of the mean squared gradient of the scores along each column, of mean square about 1."""
    d = columns.shape[1]
    kernels, coefficients = gaussian(columns, landmarks, gamma), fitted.coefficients[-len(landmarks) :]
    total = np.zeros(d, np.float32)
    for number in range(coefficients.shape[1]):
        gradient = gaussian_slopes(columns, landmarks, kernels * coefficients[:, number], -gamma)
        if with_linear:
            gradient += np.float32(LINEAR_SCALE) * fitted.coefficients[1 : 1 + d, number]
        total += squares_of_rows(np.asarray(gradient.T, np.float32))
    mean = total.mean()
    if not mean > 0:
        return np.ones(d, np.float32)
    return np.clip((total / mean) ** power, LIGHTEST, HEAVIEST).astype(np.float32)


class Rules(NamedTuple):
    """Cuts, and which of them are rules; see `FeatureMap`."""

    cut_columns: Ints
    cut_values: F32
    rule_first: Ints
    rule_second: Ints


def no_rules() -> Rules:
    """Return no cuts and no rules."""
    none = np.zeros(0, np.int64)
    return Rules(none, np.zeros(0, np.float32), none, none)


def choose_rules(sample: Sample, residuals: F32, is_binary: Bools, n_rules: int) -> Rules:
    """Choose cuts, and among them and their pairs the rules that explain most of the residuals.

    A rule b is ranked by the score statistic, the sum over classes of (b'r)² over the variance of b.

    Parameters
    ----------
    sample : Sample
        Scaled rows.
    residuals : ndarray of shape (n, n_classes), float32
        Of ridge regression.
    is_binary : ndarray of shape (d,)
        Columns of two values: one cut, which is no rule by itself as the column is a feature.
    n_rules : int
        Maximum number of rules.

    Returns
    -------
    Rules
    """
    if n_rules < 1:
        return no_rules()
    columns = sample.columns
    own = np.flatnonzero(is_binary)
    cut_columns, cut_values = _best_cuts(columns, residuals, np.flatnonzero(~is_binary), n_rules)
    cut_columns = np.concatenate([own, cut_columns])
    cut_values = np.concatenate([np.zeros(len(own), np.float32), cut_values])
    if not len(cut_columns):
        return no_rules()
    holds = (columns[:, cut_columns] > cut_values).astype(np.float32)
    score = np.zeros((len(cut_columns), len(cut_columns)), np.float32)
    for number in range(residuals.shape[1]):
        score += np.square((holds * residuals[:, [number]]).T @ holds)
    both = holds.T @ holds
    score /= np.maximum(both * (1 - both / len(columns)), 1)
    first, second = np.triu_indices(len(score))
    ones, pairs, score = np.diag(both), both[first, second], score[first, second]
    score[(pairs < FEWEST_ROWS) | ((first == second) & (first < len(own)))] = 0
    score[(first != second) & ((pairs == ones[first]) | (pairs == ones[second]))] = 0  # the same as one of its parts
    chosen = _largest(score, n_rules)
    return Rules(cut_columns, cut_values, first[chosen], second[chosen])


def _largest(score: F32, most: int) -> Ints:
    """Return where the largest positive scores are, in falling order."""
    most = min(most, int(np.count_nonzero(score > 0)))
    if most == 0:
        return np.zeros(0, np.int64)
    some = np.flatnonzero(score >= np.partition(score, len(score) - most)[len(score) - most])
    return some[np.argsort(-score[some], kind="stable")[:most]]


def _best_cuts(columns: F32, residuals: F32, numeric: Ints, n_rules: int) -> tuple[Ints, F32]:
    """Return the cuts of numeric columns that explain most of the residuals, not too many of one column."""
    if not len(numeric):
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    candidates = [_cut_values(np.sort(columns[:, j])) for j in numeric]
    cut_columns = np.repeat(numeric, [len(values) for values in candidates])
    cut_values = np.concatenate(candidates)
    holds = (columns[:, cut_columns] > cut_values).astype(np.float32)
    ones = holds.sum(axis=0)
    variance = ones * (1 - ones / len(columns))
    score = np.square(holds.T @ residuals).sum(axis=1) / np.maximum(variance, 1)
    score[variance < FEWEST_ROWS] = 0
    most = int(min(MOST_CUTS, max(8, n_rules // 2)))
    most_of_column = max(4, most // len(numeric))
    kept: list[int] = []
    taken = np.zeros(columns.shape[1], np.int64)
    for cut in np.argsort(-score, kind="stable").tolist():
        if score[cut] <= 0 or len(kept) == most:
            break
        if taken[cut_columns[cut]] < most_of_column:
            taken[cut_columns[cut]] += 1
            kept.append(cut)
    return cut_columns[kept], cut_values[kept]


def _cut_values(ordered: F32) -> F32:
    """Return where to cut a column of sorted values: between all of them if they are few, else above quantiles.

    Cuts lie halfway between two values, so that rounding moves no row across.
    """
    ends = np.flatnonzero(ordered[1:] > ordered[:-1])
    if len(ends) >= N_QUANTILES:
        places = np.linspace(0, len(ordered) - 1, N_QUANTILES + 2)[1:-1].astype(np.int64)
        above = np.unique(np.searchsorted(ends, places))
        ends = ends[above[above < len(ends)]]
    return (ordered[ends] + ordered[ends + 1]) * np.float32(0.5)


class FeaturePlan(NamedTuple):
    """How much is spent on features.

    Attributes
    ----------
    n_landmarks, n_rules : int
        Maximum numbers of landmarks and rules.
    widths : tuple of float
        Widths of the kernel to choose from, in median distances between rows.
    width_rows, width_landmarks : int
        Rows, and landmarks of them, on which the width and the weights of the columns are chosen.
    gradient_power : float
        Weights of columns are this power of their mean squared gradients.
    """

    n_landmarks: int
    n_rules: int
    widths: tuple[float, ...]
    width_rows: int = WIDTH_ROWS
    width_landmarks: int = WIDTH_LANDMARKS
    gradient_power: float = GRADIENT_POWER


def choose_features(
    scaling: Scaling, sample: Sample, landmarks: F32, plan: FeaturePlan, seed: int
) -> tuple[FeatureMap, float]:
    """Choose the width of the kernel, the weights of the columns, and the rules.

    Parameters
    ----------
    scaling : Scaling
        How columns were scaled.
    sample : Sample
        Rows to choose on.
    landmarks : ndarray of shape (n_landmarks, d), float32
        Scaled rows that become landmarks.
    plan : FeaturePlan
        How much to spend.
    seed : int
        Draws pairs of rows.

    Returns
    -------
    feature_map : FeatureMap
    penalty : float
        That of ridge regression on the sample.
    """
    columns, d, rng = sample.columns, sample.columns.shape[1], np.random.default_rng(seed)
    few = Sample(*(None if each is None else each[: plan.width_rows] for each in sample))  # type: ignore[arg-type]
    seeds, with_linear = columns[: min(plan.width_landmarks, plan.n_landmarks)], d <= MOST_LINEAR
    unit = median_square(columns, rng)
    tried = []
    for width in plan.widths:
        gamma = 0.5 / (width * width * unit)
        tried.append((ridge(few, few.columns, seeds, gamma, with_linear), gamma, width))
    fitted, gamma, width = min(tried, key=lambda each: each[0].error)
    weights = np.ones(d, np.float32)
    if d > 1:
        weights = gradient_weights(few.columns[-GRADIENT_ROWS:], seeds, gamma, fitted, with_linear, plan.gradient_power)
        gamma = 0.5 / (width * width * median_square(columns * weights, rng))
    weighted = columns * weights
    fitted = ridge(sample, weighted, weighted[: min(RESIDUAL_LANDMARKS, plan.n_landmarks)], gamma, with_linear)
    residuals = fitted.residuals if sample.root_weight is None else fitted.residuals * sample.root_weight
    rules = choose_rules(sample, residuals, scaling.is_binary, plan.n_rules)
    made = FeatureMap(
        scaling.centre, scaling.scale, scaling.axes, weights, landmarks * weights, gamma,
        *rules,
    )  # fmt: skip
    return made, fitted.penalty
