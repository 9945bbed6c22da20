"""How a text table is written: its encoding, its separator, its decimal sign, and whether it names its columns.

Each is detected from the file and can be given instead. Detection never changes a value: a guess that does not fit the
whole file ends in an error that names the line.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from bayesfloor.tables.spellings import MISSING_TEXTS, to_number

SEPARATORS = ",;\t|"
SEPARATOR_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}

#: Lines from which the separator, the decimal sign and the header are detected.
SAMPLE_ROWS = 2000
#: Bytes to inspect at a time.
_PIECE_BYTES = 2**22

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNDEFINED_IN_CP1252 = frozenset(b"\x81\x8d\x8f\x90\x9d")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d*|[1-9]\d{0,2}(\.\d{3})+),\d+([eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?(\d*|[1-9]\d{0,2}(,\d{3})+)\.\d+([eE][+-]?\d+)?")
#: Ambiguous numbers: 1.234 is one with thousands separators, or one with a fraction.
_MAYBE_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Attributes
    ----------
    separator, decimal : str
        Between fields, and within numbers.
    has_header : bool
        Whether the first row holds the names of the columns.
    n_skipped : int
        Lines before the table: 1 where the first line is Excel's ``sep=;``.
    """

    separator: str
    decimal: str
    has_header: bool
    n_skipped: int = 0


def detect_encoding(data: bytes | IO[bytes], name: str) -> tuple[str, str]:
    """Return the encoding of a text and how it was told.

    Parameters
    ----------
    data : bytes or binary file
        The text; a file is read to its end, piece by piece.
    name : str
        Its name, for messages.

    Returns
    -------
    encoding : str
        "utf-8", "utf-8-sig", "utf-16" (or its two byte orders), "cp1252" or "latin-1".
    reason : str
        A few words; empty for plain UTF-8.

    Raises
    ------
    ValueError
        For a NUL byte in what is no UTF-16.
    """
    stream = io.BytesIO(data) if isinstance(data, bytes) else data
    head = stream.read(4096)
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding, "told by its byte order mark"
    even, odd = head[::2].count(0), head[1::2].count(0)
    is_utf16 = min(even, odd) == 0 and max(even, odd) > len(head) / 5
    decoder = codecs.getincrementaldecoder("utf-8")()
    place, bad = 0, -1
    piece, is_last = head, False
    while not is_last:
        following = stream.read(_PIECE_BYTES)
        is_last = not following
        nul = piece.find(b"\0")
        if nul >= 0:
            if is_utf16:
                return ("utf-16-be" if even else "utf-16-le"), "told by the zero in every other byte"
            where = _line_at(stream, place + nul)
            raise ValueError(f"{name}, line {where}: a NUL byte; this is no text table, or it is damaged")
        if bad < 0:
            n_held = len(decoder.getstate()[0])
            try:
                decoder.decode(piece, is_last)
            except UnicodeDecodeError as error:
                bad = place - n_held + error.start
        place += len(piece)
        piece = following
    if bad < 0:
        return "utf-8", ""
    reason = f"not UTF-8 from line {_line_at(stream, bad)} on"
    controls = set[int]()
    stream.seek(0)
    while piece := stream.read(_PIECE_BYTES):
        controls |= {byte for byte in range(0x80, 0xA0) if byte not in controls and bytes([byte]) in piece}
    return ("cp1252" if controls and not controls & _UNDEFINED_IN_CP1252 else "latin-1"), reason


def _line_at(stream: IO[bytes], position: int) -> int:
    line = 1
    stream.seek(0)
    while position and (piece := stream.read(min(_PIECE_BYTES, position))):
        line += piece.count(b"\n")
        position -= len(piece)
    return line


def open_text(data: bytes, encoding: str) -> io.TextIOWrapper:
    """Open bytes as lines of text; line ends are not translated."""
    return io.TextIOWrapper(io.BytesIO(data), encoding=encoding, newline="")


