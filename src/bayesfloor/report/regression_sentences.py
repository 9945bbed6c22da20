"""What a report on numbers says, in sentences that are true.

What a model explained on rows that it was not trained on is proven, up to sampling. The ceiling is extrapolated: from
the learning curve, and from how much near rows differ. So nothing is called impossible that a model on the same page
has done.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.floor.learned.regression.findings import UNEVEN_LEVEL
from bayesfloor.floor.learned.regression.result import NoiseProfile, RegressionFloor
from bayesfloor.floor.learned.result import MetricFloor
from bayesfloor.report.columns import ColumnFloors
from bayesfloor.report.metric_sentences import (
    beats_nothing,
    in_text,
    limit_word,
    verdict_on_target,
    with_more_rows,
)
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.text import counted, exact_percent, figure, percent, percent_range, written_range

#: Share of the noise in some bins, as a multiple of their share of the rows, from which they are where the noise is.
_MUCH = 1.4
#: Bins of predictions, at the most, that are called the place of the noise: more than half are no place.
_MOST_BINS = 0.5
#: Share of the noise that is enough to name a place; a smaller part that has it says more than a larger one.
_ENOUGH = 0.5

#: What each metric is.
_MEANINGS = {
    "r2": (
        "The share of the variance that is explained: 1 less the mean squared error divided by that of always "
        "predicting the mean. 0% needs no features, 100% is never wrong."
    ),
    "rmse": "The square root of the mean squared error, in the units of the target. Large errors count most.",
    "mae": "The mean absolute error, in the units of the target; a few large errors count less than in the RMSE.",
}


class NoisyPart(NamedTuple):
    """Bins of predictions, next to each other, that hold more of the noise than their share."""

    first: int
    last: int
    share_of_rows: float
    share_of_noise: float


def metric_shown(found: RegressionFloor, name: str | None = None) -> MetricFloor:
    """Return a metric as a report writes it, by default the headline: R² is a share of the variance, in percent."""
    metric = found.metrics[found.metric if name is None else name]
    return replace(metric, is_rate=metric.name == "r2")


def is_beaten(metric: MetricFloor) -> bool:
    """Tell whether one value for all rows does better than the models, as the median may where an MAE counts.

    Models are trained to predict means. What they reach then says nothing of how low the metric can go.
    """
    return not metric.larger_is_better and metric.baseline < metric.proven


def sentence_of(metric: MetricFloor) -> str:
    """Say what is known of a metric."""
    if not is_beaten(metric):
        return metric.sentence()
    return (
        f"Always predicting the same value has {metric.said(metric.baseline)}, and the models, which predict means, "
        f"{metric.written(metric.reached)}: how low it can go is not told here."
    )


def shares_of_noise(noise: NoiseProfile) -> Floats:
    """Return each bin's share of the variance that no model can explain."""
    part = np.asarray(noise.n_rows * np.square(noise.sd), np.float64)
    total = float(part.sum())
    return part / total if total > 0 else np.full(len(part), 1.0 / len(part))


def noisy_part(noise: NoiseProfile) -> NoisyPart | None:
    """Find the run of bins, from one end of the predictions, that is surely noisier than the rest.

    Parameters
    ----------
    noise : NoiseProfile
        The noise by quantile of the prediction.

    Returns
    -------
    NoisyPart or None
        Of the bins at the beginning or the end whose noise is surely above the usual, the outermost that hold half of
        all noise, or all of them; None where they hold hardly more of it than their share of the rows.
    """
    n_bins = len(noise.sd)
    usual = float(np.median(noise.sd))
    is_noisy = noise.sd_interval[:, 0] > usual
    share, rows = shares_of_noise(noise), noise.n_rows / noise.n_rows.sum()
    found: list[NoisyPart] = []
    for from_the_top in (True, False):
        marks = is_noisy[::-1] if from_the_top else is_noisy
        n = int(np.argmin(marks)) if not marks.all() else 0
        so_far = np.cumsum(share[::-1] if from_the_top else share)
        n = min(n, int(np.searchsorted(so_far, _ENOUGH)) + 1)
        if 0 < n <= _MOST_BINS * n_bins:
            first, last = (n_bins - n, n_bins - 1) if from_the_top else (0, n - 1)
            part = slice(first, last + 1)
            found.append(NoisyPart(first, last, float(rows[part].sum()), float(share[part].sum())))
    found = [part for part in found if part.share_of_noise >= _MUCH * part.share_of_rows]
    return max(found, key=lambda part: part.share_of_noise, default=None)


