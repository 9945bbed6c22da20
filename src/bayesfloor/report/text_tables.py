"""Pieces of a report as text, that reports on classes and on numbers share: tables, the terminal and Markdown."""

from collections.abc import Sequence
from io import StringIO
from typing import Any, NamedTuple

from bayesfloor.runtime.text import (
    chosen,
    counted,
    exact_percent,
    in_markdown,
    percent,
    percent_range,
    shortened,
    visible,
    written,
    written_range,
)

#: Rows of each table on a terminal and in Markdown; JSON and HTML have more.
TERMINAL_ROWS, MARKDOWN_ROWS = 8, 20
#: Letters of a name on a terminal, so that a table fits.
_NAME = 28
#: Letters of what was done with a column, or of the name of a metric.
_LONG_NAME = 40

Summary = dict[str, Any]


class TextTable(NamedTuple):
    """Headings, rows of as many cells, the columns that hold names, how many rows there are in all, and how long."""

    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: tuple[int, ...] = (0,)
    n_rows: int = 0
    longest: int = _NAME

    def without(self, heading: str) -> "TextTable":
        """Leave out a column that comes after the names."""
        place = self.headings.index(heading)
        rows = [row[:place] + row[place + 1 :] for row in self.rows]
        return self._replace(headings=self.headings[:place] + self.headings[place + 1 :], rows=rows)


def floor_table(summary: Summary) -> TextTable:
    """List the floor, what was reached, and what it compares with."""
    floor = summary["floor"]
    is_rate, is_error = floor["is_rate"], floor["metric"] == "error"

    def row(name: str, value: float, ends: Summary) -> tuple[str, str, str]:
        return name, written(value, is_rate), written_range(ends["low"], ends["high"], is_rate)

    rows = [row(f"the {limit_word(floor)}", floor["estimate"], floor)]
    if floor["reached"] is not None:
        rows.append(row("reached by the best model", floor["reached"]["value"], floor["reached"]))
    if floor["reached"] is not None and is_error:
        rows.append(row("spanning trees' estimate", floor["trees"]["estimate"], floor["trees"]))
    baseline = "naming the largest class" if is_error else "without features"
    rows.append((baseline, written(floor["baseline"], is_rate), ""))
    return TextTable(("", floor["title"], f"{exact_percent(floor['confidence'])} range"), rows)


def metric_table(summary: Summary) -> TextTable:
    """List all metrics that were asked for, and the error."""
    rows = [
        (
            each["title"],
            written(each["estimate"], each["is_rate"]),
            written_range(each["low"], each["high"], each["is_rate"]),
            written(each["reached"]["value"], each["is_rate"]),
            written_range(each["reached"]["low"], each["reached"]["high"], each["is_rate"]),
            written(each["baseline"], each["is_rate"]),
        )
        for each in summary["metrics"]
    ]
    headings = ("metric", "best value", "range", "reached", "range", "without features")
    return TextTable(headings, rows, longest=_LONG_NAME)


def column_table(summary: Summary) -> TextTable:
    """List the columns with what was done and what each tells by itself; what is not known of any is left out."""
    columns = summary["data"]["columns"]
    rows = [
        (
            each["name"],
            each["kind"] or "",
            each["treatment"] or "",
            counted(each["n_missing"]),
            counted(each["n_values"]),
            percent(each["removed"]),
            range_of(each),
        )
        for each in columns
    ]
    headings = ("column", "kind", "what was done", "missing", "values", "tells alone", "range")
    table = TextTable(headings, rows, (0, 1, 2), max(summary["data"]["n_columns"], len(rows)), _LONG_NAME)
    if all(each["kind"] is None for each in columns):
        for heading in ("kind", "what was done", "missing", "values"):
            table = table.without(heading)
        table = table._replace(names=(0,))
    return table


def feature_table(summary: Summary) -> TextTable:
    """List features in the order in which a search added them."""
    rows = [(each["name"], percent(each["floor"]), range_of(each)) for each in summary["features"]["rows"]]
    return TextTable(("added", "R²" if summary["task"] == "regression" else "floor", "range"), rows)


