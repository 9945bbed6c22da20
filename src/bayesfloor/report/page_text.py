"""How the page writes names and figures: one way for tables, pictures and tooltips."""

from typing import Any

from markupsafe import Markup

from bayesfloor.report.harmless import visible

#: What stands for a figure that is not there.
NOTHING = "–"


def shown(value: Any) -> Any:
    """Write anything that a template prints; what is markup already stays as it is."""
    if value is None:
        return NOTHING
    return value if isinstance(value, Markup) else visible(value)


def percent(rate: float | None) -> str:
    """Write a rate in percent: 0.135 as 13.5%, 0.0004 as 0.04%, and None as a dash."""
    return NOTHING if rate is None else f"{_figure(rate)}%"


def percent_range(low: float | None, high: float | None) -> str:
    """Write an interval of rates: 0.013 and 0.151 as 1.3–15.1%."""
    if low is None or high is None:
        return NOTHING
    return f"{_figure(low)}–{_figure(high)}%"


def points(rate: float | None) -> str:
    """Write a difference of two rates in percentage points, without a word for them."""
    return NOTHING if rate is None else _figure(rate)


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


def _figure(rate: float) -> str:
    """One digit after the point, two below one percent, as far as a reader can make use of them."""
    value = 100 * rate
    if value == 0 or value >= 99.95:
        return f"{value:.0f}"
    if value < 0.005:
        return "<0.01"
    if value >= 0.95:
        return f"{value:.1f}"
    return f"{value:.2f}"
