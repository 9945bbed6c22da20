"""What `compare_features` returns."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesfloor.data.metrics import metric_info
from bayesfloor.floor.learned.result import LearningCurve
from bayesfloor.floor.learned.trust.found import Trust
from bayesfloor.floor.trees.cross_edges import pairs_of
from bayesfloor.runtime.arrays import Floats, Ints, Range
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.results import PlottedResult, Result, columns_of
from bayesfloor.runtime.text import counted, difference, listed, quoted, shown, written


@dataclass(frozen=True, eq=False, repr=False)
class FeatureFloor(Result, says="name reached n_features n_samples"):
    """What can be reached with one representation of the rows.

    Attributes
    ----------
    name : str
        What it is called.
    n_features : int
        Columns that it has.
    estimate : float
        The best value that any model can attain with it.
    interval : (float, float)
        Where that lies.
    reached : float or None
        What a stack of models attains on rows that it had not seen; None where no models were trained.
    reached_interval : (float, float) or None
        Where that lies, for sampling.
    curve : LearningCurve or None
        What the stack attains at each training size.
    is_improving : bool or None
        Whether all training rows are surely better than half of them.
    n_samples, n_rows : int
        Rows given, and rows that the figures come from: fewer than for others, where it was stopped early. Ranges are
        then those of the round that stopped it, and wider.
    is_stopped : bool
        Whether it was stopped before all rows were used.
    takes_new_rows : bool
        Whether it can be made of rows that come later.
    sides : tuple of str
        Names of the representations that it has side by side; empty where it is one by itself.
    seconds : float
        Time that it took.
    """

    name: str
    n_features: int
    estimate: float
    interval: Range
    reached: float | None
    reached_interval: Range | None
    curve: LearningCurve | None
    is_improving: bool | None
    n_samples: int
    n_rows: int
    is_stopped: bool
    takes_new_rows: bool
    sides: tuple[str, ...]
    seconds: float


class FeatureDifference(NamedTuple):
    """By how much two representations differ on the same rows, in the unit of the metric: the first less the second.

    Attributes
    ----------
    first, second : str
        Their names.
    reached : float or None
        Difference of what is reached.
    reached_interval : (float, float) or None
        Where it lies.
    reached_p_value : float or None
        Chance of a difference as large, if both were equally good, allowing for all pairs that are compared.
    floor : float
        Difference of the floors.
    floor_interval : (float, float)
        Where it lies.
    floor_p_value : float
        The same as of what is reached.
    crossing : float or None
        Training rows at which the learning curves cross: with more rows than that, the other one is better. None where
        they do not, between the smallest training size and ten times the largest.
    n_rows : int
        Rows that both were compared on.
    """

    first: str
    second: str
    reached: float | None
    reached_interval: Range | None
    reached_p_value: float | None
    floor: float
    floor_interval: Range
    floor_p_value: float
    crossing: float | None
    n_rows: int

    def reversed(self) -> "FeatureDifference":
        """Return the second less the first."""
        low, high = self.floor_interval
        of_reached = self.reached_interval
        return self._replace(
            first=self.second,
            second=self.first,
            reached=None if self.reached is None else -self.reached,
            reached_interval=None if of_reached is None else (-of_reached[1], -of_reached[0]),
            floor=-self.floor,
            floor_interval=(-high, -low),
        )


class Addition(NamedTuple):
    """What representations side by side are better by than one of them alone.

    Attributes
    ----------
    together, alone : str
        Names of the representations side by side, and of one of them.
    gain : float
        By how much what is reached, or the floor where no models were trained, is better with all of them.
    interval : (float, float)
        Where it lies.
    p_value : float
        Chance of a difference as large, if the others added nothing.
    """

    together: str
    alone: str
    gain: float
    interval: Range
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class FeatureComparison(PlottedResult, says="best metric n_samples", display="FeatureComparisonDisplay"):
    """Representations of the same rows, the best first.

    `frame` has a row for each. First comes the one that reaches the best value, with the lowest floor where no models
    were trained; those that were stopped early come last.

    Attributes
    ----------
    features : tuple of FeatureFloor
        The best first.
    differences : tuple of FeatureDifference
        Every two.
    metric : str
        What they are judged by.
    task : {"classification", "regression"}
        Whether classes or numbers are predicted.
    baseline : float
        What needs no features.
    classes : ndarray
        The labels, sorted; empty for numbers.
    pair_values : ndarray of shape (n_features, n_pairs)
        For each pair of classes (0, 1), (0, 2), ..., (1, 2), ...: the share of their rows that models take for the
        other one of them; the floor of the pair, where no models were trained.
    pair_best : ndarray of shape (n_pairs,)
        Which representation is the best for each pair.
    n_samples, n_rows : int
        Rows given, and rows used.
    is_learned : bool
        Whether models were trained; otherwise floors come from spanning trees alone.
    confidence : float
        Level of the intervals; 1 less the p-value below which a difference is sure.
    findings : tuple of Finding
        What a reader should know.
    trust : Trust
        What speaks against the figures: columns that give the target away, rows that belong together, an order in time.
    """

    features: tuple[FeatureFloor, ...]
    differences: tuple[FeatureDifference, ...]
    metric: str
    task: str
    baseline: float
    classes: NDArray[Any]
    pair_values: Floats
    pair_best: Ints
    n_samples: int
    n_rows: int
    is_learned: bool
    confidence: float
    findings: tuple[Finding, ...]
    trust: Trust = field(default_factory=Trust)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the representations, the best first."""
        return tuple(each.name for each in self.features)

    @property
    def best(self) -> str:
        """Name of the best."""
        return self.features[0].name

    @property
    def as_good(self) -> tuple[str, ...]:
        """Names of those that cannot be told from the best."""
        return tuple(name for name in self.names[1:] if not self.distinguishable(name, self.best))

    @property
    def simplest(self) -> str:
        """Of the best and those that cannot be told from it: one that takes new rows, with the fewest columns."""
        alike = [each for each in self.features if each.name in (self.best, *self.as_good)]
        return min(alike, key=lambda each: (each.is_stopped, not each.takes_new_rows, each.n_features)).name

    @property
    def additions(self) -> tuple[Addition, ...]:
        """What representations side by side are better by than each of them alone."""
        sign = 1.0 if metric_info(self.metric).larger_is_better else -1.0
        found = []
        for together in self.features:
            for alone in together.sides:
                each = self.difference(together.name, alone)
                value, interval, p_value = _judged(each)
                ends = sorted(sign * end for end in interval)
                found.append(Addition(together.name, alone, sign * value, (ends[0], ends[1]), p_value))
        return tuple(found)

    @property
    def overtaking(self) -> dict[str, float]:
        """Those that would overtake the best with more rows, and the training rows from which on they would.

        Only of those that surely differ, now or where their curves end: curves of equals cross by chance.
        """
        ahead = {}
        for each in self.features[1:]:
            found = self.difference(each.name, self.best)
            is_news = self.distinguishable(each.name, self.best) or found.floor_p_value < 1.0 - self.confidence
            n_train = np.inf if each.curve is None else each.curve.size[0]
            if is_news and found.crossing is not None and found.crossing > n_train:
                ahead[each.name] = found.crossing
        return ahead

    def difference(self, first: str, second: str) -> FeatureDifference:
        """Return by how much a representation is above another.

        Parameters
        ----------
        first, second : str
            Their names.

        Returns
        -------
        FeatureDifference
        """
        for name in (first, second):
            if name not in self.names:
                raise ValueError(f"{shown(name)} is none of the features {listed(list(map(shown, self.names)))}")
        for each in self.differences:
            if (each.first, each.second) == (first, second):
                return each
            if (each.second, each.first) == (first, second):
                return each.reversed()
        raise ValueError(f"a difference is of two representations, got {shown(first)} twice")

    def distinguishable(self, first: str, second: str) -> bool:
        """Tell whether two surely differ in what is reached.

        Where no models were trained, whether what spanning trees count differs by more than chance: how much too high
        that is depends on the representation (BF008), so it is no proof that one of them is better.
        """
        _, (low, high), p_value = _judged(self.difference(first, second))
        return p_value < 1.0 - self.confidence and not low <= 0.0 <= high

    def pairs(self) -> Any:
        """Return a data frame with a row for each pair of classes: which representation is the best for it."""
        first, second = pairs_of(len(self.classes))
        every = np.arange(len(first))
        return self._frame_of(
            {
                "first": self.classes[first],
                "second": self.classes[second],
                "features": [self.names[place] for place in self.pair_best],
                "value": self.pair_values[self.pair_best, every],
            }
        )

    def sentence(self) -> str:
        """Say which representation is the best with the rows at hand, and what more rows would change."""
        best, *others = self.features
        info = metric_info(self.metric)
        if self.is_learned:
            said = f"With your {counted(best.n_rows)} rows {quoted(best.name)} reaches "
            said += f"{'an' if info.title[0] in 'aeRF' else 'a'} {info.title} of {self._written(best)}"
        else:
            said = f"On {counted(best.n_rows)} rows spanning trees put the floor of the error at {self._written(best)}"
            said += f" with {quoted(best.name)}"
        joined = "{1} {0}" if self.is_learned else "{0} with {1}"
        written_ = [joined.format(self._written(each), quoted(each.name)) for each in others]
        parts = [f"{', '.join(filter(None, [said, listed(written_, 4)]))}."]
        if others:
            parts.append(self._worse())
        improving = [quoted(each.name) for each in self.features if each.is_improving]
        steady = [quoted(each.name) for each in self.features if each.is_improving is False]
        if improving:
            also = f"; {listed(steady, 4)} {'does' if len(steady) == 1 else 'do'} not" if steady else ""
            parts.append(f"{listed(improving, 4)} still improve{'s' * (len(improving) == 1)} with more rows{also}.")
        return " ".join([*self.trust.headline, *parts, *self._crossings(), *self._added()])

    def _worse(self) -> str:
        """Say who is surely worse than the best, the nearest first."""
        worse = [name for name in self.names[1:] if name not in self.as_good]
        alike = f"{listed([quoted(name) for name in self.as_good], 4)} cannot be told from it." if self.as_good else ""
        if not worse:
            return alike
        is_rate = metric_info(self.metric).is_rate
        nearest = min(worse, key=lambda name: abs(_judged(self.difference(name, self.best))[0]))
        low, high = sorted(map(abs, _judged(self.difference(nearest, self.best))[1]))
        ends = f"{difference(low, is_rate).removesuffix(' points')} to {difference(high, is_rate)}"
        who = (
            quoted(nearest) if len(worse) == 1 else f"All {len(worse)} others" if not alike else f"{len(worse)} others"
        )
        than = "" if len(worse) == 1 else f", {quoted(nearest)}"
        if self.is_learned:
            said = f"{who} {'is' if len(worse) == 1 else 'are'} surely worse{than} by {ends}."
        else:
            said = f"{who} come{'s' * (len(worse) == 1)} out higher{than} by {ends}; how much too high trees come out "
            said += "depends on the representation (BF008)."
        return " ".join(filter(None, [alike, said]))

    def _crossings(self) -> list[str]:
        """Say who would overtake the best with more rows."""
        return [
            f"{quoted(name)} would overtake {quoted(self.best)} at about {rounded_rows(rows)} training rows, if the "
            "learning curves go on as they do."
            for name, rows in self.overtaking.items()
        ][:2]

    def _added(self) -> list[str]:
        is_rate = metric_info(self.metric).is_rate
        said = []
        for each in self.additions:
            if not self.is_learned:
                side, far = "lower" if each.gain > 0 else "higher", difference(abs(each.gain), is_rate)
                said.append(f"{quoted(each.together)} comes out {side} than {quoted(each.alone)} by {far}.")
            elif self.distinguishable(each.together, each.alone):
                verb, size = ("gains", each.gain) if each.gain > 0 else ("loses", -each.gain)
                said.append(f"{quoted(each.together)} {verb} {difference(size, is_rate)} on {quoted(each.alone)}.")
            else:
                said.append(f"{quoted(each.together)} is not surely better than {quoted(each.alone)}.")
        return said[:4]

    def _written(self, each: FeatureFloor) -> str:
        value = each.estimate if each.reached is None else each.reached
        return written(value, metric_info(self.metric).is_rate)

    def _columns(self) -> dict[str, Any]:
        """Return a row for each representation; ``difference`` is that of what is judged, from the best."""
        own = ("name", "n_features", "estimate", "reached", "is_improving", "n_rows", "seconds")
        columns: dict[str, Any] = {"rank": list(range(1, len(self.features) + 1))}
        columns |= {name: [getattr(each, name) for each in self.features] for name in own}
        for name in ("interval", "reached_interval"):
            ends = [getattr(each, name) or (np.nan, np.nan) for each in self.features]
            columns |= columns_of({name: np.array(ends)})
        columns["reached"] = [np.nan if value is None else value for value in columns["reached"]]
        judged = [_judged(self.difference(name, self.best)) for name in self.names[1:]]
        columns["difference"] = [0.0, *(value for value, _, _ in judged)]
        columns["difference_low"] = [0.0, *(low for _, (low, _), _ in judged)]
        columns["difference_high"] = [0.0, *(high for _, (_, high), _ in judged)]
        columns["distinguishable"] = [False, *(self.distinguishable(name, self.best) for name in self.names[1:])]
        return columns

    def _drawn(self, names: Iterable[str]) -> dict[str, Any]:
        info = metric_info(self.metric)
        of_metric = {"title": info.title, "larger_is_better": info.larger_is_better, "is_rate": info.is_rate}
        return super()._drawn(names) | {name: value for name, value in of_metric.items() if name in names}


def _judged(each: FeatureDifference) -> tuple[float, Range, float]:
    """Return what two are told apart by: what is reached, or the floors where no models were trained."""
    if each.reached is None or each.reached_interval is None or each.reached_p_value is None:
        return each.floor, each.floor_interval, each.floor_p_value
    return each.reached, each.reached_interval, each.reached_p_value


def rounded_rows(rows: float) -> str:
    """Write a number of rows with the two figures that it is good for."""
    digits = max(len(str(int(rows))) - 2, 0)
    return counted(round(rows / 10**digits) * 10**digits)
