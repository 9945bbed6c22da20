"""What `regression_floor` returns."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesfloor.display import LearnedFloorDisplay, NoiseProfileDisplay
from bayesfloor.floor.learned.result import LearningCurve, MetricFloor, columns_of_metrics
from bayesfloor.floor.learned.rows_needed import RowsNeeded
from bayesfloor.runtime.arrays import Floats, Ints, Range
from bayesfloor.runtime.checks import check_option
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import Result
from bayesfloor.runtime.text import figure, percent, percent_range


@dataclass(frozen=True, eq=False, repr=False)
class TargetSummary:
    """What a target of numbers looks like.

    Attributes
    ----------
    mean, sd, min, max : float
        Of the rows that were given; weighted where rows have weights.
    n_values : int
        Different values.
    kind : {"number", "count", "ordered", "bounded", "share"}
        As from `bayesfloor.data.numbers.kind_of_numbers`.
    """

    mean: float
    sd: float
    min: float
    max: float
    n_values: int
    kind: str

    def __repr__(self) -> str:
        return (
            f"TargetSummary({self.kind}, mean {self.mean:.4g}, sd {self.sd:.4g}, {self.min:.4g} to {self.max:.4g}, "
            f"{self.n_values} values)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class NoiseProfile(Result):
    """The noise by quantile of the prediction.

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
        Chance of deviations that differ as much, if the noise were even.
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

    def __repr__(self) -> str:
        return (
            f"NoiseProfile({len(self.sd)} bins, sd {self.sd.min():.4g} to {self.sd.max():.4g}, p = {self.p_value:.2g})"
        )

    def frame(self) -> Any:
        """Return a data frame with a row for each bin."""
        return self._frame_of(
            {
                "low": self.low,
                "high": self.high,
                "n_rows": self.n_rows,
                "sd": self.sd,
                "sd_low": self.sd_interval[:, 0],
                "sd_high": self.sd_interval[:, 1],
            }
        )

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

    def plot(self, ax: Any = None) -> NoiseProfileDisplay:
        """Draw the noise over the predictions.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        NoiseProfileDisplay
        """
        return NoiseProfileDisplay(
            self.sd,
            low=self.low,
            high=self.high,
            interval=self.sd_interval,
            counts=self.n_rows,
            confidence=self.confidence,
            overall=float(np.sqrt(np.average(np.square(self.sd), weights=self.n_rows))),
        ).plot(ax)


@dataclass(frozen=True, eq=False, repr=False)
class OddRows(Result):
    """Rows whose y fits least with their neighbours and with the stack, the oddest first.

    Attributes
    ----------
    row : ndarray of shape (n_odd,)
        Where they stand among the rows given.
    y, predicted : ndarray of shape (n_odd,)
        Their targets, and what the stack predicts.
    neighbours_mean : ndarray of shape (n_odd,)
        Mean target of their nearest rows.
    z : ndarray of shape (n_odd,)
        How far y is from both, on the same side, in standard deviations of the noise there: the smaller of the two.
    neighbours : ndarray of shape (n_odd, k)
        Their nearest rows among those given, the nearest first, where features are scaled by their importance.
    """

    row: Ints
    y: Floats
    predicted: Floats
    neighbours_mean: Floats
    z: Floats
    neighbours: Ints

    def __repr__(self) -> str:
        if not len(self.row):
            return "OddRows(none)"
        return f"OddRows({len(self.row)} rows, the oddest is {self.row[0]} with z = {self.z[0]:.1f})"

    def frame(self) -> Any:
        """Return a data frame with a row for each odd row."""
        return self._frame_of({name: getattr(self, name) for name in ("row", "y", "predicted", "neighbours_mean", "z")})


