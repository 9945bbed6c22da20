"""What `regression_floor` returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesfloor.floor.learned.result import StackFloor
from bayesfloor.runtime.arrays import Floats, Ints, Range
from bayesfloor.runtime.results import PlottedResult
from bayesfloor.runtime.text import figure, percent, percent_range


@dataclass(frozen=True, eq=False, repr=False)
class NoiseProfile(
    PlottedResult, says="sd p_value", rows="low high n_rows sd sd_interval", display="NoiseProfileDisplay"
):
    """The noise by quantile of the prediction.

    `frame` has a row for each bin.

    Attributes
    ----------
    low, high : ndarray of shape (n_bins,)
        Range of the predictions in each bin, ascending.
    n_rows : ndarray of shape (n_bins,)
        Tested rows in each bin.
    sd : ndarray of shape (n_bins,)
        Standard deviation of the noise there, in the unit of y: that of the residuals, less what the stack misses.
    sd_interval : ndarray of shape (n_bins, 2)
        Where it lies, for sampling.
    p_value : float
        Chance of residuals whose sizes differ as much between bins, by their ranks, if the noise were even.
    n_samples : int
        Rows given.
    confidence : float
        Level of the intervals.
    """

    low: Floats
    high: Floats
    n_rows: Ints
    sd: Floats
    sd_interval: Floats
    p_value: float
    n_samples: int
    confidence: float

    @property
    def overall(self) -> float:
        """Standard deviation of the noise of all tested rows."""
        return float(np.sqrt(np.average(np.square(self.sd), weights=self.n_rows)))

    def at(self, predicted: Any) -> Floats:
        """Return the standard deviation of the noise at predictions, linear between the middles of bins.

        Parameters
        ----------
        predicted : array-like
            Predictions.

        Returns
        -------
        ndarray
        """
        return np.interp(np.asarray(predicted, np.float64), 0.5 * (self.low + self.high), self.sd)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RegressionFloor(StackFloor, omits="honest"):
    """How much of a number can be predicted at all.

    `estimate`, `interval`, `reached`, `reached_interval` and `curve` are of the first metric that was asked for: by
    default of R², of which the best value is a ceiling. `metrics` holds them for all.

    Attributes
    ----------
    metric : str
        Name of the first metric that was asked for: "r2", "rmse" or "mae".
    metrics : dict of str to MetricFloor
        R², RMSE and MAE, by name, the first one first.
    weights : dict of str to float
        Weights of the learners in the stack, the largest first; mean over the folds.
    residual_z : float
        Standard errors by which residuals of neighbours are alike. Above 2.33, there is signal that no learner caught.
    n_samples, n_rows, n_features : int
        Rows given, rows used for training or tests, features. In an order of time, half of the rows used are tested; of
        more than 10 000, about 10 000 are.
    suspicious : SuspiciousRows
        Rows whose y is farther from the prediction, and from their nearest rows, than noise explains.
    findings : tuple of Finding
        What a reader should know.
    seconds : float
        Time taken.
    trust : Trust
        What speaks against the figures: columns that give the target away, rows that belong together, an order in time.
    noise_variance : float
        σ² = E Var(y | x), in the unit of y squared.
    noise_variance_interval : (float, float)
        Where it lies.
    noise : NoiseProfile
        The noise by quantile of the prediction.
    feature_names : tuple of str or None
        Names of the features, where X has them.
    """

    noise_variance: float
    noise_variance_interval: Range
    noise: NoiseProfile
    n_features: int
    feature_names: tuple[str, ...] | None = None

    def _answer(self) -> str:
        """Say how much can be explained, and how much is."""
        r2 = self.metrics["r2"]
        if r2.interval[1] == 1.0:
            limit = f"Nothing in these rows rules out a perfect prediction (range {percent_range(*r2.interval)})"
        else:
            limit = (
                f"About {percent(r2.estimate)} of the variance can be explained (range {percent_range(*r2.interval)})"
            )
        codes = {finding.code for finding in self.findings}
        improving = " and is still improving with more rows" if codes & {"BF050", "BF051", "BF052"} else ""
        return (
            f"{limit}; the best model tried explains {percent(max(r2.reached, 0.0))}{improving}. The noise has a "
            f"standard deviation of about {figure(self.metrics['rmse'].estimate)}."
        )
