"""Where the floor lies on simulated problems of which as much was seen.

A learning curve shows what learners are about to learn, and nothing of what they have not begun to see: its end is too
high on average, most of all with few rows. How much too high can be learnt where the truth is known. On random problems
(`benchmarks/truth/random_problems.py`) linear functions of a few signs follow the truth as a share of what was reached:
its mean, and its quantiles of 2.5% and 97.5%. Their coefficients are in simulated.json, which that script writes.

What a curve says and what simulated problems say err for different reasons, so that both are averaged. The upper end is
never below what was reached: a model did that.
"""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from bayesfloor.floor.learned.rules import Lead
from bayesfloor.learn.registry import output_of
from bayesfloor.runtime.arrays import Floats, Range

#: Kinds of outputs that count as one; the others are linear, or sums over columns.
KINDS = (("kernel",), ("tree",), ("neighbours", "local ridge"))
#: Smallest loss, as a share of the loss without features, that others are shares of.
LEAST = 1e-4
#: Growth of the lead at which simulated problems begin to have a say in the estimate, and have half of it.
BEGUN = (1.0, 1.1)
#: Part of the lower one among two lower ends, of curve and simulated problems: half for classes. Ranges of numbers were
#: too narrow on real columns, so that there the lower one counts for more.
OF_LOWER = {"classes": 0.5, "numbers": 0.9}
_LEVEL = 0.95


class Signs(NamedTuple):
    """What tells how far the floor lies below what was reached.

    Attributes
    ----------
    n_train, n_columns : float
        Training rows at the largest size, and columns.
    losses : ndarray of shape (3,)
        At each training size, the largest first.
    reached, baseline : float
        What is lost by the best that was tried, and without features.
    residual_z : float
        How surely neighbours err alike.
    kinds : ndarray of shape (3,)
        Shares of `KINDS` in the weights of the stack.
    """

    n_train: float
    n_columns: float
    losses: Floats
    reached: float
    baseline: float
    residual_z: float
    kinds: Floats

    def values(self, growth: float, upper: float) -> Floats:
        """Return what the linear functions take, with the growth of the lead and the upper end of the curve's range."""
        first, second, third = np.maximum(self.losses / self.baseline, LEAST)
        return np.array(
            [
                np.log(self.n_train),
                np.log(self.n_columns),
                first,
                (second - first) / first,
                (third - second) / first,
                np.log(np.clip(growth, 0.5, 4.0)),
                self.residual_z,
                *self.kinds,
                upper / max(self.reached, 1e-6 * self.baseline),
            ]
        )


def shares_of_kinds(weights: dict[str, float]) -> Floats:
    """Return the shares of `KINDS` in the weights of learners."""
    shares = np.zeros(len(KINDS))
    for name, weight in weights.items():
        for place, kinds in enumerate(KINDS):
            if output_of(name).kind in kinds:
                shares[place] += weight
    return shares / max(sum(weights.values()), 1e-300)


class Simulated(NamedTuple):
    """Mean, lower and upper quantile of the floor of simulated problems, as shares of what was reached."""

    mean: float
    lower: float
    upper: float

    @classmethod
    def at(cls, values: Floats, coefficients: dict[str, Floats]) -> "Simulated":
        """Evaluate the linear functions, within the values of the signs for which they hold."""
        inside = np.clip(values, coefficients["low"], coefficients["high"])
        functions = (coefficients[name] for name in cls._fields)
        mean, lower, upper = (float(each[0] + each[1:] @ inside) for each in functions)
        return cls(min(max(mean, 0.0), 1.0), min(max(lower, 0.0), 1.0), upper)

    def averaged(
        self, task: str, estimate: float, interval: Range, signs: Signs, lead: Lead, confidence: float
    ) -> tuple[float, Range]:
        """Average with the end of a curve; see `with_simulated`."""
        reached = max(signs.reached, LEAST * signs.baseline)
        wider = float(ndtri(0.5 + 0.5 * confidence) / ndtri(0.5 + 0.5 * _LEVEL))
        lower, upper = (reached * (self.mean + wider * (end - self.mean)) for end in (self.lower, self.upper))
        begin, end = BEGUN
        say = 0.5 * float(np.clip((lead.growth - begin) / (end - begin), 0.0, 1.0))
        estimate = say * reached * self.mean + (1.0 - say) * estimate
        lower, higher = sorted((interval[0], max(lower, 0.0)))
        lower = OF_LOWER[task] * lower + (1.0 - OF_LOWER[task]) * higher
        upper = max(0.5 * (interval[1] + min(upper, signs.baseline)), signs.reached)
        return estimate, (min(lower, estimate), max(upper, estimate))


@cache
def _coefficients() -> dict[str, dict[str, Floats]]:
    """Return the coefficients of each task, and between which values of the signs they hold."""
    found = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {task: {name: np.array(values) for name, values in of.items()} for task, of in found.items()}


def with_simulated(
    task: str, estimate: float, interval: Range, signs: Signs, lead: Lead, confidence: float
) -> tuple[float, Range]:
    """Average the end of a curve with where floors lie on simulated problems.

    Where nothing surely beats what needs no features, nothing was seen, and the curve's end stays.

    Parameters
    ----------
    task : {"classes", "numbers"}
        What is predicted.
    estimate, interval : float, (float, float)
        The end of the curve.
    signs : Signs
        What was seen.
    lead : Lead
        The lead over what needs no features.
    confidence : float
        Level of the interval.

    Returns
    -------
    estimate : float
    interval : (float, float)
    """
    if lead.surely < 1.0:
        return estimate, interval
    interval = min(interval[0], estimate), max(interval[1], estimate)
    found = Simulated.at(signs.values(lead.growth, interval[1]), _coefficients()[task])
    return found.averaged(task, estimate, interval, signs, lead, confidence)
