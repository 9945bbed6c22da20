"""The summary as text for a terminal."""

from io import StringIO
from typing import Any

from bayesfloor.report import tables
from bayesfloor.report.tables import TextTable
from bayesfloor.runtime.text import exact_percent, shortened, visible

#: Rows of each table; the other forms of the report have more.
_MOST_ROWS = 8
#: Letters of a name, at the most, and lines of the class tree.
_NAME = 28
_TREE_LINES = 40


def render_text(summary: dict[str, Any], width: int = 100, colour: bool = False) -> str:
    """Return the report as text.

    Parameters
    ----------
    summary : dict
        As from `summarise`.
    width : int, default=100
        Letters in a line.
    colour : bool, default=False
        Whether to use bold and colours, for a terminal that has them.

    Returns
    -------
    str
    """
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    buffer = StringIO()
    # letters, not what a terminal might make of them: no markup, no highlighting, no emoji
    console = Console(
        file=buffer, width=width, force_terminal=colour, no_color=not colour, markup=False, highlight=False, emoji=False
    )

    def heading(text: str) -> None:
        console.print()
        console.print(Text(text, style="bold"))

    def paragraph(text: str, style: str = "", indent: int = 0) -> None:
        console.print(Padding(Text(visible(text), style=style), (0, 0, 0, indent)))

    paragraph(summary["title"], "dim")
    paragraph(" ".join(summary["answer"]), "bold")
    paragraph(summary["worth"])
    if summary["verdict"] is not None:
        verdict = summary["verdict"]
        paragraph(f"Target {exact_percent(verdict['target'])}: {verdict['verdict']}. {verdict['sentence']}", "bold")

    def table(rows: TextTable) -> None:
        console.print(_grid(rows._replace(rows=rows.rows[:_MOST_ROWS])))

    heading("The floor")
    table(tables.floor_table(summary))
    if summary["curve"] is not None:
        paragraph(summary["curve"]["note"])
    if summary["findings"]:
        heading("Findings")
        for finding in summary["findings"]:
            paragraph(f"{finding['code']}  {finding['sentence']} {finding['hint']}")

    classes, pairs, suspects = tables.class_table(summary), tables.pair_table(summary), tables.suspect_table(summary)
    heading(f"Hardest classes{_of(classes)}")
    table(classes.without("rows"))
    if len(classes.rows) > 2:
        heading(f"Hardest pairs{_of(pairs)}")
        table(pairs.without("rows"))
    paragraph(summary["floor"]["trees"]["note"])

    heading(f"Rows to look at{_of(suspects)}")
    if suspects.rows:
        table(suspects)
    paragraph(summary["suspects"]["note"])

    lines = summary["tree"]["text"].splitlines()
    heading("Class tree")
    for line in lines[:_TREE_LINES]:
        paragraph(shortened(line, width))
    if len(lines) > _TREE_LINES:
        paragraph(f"... and {len(lines) - _TREE_LINES} more lines")
    if summary["features"] is not None:
        heading("Features")
        console.print(_grid(tables.feature_table(summary)))
        paragraph(summary["features"]["note"])
    console.print()
    data = summary["data"]
    paragraph(
        f"{data['n_rows']} rows, {data['n_features']} features, {data['n_classes']} classes of {data['target']!r}; "
        f"{summary['seconds']:.1f} s",
        "dim",
    )
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def _grid(table: TextTable) -> Any:
    """Lay out columns: names to the left, figures to the right."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, heading in enumerate(table.headings):
        grid.add_column(Text(heading, style="dim"), justify="left" if number in table.names else "right", no_wrap=True)
    for row in table.rows:
        grid.add_row(*(Text(shortened(cell, _NAME)) for cell in row))
    return grid


def _of(table: TextTable) -> str:
    shown = min(len(table.rows), _MOST_ROWS)
    return f" ({shown} of {table.n_rows})" if shown < table.n_rows else ""
