"""Pictures of the page as inline SVG: where the floor stands, and the learning curve.

Colours come from the page's style sheet, so that they follow light, dark and print. Each picture is drawn for a width
in pixels; the page holds a wide and a narrow one and shows what fits, for letters that shrink with the screen cannot
be read on a phone.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape

from bayesfloor.runtime.text import counted, cut_middle, exact_percent, percent, percent_range, points, visible

#: Width of an average letter as a multiple of its size, with a little to spare.
LETTER = 0.56
#: Size of letters in pixels, as in the style sheet.
SIZE = 13.0
#: The range that matters takes at least this share of a bar, or is shown enlarged.
_SMALLEST_SHARE = 0.4

Summary = dict[str, Any]


def tag(name: str, *inside: Any, **attributes: Any) -> Markup:
    """Write an element: text in it is escaped, ``class_`` means class, ``stroke_width`` stroke-width."""
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _coordinate(value))
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, Markup("").join(map(_escaped, inside)))


def picture(width: float, height: float, name: str, description: str, *inside: Any, class_: str) -> Markup:
    """Write an SVG of a size in pixels, with a name and a description for those who do not see it."""
    return tag(
        "svg",
        tag("title", name),
        tag("desc", description),
        *inside,
        class_=class_,
        role="img",
        aria_label=visible(f"{name}. {description}"),
        viewBox=f"0 0 {_coordinate(width)} {_coordinate(height)}",
        width=width,
        height=height,
    )


def label(x: float, y: float, text: str, anchor: str = "start", class_: str | None = None) -> Markup:
    """Write a line of text."""
    return tag("text", visible(text), x=x, y=y, text_anchor=None if anchor == "start" else anchor, class_=class_)


def floor_scale(floor: Summary, width: float) -> Markup | None:
    """Draw floor, reached and majority on one bar: solid where shown, hatched where extrapolated.

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
    estimate, low, high, majority = (floor[key] for key in ("estimate", "low", "high", "majority_error"))
    if None in (estimate, low, high, majority) or majority <= 0:
        return None
    reached = floor["reached"] and floor["reached"]["error"]
    farthest = max(estimate, high, reached or 0.0)
    enlarged = farthest < _SMALLEST_SHARE * majority
    end = float(f"{1.25 * farthest:.2g}") if enlarged and farthest > 0 else max(majority, farthest)
    enlarged = enlarged and end < majority
    left, right, top, thick = 1.0, width - 1.0, 112.0 if enlarged else 44.0, 34.0

    def at(rate: float) -> float:
        return left + (right - left) * min(max(rate / end, 0.0), 1.0)

    hatch = f"hatch-scale-{width:.0f}"
    parts = _overview(floor, end, left, right, top) if enlarged else []
    parts.append(tag("rect", x=left, y=top, width=right - left, height=thick, class_="track"))
    if reached is None:
        parts.append(_block(at(low), at(high), top, thick, class_="soft", fill=f"url(#{hatch})"))
    else:
        parts.append(_block(at(estimate), at(reached), top, thick, class_="soft", fill=f"url(#{hatch})"))
        parts.append(_block(at(reached), right, top, thick, class_="solid"))
        parts.append(tag("line", x1=at(reached), x2=at(reached), y1=top, y2=top + thick + 10, class_="mark"))
    # the range of the floor, as a bracket above the bar
    ceiling = top - 10
    bracket = f"M{at(low):.1f} {top - 5:.1f}V{ceiling:.1f}H{at(high):.1f}V{top - 5:.1f}"
    parts.append(tag("path", d=bracket, class_="bracket"))
    parts.append(tag("line", x1=at(estimate), x2=at(estimate), y1=ceiling - 5, y2=top + thick, class_="floor-mark"))
    confidence = exact_percent(floor["confidence"])
    name = f"floor {percent(estimate)}, {confidence} range {percent_range(low, high)}"
    parts.append(_clamped(at(estimate), ceiling - 12, name, left, right, "floor-label"))

    line = top + thick + 24
    said = [f"The floor is estimated at {percent(estimate)}, {confidence} range {percent_range(low, high)}."]
    if reached is not None:
        own = floor["reached"]
        parts.append(_clamped(at(reached), line, f"reached {percent(reached)}", left, right, "strong"))
        interval = percent_range(own["low"], own["high"])
        said.append(f"The best model tried reaches {percent(reached)} ({interval}) on rows it was not trained on.")
        line += 20
    parts.append(label(left, line, "0%", class_="quiet"))
    shown_end = percent(end) if enlarged else f"always the largest class {percent(majority)}"
    parts.append(label(right, line, shown_end, "end", "quiet"))
    said.append(f"Naming the largest class always errs at {percent(majority)}.")
    return picture(width, line + 8, "Where the floor stands", " ".join(said), _hatching(hatch), *parts, class_="scale")