@dataclass(frozen=True, eq=False, repr=False)
class RegressionFloor(Result):
    """How much of a number can be predicted at all.

    `estimate`, `interval`, `reached`, `reached_interval` and `curve` are of the first metric that was asked for: by
    default of R². `metrics` holds them for all.

    Attributes
    ----------
    metric : str
        Name of the first metric that was asked for: "r2", "rmse" or "mae".
    estimate : float
        Its best value that any model can attain: a ceiling of R², a floor of RMSE and MAE.
    interval : (float, float)
        Where that lies. The worse end is proven, up to sampling, by a model that exists; the better end assumes that
        the learning curve goes on as it does.
    reached : float
        What the stack attains by cross-validation, or on rows that were held out.
    reached_interval : (float, float)
        Where that lies, for sampling.
    metrics : dict of str to MetricFloor
        R², RMSE and MAE, by name, the first one first.
    noise_variance : float
        σ² = E Var(y | x), in the unit of y squared.
    noise_variance_interval : (float, float)
        Where it lies.
    noise : NoiseProfile
        The noise by quantile of the prediction.
    odd_rows : OddRows
        Rows whose y fits least with their neighbours.
    predicted : ndarray of shape (n_samples,)
        What the stack predicts for each row given, by models that have not seen it; NaN where it was not tested.
    learners : list of (str, float)
        Learners that carry the stack, and their weights, the largest first; mean over the folds.
    curve : LearningCurve
        What the stack attains at three training sizes, by the first metric.
    y_summary : TargetSummary
        What the target looks like.
    n_samples, n_rows, n_features : int
        Rows given, rows used for training or tests, features. In an order of time, half of the rows used are tested; of
        more than 10 000, about 10 000 are.
    confidence : float
        Level of the intervals.
    feature_names : tuple of str or None
        Names of the features, where X has them.
    residual_z : float
        Standard errors by which residuals of neighbours are alike. Above 2.33, there is signal that no learner caught.
    findings : tuple of Finding
        What a reader should know.
    seconds : float
        Time taken.
    """

    metric: str
    estimate: float
    interval: Range
    reached: float
    reached_interval: Range
    metrics: dict[str, MetricFloor]
    noise_variance: float
    noise_variance_interval: Range
    noise: NoiseProfile
    odd_rows: OddRows
    predicted: Floats
    learners: list[tuple[str, float]]
    curve: LearningCurve
    y_summary: TargetSummary
    n_samples: int
    n_rows: int
    n_features: int
    confidence: float
    feature_names: tuple[str, ...] | None = None
    residual_z: float = 0.0
    findings: tuple[Finding, ...] = field(default=())
    seconds: float = 0.0

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"RegressionFloor({self.metric} {self.estimate:.4f}, {100 * self.confidence:g}% interval {low:.4f} to "
            f"{high:.4f}, reached {self.reached:.4f}, {self.n_rows} of {self.n_samples} samples)"
        )

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self) -> str:
        """Say how much can be explained, and how much is.

        Returns
        -------
        str
        """
        r2 = self.metrics["r2"]
        if r2.interval[1] == 1.0:
            limit = f"Nothing in these rows rules out a perfect prediction (range {percent_range(*r2.interval)})"
        else:
            limit = (
                f"No model can explain more than about {percent(r2.estimate)} of the variance (range "
                f"{percent_range(*r2.interval)})"
            )
        codes = {finding.code for finding in self.findings}
        improving = " and is still improving with more rows" if codes & {"BF050", "BF051", "BF052"} else ""
        return (
            f"{limit}; the best model tried explains {percent(max(r2.reached, 0.0))}{improving}. The noise has a "
            f"standard deviation of about {figure(self.metrics['rmse'].estimate)}."
        )

    def _said(self) -> str:
        return self.metrics[self.metric].sentence()

    def frame(self) -> Any:
        """Return a data frame with a row for each metric, the first one first."""
        same = {"n_samples": self.n_samples, "n_rows": self.n_rows, "seconds": self.seconds}
        return self._frame_of(columns_of_metrics(self.metrics, same))

    def rows_for(self, value: Any, metric: str | None = None) -> RowsNeeded:
        """Estimate how many training rows a model needs to reach a value of a metric.

        Parameters
        ----------
        value : float
            The value.
        metric : str or None, default=None
            "r2", "rmse" or "mae"; None for the first that was asked for.

        Returns
        -------
        RowsNeeded
            The number of rows with an interval, or that it is more than 100 times those at hand, or that the value is
            beyond what any model can attain.
        """
        name = self.metric if metric is None else check_option("metric", metric, self.metrics)
        return self.metrics[name].rows_for(value)

    def plot(self, ax: Any = None) -> LearnedFloorDisplay:
        """Draw the learning curve of the first metric with its limit, the interval, and what was reached.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        LearnedFloorDisplay
        """
        return self.metrics[self.metric].plot(ax)
