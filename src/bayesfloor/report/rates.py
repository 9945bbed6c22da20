"""How rates are written, everywhere in a report."""

#: What stands for a figure that is not there.
NOTHING = "–"


def percent(rate: float | None) -> str:
    """Write a rate in percent with the digits that matter: 13.5%, 4.4%, 0.04%, and None as a dash."""
    return NOTHING if rate is None else f"{points(rate)}%"


def percent_range(low: float | None, high: float | None) -> str:
    """Write an interval of rates: 0.013 and 0.151 as 1.3–15.1%."""
    if low is None or high is None:
        return NOTHING
    return f"{'0' if 100.0 * low < 0.005 else points(low)}–{points(high)}%"


def points(rate: float) -> str:
    """Write a rate, or a difference of two, in percentage points without a sign for them."""
    value = 100.0 * rate
    if value == 0.0 or value >= 99.95:
        return f"{value:.0f}"
    if value < 0.005:
        return "<0.01"
    return f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def as_given(rate: float) -> str:
    """Write a rate that somebody chose, with the digits that they gave."""
    return f"{100 * rate:.10g}%"
