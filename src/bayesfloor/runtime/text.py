"""Text shown to people: names and values out of files and arrays, counts, lists and rates, safe wherever they go."""

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

#: What stands for a figure that is not there.
NOTHING = "–"
#: A spreadsheet takes a cell that begins with one of these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def visible(text: Any) -> str:
    """Write text in one line, with control characters, and those that turn the direction, as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text))


def json_text(value: Any, *, ascii_only: bool = False) -> str:
    """Write plain values as JSON, with whatever `visible` escapes as escapes; letters of any language stay as they are.

    Where the text goes to a terminal that may not know these letters, `ascii_only` escapes them too.
    """
    text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=ascii_only)
    # beside line ends, such characters stand within strings only; JSON itself leaves "delete" as it is
    escaped = (c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    return "".join(escaped).replace("\x7f", "\\u007f")


def csv_text(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> tuple[str, int]:
    """Write a table as CSV; text that a spreadsheet would take for a formula gets an apostrophe in front.

    Parameters
    ----------
    header : sequence
        Names of the columns.
    rows : iterable of sequences
        The cells.

    Returns
    -------
    text : str
        The table.
    n_escaped : int
        How many cells got an apostrophe.
    """
    n_escaped = 0

    def safe(cell: Any) -> Any:
        nonlocal n_escaped
        if not isinstance(cell, str) or not cell.startswith(_FORMULA) or _is_number(cell):
            return cell
        n_escaped += 1
        return f"'{cell}"

    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in (header, *rows):
        writer.writerow([safe(cell) for cell in row])
    return buffer.getvalue(), n_escaped


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def shown(name: Any) -> str:
    """Name a class or feature in a message; text is quoted, so that control characters show as escapes."""
    import numpy as np  # not at the top: the command line writes its help and errors with this file alone

    value = name.item() if isinstance(name, np.generic) else name
    return repr(value)


def quoted(text: str, longest: int = 40) -> str:
    """Quote a value in a message; a long one is cut."""
    return repr(text if len(text) <= longest else text[:longest] + "…")


def shortened(text: Any, most: int) -> str:
    """Write text in at most so many letters."""
    shown = visible(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def listed(items: Sequence[str], most: int = 5) -> str:
    """Join items by commas, the first few only."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def listed_names(names: Sequence[str], most: int = 6) -> str:
    """Join names by commas, quoted, the first few only."""
    more = f" and {counted(len(names) - most)} more" if len(names) > most else ""
    return ", ".join(quoted(name, 60) for name in names[:most]) + more


def unique_names(names: Sequence[str]) -> list[str]:
    """Number names that come again, from the second on: ``a, a_2, a_3``."""
    taken, seen = set(names), Counter[str]()
    numbered = []
    for name in names:
        seen[name] += 1
        new = name if seen[name] == 1 else f"{name}_{seen[name]}"
        while seen[name] > 1 and new in taken:
            new += "_"
        taken.add(new)
        numbered.append(new)
    return numbered


def counted(number: int | None, noun: str = "") -> str:
    """Write a count with commas between thousands: 3,812, or with a noun 3,812 rows, 1 row; None as a dash."""
    if number is None:
        return NOTHING
    return f"{number:,} {noun}{'s' * (number != 1)}" if noun else f"{number:,}"


def in_markdown(text: Any) -> str:
    """Write text so that Markdown shows it as it is, in a paragraph or a cell of a table."""
    shown = visible(text)
    for sign in "\\`*_[]#|~":
        shown = shown.replace(sign, "\\" + sign)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def label_text(label: Any) -> str:
    """Write a label in one line; with quotes and escapes where it is empty or holds control characters."""
    text = str(label)
    return text if text.isprintable() and text.strip() else shown(label)


def cut_middle(text: str, longest: int) -> str:
    """Cut the middle out of a text that is too long: both of its ends tell it from others."""
    tail = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"


def percent(rate: float | None) -> str:
    """Write an estimated rate in percent, with the digits that matter: 13.5%, 4.4%, 0.04%; None as a dash.

    An R² may be below 0: -12.3%.
    """
    if rate is None:
        return NOTHING
    return f"-{points(-rate)}%" if rate < 0.0 else f"{points(rate)}%"


def percent_range(low: float | None, high: float | None) -> str:
    """Write an interval of rates: 0.013 and 0.151 as 1.3–15.1%; -0.2 and 0.1 as -20.0% to 10.0%."""
    if low is None or high is None:
        return NOTHING
    if 100.0 * low < -0.005:
        return f"{percent(low)} to {percent(high)}"
    return f"{'0' if 100.0 * low < 0.005 else points(low)}–{points(high)}%"


def figure(number: float | None) -> str:
    """Write a number that is no rate, with three digits that count: 0.0123, 4.57, 12,300; None as a dash."""
    if number is None:
        return NOTHING
    if number and not 1e-4 <= abs(number) < 1e7:
        return f"{number:.2e}"
    rounded = float(f"{number:.3g}")
    if rounded == 1.0 > number:  # an area under a curve that is not quite perfect keeps what it lacks
        return f"{number:.{math.ceil(-math.log10(1.0 - number))}f}"
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:g}"


def p_text(p_value: float) -> str:
    """Write a p-value: "p < .001", "p = .02", "p = .3"."""
    if p_value < 0.001:
        return "p < .001"
    digits = 3 if p_value < 0.01 else 2
    text = f"{p_value:.{digits}f}"
    return "p = 1" if text == "1.00" else f"p = {text.removeprefix('0')}"


def written(value: float | None, is_rate: bool) -> str:
    """Write a value of a metric: a share of rows in percent, anything else as a number."""
    return percent(value) if is_rate else figure(value)


def written_range(low: float | None, high: float | None, is_rate: bool) -> str:
    """Write an interval of a metric: 1.3–15.1%, 0.912–0.943, -3 to -1.5."""
    if low is None or high is None:
        return NOTHING
    return percent_range(low, high) if is_rate else f"{figure(low)}{' to ' if low < 0 else '–'}{figure(high)}"


def points(rate: float) -> str:
    """Write a rate, or a difference of two, in percentage points without a sign for them."""
    value = 100.0 * rate
    if value == 0.0 or value >= 100.0 - 1e-9:
        return f"{value:.0f}"
    if value < 0.005 or value > 99.995:
        return "<0.01" if value < 50.0 else ">99.99"
    return f"{value:.1f}" if 0.995 <= value < 99.95 else f"{value:.2f}"


def difference(value: float, is_rate: bool) -> str:
    """Write the difference of two values of a metric: 1.3 points, 0.021."""
    return f"{points(value)} points" if is_rate else figure(float(f"{value:.2g}"))


def chosen(value: float, is_rate: bool) -> str:
    """Write a value of a metric that somebody chose, a target or a tick, with all of its digits."""
    return exact_percent(value) if is_rate else f"{value:,.10g}"


def exact_percent(rate: float) -> str:
    """Write a rate that somebody chose, a target, a level or a tick, with all of its digits: 0.125 as 12.5%."""
    return f"{100 * rate:.10g}%"
