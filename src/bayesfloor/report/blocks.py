"""What the text of a section is made of: paragraphs, lists, tables. A terminal and Markdown show the same blocks."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from bayesfloor.runtime.text import percent_range

#: Letters of a name on a terminal, so that a table fits.
_NAME = 28
#: Letters of what was done with a column, or of the name of a metric.
LONG_NAME = 40
#: Where a block is shown.
TERMINAL, MARKDOWN = "terminal", "markdown"

#: What a report shows, as plain values; or a part of it.
Summary = dict[str, Any]


@dataclass(frozen=True)
class Block:
    """A piece of text; with `only`, on a terminal or in Markdown alone."""

    _: KW_ONLY
    only: str | None = None


@dataclass(frozen=True)
class Paragraph(Block):
    """Some sentences; in bold, or dim on a terminal, by their style."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Bullets(Block):
    """A list; each item begins with a few words that stand out, or with none."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Subheading(Block):
    """A heading inside a section."""

    text: str


@dataclass(frozen=True)
class Lines(Block):
    """Lines that are shown as they are."""

    lines: Sequence[str]


@dataclass(frozen=True)
class TextTable(Block):
    """Headings, and rows of as many cells.

    Attributes
    ----------
    headings, rows : sequence
        Texts.
    names : tuple of int
        Columns that hold names, which begin at the left.
    n_rows : int
        Rows that there are in all, of which `rows` may be the first; 0 for as many as there are.
    longest : int
        Letters of a cell on a terminal.
    wide_only : str or None
        Heading of a column that a terminal has no room for.
    is_whole : bool
        Whether all rows are shown, however many.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: tuple[int, ...] = (0,)
    n_rows: int = 0
    longest: int = _NAME
    wide_only: str | None = None
    is_whole: bool = False

    def narrow(self) -> "TextTable":
        """Leave out the column that a terminal has no room for; it comes after the names."""
        if self.wide_only is None:
            return self
        place = list(self.headings).index(self.wide_only)
        headings, *rows = [[*row[:place], *row[place + 1 :]] for row in (self.headings, *self.rows)]
        return TextTable(headings, rows, self.names, self.n_rows, self.longest, is_whole=self.is_whole)


def range_of(each: Summary) -> str:
    """Write the interval of a rate."""
    return percent_range(each["low"], each["high"])
