"""Text with separators -> its rows, a few megabytes at a time.

Two readers take turns. Where a piece of a large file is written plainly (every line has as many separators, quotes
stand around whole fields), polars splits it. Python's csv module splits everything else; it says what is wrong, and
where. Both give the same rows.
"""

import codecs
import csv
import io
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.checks import Progress
from bayesfloor.runtime.limits import in_gib
from bayesfloor.runtime.text import counted
from bayesfloor.tables.sniffing import SEPARATORS, Dialect
from bayesfloor.tables.unpacking import Contents

#: Characters of the longest field. The csv module has a limit too, but other code may change it.
LONGEST_FIELD = 131_072

#: Characters of the longest line: as many columns as a table may have, with some hundred characters each.
LONGEST_LINE = 2**25

#: Files larger than this, in bytes, are split by polars where they are written plainly. For smaller ones its import
#: takes longer than the reading.
FAST_BYTES = 4 * 2**20

#: Bytes to split at a time; limits the memory for strings.
_PIECE_BYTES = 2**20

_SPACE, _QUOTE, _LINE_END = b' "\n'


@dataclass
class Rows:
    """Rows of a text table, all of one length.

    Attributes
    ----------
    fields : list of lists of str, or polars DataFrame
        Their fields; in a frame, one column of strings for each.
    lines : ndarray
        The line on which each begins.
    """

    fields: Any
    lines: Ints

    def columns(self) -> list[Any]:
        """Return the texts of each column: a tuple, or a polars Series."""
        if isinstance(self.fields, list):
            return list(zip(*self.fields, strict=True))
        return list(self.fields.get_columns())

    def cut(self, n_rows: int) -> tuple["Rows", "Rows"]:
        """Return the first rows, and all others."""
        return (
            Rows(self.fields[:n_rows], self.lines[:n_rows]),
            Rows(self.fields[n_rows:], self.lines[n_rows:]),
        )


@dataclass
class HeldRows:
    """Rows of a text table that were read before, to be read as columns like those of a `RowReader`."""

    name: str
    dialect: Dialect
    held: list[Rows]
    n_blank: int = 0

    def parts(self, n_columns: int, first_line: int) -> Iterator[Rows]:
        """Yield the rows."""
        return iter(self.held)

    def first_rows(self, n_rows: int, n_columns: int) -> Rows:
        """Return some of the first rows."""
        return self.held[0].cut(n_rows)[0]

    def n_expected(self, n_columns: int) -> int:
        """Return how many rows there are."""
        return sum(len(rows.lines) for rows in self.held)


