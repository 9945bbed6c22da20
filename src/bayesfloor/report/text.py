"""The summary as text: for a terminal, and as Markdown for a wiki or a pull request.

Both show the same tables, with the same headings and cells.
"""

from collections.abc import Sequence
from io import StringIO
from typing import Any, NamedTuple

from bayesfloor.runtime.text import (
    chosen,
    counted,
    exact_percent,
    figure,
    in_markdown,
    percent,
    percent_range,
    shortened,
    visible,
    written,
    written_range,
)

#: Rows of each table on a terminal and in Markdown; JSON and HTML have more.
_TERMINAL_ROWS, _MARKDOWN_ROWS = 8, 20
#: Letters of a name on a terminal, so that a table fits.
_NAME = 28
#: Letters of what was done with a column.
_TREATMENT = 40
#: Rare classes of which a paragraph says what more rows would bring.
_MOST_NEEDED = 3
#: Lines of the class tree on a terminal, about a screen.
_TREE_LINES = 40

Summary = dict[str, Any]
_ESTIMATES = ("rows", "trees' estimate", "range", "of its maximum", "best model")


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


def _floor_table(summary: Summary) -> TextTable:
    """List the floor, what was reached, and what it compares with."""
    floor = summary["floor"]
    is_rate, is_error = floor["is_rate"], floor["metric"] == "error"

    def row(name: str, value: float, ends: Summary) -> tuple[str, str, str]:
        return name, written(value, is_rate), written_range(ends["low"], ends["high"], is_rate)

    rows = [row(f"the {_limit(floor)}", floor["estimate"], floor)]
    if floor["reached"] is not None:
        rows.append(row("reached by the best model", floor["reached"]["value"], floor["reached"]))
    if floor["reached"] is not None and is_error:
        rows.append(row("spanning trees' estimate", floor["trees"]["estimate"], floor["trees"]))
    baseline = "naming the largest class" if is_error else "without features"
    rows.append((baseline, written(floor["baseline"], is_rate), ""))
    return TextTable(("", floor["title"], f"{exact_percent(floor['confidence'])} range"), rows)


def _metric_table(summary: Summary) -> TextTable:
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
    return TextTable(headings, rows, longest=_TREATMENT)


def _cost_table(summary: Summary) -> TextTable:
    """List what decisions cost, the dearest first."""
    costs = summary["costs"]
    rows = [
        (
            each["label"],
            each["decision"],
            figure(each["cost"]),
            percent(each["rows"]),
            figure(each["cost_per_row"]),
            percent(each["share"]),
        )
        for each in costs["rows"]
    ]
    headings = ("true class", "decision", "cost", "of the rows", "cost per row", "of the cost")
    return TextTable(headings, rows, (0, 1), costs["n_pairs"])


def _weight_table(summary: Summary) -> TextTable:
    """List the weights of the classes that follow from costs."""
    rows = [(each["name"], figure(each["weight"])) for each in summary["costs"]["class_weights"]]
    return TextTable(("class", "weight"), rows, n_rows=len(rows))


def _limit(floor: Summary) -> str:
    return "ceiling" if floor["larger_is_better"] else "floor"


def _rare_table(summary: Summary) -> TextTable:
    """List the rare classes with how high their rows are ranked."""
    rows = [
        (
            each["name"],
            counted(each["n_rows"]),
            percent(each["share"]),
            f"{each['auc']:.3f}",
            f"{each['auc_low']:.3f}–{each['auc_high']:.3f}",
            percent(each["recall_at_top"]),
            percent(each["recall_at_precision"]),
            f"{each['average_precision']:.3f}",
        )
        for each in summary["rare"]["rows"]
    ]
    headings = ("class", "rows", "share", "ROC AUC", "range", "in the top 1%", "at precision 50%", "avg. precision")
    return TextTable(headings, rows, n_rows=summary["rare"]["n_classes"])


