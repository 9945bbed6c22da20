"""The summary as text for a terminal."""

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

from bayesfloor.report.rates import as_given, percent, percent_range
from bayesfloor.runtime.text import shortened, visible

#: Rows of each table; the other forms of the report have more.
_MOST_ROWS = 8
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
        paragraph(f"Target {as_given(verdict['target'])}: {verdict['verdict']}. {verdict['sentence']}", "bold")

    heading("The floor")
    console.print(_grid(("", "error", f"{100 * summary['floor']['confidence']:g}% range"), _floor_rows(summary)))
    if summary["curve"] is not None:
        paragraph(summary["curve"]["note"])
    if summary["findings"]:
        heading("Findings")
        for finding in summary["findings"]:
            paragraph(f"{finding['code']}  {finding['sentence']} {finding['hint']}")

    heading(f"Hardest classes{_of(summary['classes'], len(summary['classes']))}")
    console.print(_grid(_HEADINGS[:1] + _HEADINGS[2:], _class_rows(summary)))
    if len(summary["classes"]) > 2:
        heading(f"Hardest pairs{_of(summary['pairs']['rows'], summary['pairs']['n_pairs'])}")
        console.print(_grid(("first", "second", *_HEADINGS[2:]), _pair_rows(summary), (0, 1)))
    paragraph(summary["floor"]["trees"]["note"])

    suspects = summary["suspects"]
    heading(f"Rows to look at{_of(suspects['rows'], len(suspects['rows']))}")
    if suspects["rows"]:
        word = suspects["row_word"]
        headings = (word, "label", f"looks like {word}", "labelled", "distance")
        console.print(_grid(headings, _suspect_rows(suspects), (1, 3)))
    paragraph(suspects["note"])

    lines = summary["tree"]["text"].splitlines()
    heading("Class tree")
    for line in lines[:_TREE_LINES]:
        paragraph(shortened(line, width))
    if len(lines) > _TREE_LINES:
        paragraph(f"... and {len(lines) - _TREE_LINES} more lines")
    if summary["features"] is not None:
        heading("Features")
        rows = [(each["name"], percent(each["floor"]), _range(each)) for each in summary["features"]["rows"]]
        console.print(_grid(("added", "floor", "range"), rows))
        paragraph(summary["features"]["note"])
    console.print()
    data = summary["data"]
    paragraph(
        f"{data['n_rows']} rows, {data['n_features']} features, {data['n_classes']} classes of {data['target']!r}; "
        f"{summary['seconds']:.1f} s",
        "dim",
    )
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


_HEADINGS = ("class", "", "trees' estimate", "range", "of its maximum", "best model")


def _grid(headings: Sequence[str], rows: Iterable[Sequence[str]], names: Sequence[int] = (0,)) -> Any:
    """Lay out columns: names to the left, figures to the right."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, heading in enumerate(headings):
        grid.add_column(Text(heading, style="dim"), justify="left" if number in names else "right", no_wrap=True)
    for row in rows:
        grid.add_row(*(Text(shortened(cell, _NAME)) for cell in row))
    return grid


def _floor_rows(summary: dict[str, Any]) -> list[tuple[str, str, str]]:
    floor = summary["floor"]
    rows = [("the floor", percent(floor["estimate"]), _range(floor))]
    if floor["reached"] is not None:
        rows.append(("reached by the best model", percent(floor["reached"]["error"]), _range(floor["reached"])))
        rows.append(("spanning trees' estimate", percent(floor["trees"]["estimate"]), _range(floor["trees"])))
    rows.append(("naming the largest class", percent(floor["majority_error"]), ""))
    return rows


def _figures(each: dict[str, Any], reached: float | None) -> tuple[str, str, str, str]:
    return percent(each["floor"]), _range(each), percent(each["normalized"]), percent(reached)


def _class_rows(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    return [(each["name"], *_figures(each, each["reached"])) for each in summary["classes"][:_MOST_ROWS]]


def _pair_rows(summary: dict[str, Any]) -> list[tuple[str, ...]]:
    rows = summary["pairs"]["rows"][:_MOST_ROWS]
    return [(each["first"], each["second"], *_figures(each, each["confused"])) for each in rows]


def _suspect_rows(suspects: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            str(each["row"]),
            each["label"],
            str(each["other_row"]),
            each["other_label"],
            f"{each['distance']:.3g}",
        )
        for each in suspects["rows"][:_MOST_ROWS]
    ]


def _range(each: dict[str, Any]) -> str:
    return percent_range(each["low"], each["high"])


def _of(rows: Sequence[Any], total: int) -> str:
    shown = min(len(rows), _MOST_ROWS)
    return f" ({shown} of {total})" if shown < total else ""