def limit_word(floor: Summary) -> str:
    """Name the best value that any model can attain."""
    return "ceiling" if floor["larger_is_better"] else "floor"


def range_of(each: Summary) -> str:
    """Write the interval of a rate."""
    return percent_range(each["low"], each["high"])


def shown_of(table: TextTable) -> str:
    """Say how many rows a terminal shows of a table, where it does not show all."""
    shown = min(len(table.rows), TERMINAL_ROWS)
    return f" ({shown} of {counted(table.n_rows)})" if shown < table.n_rows else ""


class Terminal:
    """Lines of text for a terminal, as wide as it is; with bold and colours where it has them."""

    def __init__(self, width: int, colour: bool) -> None:
        from rich.console import Console

        self.width = width
        self._buffer = StringIO()
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

    def heading(self, text: str) -> None:
        """Begin a part."""
        self._console.print()
        self.paragraph(text, "bold")

    def paragraph(self, text: str, style: str = "") -> None:
        """Write some sentences."""
        from rich.text import Text

        self._console.print(Text(visible(text), style=style))

    def table(self, rows: TextTable, most: int | None = TERMINAL_ROWS) -> None:
        """Write a table, its first rows only."""
        from rich.table import Table
        from rich.text import Text

        grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for number, name in enumerate(rows.headings):
            side: Any = "left" if number in rows.names else "right"
            grid.add_column(Text(visible(name), style="dim"), justify=side, no_wrap=True)
        for row in rows.rows[:most]:
            grid.add_row(*(Text(shortened(cell, rows.longest)) for cell in row))
        self._console.print(grid)

    def head(self, summary: Summary) -> None:
        """Write what a report begins with: the answer, what it rests on, and the verdict."""
        self.paragraph(summary["title"], "dim")
        self.paragraph(" ".join(summary["answer"]), "bold")
        self.paragraph(summary["worth"])
        if summary["fast_model"] is not None:
            self.paragraph(summary["fast_model"]["sentence"])
        if (verdict := summary["verdict"]) is not None:
            goal = chosen(verdict["target"], summary["floor"]["is_rate"])
            self.paragraph(f"Target {goal}: {verdict['verdict']}. {verdict['sentence']}", "bold")

    def limit(self, summary: Summary) -> None:
        """Write the floor or the ceiling of the headline metric, and where the learning curve leads."""
        self.heading(f"The {limit_word(summary['floor'])}")
        self.table(floor_table(summary))
        if summary["curve"] is not None:
            self.paragraph(summary["curve"]["note"])
        if len(summary["metrics"]) > 1:
            self.heading("All metrics")
            self.table(metric_table(summary), None)

    def findings(self, summary: Summary) -> None:
        """Write what was noticed, if anything was."""
        if summary["findings"]:
            self.heading("Findings")
            for finding in summary["findings"]:
                self.paragraph(f"{finding['code']}  {finding['sentence']} {finding['hint']}")
            self.paragraph(more_on_findings(summary), "dim")

    def foot(self, summary: Summary) -> None:
        """Write what a report ends with: features, columns and the size of the data."""
        if summary["features"] is not None:
            self.heading("Features")
            self.table(feature_table(summary), None)
            self.paragraph(summary["features"]["note"])
        columns = column_table(summary)
        self.heading(f"Columns{shown_of(columns)}")
        self.table(columns.without("range"))
        self._console.print()
        data = summary["data"]
        self.paragraph(f"{size_of(data)} of {data['target']!r}; {summary['seconds']:.1f} s", "dim")

    def text(self) -> str:
        """Return all lines."""
        return "\n".join(line.rstrip() for line in self._buffer.getvalue().splitlines())


