"""Pictures of the page: the scale, and the learning curve."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from bayesfloor.report.blocks import Summary
from bayesfloor.report.metric_words import limit_word
from bayesfloor.report.page.svg import LETTER, SIZE, block, hatching, label, picture, tag, ticks_between
from bayesfloor.runtime.text import (
    chosen,
    counted,
    difference,
    exact_percent,
    percent,
    written,
    written_range,
)

#: The range that matters takes at least this share of a bar, or is shown enlarged.
_SMALLEST_SHARE = 0.4


def floor_scale(floor: Summary, width: float) -> Markup | None:
    """Draw floor, reached and what needs no features on one bar: solid where shown, hatched where extrapolated.

    The perfect value is at one end: at the left where smaller is better, at the right where larger is.

    Parameters
    ----------
    floor : dict
        The part "floor" of a summary.
    width : float
        Width in pixels.

    Returns
    -------
    Markup or None
        The picture; None where a figure that it needs is missing.
    """
    estimate, low, high, baseline = (floor[key] for key in ("estimate", "low", "high", "baseline"))
    if None in (estimate, low, high, baseline) or _behind(floor, baseline) <= 0:
        return None
    is_rate, larger = floor["is_rate"], floor["larger_is_better"]
    reached = floor["reached"]["value"]
    whole = _behind(floor, baseline)
    farthest = max(_behind(floor, value) for value in (estimate, low, high, reached))
    enlarged = farthest < _SMALLEST_SHARE * whole
    end = float(f"{1.25 * farthest:.2g}") if enlarged and farthest > 0 else max(whole, farthest)
    enlarged = enlarged and end < whole
    left, right, top, thick = 1.0, width - 1.0, 100.0 if enlarged else 44.0, 34.0
    perfect_side, worst_side = (right, left) if larger else (left, right)

    def at(value: float) -> float:
        return perfect_side + (worst_side - perfect_side) * min(max(_behind(floor, value) / end, 0.0), 1.0)

    hatch = f"hatch-scale-{width:.0f}"
    parts = _overview(floor, end / whole, perfect_side, worst_side, top) if enlarged else []
    parts.append(tag("rect", x=left, y=top, width=right - left, height=thick, class_="track"))
    parts.append(block(at(estimate), at(reached), top, thick, class_="soft", fill=f"url(#{hatch})"))
    parts.append(block(at(reached), worst_side, top, thick, class_="solid"))
    parts.append(tag("line", x1=at(reached), x2=at(reached), y1=top, y2=top + thick + 10, class_="mark"))
    # the range of the floor, as a bracket above the bar
    ceiling = top - 10
    bracket = f"M{at(low):.1f} {top - 5:.1f}V{ceiling:.1f}H{at(high):.1f}V{top - 5:.1f}"
    parts.append(tag("path", d=bracket, class_="bracket"))
    parts.append(tag("line", x1=at(estimate), x2=at(estimate), y1=ceiling - 5, y2=top + thick, class_="floor-mark"))
    confidence, word = exact_percent(floor["confidence"]), limit_word(floor["larger_is_better"])
    interval = f"{confidence} range {written_range(low, high, is_rate)}"
    name = f"{word} {written(estimate, is_rate)}, {interval}"
    parts.append(_clamped(at(estimate), ceiling - 12, name, left, right, "floor-label"))

    line = top + thick + 24
    sentences = [f"The {word} is estimated at {written(estimate, is_rate)}, {interval}."]
    own = floor["reached"]
    shown = written(reached, is_rate)
    parts.append(_clamped(at(reached), line, f"reached {shown}", left, right, "strong"))
    interval = written_range(own["low"], own["high"], is_rate)
    sentences.append(f"The best model tried reaches {shown} ({interval}) on rows it was not trained on.")
    line += 20
    last = floor["perfect"] + (-end if larger else end)
    if farthest > whole:  # models do worse than what needs no features, which is then inside of the bar
        inside = at(baseline)
        parts.append(tag("line", x1=inside, x2=inside, y1=top, y2=top + thick, class_="mark"))
        parts.append(_clamped(inside, line, _without_features(floor), left, right, "quiet"))
    else:
        parts += _ends(floor, line, written(last, is_rate) if enlarged else _without_features(floor), left, right)
    if floor["metric"] == "error":
        sentences.append(f"Always predicting the commonest class errs at {percent(baseline)}.")
    else:
        sentences.append(f"What needs no features has {written(baseline, is_rate)}.")
    return picture(
        width, line + 8, f"Where the {word} stands", " ".join(sentences), hatching(hatch), *parts, class_="scale"
    )


def _behind(floor: Summary, value: float) -> float:
    """Return how far a value is from the perfect one."""
    return floor["perfect"] - value if floor["larger_is_better"] else value - floor["perfect"]


def _without_features(floor: Summary) -> str:
    name = "always the commonest class" if floor["metric"] == "error" else "without features"
    return f"{name} {written(floor['baseline'], floor['is_rate'])}"


def _ends(floor: Summary, y: float, worst: str, left: float, right: float) -> list[Markup]:
    """Write the perfect value below one end of a bar, and what is at the other end."""
    at_left, at_right = written(floor["perfect"], floor["is_rate"]), worst
    if floor["larger_is_better"]:
        at_left, at_right = at_right, at_left
    return [label(left, y, at_left, class_="quiet"), label(right, y, at_right, "end", "quiet")]


def _overview(floor: Summary, share: float, perfect_side: float, worst_side: float, top: float) -> list[Markup]:
    """Draw the whole range up to what needs no features, and what of it is enlarged below."""
    part = perfect_side + (worst_side - perfect_side) * share
    left, right = min(perfect_side, worst_side), max(perfect_side, worst_side)
    y, thick, bottom = 22.0, 10.0, top - 40
    beam = f"M{perfect_side} {y + thick}L{perfect_side} {bottom}H{worst_side}L{part:.1f} {y + thick}Z"
    return [
        block(left, right, y, thick, class_="solid"),
        block(perfect_side, part, y, thick, class_="lens"),
        tag("path", d=beam, class_="beam"),
        *_ends(floor, 13, _without_features(floor), left, right),
    ]


def learning_curve(curve: Summary, floor: Summary, width: float) -> Markup | None:
    """Draw what is attained over training rows, the fitted line, and the band that it leads to.

    Parameters
    ----------
    curve, floor : dict
        These parts of a summary.
    width : float
        Width in pixels.

    Returns
    -------
    Markup or None
        The picture; None where there is no point to draw.
    """
    is_rate, perfect = floor["is_rate"], floor["perfect"]
    dots = [(p["size"], p["value"]) for p in curve["points"] if p["size"] and p["value"] is not None]
    line = [(size, value) for size, value in curve["line"] if size and size > 0 and value is not None]
    if not dots:
        return None
    limit, low, high = curve["limit"], curve["low"], curve["high"]
    largest = max(size for size, _ in dots)
    reached = floor["reached"]["value"] if floor["reached"] else next(value for size, value in dots if size == largest)
    # noise may leave a number far from a perfect prediction, and the curve would be a line at the other edge
    ends = () if floor["metric"] in ("r2", "rmse", "mae") else (perfect,)
    heights = [value for value in (low, high, reached, limit, *ends) if value is not None]
    heights += [value for _, value in dots + line]
    ticks = ticks_between(min(heights), max(heights), 5)
    marks = [chosen(value, is_rate) for value in ticks]
    height, top = 336.0, 14.0
    left = max(46.0, LETTER * SIZE * max(map(len, marks)) + 12.0)
    right, bottom = width - 12.0, height - 90.0
    sizes = [size for size, _ in dots + line]
    first, last = math.log10(0.85 * min(sizes)), math.log10(max(1.1 * max(sizes), 2.5 * largest))

    def x(size: float) -> float:
        return left + (right - left) * (math.log10(size) - first) / (last - first)

    def y(value: float) -> float:
        return bottom - (bottom - top) * min(max((value - ticks[0]) / (ticks[-1] - ticks[0]), 0.0), 1.0)

    hatch = f"hatch-curve-{width:.0f}"
    parts = [hatching(hatch)]
    if low is not None and high is not None:
        parts.append(block(left, right, y(high), y(low) - y(high), class_="band", fill=f"url(#{hatch})"))
    for value, mark in zip(ticks, marks, strict=True):
        parts.append(tag("line", x1=left, x2=right, y1=y(value), y2=y(value), class_="grid"))
        parts.append(label(left - 8, y(value) + 4, mark, "end", "quiet"))
    parts += _row_marks(first, last, x, bottom)
    parts.append(label((left + right) / 2, bottom + 38, "training rows", "middle", "quiet"))
    tried = [(x(size), y(value)) for size, value in line if size <= largest]
    beyond = tried[-1:] + [(x(size), y(value)) for size, value in line if size > largest]
    parts += [_path(tried, "curve"), _path(beyond, "curve beyond")]
    if limit is not None:
        parts.append(tag("line", x1=left, x2=right, y1=y(limit), y2=y(limit), class_="limit"))
    for size, value in dots:
        name = tag("title", f"{counted(round(size))} rows: {floor['title']} {written(value, is_rate)}")
        parts.append(tag("circle", name, cx=x(size), cy=y(value), r=4.5))
    if limit is not None:
        parts += _gap(_gap_texts(reached, limit, floor), left, right, height)
    values = ", ".join(
        f"{written(value, is_rate)} with {counted(round(size))} training rows" for size, value in (max(dots), min(dots))
    )
    description = f"{floor['title']}: {values}."
    if limit is not None:
        description += (
            f" The fitted line leads to {written(limit, is_rate)}, range {written_range(low, high, is_rate)}."
        )
    return picture(width, height, "Learning curve", description, *parts, class_="curve-chart")


def _gap_texts(reached: float, limit: float, floor: Summary) -> tuple[str, str, str]:
    """Say what was reached, where the line leads to, and what is left to win; nothing where nothing is."""
    is_rate = floor["is_rate"]
    gap = _behind(floor, reached) - _behind(floor, limit)
    shown = (
        f"reached {written(reached, is_rate)}",
        f"{limit_word(floor['larger_is_better'])} {written(limit, is_rate)}",
    )
    return *shown, f"{difference(gap, is_rate)} left to win" if gap > 0 else ""


def _gap(texts: tuple[str, str, str], left: float, right: float, height: float) -> list[Markup]:
    """Write below the picture what was reached, where the line leads to, and what is left to win."""
    reached, limit, gap = texts
    return [
        label(left, height - 24, reached, class_="strong"),
        label(right, height - 24, limit, "end", "floor-label"),
        label(left, height - 4, gap, class_="quiet"),
    ]


def _row_marks(first: float, last: float, x: Any, bottom: float) -> list[Markup]:
    """Write numbers of rows below a logarithmic axis, as many as fit."""
    for steps in ((1, 2, 5), (1, 3), (1,)):
        powers = range(math.floor(first), math.ceil(last) + 1)
        marks = [step * 10.0**power for power in powers for step in steps if first <= math.log10(step) + power <= last]
        wide = max((len(counted(round(mark))) for mark in marks), default=1) * LETTER * SIZE + 14
        if all(x(after) - x(before) > wide for before, after in pairwise(marks)):
            break
    written = [tag("line", x1=x(mark), x2=x(mark), y1=bottom, y2=bottom + 4, class_="axis") for mark in marks]
    return written + [label(x(mark), bottom + 18, counted(round(mark)), "middle", "quiet") for mark in marks]


def _clamped(x: float, y: float, text: str, left: float, right: float, class_: str) -> Markup:
    """Write text centred at x, or as near to that as the picture allows."""
    half = LETTER * SIZE * len(text) / 2
    if x - half < left:
        return label(left, y, text, class_=class_)
    if x + half > right:
        return label(right, y, text, "end", class_)
    return label(x, y, text, "middle", class_)


def _path(places: Sequence[tuple[float, float]], class_: str) -> Markup:
    if len(places) < 2:
        return Markup("")
    return tag("path", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places), class_=class_)