def _subgroup_table(summary: Summary) -> TextTable:
    """List the subgroups, those that surely err most first."""
    rows = [
        (
            each["name"],
            counted(each["n_rows"]),
            percent(each["share"]),
            percent(each["share_of_errors"]),
            percent(each["reached"]),
            percent_range(each["reached_low"], each["reached_high"]),
            percent(each["floor"]),
            _range(each),
        )
        for each in summary["subgroups"]["rows"]
    ]
    headings = ("subgroup", "rows", "of rows", "of errors", "reached", "range", "floor", "range")
    return TextTable(headings, rows, n_rows=len(rows))


def _column_table(summary: Summary) -> TextTable:
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
            _range(each),
        )
        for each in columns
    ]
    headings = ("column", "kind", "what was done", "missing", "values", "tells alone", "range")
    table = TextTable(headings, rows, (0, 1, 2), max(summary["data"]["n_columns"], len(rows)), _TREATMENT)
    if all(each["kind"] is None for each in columns):
        for heading in ("kind", "what was done", "missing", "values"):
            table = table.without(heading)
        table = table._replace(names=(0,))
    return table


def _class_table(summary: Summary) -> TextTable:
    """List the classes, the hardest first."""
    rows = [(each["name"], *_estimates(each, each["reached"])) for each in summary["classes"]]
    return TextTable(("class", *_ESTIMATES), rows, n_rows=len(rows))


def _pair_table(summary: Summary) -> TextTable:
    """List pairs of classes, the hardest first."""
    pairs = summary["pairs"]
    rows = [(each["first"], each["second"], *_estimates(each, each["confused"])) for each in pairs["rows"]]
    return TextTable(("first", "second", *_ESTIMATES), rows, (0, 1), pairs["n_pairs"])


def _suspect_table(summary: Summary) -> TextTable:
    """List rows that look like another class, each with the row of that class which is nearest."""
    word = summary["suspects"]["row_word"]
    rows = [
        (str(each["row"]), each["label"], str(each["other_row"]), each["other_label"], f"{each['distance']:.3g}")
        for each in summary["suspects"]["rows"]
    ]
    return TextTable((word, "label", f"looks like {word}", "labelled", "distance"), rows, (1, 3), len(rows))


def _feature_table(summary: Summary) -> TextTable:
    """List features in the order in which a search added them."""
    rows = [(each["name"], percent(each["floor"]), _range(each)) for each in summary["features"]["rows"]]
    return TextTable(("added", "floor", "range"), rows)


def _estimates(each: Summary, reached: float | None) -> tuple[str, ...]:
    rates = percent(each["floor"]), _range(each), percent(each["normalized"]), percent(reached)
    return counted(each["n_rows"]), *rates


def _range(each: Summary) -> str:
    return percent_range(each["low"], each["high"])