def sample_rows(head: bytes, encoding: str, *, is_cut: bool) -> list[str]:
    """Return the first lines of a text, at most `SAMPLE_ROWS`; the last is left out where it may be cut off."""
    text = open_text(head, encoding)
    text.reconfigure(errors="replace")
    lines = [line for _, line in zip(range(SAMPLE_ROWS + 2), text, strict=False)]
    if is_cut and len(lines) > 1 and len(lines) < SAMPLE_ROWS + 2:
        lines.pop()  # cut off by the sample's end
    return lines


def detect_dialect(
    lines: Sequence[str], *, separator: str | None = None, decimal: str | None = None, header: bool | None = None
) -> Dialect:
    """Tell how a table is written from its first lines; what the caller gives is not questioned.

    Parameters
    ----------
    lines : sequence of str
        The first lines.
    separator, decimal, header
        What the caller knows; None asks for detection.

    Returns
    -------
    Dialect
    """
    n_skipped = 0
    if lines and re.fullmatch(r"sep=[,;\t|]\s*", lines[0]):  # Excel's own hint
        separator = separator or lines[0][4]
        lines, n_skipped = lines[1:], 1
    if separator is None:
        separator = max(SEPARATORS, key=lambda candidate: _fit(lines, candidate))
    rows = _parse(lines, separator)
    if decimal is None:
        decimal = _detect_decimal(rows, separator)
    if header is None:
        header = has_header(rows, decimal)
    return Dialect(separator, decimal, header, n_skipped)


def _parse(lines: Sequence[str], separator: str) -> list[list[str]]:
    """Split lines into rows as far as they can be read; the real reader reports what cannot."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        for row in csv.reader(lines, delimiter=separator, skipinitialspace=True):
            if row:
                rows.append(row)
    return rows


def _fit(lines: Sequence[str], separator: str) -> tuple[float, bool, float, float, int]:
    """Score a separator.

    Rows of equal length count first, then a first row of that length. In ``0,126;cat`` both signs split every row into
    two: the one that leaves no other separator in a cell that is no number, then the one that leaves more numbers.
    """
    rows = _parse(lines[:100], separator)
    width, n_equal = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
    if width <= 1:
        return (0.0, False, 0.0, 0.0, width)
    cells = [cell.strip() for row in rows for cell in row]
    decimal = _detect_decimal(rows, separator)
    as_number = _DECIMAL_COMMA if decimal == "," else _DECIMAL_POINT  # thousands apart too, which to_number refuses
    texts = [cell for cell in cells if to_number(cell, decimal) is None and not as_number.fullmatch(cell)]
    n_unsplit = sum(any(sign in text for sign in SEPARATORS if sign != separator) for text in texts)
    n_numbers = len(cells) - len(texts)
    equal = round(n_equal / len(rows), 1)
    return (equal, len(rows[0]) == width, -n_unsplit / len(cells), n_numbers / len(cells), width)


def _detect_decimal(rows: Sequence[Sequence[str]], separator: str) -> str:
    """Tell a decimal comma: numbers have commas, and none has a point but between thousands."""
    if separator == ",":
        return "."
    cells = [cell.strip() for row in rows for cell in row]
    points = [cell for cell in cells if _DECIMAL_POINT.fullmatch(cell)]
    commas = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)]
    if points and all(map(_MAYBE_GROUPS.fullmatch, commas)):
        return "."
    return "," if commas and all(map(_MAYBE_GROUPS.fullmatch, points)) else "."


def has_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Tell whether the first row names the columns.

    It does not when all of it is numbers, or when most of its texts occur again below in the same columns: then they
    are values.
    """
    if not rows:
        return True
    first = [cell.strip() for cell in rows[0]]
    is_value = [cell in MISSING_TEXTS or to_number(cell, decimal) is not None for cell in first]
    if all(is_value):
        return not any(cell not in MISSING_TEXTS for cell in first)
    others = [row for row in rows[1:] if row != rows[0]]
    texts = [column for column, known in enumerate(is_value) if not known]
    again = 0
    for column in texts:
        again += first[column] in map(str.strip, [row[column] for row in others if len(row) > column])
    return again < (len(texts) + 1) // 2