class RowReader:
    """Rows of a text table, checked for their length, with the lines on which they begin.

    Parameters
    ----------
    contents : Contents
        The file.
    encoding : str
        Its encoding.
    dialect : Dialect
        How it is written.
    progress : callable or None
        Called as ``progress(done, total)`` with numbers of bytes.
    """

    def __init__(self, contents: Contents, encoding: str, dialect: Dialect, progress: Progress | None = None):
        self.name = contents.name
        self.contents = contents
        self.encoding = encoding
        self.dialect = dialect
        self.progress = progress
        self.n_blank = 0
        self._n_blank_at_end = 0
        self._n_lines = 0  # that are split into rows
        self._unsplit = ""  # the beginning of a row that ends in the next piece
        self._header_ends = (dialect.n_skipped, 0)  # lines up to there, and how many of them are blank
        self._n_bytes_told = 0

    def rows(self) -> Generator[tuple[int, list[str]], None, None]:
        """Yield each row that is not blank, after the line on which it begins."""
        for text, is_last in self._pieces(self.dialect.n_skipped):
            yield from self._split(text, is_last)

    def header(self) -> tuple[list[str], int]:
        """Return the names of the columns, and the line that sets how many there are."""
        with closing(self.rows()) as rows:
            line, first = next(rows, (0, []))
        if not first:
            raise ValueError(f"{self.name} holds no rows")
        if not self.dialect.has_header:
            return [f"x{column + 1}" for column in range(len(first))], line
        self._header_ends = self._n_lines, self.n_blank
        return [name.strip() for name in first], line

    def first_rows(self, n_rows: int, n_columns: int) -> Rows:
        """Return some of the first rows below the header, without those of another length."""
        with closing(self.rows()) as rows:
            found = list(islice(rows, int(self.dialect.has_header), n_rows))
        fitting = [(line, row) for line, row in found if len(row) == n_columns]
        return Rows([row for _, row in fitting], np.array([line for line, _ in fitting], dtype=np.int64))

    def parts(self, n_columns: int, first_line: int) -> Iterator[Rows]:
        """Yield the rows below the header, some thousands at a time."""
        is_large = self.contents.expected_size > FAST_BYTES and self.dialect.separator in SEPARATORS
        for text, is_last in self._pieces(*self._header_ends):
            frame = split_plain_text(text, self.dialect.separator, n_columns) if is_large else None
            if frame is not None:
                self.n_blank, self._n_blank_at_end = self.n_blank + self._n_blank_at_end, 0
                yield Rows(frame, np.arange(self._n_lines + 1, self._n_lines + len(frame) + 1))
                self._n_lines += len(frame)
                continue
            rows: list[list[str]] = []
            lines: list[int] = []
            for line, row in self._split(text, is_last):
                if len(row) != n_columns:
                    raise ValueError(
                        f"{self.name}, line {line}: {len(row)} field{'s' if len(row) != 1 else ''}, but line "
                        f"{first_line} has {n_columns}"
                    )
                rows.append(row)
                lines.append(line)
            if rows:
                yield Rows(rows, np.array(lines, dtype=np.int64))

    def n_expected(self, n_columns: int) -> int:
        """Guess how many rows there are from the first lines; a few too many, but no more than the bytes allow."""
        head = self.contents.head
        lines_per_byte = (head.count(b"\n") + 1) / max(len(head), 1)
        return int(self.contents.expected_size * min(1.05 * lines_per_byte, 0.5 / n_columns))

    def _pieces(self, n_skipped: int, n_blank: int = 0) -> Iterator[tuple[str, bool]]:
        """Yield the text piece by piece, each up to the end of a line, and whether it is the last."""
        self._n_lines, self.n_blank, self._n_blank_at_end = 0, n_blank, 0
        text = ""
        decoder = codecs.getincrementaldecoder(self.encoding)()
        with self.contents.open() as stream:
            is_last = False
            while not is_last:
                # a line that is longer than a piece must not be copied again and again
                piece = stream.read(max(_PIECE_BYTES, len(text)))
                is_last = not piece
                try:
                    text += decoder.decode(piece, is_last)
                except UnicodeDecodeError as error:
                    line = self._n_lines + text.count("\n") + error.object.count(b"\n", 0, error.start)
                    raise ValueError(f"{self.name}, after line {line}: not {self.encoding} ({error.reason})") from error
                end = len(text) if is_last else _end_of_lines(text)
                if end == 0 and len(text) > LONGEST_LINE:
                    where = f"{self.name}, line {self._n_lines + 1}"
                    raise ValueError(f"{where}: more than {in_gib(LONGEST_LINE)} without an end; this is no table")
                start = 0
                if self._n_lines < n_skipped:
                    skipped = list(islice(_lines_of(text[:end]), n_skipped - self._n_lines))
                    start = sum(map(len, skipped))
                    self._n_lines += len(skipped)
                self._unsplit = ""
                if start < end:
                    yield text[start:end], is_last
                text = self._unsplit + text[end:]
                self._tell(stream.tell())

    def _split(self, text: str, is_last: bool) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows of a piece, by Python's csv module; keep a row whose quotes are still open for the next."""
        reader = csv.reader(_lines_of(text), delimiter=self.dialect.separator, skipinitialspace=True, strict=True)
        before = self._n_lines
        try:
            for row in reader:
                start, self._n_lines = self._n_lines + 1, before + reader.line_num
                if not row or (len(row) == 1 and not row[0].strip()):
                    self._n_blank_at_end += 1
                    continue
                if sum(map(len, row)) > LONGEST_FIELD and max(map(len, row)) > LONGEST_FIELD:
                    raise ValueError(f"{self.name}, line {start}: {_too_long()}")
                self.n_blank, self._n_blank_at_end = self.n_blank + self._n_blank_at_end, 0
                yield start, row
        except csv.Error as error:
            if is_last or not _is_open_quote(error):
                raise ValueError(f"{self.name}, line {self._n_lines + 1}: {_in_plain_words(error)}") from error
            n_split = self._n_lines - before
            self._unsplit = "".join(line for number, line in enumerate(_lines_of(text)) if number >= n_split)

    def _tell(self, n_bytes: int) -> None:
        # a column that turns out to be text is read from the beginning again
        self._n_bytes_told = max(n_bytes, self._n_bytes_told)
        if self.progress is not None:
            self.progress(self._n_bytes_told, max(self.contents.size, self._n_bytes_told))


