"""Elements of pictures on the page, as inline SVG.

Colours come from the page's style sheet, so that they follow light, dark and print. Each picture is drawn for a width
in pixels; the page holds a wide and a narrow one and shows what fits, for letters that shrink with the screen cannot
be read on a phone.
"""

import math
from collections.abc import Callable
from typing import Any

from markupsafe import Markup, escape

from bayesfloor.runtime.text import visible

#: Width of pictures on a desk, in pixels: that of a column of text.
WIDE = 720.0
#: Width of pictures on a phone, in pixels: 375 less the margins of the page and a bar that scrolls it.
NARROW = 320.0
#: Width of an average letter as a multiple of its size, with a little to spare.
LETTER = 0.56
#: Size of letters in pixels, as in the style sheet.
SIZE = 13.0


def both_widths(draw: Callable[..., Markup | None], *values: Any) -> list[Markup | None]:
    """Draw a picture for a desk and for a phone."""
    return [draw(*values, width) for width in (WIDE, NARROW)]


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


def hatching(key: str) -> Markup:
    """Define the pattern of what is extrapolated; one for each picture, as one that is hidden lends none."""
    ground = tag("rect", width=8, height=8, class_="hatch-ground")
    lines = tag("path", d="M-2 2L2 -2M0 8L8 0M6 10L10 6", class_="hatch")
    return tag("defs", tag("pattern", ground, lines, id=key, width=8, height=8, patternUnits="userSpaceOnUse"))


def block(start: float, stop: float, top: float, thick: float, **style: str) -> Markup:
    """Draw a bar between two places, whichever is first."""
    return tag("rect", x=min(start, stop), y=top, width=abs(stop - start), height=thick, **style)


def ticks_between(least: float, most: float, n: int) -> list[float]:
    """Return round numbers from `least` or a little less to `most` or a little more, about n of them."""
    step = _round_up(max(most - least, 1e-4 * max(abs(most), 1.0)) / n)
    first = math.floor(least / step + 1e-9)
    last = max(math.ceil(most / step - 1e-9), first + 1)
    return [place * step for place in range(first, last + 1)]


def _round_up(value: float) -> float:
    """Return the next 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1.0, 2.0, 2.5, 5.0, 10.0) if value <= step * power * (1 + 1e-9))


def _escaped(part: Any) -> Markup:
    return escape(part if isinstance(part, Markup) else visible(part))


def _coordinate(value: Any) -> Any:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
