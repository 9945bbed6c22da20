"""How the page writes names and counts: one way for tables, pictures and tooltips."""

from typing import Any

from markupsafe import Markup

from bayesfloor.report.rates import NOTHING
from bayesfloor.runtime.text import visible


def shown(value: Any) -> Any:
    """Write anything that a template prints; what is markup already stays as it is."""
    if value is None:
        return NOTHING
    return value if isinstance(value, Markup) else visible(value)


def count(number: int | None) -> str:
    """Write a count with its thousands apart: 12,345."""
    return NOTHING if number is None else f"{number:,}"


def figure(number: float | None) -> str:
    """Write a number that is no rate, with three digits that count: 0.0123, 4.57, 12,300."""
    if number is None:
        return NOTHING
    if number and not 1e-4 <= abs(number) < 1e7:
        return f"{number:.2e}"
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:g}"


def sorting_key(number: float | None) -> str:
    """Write a number for the script that sorts; nothing where there is none, which sorts last."""
    return "" if number is None else repr(float(number))


def shortened(name: str, longest: int) -> str:
    """Cut the middle out of a name that is too long: both of its ends tell it from others."""
    name = visible(name)
    if len(name) <= longest:
        return name
    tail = (longest - 1) // 3
    return f"{name[: longest - 1 - tail]}…{name[-tail:]}"