def _lines_of(text: str) -> io.StringIO:
    return io.StringIO(text, newline="")


def _end_of_lines(text: str) -> int:
    """Return where the last whole line of a text ends; a carriage return at its end may belong to a line feed."""
    return (text.rfind("\n") if "\n" in text else text.rfind("\r", 0, len(text) - 1)) + 1


def split_plain_text(text: str, separator: str, n_columns: int) -> Any:
    """Split text by polars, where that gives the rows that the csv module gives.

    Parameters
    ----------
    text : str
        Whole lines.
    separator : str
        Between fields.
    n_columns : int
        How many fields each line must have, at least 2.

    Returns
    -------
    polars.DataFrame or None
        A column of strings for each field, one row for each line. None where a line is blank, has another number of
        fields, a field with a line end, a doubled quote or a quote within it, or is too long.
    """
    import polars

    data = text.encode()
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    if b"\r" in data or b"\0" in data or data.startswith(codecs.BOM_UTF8):
        return None
    if not data.endswith(b"\n"):
        data += b"\n"
    letters = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(letters == _LINE_END)
    between = np.flatnonzero(letters == ord(separator))
    has_quotes = b'"' in data
    if has_quotes:
        quotes = np.flatnonzero(letters == _QUOTE)
        if not _stand_around_fields(quotes, letters, ends, ord(separator)):
            return None
        between = between[np.searchsorted(quotes, between) % 2 == 0]
    if len(between) != len(ends) * (n_columns - 1):
        return None
    by_line = between.reshape(len(ends), n_columns - 1)
    if (by_line[:, -1] > ends).any() or (by_line[1:, 0] < ends[:-1]).any():
        return None
    if np.diff(ends, prepend=-1).max() > min(LONGEST_FIELD, csv.field_size_limit()):
        return None
    first_letters = (np.append(ends, between) + 1) % len(letters)  # behind the last line end comes the very first
    has_spaces = bool((letters[first_letters] == _SPACE).any())
    if has_spaces and has_quotes:
        return None
    frame = polars.read_csv(
        io.BytesIO(data),
        has_header=False,
        separator=separator,
        quote_char='"' if has_quotes else None,
        schema={f"{column}": polars.String for column in range(n_columns)},
    ).fill_null("")
    if frame.shape != (len(ends), n_columns):
        return None
    return frame.select(polars.all().str.strip_chars_start(" ")) if has_spaces else frame


def _stand_around_fields(quotes: Ints, letters: NDArray[np.uint8], ends: Ints, separator: int) -> bool:
    """Tell whether every quote begins or ends a whole field, and no line ends between two."""
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    # the letter before the first is the last, a line end
    outside = np.append(letters[opening - 1], letters[closing + 1])
    on_one_line = np.searchsorted(ends, opening) == np.searchsorted(ends, closing)
    return bool(((outside == separator) | (outside == _LINE_END)).all() and on_one_line.all())


def _too_long() -> str:
    limit = min(LONGEST_FIELD, csv.field_size_limit())
    return f"a field of more than {counted(limit)} characters; is a quote left open?"


def _is_open_quote(error: csv.Error) -> bool:
    return "unexpected end" in str(error)


def _in_plain_words(error: csv.Error) -> str:
    text = str(error)
    if "field larger" in text:
        return _too_long()
    if _is_open_quote(error):
        return "a quote is opened here and never closed"
    if "expected after" in text:
        return "text follows a closing quote; a quote within quotes must be doubled"
    return text