def place_of_noise(found: RegressionFloor, target: str) -> str:
    """Say which predictions are where the noise is; nothing where it is about the same everywhere."""
    part = noisy_part(found.noise)
    if part is None:
        return ""
    name = in_text(target)
    if part.last == len(found.noise.sd) - 1:
        return f"Predictions of {name} above {figure(float(found.noise.low[part.first]))} are where the noise is."
    return f"Predictions of {name} below {figure(float(found.noise.high[part.last]))} are where the noise is."


def answer(found: RegressionFloor, target: str) -> list[str]:
    """Return the sentences that a report begins with."""
    where = place_of_noise(found, target)
    first = _answer_of_variance(found, target) if found.metric == "r2" else _answer_of_error(found, target)
    return [*first, where] if where else first


def _answer_of_variance(found: RegressionFloor, target: str) -> list[str]:
    metric, name = metric_shown(found, "r2"), in_text(target)
    interval = f"{exact_percent(found.confidence)} range {percent_range(*metric.interval)}"
    if beats_nothing(metric):
        return [
            f"Nothing that was tried surely explains any of the variance of {name}: the best model tried explains "
            f"{percent(max(metric.reached, 0.0))}.",
            f"The ceiling is about {percent(metric.estimate)} ({interval}).",
        ]
    reached = f"the best model tried explains {percent(metric.reached)}{_more_rows(metric)}"
    if metric.best >= metric.perfect:
        return [
            f"About {percent(metric.estimate)} of the variance of {name} can be explained ({interval}): these rows do "
            f"not tell how much more; {reached}."
        ]
    return [
        f"No model can explain more than about {percent(metric.estimate)} of the variance of {name} ({interval}); "
        f"{reached}."
    ]


def _more_rows(metric: MetricFloor) -> str:
    """Say whether more rows would help; a curve that does not rise tells nothing of that."""
    more, value = with_more_rows(metric), metric.curve.value
    rises = value[0] > value[-1] if metric.larger_is_better else value[0] < value[-1]
    if not rises and more.startswith("and is"):
        more = "on too few rows to tell whether more would help"
    return f" {more}" if more.startswith("and is") else f", {more}"


def _answer_of_error(found: RegressionFloor, target: str) -> list[str]:
    metric, name = metric_shown(found), in_text(target)
    title = metric.title
    interval = f"{exact_percent(found.confidence)} range {written_range(*metric.interval, False)}"
    reached, without = figure(metric.reached), figure(metric.baseline)
    if is_beaten(metric):
        first = sentence_of(metric)
    elif beats_nothing(metric):
        first = (
            f"Nothing that was tried surely predicts {name}: the best model's {title} is {reached}, and {without} "
            f"needs no features; the floor is about {figure(metric.estimate)} ({interval})."
        )
    else:
        start = f"No model can get the {title} of {name} below about {figure(metric.estimate)} ({interval})"
        if metric.best <= metric.perfect:
            start = (
                f"The {title} of {name} can get down to about {figure(metric.estimate)} ({interval}), and these rows "
                "do not tell how much lower"
            )
        first = f"{start}; the best model tried has {reached} ({without} without features){_more_rows(metric)}."
    explained = metric_shown(found, "r2")
    second = (
        f"It explains {percent(max(explained.reached, 0.0))} of the variance, and about {percent(explained.estimate)} "
        f"can be explained (range {percent_range(*explained.interval)})."
    )
    return [first, second]


def worth(found: RegressionFloor) -> str:
    """Say which side is proven and which is extrapolated."""
    metric, stack = metric_shown(found), f"a stack of models (above all {_carriers(found)})"
    side = "more" if metric.larger_is_better else "lower"
    if metric.larger_is_better:
        proven = f"at least {percent(max(metric.proven, 0.0))} of the variance can be explained"
        done = f"explains {percent(max(metric.reached, 0.0))}"
    else:
        proven, done = f"{metric.said(metric.proven, 'at most')} can be had", f"has {figure(metric.reached)}"
    first = f"That {proven} is proven, up to sampling: {stack} {done} on rows that it was not trained on."
    if beats_nothing(metric):
        first = f"Nothing is proven: {stack} {done} on rows that it was not trained on, which may be chance."
    if metric.best == metric.perfect:
        return f"{first} How much {side} is possible is open: these rows do not tell where the learning curve ends."
    return (
        f"{first} How much {side} is possible is extrapolated, from the learning curve and from how much rows that lie "
        "close together differ: no method can prove, from data alone, that no better model exists."
    )


