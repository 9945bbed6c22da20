"""What each of the rows counts that figures are about.

======================  ====================================================================================
`PlainRows`             all count the same
`StratifiedRows`        a sample keeps more rows of rare classes than their share (`stratified_rows`)
`WeightedRows`          the caller says what each row counts; rare classes may have more than their share too
======================  ====================================================================================

Whatever is said of all rows is a weighted mean, of probabilities that were moved back to the shares of all rows.

Errors of one group, or of one stretch of time, are alike. The variance of a mean over clusters of rows is
Σ_g (Σ_{i in g} (v_i - v̄))² / n². As many independent rows as have that variance are the *effective* rows, and with them
the formulas for independent rows hold (Korn and Graubard 1998).
"""

import numpy as np
from scipy.special import log_softmax, stdtrit

from bayesfloor.data.problem import Problem
from bayesfloor.data.sampling import class_weights
from bayesfloor.runtime.arrays import Bools, Floats, Ints

#: Share of an equal part of the rows below which a class is rare: 5% of two classes, 1% of ten.
RARE = 0.1
#: Share of rows outside of the largest class below which the error is as good as that of never naming the others.
FEW_OTHERS = 0.05


class PlainRows:
    """Rows that each count the same.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Classes of the rows.
    class_counts, class_totals : ndarray of shape (n_classes,)
        Rows of each class among all rows, and what they count together.
    class_weights : ndarray of shape (n_classes,)
        What a row of each class counts so that classes have their shares of all rows.
    sample_weight : ndarray of shape (n,) or float
        What each row counts by itself.
    """

    sample_weight: Floats | float = 1.0

    def __init__(self, codes: Ints, class_counts: Ints) -> None:
        self.codes = codes
        self.class_counts = class_counts
        self.class_totals: Ints | Floats = class_counts
        self.class_weights = np.ones(len(class_counts))

    @property
    def weights(self) -> Floats:
        """What each row counts, 1 on average."""
        return self.class_weights[self.codes]

    def weighted(self, values: Floats) -> Floats:
        """Return values whose mean estimates that of all rows; their variance, divided by n, is that mean's.

        Where the shares of classes were fixed, what these vary by is left to `between_classes`.
        """
        return values

    def between_classes(self, values: Floats) -> float:
        """Return the variance of the mean of values that the shares of the classes add."""
        return 0.0

    def variance(self, is_wrong: Floats) -> float:
        """Return the variance of an error, which is not 0 when nothing was counted."""
        n = len(self.codes)
        share = (float(is_wrong.mean()) * n + 0.5) / (n + 1.0)
        return share * (1.0 - share) / n

    def n_equivalent(self, is_wrong: Floats, clusters: Ints | None = None, confidence: float = 0.95) -> float:
        """Return how many rows, drawn at random, show an error as surely as these do.

        Parameters
        ----------
        is_wrong : ndarray of shape (n,)
            Which rows err; in several repeats, the share of them in which each errs.
        clusters : ndarray of shape (n,) or None, default=None
            Rows that err alike have the same number, from 0; None where all are independent.
        confidence : float, default=0.95
            Level of the interval that the number is for, with clusters.

        Returns
        -------
        float
        """
        if clusters is not None:
            return effective_rows(is_wrong, clusters, confidence)
        return len(self.codes)

    def n_equivalent_of_difference(
        self, only_first: Floats, only_second: Floats, clusters: Ints | None = None, confidence: float = 0.95
    ) -> float:
        """Return how many rows, drawn at random, show a difference of two errors as surely as these do."""
        if clusters is not None:
            return effective_rows(only_first - only_second, clusters, confidence)
        return len(self.codes)

    def at_shares_of_all(self, log_q: Floats) -> Floats:
        """Move probabilities from the shares of classes in these rows to those in all rows."""
        return log_q

    def part(self, own: Ints) -> "PlainRows":
        """Return some of the rows, as a population of their own."""
        codes, weights = self.codes[own], self.weights[own]
        counts = np.bincount(codes, minlength=len(self.class_counts))
        if np.ptp(weights) == 0.0:
            return PlainRows(codes, counts)
        return WeightedRows(codes, counts, np.bincount(codes, weights, len(counts)), weights, None)


