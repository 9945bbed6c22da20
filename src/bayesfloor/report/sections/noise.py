"""Where the noise of a number is: how far the best prediction is off where small and large values are predicted."""

from typing import NamedTuple

import numpy as np

from bayesfloor.floor.learned.regression.findings import UNEVEN_LEVEL
from bayesfloor.floor.learned.regression.result import NoiseProfile, RegressionFloor
from bayesfloor.report.blocks import MARKDOWN, Block, Paragraph, Summary, TextTable
from bayesfloor.report.figures import NumberFigures
from bayesfloor.report.metric_words import in_text
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.arrays import Floats
from bayesfloor.runtime.text import counted, exact_percent, figure, percent, written_range

#: Share of the noise in some bins, as a multiple of their share of the rows, from which they are where the noise is.
_MUCH = 1.4
#: Bins of predictions, at the most, that are called the place of the noise: more than half are no place.
_MOST_BINS = 0.5
#: Share of the noise that is enough to name a place; a smaller part that has it says more than a larger one.
_ENOUGH = 0.5
#: What the bins are.
_NOTE = (
    "Rows are put into bins by what the stack predicts for them while they are held out; each bin has about as many. "
    "The noise of a bin is the part of its squared errors that no model is expected to remove."
)


class Noise(Section[NumberFigures]):
    """The noise over predictions."""

    key = "noise"
    title = "Where the noise is"
    tasks = ("regression",)
    meaning = (
        "The standard deviation of the value around the best possible prediction, where that is small and "
        "where it is large. Where the noise grows with it, an interval of one width for all predictions is "
        "wrong, and the logarithm of the target may be the better one to predict."
    )

    def data(self, facts: Facts[NumberFigures]) -> Summary:
        """List the noise of each bin of predictions, and of all rows."""
        found = facts.figures.learned
        noise = found.noise
        bins = zip(
            noise.low.tolist(),
            noise.high.tolist(),
            noise.n_rows.tolist(),
            noise.sd.tolist(),
            noise.sd_interval.tolist(),
            _shares_of(noise).tolist(),
            strict=True,
        )
        low, high = np.sqrt(np.maximum(found.noise_variance_interval, 0.0)).tolist()
        noise_of_all = {
            "sd": float(found.noise_variance) ** 0.5,
            "low": low,
            "high": high,
            "bins": [
                {"low": a, "high": b, "n_rows": n, "sd": sd, "sd_low": ends[0], "sd_high": ends[1], "share": share}
                for a, b, n, sd, ends, share in bins
            ],
            "sentence": sentence_on_noise(found, facts.source.target),
            "note": _NOTE,
        }
        return {"noise": noise_of_all}

    def is_shown(self, summary: Summary) -> bool:
        """Tell whether there is a bin."""
        return bool(summary["noise"]["bins"])

    def text(self, summary: Summary) -> list[Block]:
        """Return how large it is, and the bins."""
        noise = summary["noise"]
        rows = [
            (
                written_range(each["low"], each["high"], False),
                counted(each["n_rows"]),
                figure(each["sd"]),
                written_range(each["sd_low"], each["sd_high"], False),
                percent(each["share"]),
            )
            for each in noise["bins"]
        ]
        table = TextTable(("predicted", "rows", "noise (sd)", "range", "of the noise"), rows, is_whole=True)
        return [Paragraph(noise["sentence"]), table, Paragraph(noise["note"], only=MARKDOWN)]


class NoisyPart(NamedTuple):
    """Bins of predictions, next to each other, that hold more of the noise than their share."""

    first: int
    last: int
    share_of_rows: float
    share_of_noise: float


def _shares_of(noise: NoiseProfile) -> Floats:
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
    share, rows = _shares_of(noise), noise.n_rows / noise.n_rows.sum()
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


def place_of_noise(noise: NoiseProfile, target: str) -> str:
    """Say which predictions are where the noise is; nothing where it is about the same everywhere."""
    part = noisy_part(noise)
    if part is None:
        return ""
    name = in_text(target)
    if part.last == len(noise.sd) - 1:
        return f"Predictions of {name} above {figure(float(noise.low[part.first]))} are where the noise is."
    return f"Predictions of {name} below {figure(float(noise.high[part.last]))} are where the noise is."


def sentence_on_noise(found: RegressionFloor, target: str) -> str:
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
