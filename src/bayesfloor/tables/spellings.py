"""Numbers, truth values and dates as people write them.

Functions here take the *different* texts of a column, so a million rows of "yes" and "no" cost two readings.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayesfloor.runtime.arrays import Floats

#: Texts that stand for a missing value in a feature. In a target only empty text does: "NA" may be a class.
MISSING_TEXTS = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "Null", "<null>"})
#: Texts that stand for a missing value in any column, beside those that every reader knows.
GAP_TEXTS = frozenset(
    {"-", "--", "---", ".", "n/a", "#N/A", "#NA", "<NA>", "NaT", "(null)", "#VALUE!", "#REF!", "#DIV/0!", "#NULL!"}
)
#: Texts that stand for a missing value among numbers and dates; elsewhere they may be values of their own.
GAP_WORDS = frozenset({"none", "unknown", "missing", "na", "nan", "null", "nil", "n.a.", "not available", "undefined"})

#: What people write for yes, and beside it for no.
TRUTH_WORDS = (
    ("yes", "no"),
    ("y", "n"),
    ("true", "false"),
    ("t", "f"),
    ("on", "off"),
    ("1", "0"),
    ("ja", "nein"),
    ("oui", "non"),
    ("si", "no"),
    ("sí", "no"),
    ("yes", "n"),
    ("y", "no"),
)

#: Integers up to this are exact in float64.
LARGEST_EXACT_INTEGER = 2**53
_LEADING_ZERO = re.compile(r"[+-]?0\d+")

_YES, _NO = {yes for yes, _ in TRUTH_WORDS} | {"1.0"}, {no for _, no in TRUTH_WORDS} | {"0.0"}

_CURRENCY = "$€£¥₹₽₩₺฿"
_SPACES = "  \u202f\u2009"
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+\-−])?\s*(?:[{_CURRENCY}]|USD|EUR|GBP|CHF|US\$)?\s*(?P<sign2>[+\-−])?"
    rf"(?P<digits>(?:\d[\d.,'’{_SPACES}]*\d|\d|[.,]\d+)(?:[eE][+-]?\d+)?)\s*"
    rf"(?P<percent>%)?\s*(?:[{_CURRENCY}]|USD|EUR|GBP|CHF)?\s*(?P<close>\))?"
)
_THOUSANDS = {
    ",": re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"),
    ".": re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?"),
    "'": re.compile(rf"\d{{1,3}}(?:['’{_SPACES}]\d{{3}})+(?:[.,]\d+)?"),
}


def to_number(text: str, decimal: str = ".") -> float | None:
    """Read a number; None when the text is none. Underscores, which Python allows, are none."""
    if "_" in text or not text.isascii():
        return None
    if decimal == ",":
        if "." in text:
            return None
        text = text.replace(",", ".")
    try:
        return float(text)
    except ValueError:
        return None


def number_text(value: float, is_truth: bool = False) -> str:
    """Write a number as a label."""
    if is_truth:
        return str(bool(value))
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)


def has_leading_zero(text: str) -> bool:
    """Tell whether a whole number is written as codes often are, with more digits than it needs: 02139."""
    return _LEADING_ZERO.fullmatch(text) is not None


def is_rounded(value: int) -> bool:
    """Tell whether float64 cannot hold an integer."""
    return abs(value) > LARGEST_EXACT_INTEGER and (abs(value) > 10**300 or int(float(value)) != value)


def is_rounded_text(text: str) -> bool:
    """Tell whether a text is an integer that float64 cannot hold."""
    digits = text.lstrip("+-")
    return len(digits) > 15 and digits.isdecimal() and (len(digits) > 300 or is_rounded(int(digits)))


def read_numbers(texts: Sequence[str], decimal: str | None = None) -> tuple[Floats, list[str]]:
    """Read numbers with thousands separators, percent and currency signs, decimal commas or accountants' brackets.

    Parameters
    ----------
    texts : sequence of str
        The different texts of a column.
    decimal : {".", ","} or None
        The decimal sign of the column; None for what `decimal_sign` finds, else a point.

    Returns
    -------
    numbers : ndarray of shape (n_texts,)
        NaN for what is no number.
    strays : list of str
        What is no number, and no known way to write a gap.
    """
    decimal = decimal or decimal_sign(texts) or "."
    numbers, strays = np.full(len(texts), math.nan), []
    for place, text in enumerate(texts):
        number = to_number(text.strip(), decimal)
        if number is None:
            number = _read_number(text.strip(), decimal)
        if number is not None and math.isfinite(number):
            numbers[place] = number
        elif not is_gap(text):
            strays.append(text)
    return numbers, strays


def _read_number(text: str, decimal: str) -> float | None:
    match = _NUMBER.fullmatch(text)
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    plain = _plain(match["digits"], decimal)
    number = None if plain is None else to_number(plain)
    if number is None:
        return None
    is_negative = match["open"] or (match["sign"] or match["sign2"] or "+") in "-−"
    return (-number if is_negative else number) / (100.0 if match["percent"] else 1.0)


def is_gap(text: str) -> bool:
    """Tell whether a text in a column of numbers or dates says that there is no value."""
    text = text.strip()
    return not text or text in GAP_TEXTS or text.lower() in GAP_WORDS


def decimal_sign(texts: Iterable[str]) -> str | None:
    """Tell a decimal comma from a comma between thousands, by all numbers of a column.

    Parameters
    ----------
    texts : iterable of str
        The different texts of a column.

    Returns
    -------
    {".", ","} or None
        The sign that more of the numbers show; None where each can be read either way, as 1.234 can.
    """
    signs = Counter(_own_decimal_sign(match["digits"]) for text in texts if (match := _NUMBER.fullmatch(text.strip())))
    if not signs["."] and not signs[","]:
        return None
    return "," if signs[","] > signs["."] else "."


def _own_decimal_sign(number: str) -> str | None:
    """Return the decimal sign that a number shows by itself."""
    comma, point = number.rfind(","), number.rfind(".")
    if comma < 0 and point < 0:
        return None
    if comma >= 0 and point >= 0:
        return "," if comma > point else "."
    mark, other = (",", ".") if comma >= 0 else (".", ",")
    if number.count(mark) > 1:
        return other  # a mark that comes again stands between thousands
    has_groups = _THOUSANDS[mark].fullmatch(number) is not None and not number.startswith("0")
    return None if has_groups else mark


def _plain(number: str, decimal: str) -> str | None:
    """Write a number without separators and with a decimal point; None where the separators make no sense."""
    mark = "," if decimal == "." else "."
    if mark in number:
        if not _THOUSANDS[mark].fullmatch(number):
            return None
        number = number.replace(mark, "")
    elif any(space in number for space in f"'’{_SPACES}"):
        if not _THOUSANDS["'"].fullmatch(number):
            return None
        number = re.sub(rf"['’{_SPACES}]", "", number)
    return number.replace(decimal, ".")


def folded_text(text: str) -> str:
    """Write texts that differ by case and blanks alone in one way; single letters stay as they are."""
    short = " ".join(text.split())
    return short if len(short) == 1 else short.casefold()


def truth_of(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the texts for no and for yes where two texts are a known pair of them.

    Parameters
    ----------
    texts : sequence of str
        The different texts of a column.

    Returns
    -------
    (str, str) or None
        As they are written in the column.
    """
    lower = {text.strip().lower(): text for text in texts}
    if len(texts) != 2 or len(lower) != 2:
        return None
    for yes, no in TRUTH_WORDS:
        if lower.keys() == {yes, no}:
            return lower[no], lower[yes]
    return None


