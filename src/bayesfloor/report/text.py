"""The sections of a report as text: for a terminal, and as Markdown for a wiki or a pull request."""

from io import StringIO
from typing import Any

from bayesfloor.report.blocks import (
    MARKDOWN,
    TERMINAL,
    Block,
    Bullets,
    Lines,
    Paragraph,
    Subheading,
    Summary,
    TextTable,
)
from bayesfloor.report.sections import sections_shown
from bayesfloor.runtime.text import counted, in_markdown, shortened, visible

#: Rows of a table on a terminal and in Markdown; JSON and HTML have more.
_TERMINAL_ROWS, _MARKDOWN_ROWS = 8, 20
#: Lines of the class tree on a terminal, about a screen.
_TERMINAL_LINES = 40
#: What the sections come under in Markdown that the page folds.
_DETAILS = "## Details"


def render_text(summary: Summary, width: int = 100, colour: bool = False) -> str:
    """Return the report as text.

    Parameters
    ----------
    summary : dict
        What the report shows.
    width : int, default=100
        Letters in a line.
    colour : bool, default=False
        Whether to use bold and colours, for a terminal that has them.

    Returns
    -------
    str
    """
    page = _Terminal(width, colour)
    page.write(Paragraph(summary["title"], "dim"))
    for section in sections_shown(summary):
        if section.is_folded(summary):
            continue
        blocks = [block for block in section.text(summary) if block.only != MARKDOWN]
        if blocks and section.title:
            page.write(Subheading(section.heading(summary)))
        for block in blocks:
            page.write(block)
    return page.text()


class _Terminal:
    """Lines of text for a terminal, as wide as it is; with bold and colours where it has them."""

    def __init__(self, width: int, colour: bool) -> None:
        from rich.console import Console

        self._width, self._buffer = width, StringIO()
        # letters, not what a terminal might make of them: no markup, no highlighting, no emoji
        self._console = Console(
            file=self._buffer,
            width=width,
            force_terminal=colour,
            no_color=not colour,
            markup=False,
            highlight=False,
            emoji=False,
        )

    def write(self, block: Block) -> None:
        """Write a block."""
        match block:
            case Paragraph(text, style):
                self._print(text, style)
            case Subheading(text):
                self._console.print()
                self._print(text, "bold")
            case Bullets(items):
                for lead, text in items:
                    self._print(f"{lead}  {text}" if lead else text)
            case Lines(lines):
                for line in lines[:_TERMINAL_LINES]:
                    self._print(shortened(line, self._width))
                if len(lines) > _TERMINAL_LINES:
                    self._print(f"... and {len(lines) - _TERMINAL_LINES} more lines")
            case TextTable():
                self._table(block.narrow())

    def text(self) -> str:
        """Return all lines."""
        return "\n".join(line.rstrip() for line in self._buffer.getvalue().splitlines())

    def _print(self, text: str, style: str = "") -> None:
        from rich.text import Text

        self._console.print(Text(visible(text), style=style))

    def _table(self, table: TextTable) -> None:
        from rich.table import Table
        from rich.text import Text

        grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for number, name in enumerate(table.headings):
            side: Any = "left" if number in table.names else "right"
            grid.add_column(Text(visible(name), style="dim"), justify=side, no_wrap=True)
        for row in table.rows[: None if table.is_whole else _TERMINAL_ROWS]:
            grid.add_row(*(Text(shortened(cell, table.longest)) for cell in row))
        self._console.print(grid)
        if more := _more_rows(table, _TERMINAL_ROWS):
            self._print(more, "dim")


def render_markdown(summary: Summary) -> str:
    """Return the report as Markdown.

    Parameters
    ----------
    summary : dict
        What the report shows.

    Returns
    -------
    str
    """
    parts = [f"# {in_markdown(summary['title'])}"]
    for section in sections_shown(summary):
        blocks = [block for block in section.text(summary) if block.only != TERMINAL]
        is_folded = section.is_folded(summary)
        if is_folded and _DETAILS not in parts:
            parts.append(_DETAILS)
        if blocks and section.title:
            parts.append(f"{'###' if is_folded else '##'} {in_markdown(section.heading(summary))}")
        parts += map(_in_markdown, blocks)
    return "\n\n".join(parts) + "\n"


def _in_markdown(block: Block) -> str:
    match block:
        case Paragraph(text, style):
            return f"**{in_markdown(text)}**" if style == "bold" else in_markdown(text)
        case Subheading(text):
            return f"### {in_markdown(text)}"
        case Bullets(items):
            leads = [f"**{in_markdown(lead)}** " if lead else "" for lead, _ in items]
            return "\n".join(f"- {lead}{in_markdown(text)}" for lead, (_, text) in zip(leads, items, strict=True))
        case Lines(lines):
            return "\n".join("    " + visible(line) for line in lines)
        case TextTable():
            return _markdown_table(block)
    raise TypeError(f"Markdown has no {type(block).__name__}.")


def _markdown_table(table: TextTable) -> str:
    sides = ["---" if column in table.names else "---:" for column in range(len(table.headings))]
    shown = table.rows[: None if table.is_whole else _MARKDOWN_ROWS]
    cells = [[in_markdown(cell) for cell in row] for row in (table.headings, *shown)]
    written = "\n".join("| " + " | ".join(line) + " |" for line in (cells[0], sides, *cells[1:]))
    more = _more_rows(table, _MARKDOWN_ROWS)
    return f"{written}\n\n{more}" if more else written


def _more_rows(table: TextTable, most: int) -> str:
    """Say how many rows of a table are elsewhere, where it does not show all."""
    more = max(table.n_rows, len(table.rows)) - most
    return (
        ""
        if table.is_whole or more <= 0
        else f"{counted(more)} more {'is' if more == 1 else 'are'} in the HTML page and the JSON."
    )
