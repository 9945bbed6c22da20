"""The summary as Markdown, for a wiki or a pull request."""

from collections.abc import Iterable, Sequence
from typing import Any

from bayesfloor.report.rates import as_given, percent, percent_range
from bayesfloor.runtime.text import in_markdown, visible

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
            f"**Target {as_given(verdict['target'])}: {verdict['verdict']}.** {in_markdown(verdict['sentence'])}"
        )
    parts += ["## The floor", _floor(summary)]
    if summary["curve"] is not None:
        parts += ["## Learning curve", _curve(summary["curve"])]
    if summary["findings"]:
        parts += ["## Findings", *(_finding(finding) for finding in summary["findings"])]
    parts += ["## Classes", in_markdown(summary["floor"]["trees"]["note"]), _classes(summary)]
    parts += ["## Hardest pairs", _pairs(summary)]
    parts += ["## Rows to look at", in_markdown(summary["suspects"]["note"])]
    if summary["suspects"]["rows"]:
        parts.append(_suspects(summary["suspects"]))
    tree = "\n".join("    " + visible(line) for line in summary["tree"]["text"].splitlines())
    parts += ["## Class tree", tree]
    if summary["features"] is not None:
        parts += ["## Features", in_markdown(summary["features"]["note"]), _features(summary["features"])]
    parts += ["## Data", _data(summary["data"])]
    parts += ["## How to read this"]
    parts += [f"**{each['heading']}.** {each['text']}" for each in summary["how_to_read"]]
    parts.append(f"Made by bayesfloor {summary['version']} with\n\n    {visible(summary['command'])}")
    return "\n\n".join(parts) + "\n"


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool]) -> str:
    """Write a table; cells are Markdown already."""
    lines = ["| " + " | ".join(headings) + " |", "|" + "|".join("---:" if r else "---" for r in right) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def _floor(summary: dict[str, Any]) -> str:
    floor = summary["floor"]
    rows = [("the floor", percent(floor["estimate"]), percent_range(floor["low"], floor["high"]))]
    if floor["reached"] is not None:
        reached = floor["reached"]
        rows.append(
            ("reached by the best model", percent(reached["error"]), percent_range(reached["low"], reached["high"]))
        )
        trees = floor["trees"]
        rows.append(
            ("spanning trees' estimate", percent(trees["estimate"]), percent_range(trees["low"], trees["high"]))
        )
    rows.append(("naming the largest class", percent(floor["majority_error"]), ""))
    return markdown_table(("", "error", f"{100 * floor['confidence']:g}% range"), rows, (False, True, True))


def _curve(curve: dict[str, Any]) -> str:
    rows = [(f"{point['size']:.0f}", percent(point["error"])) for point in reversed(curve["points"])]
    rows.append(("in the limit", percent(curve["limit"])))
    return in_markdown(curve["note"]) + "\n\n" + markdown_table(("rows trained on", "error"), rows, (True, True))


def _finding(finding: dict[str, str]) -> str:
    return f"- **{finding['code']}** {in_markdown(finding['sentence'])} {in_markdown(finding['hint'])}"


def _classes(summary: dict[str, Any]) -> str:
    rows = [
        (
            in_markdown(each["name"]),
            str(each["n_rows"]),
            percent(each["floor"]),
            percent_range(each["low"], each["high"]),
            percent(each["normalized"]),
            percent(each["reached"]),
        )
        for each in summary["classes"]
    ]
    headings = ("class", "rows", "trees' estimate", "range", "of its maximum", "best model")
    return _first_of(headings, rows, (False, True, True, True, True, True))


def _pairs(summary: dict[str, Any]) -> str:
    rows = [
        (
            f"{in_markdown(each['first'])} – {in_markdown(each['second'])}",
            str(each["n_rows"]),
            percent(each["floor"]),
            percent_range(each["low"], each["high"]),
            percent(each["normalized"]),
            percent(each["confused"]),
        )
        for each in summary["pairs"]["rows"]
    ]
    headings = ("pair", "rows", "trees' estimate", "range", "of its maximum", "best model")
    return _first_of(headings, rows, (False, True, True, True, True, True), summary["pairs"]["n_pairs"])


def _suspects(suspects: dict[str, Any]) -> str:
    word = suspects["row_word"]
    rows = [
        (
            str(each["row"]),
            in_markdown(each["label"]),
            str(each["other_row"]),
            in_markdown(each["other_label"]),
            f"{each['distance']:.3g}",
        )
        for each in suspects["rows"]
    ]
    headings = (word, "label", f"looks like {word}", "labelled", "distance")
    return _first_of(headings, rows, (True, False, True, False, True))


def _features(features: dict[str, Any]) -> str:
    rows = [
        (in_markdown(each["name"]), percent(each["floor"]), percent_range(each["low"], each["high"]))
        for each in features["rows"]
    ]
    return markdown_table(("added", "floor", "range"), rows, (False, True, True))


def _data(data: dict[str, Any]) -> str:
    lines = [
        f"- {data['n_rows']} rows, {data['n_features']} features, {data['n_classes']} classes of "
        f"{in_markdown(data['target'])}"
    ]
    lines += [f"- {in_markdown(note)}" for note in data["notes"]]
    lines += [f"- **Caution:** {in_markdown(caution)}" for caution in data["cautions"]]
    return "\n".join(lines)


def _first_of(
    headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], total: int | None = None
) -> str:
    table = markdown_table(headings, rows[:_MOST_ROWS], right)
    more = (len(rows) if total is None else total) - _MOST_ROWS
    return table if more <= 0 else f"{table}\n\n{more} more are in the JSON and HTML."
