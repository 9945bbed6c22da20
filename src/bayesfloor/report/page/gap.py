"""The reader's model, what was reached and the floor on one scale, as SVG."""

from markupsafe import Markup

from bayesfloor.report.page.charts import (
    LETTER,
    SIZE,
    Summary,
    block,
    hatching,
    label,
    picture,
    tag,
    ticks_between,
)
from bayesfloor.runtime.text import exact_percent, percent, percent_range


def gap_chart(gap: Summary, width: float) -> Markup:
    """Draw three bars, the ranges of model, reached and floor: solid where shown, hatched where extrapolated.

    Parameters
    ----------
    gap : dict
        The part "gap" of a summary.
    width : float
        Width in pixels.

    Returns
    -------
    Markup
    """
    rows = gap["figures"]
    spacious = width > 500
    left = 12.0 + max(len(row["name"]) for row in rows) * LETTER * SIZE * 1.08 if spacious else 11.0
    right, pitch, first = width - 90.0, (34.0 if spacious else 52.0), (14.0 if spacious else 32.0)
    bottom = first + pitch * len(rows)
    ticks = ticks_between(0.0, max(*(row["high"] for row in rows), 1e-4), 5 if spacious else 3)

    def x(rate: float) -> float:
        return left + (right - left) * min(max(rate / ticks[-1], 0.0), 1.0)

    hatch = f"hatch-gap-{width:.0f}"
    parts = [hatching(hatch)]
    for value in ticks:
        parts.append(tag("line", x1=x(value), x2=x(value), y1=first - 10, y2=bottom - 8, class_="grid"))
        parts.append(label(x(value), bottom + 8, exact_percent(value), "middle", "quiet"))
    said = []
    for place, row in enumerate(rows):
        top = first + pitch * place
        is_floor = place == len(rows) - 1
        told = f"{row['name']} {percent(row['value'])}, range {percent_range(row['low'], row['high'])}"
        style = {"class_": "soft", "fill": f"url(#{hatch})"} if is_floor else {"class_": "solid"}
        mark = "floor-mark" if is_floor else "mark"
        inside = [
            tag("title", told),
            label(left - 12, top + 12, row["name"], "end") if spacious else label(left, top - 6, row["name"]),
            block(x(row["low"]), x(row["high"]), top, 14.0, **style),
            tag("line", x1=x(row["value"]), x2=x(row["value"]), y1=top - 3, y2=top + 17, class_=mark),
            label(x(row["high"]) + 8, top + 12, percent(row["value"])),
        ]
        parts.append(tag("g", *inside))
        said.append(told)
    return picture(width, bottom + 14, "Your model", f"{'; '.join(said)}.", *parts, class_="gap-chart")