def render_text(summary: Summary, width: int = 100, colour: bool = False) -> str:
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
    from rich.table import Table
    from rich.text import Text

    buffer = StringIO()
    # letters, not what a terminal might make of them: no markup, no highlighting, no emoji
    console = Console(
        file=buffer, width=width, force_terminal=colour, no_color=not colour, markup=False, highlight=False, emoji=False
    )

    def heading(text: str) -> None:
        console.print()
        console.print(Text(visible(text), style="bold"))

    def paragraph(text: str, style: str = "") -> None:
        console.print(Text(visible(text), style=style))

    def table(rows: TextTable, most: int | None = _TERMINAL_ROWS) -> None:
        grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for number, name in enumerate(rows.headings):
            side: Any = "left" if number in rows.names else "right"
            grid.add_column(Text(visible(name), style="dim"), justify=side, no_wrap=True)
        for row in rows.rows[:most]:
            grid.add_row(*(Text(shortened(cell, rows.longest)) for cell in row))
        console.print(grid)

    paragraph(summary["title"], "dim")
    paragraph(" ".join(summary["answer"]), "bold")
    paragraph(summary["worth"])
    if (verdict := summary["verdict"]) is not None:
        goal = chosen(verdict["target"], summary["floor"]["is_rate"])
        paragraph(f"Target {goal}: {verdict['verdict']}. {verdict['sentence']}", "bold")

    def rare_classes() -> None:
        if summary["rare"] is None:
            return
        rare = _rare_table(summary)
        heading(f"Rare classes{_of(rare)}")
        table(rare)
        for each in summary["rare"]["rows"][:_MOST_NEEDED]:
            paragraph(each["needed"])

    is_error = summary["floor"]["metric"] == "error"
    if is_error:  # which says little of them; another metric was asked for, and comes first
        rare_classes()
    heading(f"The {_limit(summary['floor'])}")
    table(_floor_table(summary))
    if summary["curve"] is not None:
        paragraph(summary["curve"]["note"])
    if len(summary["metrics"]) > 1:
        heading("All metrics")
        table(_metric_table(summary), None)
    if not is_error:
        rare_classes()
    if summary["costs"] is not None:
        costs = _cost_table(summary)
        heading(f"Where the money goes{_of(costs)}")
        table(costs)
        for note in summary["costs"]["notes"]:
            paragraph(note)
        if summary["costs"]["class_weights"] is not None:
            table(_weight_table(summary))
    if (subgroups := summary["subgroups"]) is not None:
        heading(f"Subgroups by {subgroups['column']}")
        table(_subgroup_table(summary), None)
        paragraph(subgroups["sentence"])
    if summary["findings"]:
        heading("Findings")
        for finding in summary["findings"]:
            paragraph(f"{finding['code']}  {finding['sentence']} {finding['hint']}")

    classes, pairs, suspects = _class_table(summary), _pair_table(summary), _suspect_table(summary)
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
    heading(f"Class tree{_hardest_of(summary)}")
    for line in lines[:_TREE_LINES]:
        paragraph(shortened(line, width))
    if len(lines) > _TREE_LINES:
        paragraph(f"... and {len(lines) - _TREE_LINES} more lines")
    if summary["features"] is not None:
        heading("Features")
        table(_feature_table(summary), None)
        paragraph(summary["features"]["note"])
    data = summary["data"]
    columns = _column_table(summary)
    heading(f"Columns{_of(columns)}")
    table(columns.without("range"))
    console.print()
    paragraph(f"{_size(data)} of {data['target']!r}; {summary['seconds']:.1f} s", "dim")
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def _hardest_of(summary: Summary) -> str:
    """Say that a tree is of the hardest classes alone."""
    drawn, n_classes = summary["tree"]["n_classes"], summary["data"]["n_classes"]
    return f" of the {drawn} hardest of {counted(n_classes)} classes" if drawn < n_classes else ""


def _of(table: TextTable) -> str:
    shown = min(len(table.rows), _TERMINAL_ROWS)
    return f" ({shown} of {counted(table.n_rows)})" if shown < table.n_rows else ""


