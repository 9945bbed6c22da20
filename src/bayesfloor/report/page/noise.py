"""The noise over what is predicted, as inline SVG."""

import math
from typing import Any

from markupsafe import Markup

from bayesfloor.report.page.svg import LETTER, SIZE, block, hatching, label, picture, tag, ticks_between
from bayesfloor.runtime.text import chosen, counted, cut_middle, figure, visible, written_range

#: Largest prediction as a multiple of the smallest from which the axis is logarithmic.
_WIDE_RANGE = 50.0
#: Letters of the name of the target below the axis.
_LONGEST_NAME = 30


def noise_chart(noise: dict[str, Any], target: str, width: float) -> Markup | None:
    """Draw the noise of each bin of predictions: a line as wide as the bin, in a band that is its interval.

    Parameters
    ----------
    noise : dict
        The part "noise" of a summary.
    target : str
        What is predicted.
    width : float
        Width in pixels.

    Returns
    -------
    Markup or None
        The picture; None where there is no bin.
    """
    bins = noise["bins"]
    if not bins:
        return None
    lowest, highest = bins[0]["low"], bins[-1]["high"]
    ticks = ticks_between(0.0, max(max(each["sd_high"] for each in bins), noise["sd"], 1e-300), 5)
    marks = [chosen(value, False) for value in ticks]
    spacious = width > 500
    height, top = (300.0 if spacious else 280.0), 26.0
    left, right, bottom = max(46.0, LETTER * SIZE * max(map(len, marks)) + 12.0), width - 12.0, height - 46.0
    is_log = lowest > 0 and highest > _WIDE_RANGE * lowest

    def place(value: float) -> float:
        low, high, at = (math.log(each) if is_log else each for each in (lowest, highest, value))
        return left + (right - left) * ((at - low) / (high - low) if high > low else 0.5)

    def y(value: float) -> float:
        return bottom - (bottom - top) * min(max(value / ticks[-1], 0.0), 1.0)

    hatch = f"hatch-noise-{width:.0f}"
    parts = [hatching(hatch)]
    for value, mark in zip(ticks, marks, strict=True):
        parts.append(tag("line", x1=left, x2=right, y1=y(value), y2=y(value), class_="grid"))
        parts.append(label(left - 8, y(value) + 4, mark, "end", "quiet"))
    for each in bins:
        start, stop = place(each["low"]), place(each["high"])
        if stop - start < 2.0:  # a bin of one value
            start, stop = (start + stop) / 2 - 1.0, (start + stop) / 2 + 1.0
        told = (
            f"predicted {written_range(each['low'], each['high'], False)}: noise {figure(each['sd'])} "
            f"({written_range(each['sd_low'], each['sd_high'], False)}), {counted(each['n_rows'])} rows"
        )
        thick = y(each["sd_low"]) - y(each["sd_high"])
        band = block(start, stop, y(each["sd_high"]), thick, class_="soft", fill=f"url(#{hatch})")
        line = tag("line", x1=start, x2=stop, y1=y(each["sd"]), y2=y(each["sd"]), class_="floor-mark")
        parts.append(tag("g", tag("title", told), band, line))
    parts.append(tag("line", x1=left, x2=right, y1=y(noise["sd"]), y2=y(noise["sd"]), class_="curve beyond"))
    parts.append(label(right, y(noise["sd"]) - 6, f"all rows {figure(noise['sd'])}", "end", "quiet halo"))
    parts += _prediction_marks(lowest, highest, is_log, place, bottom, right)
    name = cut_middle(visible(target), _LONGEST_NAME)
    parts.append(label((left + right) / 2, bottom + 38, f"predicted {name}", "middle", "quiet"))
    parts.append(label(left, 12, "noise, standard deviation", class_="quiet"))
    description = (
        f"Standard deviation of the noise where small and large values of {target} are predicted, in {len(bins)} bins: "
        f"from {figure(min(each['sd'] for each in bins))} to {figure(max(each['sd'] for each in bins))}. In the table."
    )
    return picture(width, height, "Noise over predictions", description, *parts, class_="noise-chart")


def _prediction_marks(
    lowest: float, highest: float, is_log: bool, place: Any, bottom: float, right: float
) -> list[Markup]:
    """Write round numbers below the axis of predictions, as many as fit."""
    if is_log:
        powers = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
        values = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    else:
        values = ticks_between(lowest, highest, 6)
    written: list[Markup] = []
    free_from = -math.inf
    for value in values:
        at, text = place(value), figure(value)
        half = LETTER * SIZE * len(text) / 2
        if not lowest <= value <= highest or at - half < free_from or at + half > right + 12:
            continue
        free_from = at + half + 12.0
        written.append(tag("line", x1=at, x2=at, y1=bottom, y2=bottom + 4, class_="axis"))
        written.append(label(at, bottom + 18, text, "middle", "quiet"))
    return written
