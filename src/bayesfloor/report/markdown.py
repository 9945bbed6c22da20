"""The summary as Markdown, for a wiki or a pull request."""

from typing import Any

from bayesfloor.report import tables
from bayesfloor.report.tables import TextTable
from bayesfloor.runtime.text import exact_percent, in_markdown, percent, visible

#: Rows of each table; JSON and HTML have more.
_MOST_ROWS = 20


def render_markdown(summary: dict[str, Any]) -> str:
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
    if summary["verdict"] is not None:
        verdict = summary["verdict"]
        parts.append(
            f"**Target {exact_percent(verdict['target'])}: {verdict['verdict']}.** {in_markdown(verdict['sentence'])}"
        )
    parts += ["## The floor", _table(tables.floor_table(summary))]
    if summary["curve"] is not None:
        parts += ["## Learning curve", _curve(summary["curve"])]
    if summary["findings"]:
        parts += ["## Findings", *(_finding(finding) for finding in summary["findings"])]
    parts += ["## Classes", in_markdown(summary["floor"]["trees"]["note"]), _table(tables.class_table(summary))]
    parts += ["## Hardest pairs", _table(tables.pair_table(summary))]
    parts += ["## Rows to look at", in_markdown(summary["suspects"]["note"])]
    if summary["suspects"]["rows"]:
        parts.append(_table(tables.suspect_table(summary)))
    tree = "\n".join("    " + visible(line) for line in summary["tree"]["text"].splitlines())
    parts += ["## Class tree", tree]
    if summary["features"] is not None:
        parts += ["## Features", in_markdown(summary["features"]["note"]), _table(tables.feature_table(summary), None)]
    parts += ["## Data", _data(summary["data"])]
    parts += ["## How to read this"]
    parts += [f"**{each['heading']}.** {each['text']}" for each in summary["how_to_read"]]
    parts.append(f"Made by bayesfloor {summary['version']} with\n\n    {visible(summary['command'])}")
    return "\n\n".join(parts) + "\n"


def _table(table: TextTable, most: int | None = _MOST_ROWS) -> str:
    """Write a table, and how many rows of it are elsewhere."""
    sides = ["---" if column in table.names else "---:" for column in range(len(table.headings))]
    lines = [table.headings, sides, *([in_markdown(cell) for cell in row] for row in table.rows[:most])]
    written = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    more = 0 if most is None else table.n_rows - most
    return written if more <= 0 else f"{written}\n\n{more} more are in the JSON and HTML."


def _curve(curve: dict[str, Any]) -> str:
    rows = [(f"{point['size']:.0f}", percent(point["error"])) for point in reversed(curve["points"])]
    rows.append(("in the limit", percent(curve["limit"])))
    return in_markdown(curve["note"]) + "\n\n" + _table(TextTable(("rows trained on", "error"), rows, ()))


def _finding(finding: dict[str, str]) -> str:
    return f"- **{finding['code']}** {in_markdown(finding['sentence'])} {in_markdown(finding['hint'])}"


def _data(data: dict[str, Any]) -> str:
    lines = [
        f"- {data['n_rows']} rows, {data['n_features']} features, {data['n_classes']} classes of "
        f"{in_markdown(data['target'])}"
    ]
    lines += [f"- {in_markdown(note)}" for note in data["notes"]]
    lines += [f"- **Caution:** {in_markdown(caution)}" for caution in data["cautions"]]
    return "\n".join(lines)