def render_markdown(summary: Summary) -> str:
    """Return the report as Markdown.

    Parameters
    ----------
    summary : dict
        As from `summarise`.

    Returns
    -------
    str
    """
    parts = [
        f"# {in_markdown(summary['title'])}",
        f"**{in_markdown(' '.join(summary['answer']))}**",
        in_markdown(summary["worth"]),
    ]
    if (verdict := summary["verdict"]) is not None:
        goal = chosen(verdict["target"], summary["floor"]["is_rate"])
        parts.append(f"**Target {goal}: {verdict['verdict']}.** {in_markdown(verdict['sentence'])}")
    rare: list[str] = []
    if summary["rare"] is not None:
        rare = ["## Rare classes", in_markdown(summary["rare"]["note"]), _markdown_table(_rare_table(summary))]
        rare += [in_markdown(each["needed"]) for each in summary["rare"]["rows"][:_MOST_NEEDED]]
    is_error = summary["floor"]["metric"] == "error"
    parts += rare if is_error else []
    parts += [f"## The {_limit(summary['floor'])}", _markdown_table(_floor_table(summary))]
    if len(summary["metrics"]) > 1:
        parts += ["## All metrics", _markdown_table(_metric_table(summary), None)]
        parts += [f"- {in_markdown(each['title'])}: {in_markdown(each['sentence'])}" for each in summary["metrics"]]
    parts += [] if is_error else rare
    if summary["costs"] is not None:
        parts += ["## Where the money goes", *map(in_markdown, summary["costs"]["notes"])]
        parts.append(_markdown_table(_cost_table(summary)))
        if summary["costs"]["class_weights"] is not None:
            parts.append(_markdown_table(_weight_table(summary)))
    if summary["curve"] is not None:
        parts += ["## Learning curve", _curve(summary["curve"], summary["floor"])]
    if (subgroups := summary["subgroups"]) is not None:
        parts += [f"## Subgroups by {in_markdown(subgroups['column'])}", in_markdown(subgroups["sentence"])]
        parts += [_markdown_table(_subgroup_table(summary), None), in_markdown(subgroups["note"])]
    if summary["findings"]:
        parts += ["## Findings"]
        parts += [
            f"- **{f['code']}** {in_markdown(f['sentence'])} {in_markdown(f['hint'])}" for f in summary["findings"]
        ]
    parts += ["## Classes", in_markdown(summary["floor"]["trees"]["note"]), _markdown_table(_class_table(summary))]
    parts += ["## Hardest pairs", _markdown_table(_pair_table(summary))]
    parts += ["## Rows to look at", in_markdown(summary["suspects"]["note"])]
    if summary["suspects"]["rows"]:
        parts.append(_markdown_table(_suspect_table(summary)))
    lines = summary["tree"]["text"].splitlines()
    parts += [f"## Class tree{_hardest_of(summary)}", "\n".join("    " + visible(line) for line in lines)]
    if summary["features"] is not None:
        parts += [
            "## Features",
            in_markdown(summary["features"]["note"]),
            _markdown_table(_feature_table(summary), None),
        ]
    parts += ["## Data", _data(summary["data"])]
    parts += ["## Columns", in_markdown(summary["data"]["columns_note"]), _markdown_table(_column_table(summary))]
    parts += ["## How to read this"]
    parts += [f"**{each['heading']}.** {each['text']}" for each in summary["how_to_read"]]
    parts.append(f"Made by bayesfloor {summary['version']} with\n\n    {visible(summary['command'])}")
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: TextTable, most: int | None = _MARKDOWN_ROWS) -> str:
    """Write a table, and how many rows of it are elsewhere."""
    sides = ["---" if column in table.names else "---:" for column in range(len(table.headings))]
    cells = [[in_markdown(cell) for cell in row] for row in (table.headings, *table.rows[:most])]
    lines = [cells[0], sides, *cells[1:]]
    written = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    more = 0 if most is None else table.n_rows - most
    return written if more <= 0 else f"{written}\n\n{counted(more)} more are in the JSON and HTML."


def _curve(curve: Summary, floor: Summary) -> str:
    is_rate = floor["is_rate"]
    rows = [(counted(round(point["size"])), written(point["value"], is_rate)) for point in reversed(curve["points"])]
    rows.append(("in the limit", written(curve["limit"], is_rate)))
    table = TextTable(("rows trained on", floor["title"]), rows, ())
    return in_markdown(curve["note"]) + "\n\n" + _markdown_table(table)


def _data(data: dict[str, Any]) -> str:
    lines = [f"- {_size(data)} of {in_markdown(data['target'])}"]
    lines += [f"- {in_markdown(note)}" for note in data["notes"]]
    lines += [f"- **Caution:** {in_markdown(caution)}" for caution in data["cautions"]]
    return "\n".join(lines)


def _size(data: Summary) -> str:
    n_rows, n_features, n_classes = (counted(data[name]) for name in ("n_rows", "n_features", "n_classes"))
    return f"{n_rows} rows, {n_features} features, {n_classes} classes"