class StratifiedRows(PlainRows):
    """Rows of which some classes have more than their share.

    The number of rows of each class was fixed when they were chosen, so that errors vary within classes only, and the
    shares of the classes as those of all rows do.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Classes of the rows, in random order.
    class_counts : ndarray of shape (n_classes,)
        Rows of each class among all rows.
    class_weights : ndarray of shape (n_classes,)
        What a row of each class counts, as from `bayesfloor.data.sampling.class_weights`.
    """

    def __init__(self, codes: Ints, class_counts: Ints, class_weights: Floats) -> None:
        super().__init__(codes, class_counts)
        self.class_weights = class_weights
        self._n_of_class = np.bincount(codes, minlength=len(class_counts))
        self._share = class_counts / class_counts.sum()

    def weighted(self, values: Floats) -> Floats:
        """Return values whose mean estimates that of all rows; their variance, divided by n, is that mean's."""
        mean_of_class = np.bincount(self.codes, weights=values) / self._n_of_class
        within = self.class_weights[self.codes] * (values - mean_of_class[self.codes])
        return float(self._share @ mean_of_class) + within

    def between_classes(self, values: Floats) -> float:
        """Return the variance of the mean of values that the shares of the classes add."""
        mean_of_class = np.bincount(self.codes, weights=values) / self._n_of_class
        away = mean_of_class - self._share @ mean_of_class
        return float(self._share @ away**2 / self.class_counts.sum())

    def variance(self, is_wrong: Floats) -> float:
        """Return the variance of an error, which is not 0 when nothing was counted."""
        error = self._smoothed(is_wrong)
        within = self._share**2 * error * (1.0 - error) / self._n_of_class
        between = self._share * (error - self._share @ error) ** 2
        return float(within.sum() + between.sum() / self.class_counts.sum())

    def n_equivalent(self, is_wrong: Floats, clusters: Ints | None = None, confidence: float = 0.95) -> float:
        """Return how many rows, drawn at random, show an error as surely as these do; none err alike."""
        error = float(self._share @ self._smoothed(is_wrong))
        return error * (1.0 - error) / self.variance(is_wrong)

    def n_equivalent_of_difference(
        self, only_first: Floats, only_second: Floats, clusters: Ints | None = None, confidence: float = 0.95
    ) -> float:
        """Return how many rows, drawn at random, show a difference of two errors as surely as these do."""
        first, second = self._smoothed(only_first), self._smoothed(only_second)
        difference = first - second
        within = self._share**2 * (first + second - difference**2) / self._n_of_class
        between = self._share * (difference - self._share @ difference) ** 2 / self.class_counts.sum()
        of_one_row = self._share @ (first + second) - (self._share @ difference) ** 2
        return float(of_one_row / (within.sum() + between.sum()))

    def at_shares_of_all(self, log_q: Floats) -> Floats:
        """Move probabilities from the shares of classes in these rows to those in all rows."""
        return log_softmax(log_q + np.log(self.class_weights), axis=-1)

    def _smoothed(self, is_wrong: Floats) -> Floats:
        """Return the errors of the classes, none of which is 0 or 1 because few rows were seen."""
        return (np.bincount(self.codes, weights=is_wrong) + 0.5) / (self._n_of_class + 1.0)


class WeightedRows(PlainRows):
    """Rows that count what a caller says, and of which some classes may have more than their share.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Classes of the rows, in random order.
    class_counts, class_totals : ndarray of shape (n_classes,)
        Rows of each class among all rows, and what they count together.
    sample_weight : ndarray of shape (n,)
        What each of the rows counts by itself.
    class_weights : ndarray of shape (n_classes,) or None
        What a row of each class counts so that classes have their shares of all rows; None where they have them.
    """

    def __init__(
        self,
        codes: Ints,
        class_counts: Ints,
        class_totals: Ints | Floats,
        sample_weight: Floats,
        class_weights: Floats | None,
    ) -> None:
        super().__init__(codes, class_counts)
        self.class_totals = class_totals
        self.sample_weight = sample_weight
        if class_weights is not None:
            self.class_weights = class_weights
        weights = self.class_weights[codes] * sample_weight
        self._weights: Floats = weights / weights.mean()

    @property
    def weights(self) -> Floats:
        """What each row counts, 1 on average."""
        return self._weights

    def weighted(self, values: Floats) -> Floats:
        """Return values whose mean estimates that of all rows; their variance, divided by n, is that mean's."""
        return weighted_values(values, self._weights)

    def variance(self, is_wrong: Floats) -> float:
        """Return the variance of an error, which is not 0 when nothing was counted."""
        n = self.n_equivalent(is_wrong)
        share = (float(self._weights @ is_wrong) / len(self.codes) * n + 0.5) / (n + 1.0)
        return share * (1.0 - share) / n

    def n_equivalent(self, is_wrong: Floats, clusters: Ints | None = None, confidence: float = 0.95) -> float:
        """Return how many rows, drawn at random, show an error as surely as these do."""
        return rows_worth(is_wrong, self._weights, clusters, confidence)

    def n_equivalent_of_difference(
        self, only_first: Floats, only_second: Floats, clusters: Ints | None = None, confidence: float = 0.95
    ) -> float:
        """Return how many rows, drawn at random, show a difference of two errors as surely as these do."""
        return rows_worth(only_first - only_second, self._weights, clusters, confidence)

    def at_shares_of_all(self, log_q: Floats) -> Floats:
        """Move probabilities from the shares of classes in these rows to those in all rows."""
        return log_softmax(log_q + np.log(self.class_weights), axis=-1)


def weighted_values(values: Floats, weights: Floats) -> Floats:
    """Return values whose mean is the weighted one, and whose variance, divided by n, is that mean's.

    Weights are 1 on average.
    """
    mean = float(weights @ values) / len(values)
    return mean + weights * (values - mean)


