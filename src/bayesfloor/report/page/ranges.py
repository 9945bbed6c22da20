"""Ranges of error rates beside each other, each with a mark where the figure is."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from bayesfloor.report.page.svg import LETTER, SIZE, block, hatching, label, picture, tag, ticks_between
from bayesfloor.runtime.text import cut_middle, exact_percent, percent, visible

#: Letters of a name beside its bars.
_LONGEST_NAME = 26


class Bar(NamedTuple):
    """A rate, or None where it is not known, with its range; hatched where it is extrapolated."""

    value: float | None
    low: float
    high: float
    is_extrapolated: bool


class Ranges(NamedTuple):
    """A name, what hovering tells, and one bar or two."""

    name: str
    told: str
    bars: tuple[Bar, ...]


def range_chart(key: str, title: str, description: str, rows: Sequence[Ranges], width: float) -> Markup:
    """Draw the ranges of rates: solid where shown, hatched where extrapolated.

    One bar in a row is thick, and its figure stands beside it; two are thin.

    Parameters
    ----------
    key : str
        Begins the class of the picture.
    title, description : str
        For those who do not see it.
    rows : sequence of Ranges
        What to draw, the first at the top; as many bars in each.
    width : float
        Width in pixels.

    Returns
    -------
    Markup
    """
    single, spacious = len(rows[0].bars) == 1, width > 500
    names = [cut_middle(visible(row.name), _LONGEST_NAME) for row in rows]
    left = 12.0 + max(map(len, names)) * LETTER * SIZE * 1.08 if spacious else 11.0
    right, thick, pitch = (width - 90.0, 14.0, 34.0) if single else (width - 16.0, 9.0, 40.0)
    first, pitch = (14.0, pitch) if spacious else (32.0, pitch + 18.0)
    bottom = first + pitch * len(rows)
    # ranges of a few rows, where nothing is known, would leave no space for the others
    known = [bar.high for row in rows if row.bars[-1].value is not None for bar in row.bars] or [1.0]
    ticks = ticks_between(0.0, max(*known, 1e-4), 5 if spacious else 3)

    def x(rate: float) -> float:
        return left + (right - left) * min(max(rate / ticks[-1], 0.0), 1.0)

    hatch = f"hatch-{key}-{width:.0f}"
    parts = [hatching(hatch)]
    for value in ticks:
        parts.append(tag("line", x1=x(value), x2=x(value), y1=first - 10, y2=bottom - 8, class_="grid"))
        parts.append(label(x(value), bottom + 8, exact_percent(value), "middle", "quiet"))
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        top = first + pitch * place
        beside = top + (12.0 if single else 14.0)
        inside = [tag("title", row.told)]
        inside.append(label(left - 12, beside, name, "end") if spacious else label(left, top - 6, name))
        for number, bar in enumerate(row.bars):
            y = top + number * (thick + 2)
            style = {"class_": "soft", "fill": f"url(#{hatch})"} if bar.is_extrapolated else {"class_": "solid"}
            inside.append(block(x(bar.low), x(bar.high), y, thick, **style))
            if bar.value is not None:
                mark = "floor-mark" if bar.is_extrapolated else "mark"
                at, start, stop = x(bar.value), y - 3 * (number == 0), y + thick + 3 * (bar is row.bars[-1])
                inside.append(tag("line", x1=at, x2=at, y1=start, y2=stop, class_=mark))
            if single:
                inside.append(label(x(bar.high) + 8, beside, percent(bar.value)))
        parts.append(tag("g", *inside))
    return picture(width, bottom + 14, title, description, *parts, class_=f"{key}-chart")