def truth_value(text: str) -> bool | None:
    """Return what a text says in a column of yes and no, however that column writes them; None for other texts."""
    word = text.strip().lower()
    return True if word in _YES else False if word in _NO else None


#: How dates are written, the first that fits all of a column wins. "%m/%d" comes before "%d/%m" where both fit.
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M",
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p",
    "%m/%d/%y",
    "%d/%m/%y",
    "%m/%d/%y %H:%M",
    "%d/%m/%y %H:%M",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%B %d %Y",
    "%a %b %d %H:%M:%S %Y",
    "%Y%m%d",
    "%Y%m%d%H%M%S",
    "%Y-%m",
    "%b %Y",
    "%B %Y",
)
#: Unambiguous formats: the year comes first.
_CERTAIN_FORMATS = tuple(each for each in DATE_FORMATS if each.startswith(("%Y-", "%Y/")))
#: How times of day are written.
TIME_FORMATS = ("%H:%M:%S%.f", "%H:%M", "%I:%M %p", "%I:%M:%S %p")

#: Microseconds from 1970 back to the year 1000.
_YEAR_1000 = -30_610_224_000 * 10**6

_LOOKS_LIKE_DATE = re.compile(r"(?=.*\d)(?=.*[-/.:, ]|\d{8}$|\d{14}$).{4,40}")