def markdown_head(summary: Summary) -> list[str]:
    """Return what a report begins with, in Markdown."""
    parts = [
        f"# {in_markdown(summary['title'])}",
        f"**{in_markdown(' '.join(summary['answer']))}**",
        in_markdown(summary["worth"]),
    ]
    if summary["fast_model"] is not None:
        parts.append(in_markdown(summary["fast_model"]["sentence"]))
    if (verdict := summary["verdict"]) is not None:
        goal = chosen(verdict["target"], summary["floor"]["is_rate"])
        parts.append(f"**Target {goal}: {verdict['verdict']}.** {in_markdown(verdict['sentence'])}")
    return parts


def markdown_limit(summary: Summary) -> list[str]:
    """Return the floor or the ceiling, and all metrics, in Markdown."""
    parts = [f"## The {limit_word(summary['floor'])}", markdown_table(floor_table(summary))]
    if len(summary["metrics"]) > 1:
        parts += ["## All metrics", markdown_table(metric_table(summary), None)]
        parts += [f"- {in_markdown(each['title'])}: {in_markdown(each['sentence'])}" for each in summary["metrics"]]
    return parts


def markdown_findings(summary: Summary) -> list[str]:
    """Return what was noticed, in Markdown."""
    if not summary["findings"]:
        return []
    found = [f"- **{f['code']}** {in_markdown(f['sentence'])} {in_markdown(f['hint'])}" for f in summary["findings"]]
    return ["## Findings", *found, more_on_findings(summary)]


def more_on_findings(summary: Summary) -> str:
    """Say where to read what the findings mean, for the first of them."""
    return f"'bayesfloor explain {summary['findings'][0]['code']}' says more."


def markdown_foot(summary: Summary) -> list[str]:
    """Return what a report ends with, in Markdown."""
    parts = []
    if summary["features"] is not None:
        parts = ["## Features", in_markdown(summary["features"]["note"]), markdown_table(feature_table(summary), None)]
    parts += ["## Data", _data(summary["data"])]
    parts += ["## Columns", in_markdown(summary["data"]["columns_note"]), markdown_table(column_table(summary))]
    parts += ["## How to read this"]
    parts += [f"**{each['heading']}.** {each['text']}" for each in summary["how_to_read"]]
    parts.append(f"Made by bayesfloor {summary['version']} with\n\n    {visible(summary['command'])}")
    return parts


def markdown_table(table: TextTable, most: int | None = MARKDOWN_ROWS) -> str:
    """Write a table, and how many rows of it are elsewhere."""
    sides = ["---" if column in table.names else "---:" for column in range(len(table.headings))]
    cells = [[in_markdown(cell) for cell in row] for row in (table.headings, *table.rows[:most])]
    lines = [cells[0], sides, *cells[1:]]
    written = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    more = 0 if most is None else table.n_rows - most
    return written if more <= 0 else f"{written}\n\n{counted(more)} more are in the JSON and HTML."


def markdown_curve(curve: Summary, floor: Summary) -> str:
    """Write the learning curve as a table."""
    is_rate = floor["is_rate"]
    rows = [(counted(round(point["size"])), written(point["value"], is_rate)) for point in reversed(curve["points"])]
    rows.append(("in the limit", written(curve["limit"], is_rate)))
    table = TextTable(("rows trained on", floor["title"]), rows, ())
    return in_markdown(curve["note"]) + "\n\n" + markdown_table(table)


def _data(data: dict[str, Any]) -> str:
    lines = [f"- {size_of(data)} of {in_markdown(data['target'])}"]
    lines += [f"- {in_markdown(note)}" for note in data["notes"]]
    lines += [f"- **Caution:** {in_markdown(caution)}" for caution in data["cautions"]]
    return "\n".join(lines)


def size_of(data: Summary) -> str:
    """Say how many rows and features there are, and classes of which number."""
    n_rows, n_features = counted(data["n_rows"]), counted(data["n_features"])
    told = f"{n_rows} rows, {n_features} features"
    return f"{told}, {counted(data['n_classes'])} classes" if "n_classes" in data else told