def _overview(floor: Summary, end: float, left: float, right: float, top: float) -> list[Markup]:
    """Draw the whole range up to the majority's error, and what of it is enlarged below."""
    majority = floor["majority_error"]
    part = left + (right - left) * end / majority
    y, thick, bottom = 22.0, 10.0, top - 40
    return [
        _block(left, right, y, thick, class_="track" if floor["reached"] is None else "solid"),
        tag("rect", x=left, y=y, width=part - left, height=thick, class_="lens"),
        tag("path", d=f"M{left} {y + thick}L{left} {bottom}H{right}L{part:.1f} {y + thick}Z", class_="beam"),
        label(left, 13, "0%", class_="quiet"),
        label(right, 13, f"always the largest class {percent(majority)}", "end", "quiet"),
    ]


def learning_curve(curve: Summary, floor: Summary, width: float) -> Markup | None:
    """Draw errors over training rows, the fitted line, and the band that it leads to.

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
    dots = [(p["size"], p["error"]) for p in curve["points"] if p["size"] and p["error"] is not None]
    line = [(size, error) for size, error in curve["line"] if size and size > 0 and error is not None]
    if not dots:
        return None
    limit, low, high = curve["limit"], curve["low"], curve["high"]
    largest = max(size for size, _ in dots)
    reached = floor["reached"]["error"] if floor["reached"] else next(error for size, error in dots if size == largest)
    spacious = width > 500
    height, left, top = (340.0 if spacious else 336.0), 46.0, 14.0
    right, bottom = (width - 190.0, height - 46.0) if spacious else (width - 12.0, height - 90.0)
    sizes = [size for size, _ in dots + line]
    first, last = math.log10(0.85 * min(sizes)), math.log10(max(1.1 * max(sizes), 2.5 * largest))
    heights = [error for _, error in dots + line] + [value for value in (high, reached, limit) if value is not None]
    ticks = _ticks(max([*heights, 1e-4]), 5)
    most = ticks[-1]

    def x(size: float) -> float:
        return left + (right - left) * (math.log10(size) - first) / (last - first)

    def y(error: float) -> float:
        return bottom - (bottom - top) * min(max(error / most, 0.0), 1.0)

    hatch = f"hatch-curve-{width:.0f}"
    parts = [_hatching(hatch)]
    if low is not None and high is not None:
        parts.append(_block(left, right, y(high), y(low) - y(high), class_="band", fill=f"url(#{hatch})"))
    for value in ticks:
        parts.append(tag("line", x1=left, x2=right, y1=y(value), y2=y(value), class_="grid"))
        parts.append(label(left - 8, y(value) + 4, exact_percent(value), "end", "quiet"))
    parts += _row_marks(first, last, x, bottom)
    parts.append(label((left + right) / 2, bottom + 38, "training rows", "middle", "quiet"))
    tried = [(x(size), y(error)) for size, error in line if size <= largest]
    beyond = tried[-1:] + [(x(size), y(error)) for size, error in line if size > largest]
    parts += [_path(tried, "curve"), _path(beyond, "curve beyond")]
    if limit is not None:
        parts.append(tag("line", x1=left, x2=right, y1=y(limit), y2=y(limit), class_="limit"))
    for size, error in dots:
        name = tag("title", f"{counted(round(size))} rows: error {percent(error)}")
        parts.append(tag("circle", name, cx=x(size), cy=y(error), r=4.5))
    if limit is not None:
        if spacious:
            parts += _gap(reached, limit, x(largest), right, y)
        else:
            parts += _gap_below(reached, limit, left, right, height)
    said = f"Errors from {percent(max(dots)[1])} at {counted(round(largest))} training rows"
    said += f" to {percent(min(dots)[1])} at {counted(round(min(dots)[0]))}."
    if limit is not None:
        said += f" The fitted line leads to {percent(limit)}, range {percent_range(low, high)}."
    return picture(width, height, "Learning curve", said, *parts, class_="curve-chart")


def subgroup_chart(subgroups: Summary, width: float) -> Markup:
    """Draw two bars for each subgroup: the range of what was reached, solid, and that of its floor, hatched.

    Parameters
    ----------
    subgroups : dict
        The part "subgroups" of a summary.
    width : float
        Width in pixels.

    Returns
    -------
    Markup
    """
    rows = subgroups["rows"]
    names = [cut_middle(visible(row["name"]), 26) for row in rows]
    spacious = width > 500
    left = 12.0 + max(map(len, names)) * LETTER * SIZE * 1.08 if spacious else 11.0
    right, pitch, first = width - 16.0, (40.0 if spacious else 58.0), (14.0 if spacious else 32.0)
    bottom = first + pitch * len(rows)
    # ranges of a few rows would leave no space for the others
    highest = [row["high"] for row in rows if row["floor"] is not None] or [1.0]
    ticks = _ticks(max(*highest, 1e-4), 5 if spacious else 3)

    def x(rate: float) -> float:
        return left + (right - left) * min(max(rate / ticks[-1], 0.0), 1.0)

    hatch = f"hatch-groups-{width:.0f}"
    parts = [_hatching(hatch)]
    for value in ticks:
        parts.append(tag("line", x1=x(value), x2=x(value), y1=first - 10, y2=bottom - 8, class_="grid"))
        parts.append(label(x(value), bottom + 8, exact_percent(value), "middle", "quiet"))
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        top = first + pitch * place
        told = f"{row['name']}: reached {percent(row['reached'])}, floor {percent(row['floor'])}"
        inside = [
            tag("title", told),
            label(left - 12, top + 14, name, "end") if spacious else label(left, top - 6, name),
            _block(x(row["reached_low"]), x(row["reached_high"]), top, 9.0, class_="solid"),
            _block(x(row["low"]), x(row["high"]), top + 11, 9.0, class_="soft", fill=f"url(#{hatch})"),
        ]
        for rate, begin, class_ in ((row["reached"], top - 3, "mark"), (row["floor"], top + 11, "floor-mark")):
            if rate is not None:
                inside.append(tag("line", x1=x(rate), x2=x(rate), y1=begin, y2=begin + 12, class_=class_))
        parts.append(tag("g", *inside))
    said = f"What was reached, and the floor, with their ranges, of {len(rows)} subgroups by {subgroups['column']}."
    return picture(width, bottom + 14, "Subgroups", f"{said} In the table below.", *parts, class_="group-chart")


def _gap(reached: float, limit: float, at: float, right: float, y: Any) -> list[Markup]:
    """Mark, beside the picture, what was reached, where the line leads to, and the gap between them."""
    above, below, edge = y(reached), y(limit), right + 12
    lines = [(above, f"reached {percent(reached)}", "strong"), (below, f"floor {percent(limit)}", "floor-label")]
    if reached > limit:
        lines.append(((above + below) / 2, f"{points(reached - limit)} points left to win", "quiet"))
    lines.sort(key=lambda line: line[0])
    rows = _apart([row for row, _, _ in lines], 18.0)
    bracket = f"M{edge - 4:.1f} {above:.1f}H{edge:.1f}V{below:.1f}H{edge - 4:.1f}"
    return [
        tag("line", x1=at, x2=edge - 4, y1=above, y2=above, class_="leader"),
        tag("path", d=bracket, class_="bracket"),
        *(label(edge + 8, row + 4, text, class_=class_) for row, (_, text, class_) in zip(rows, lines, strict=True)),
    ]


def _gap_below(reached: float, limit: float, left: float, right: float, height: float) -> list[Markup]:
    """Write the same below the picture, where there is no space beside it."""
    gap = f"{points(reached - limit)} points left to win" if reached > limit else ""
    return [
        label(left, height - 24, f"reached {percent(reached)}", class_="strong"),
        label(right, height - 24, f"floor {percent(limit)}", "end", "floor-label"),
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


def _hatching(key: str) -> Markup:
    """Define the pattern of what is extrapolated; one for each picture, as one that is hidden lends none."""
    ground = tag("rect", width=8, height=8, class_="hatch-ground")
    lines = tag("path", d="M-2 2L2 -2M0 8L8 0M6 10L10 6", class_="hatch")
    return tag("defs", tag("pattern", ground, lines, id=key, width=8, height=8, patternUnits="userSpaceOnUse"))


def _block(start: float, stop: float, top: float, thick: float, **style: str) -> Markup:
    return tag("rect", x=min(start, stop), y=top, width=abs(stop - start), height=thick, **style)


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


def _apart(rows: Sequence[float], least: float) -> list[float]:
    """Push rows of text, top first, apart so that none overlap, around where they were."""
    placed = list(rows)
    for place in range(1, len(placed)):
        placed[place] = max(placed[place], placed[place - 1] + least)
    shift = (sum(placed) - sum(rows)) / len(placed)
    return [row - shift for row in placed]


def _ticks(most: float, n: int) -> list[float]:
    """Return round numbers from 0 to `most` or a little more, about n of them."""
    step = _round_up(most / n)
    return [place * step for place in range(math.ceil(most / step - 1e-9) + 1)]


def _round_up(value: float) -> float:
    """Return the next 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1.0, 2.0, 2.5, 5.0, 10.0) if value <= step * power * (1 + 1e-9))


def _escaped(part: Any) -> Markup:
    return escape(part if isinstance(part, Markup) else visible(part))


def _coordinate(value: Any) -> Any:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