def rows_worth(errors: Floats, weights: Floats, clusters: Ints | None, confidence: float) -> float:
    """Return how many independent rows of equal weight say as much about an error, or a difference of two, as these.

    Parameters
    ----------
    errors : ndarray of shape (n,)
        1 where a row is predicted wrongly, else 0; of a difference 1, 0 or -1.
    weights : ndarray of shape (n,)
        What each row counts, 1 on average.
    clusters : ndarray of shape (n,) or None
        Rows that err alike have the same number, from 0; None where all are independent.
    confidence : float
        Level of the interval that the number is for.

    Returns
    -------
    float
    """
    if clusters is not None:
        return effective_rows(errors, clusters, confidence, weights)
    # as for clusters: few errors cannot show how much more uneven rows vary, and Kish's figure is one more of them
    n, share = len(errors), float(weights @ errors) / len(errors)
    of_one_row = float(weights @ np.abs(errors)) / n - share**2
    kish, n_wrong = float(weights @ weights) / n, int(np.count_nonzero(errors))
    observed = float(weighted_values(errors, weights).var()) / of_one_row if of_one_row > 0.0 else kish
    return n * (n_wrong + 1) / (n_wrong * observed + kish)


def counted_rows(problem: Problem, codes: Ints, sample_weight: Floats | None) -> PlainRows:
    """Return what each row that was chosen counts; `codes` and `sample_weight` are of these."""
    is_plain = problem.groups is None and problem.time is None
    weights = class_weights(problem.class_counts, codes) if is_plain else None
    if sample_weight is not None:
        return WeightedRows(codes, problem.class_counts, problem.class_totals, sample_weight, weights)
    if weights is None:
        return PlainRows(codes, np.bincount(codes, minlength=len(problem.classes)))
    return StratifiedRows(codes, problem.class_counts, weights)


def classes_in_one_group(problem: Problem) -> Ints:
    """Return the classes that are in one group only, as codes; none without groups."""
    if problem.groups is None:
        return np.empty(0, np.int64)
    pairs = np.unique(np.column_stack([problem.codes, problem.groups]), axis=0)
    return np.flatnonzero(np.bincount(pairs[:, 0], minlength=len(problem.classes)) == 1)


def is_rare(counts: Ints | Floats) -> Bools:
    """Tell which classes have less than a tenth of an equal share of the rows, from their counts or shares."""
    return counts < RARE * counts.sum() / len(counts)


def leads_with_ranking(counts: Ints) -> bool:
    """Tell whether nearly all rows are of one class, so that its ranking says more of a rare one than any error."""
    return bool(is_rare(counts).any()) and counts.sum() - counts.max() < FEW_OTHERS * counts.sum()


def clustered_error(values: Floats, clusters: Ints) -> float:
    """Return the standard error of a mean, of which clusters and not rows are independent.

    Parameters
    ----------
    values : ndarray of shape (n,)
        A value for each row.
    clusters : ndarray of shape (n,)
        The cluster of each row, from 0.

    Returns
    -------
    float
    """
    sums = np.bincount(clusters, values - values.mean())
    n_clusters = len(np.unique(clusters))
    return float(np.sqrt(n_clusters / max(n_clusters - 1, 1) * (sums**2).sum()) / len(values))


def effective_rows(errors: Floats, clusters: Ints, confidence: float, weights: Floats | None = None) -> float:
    """Return how many independent rows say as much about an error, or a difference of two, as these.

    The design effect is by how much the variance of the mean exceeds that of independent rows. Few errors cannot show
    it: clusters with errors are taken as so many observations of it, beside one that says that clusters err as a whole.
    With few clusters the variance itself is a guess, and Student's quantile takes the place of the normal one.

    Parameters
    ----------
    errors : ndarray of shape (n,)
        1 where a row is predicted wrongly, else 0; of a difference 1, 0 or -1.
    clusters : ndarray of shape (n,)
        The cluster of each row, from 0.
    confidence : float
        Level of the interval that the number is for.
    weights : ndarray of shape (n,) or None, default=None
        What each row counts, 1 on average; None where all count the same.

    Returns
    -------
    float
        At most n.
    """
    n, size, values = len(errors), np.abs(errors), errors
    if weights is not None:
        size = weights * size
        mean = float(weights @ errors) / n
        values = mean + weights * (errors - mean)
    share, sizes = float(values.mean()), np.bincount(clusters, weights)
    n_clusters = n**2 / float((sizes**2).sum())  # clusters of equal size that vary as much
    n_with_errors = int(np.count_nonzero(np.bincount(clusters, size)))
    variance = float(size.mean()) - share**2 if np.any(errors < 0.0) else share * (1.0 - share)
    observed = n * clustered_error(values, clusters) ** 2 / variance if variance > 0.0 else 1.0
    as_a_whole = n / n_clusters
    design_effect = max(1.0, (n_with_errors * observed + as_a_whole) / (n_with_errors + 1))
    tail = 0.5 + 0.5 * confidence
    quantiles = stdtrit(n - 1, tail) / stdtrit(max(n_clusters - 1.0, 1.0), tail)
    return float(n / design_effect * quantiles**2)