def read_dates(texts: Sequence[str], date_format: str | None = None) -> tuple[Floats, str | None]:
    """Read dates or times of day that are all written alike.

    Parameters
    ----------
    texts : sequence of str
        The different texts of a column.
    date_format : str or None
        How they are written; None asks for detection.

    Returns
    -------
    seconds : ndarray of shape (n_texts,)
        Seconds since 1970, or since midnight; NaN for gaps, and for what does not fit a given format.
    date_format : str or None
        The format; None where no known one fits all texts that are no gaps.
    """
    import polars

    nothing = np.full(len(texts), math.nan)
    known = [place for place, text in enumerate(texts) if not is_gap(text)]
    values = [texts[place].strip() for place in known]
    if not known:
        return nothing, date_format
    if date_format is None and not all(_LOOKS_LIKE_DATE.fullmatch(value) for value in values):
        return nothing, None
    column = polars.Series(values)
    sample = column.head(50)
    for candidate in (date_format,) if date_format else (*DATE_FORMATS, *TIME_FORMATS):
        if date_format is None and _microseconds(sample, candidate).null_count():
            continue
        found = _microseconds(column, candidate)
        if date_format is None and found.null_count():
            continue
        nothing[known] = found.cast(polars.Float64).fill_null(math.nan).to_numpy() / 1e6
        return nothing, candidate
    return nothing, None


def read_dates_alone(texts: Sequence[str], date_format: str | None, *, is_time: bool = False) -> Floats:
    """Read dates each by itself: in the format of their column, else year first, which can not be mistaken.

    Parameters
    ----------
    texts : sequence of str
        The different texts of a column.
    date_format : str or None
        How the column that was learnt from was written; None where it held dates.
    is_time : bool
        Whether they are times of day.

    Returns
    -------
    ndarray of shape (n_texts,)
        Seconds since 1970, or since midnight; NaN for gaps and for what cannot be read.
    """
    seconds = np.full(len(texts), math.nan)
    known = np.array([not is_gap(text) for text in texts], bool)
    for candidate in (date_format, *(TIME_FORMATS if is_time else _CERTAIN_FORMATS)):
        left = np.flatnonzero(known & np.isnan(seconds)).tolist()
        if candidate is not None and left:
            seconds[left] = read_dates([texts[place] for place in left], candidate)[0]
    return seconds


def _microseconds(column: Any, date_format: str) -> Any:
    """Return microseconds since 1970 or midnight, null for what does not fit."""
    import polars

    if date_format in TIME_FORMATS:
        return column.str.to_time(date_format, strict=False).cast(polars.Int64) // 1000
    if "%H" not in date_format and "%I" not in date_format:
        if "%d" not in date_format:
            column, date_format = "01 " + column, f"%d {date_format}"
        moments = column.str.to_date(date_format, strict=False).cast(polars.Datetime("us"))
    else:
        moments = column.str.to_datetime(date_format, strict=False, time_unit="us")
    found = moments.dt.epoch("us")
    return found.set(found < _YEAR_1000, None)  # two digits that were taken for a year