def _carriers(found: RegressionFloor) -> str:
    """Name the learners that weigh most, up to three, until they have half of the weight."""
    names: list[str] = []
    so_far, total = 0.0, sum(found.weights.values())
    for name, weight in sorted(found.weights.items(), key=lambda each: -each[1]):
        if so_far >= 0.5 * total or len(names) == 3:
            break
        names.append(name)
        so_far += weight
    return "; ".join(names) or "the mean"


def verdict(found: RegressionFloor, target: float) -> dict[str, Any]:
    """Hold the figures against a value of the metric that is hoped for."""
    word, sentence = verdict_on_target(metric_shown(found), target)
    return {"target": target, "verdict": word, "sentence": sentence}


def note_on_noise(found: RegressionFloor, target: str) -> str:
    """Say how large the noise is, and where most of it is."""
    name, noise = in_text(target), found.noise
    low, high = np.sqrt(np.maximum(found.noise_variance_interval, 0.0)).tolist()
    level = exact_percent(found.confidence)
    first = (
        f"The best prediction of {name} is off by about {figure(found.noise_variance**0.5)} (standard deviation; "
        f"{level} range {written_range(low, high, False)})."
    )
    part = noisy_part(noise)
    if part is None and noise.p_value < UNEVEN_LEVEL:
        least, most = int(noise.sd.argmin()), int(noise.sd.argmax())
        return f"{first} It goes from {_noise_of_bin(noise, least)} to {_noise_of_bin(noise, most)}."
    if part is None:
        return f"{first} It is about as large everywhere, as far as these rows tell."
    side = "above" if part.last == len(noise.sd) - 1 else "below"
    edge = noise.low[part.first] if side == "above" else noise.high[part.last]
    return (
        f"{first} The {percent(part.share_of_rows)} of the rows that are predicted {side} {figure(float(edge))} have "
        f"{percent(part.share_of_noise)} of its variance."
    )


def _noise_of_bin(noise: NoiseProfile, place: int) -> str:
    between = written_range(float(noise.low[place]), float(noise.high[place]), False)
    return f"{figure(float(noise.sd[place]))} where {between} is predicted"


NOTE_ON_BINS = (
    "Rows are put into bins by what the stack predicts for them while they are held out; each bin has about as many. "
    "The noise of a bin is the part of its squared errors that no model is expected to remove."
)


def note_on_odd_rows(found: RegressionFloor, target: str) -> str:
    """Say which rows are listed to be looked at."""
    if not len(found.odd_rows.row):
        return "No row has a value that does not fit with those of the rows around it."
    return (
        f"Rows whose {in_text(target)} fits least with that of the rows most like them, beside the one that is most "
        "alike. Some are mistakes in the data; others are what the noise is made of."
    )


def note_on_columns(columns: ColumnFloors, n_columns: int, most: int) -> str:
    """Say what the figures of single columns are."""
    note = (
        "What a column tells alone is the share of the variance that it can explain by itself, from differences "
        f"between rows that are next to each other in it; {counted(columns.n_rows)} rows were used. Columns may tell "
        "more together than each alone."
    )
    if n_columns > most:
        note += f" Listed are the {most} most telling of {counted(n_columns)} columns."
    return note


def how_to_read(found: RegressionFloor) -> list[dict[str, str]]:
    """Explain the words of a report on numbers."""
    metric = metric_shown(found)
    larger = metric.larger_is_better
    worse, better = ("lower", "upper") if larger else ("upper", "lower")
    most = "highest" if larger else "lowest"
    texts = {
        f"The {limit_word(metric)}": (
            f"The {most} {metric.title} that any model can attain on data like these. What is left beyond it is "
            "noise: rows that look the same and have different values."
        ),
        "The range": (
            f"Its {worse} end is a value that a model attains on rows it has not seen, allowing for sampling. Its "
            f"{better} end assumes that the learning curve goes on as it does. It is not a bound: structure finer than "
            "the distances between rows cannot be seen in them."
        ),
        "Reached": (
            "What the best model tried attains: a stack of fast learners, each row predicted by models that were not "
            "trained on it."
        ),
        **{each.title: _MEANINGS[name] for name, each in found.metrics.items()},
        "Noise": (
            "The standard deviation of the value around the best possible prediction, where that is small and where it "
            "is large. Where the noise grows with it, an interval of one width for all predictions is wrong, and the "
            "logarithm of the target may be the better one to predict."
        ),
        "Rows to look at": (
            "Each is compared with the rows nearest to it. The figure is how far its value is from theirs, in "
            "standard deviations of such differences."
        ),
    }
    return [{"heading": heading, "text": text} for heading, text in texts.items()]
