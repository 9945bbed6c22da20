"""The summary as text: for a terminal, and as Markdown for a wiki or a pull request.

Both show the same tables, with the same headings and cells.
"""

from bayesfloor.report.gap import gap_places_table, gap_table
from bayesfloor.report.regression_text import regression_markdown, regression_on_terminal
from bayesfloor.report.text_tables import (
    Summary,
    Terminal,
    TextTable,
    markdown_curve,
    markdown_findings,
    markdown_foot,
    markdown_head,
    markdown_limit,
    markdown_table,
    range_of,
    shown_of,
)
from bayesfloor.runtime.text import counted, figure, in_markdown, percent, percent_range, shortened, visible

#: Rare classes of which a paragraph says what more rows would bring.
_MOST_NEEDED = 3
#: Lines of the class tree on a terminal, about a screen.
_TREE_LINES = 40

_ESTIMATES = ("rows", "trees' estimate", "range", "of its maximum", "best model")


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
            "too few" if each["floor"] is None else percent(each["floor"]),
            range_of(each),
        )
        for each in summary["subgroups"]["rows"]
    ]
    headings = ("subgroup", "rows", "of rows", "of errors", "reached", "range", "floor", "range")
    return TextTable(headings, rows, n_rows=len(rows))


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


def _estimates(each: Summary, reached: float | None) -> tuple[str, ...]:
    rates = percent(each["floor"]), range_of(each), percent(each["normalized"]), percent(reached)
    return counted(each["n_rows"]), *rates


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
    page = Terminal(width, colour)
    page.head(summary)
    body = regression_on_terminal if summary["task"] == "regression" else _classes_on_terminal
    body(page, summary)
    page.foot(summary)
    return page.text()


def _classes_on_terminal(page: Terminal, summary: Summary) -> None:
    """Write what is between the answer and the columns."""
    is_error = summary["floor"]["metric"] == "error"
    if is_error:  # which says little of rare classes; another metric was asked for, and comes first
        _rare_on_terminal(page, summary)
    page.limit(summary)
    if (gap := summary["gap"]) is not None:
        places = gap_places_table(summary)
        page.heading("Your model")
        page.paragraph(gap["sentence"])
        page.table(gap_table(summary))
        if places.rows:
            page.heading(f"Where it errs more{shown_of(places)}")
            page.table(places)
        page.paragraph(gap["note"])
    if not is_error:
        _rare_on_terminal(page, summary)
    if summary["costs"] is not None:
        costs = _cost_table(summary)
        page.heading(f"Where the money goes{shown_of(costs)}")
        page.table(costs)
        for note in summary["costs"]["notes"]:
            page.paragraph(note)
        if summary["costs"]["class_weights"] is not None:
            page.table(_weight_table(summary))
    if (subgroups := summary["subgroups"]) is not None:
        page.heading(f"Subgroups by {subgroups['column']}")
        page.table(_subgroup_table(summary), None)
        page.paragraph(subgroups["sentence"])
    page.findings(summary)

    classes, pairs, suspects = _class_table(summary), _pair_table(summary), _suspect_table(summary)
    page.heading(f"Hardest classes{shown_of(classes)}")
    page.table(classes.without("rows"))
    if len(classes.rows) > 2:
        page.heading(f"Hardest pairs{shown_of(pairs)}")
        page.table(pairs.without("rows"))
    page.paragraph(summary["floor"]["trees"]["note"])

    page.heading(f"Rows to look at{shown_of(suspects)}")
    if suspects.rows:
        page.table(suspects)
    page.paragraph(summary["suspects"]["note"])

    lines = summary["tree"]["text"].splitlines()
    page.heading(f"Class tree{_hardest_of(summary)}")
    for line in lines[:_TREE_LINES]:
        page.paragraph(shortened(line, page.width))
    if len(lines) > _TREE_LINES:
        page.paragraph(f"... and {len(lines) - _TREE_LINES} more lines")


def _rare_on_terminal(page: Terminal, summary: Summary) -> None:
    if summary["rare"] is None:
        return
    rare = _rare_table(summary)
    page.heading(f"Rare classes{shown_of(rare)}")
    page.table(rare)
    for each in summary["rare"]["rows"][:_MOST_NEEDED]:
        page.paragraph(each["needed"])


def _hardest_of(summary: Summary) -> str:
    """Say that a tree is of the hardest classes alone."""
    drawn, n_classes = summary["tree"]["n_classes"], summary["data"]["n_classes"]
    return f" of the {drawn} hardest of {counted(n_classes)} classes" if drawn < n_classes else ""


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
    body = regression_markdown if summary["task"] == "regression" else _classes_markdown
    return "\n\n".join([*markdown_head(summary), *body(summary), *markdown_foot(summary)]) + "\n"


def _classes_markdown(summary: Summary) -> list[str]:
    """Return what is between the answer and the columns."""
    rare: list[str] = []
    if summary["rare"] is not None:
        rare = ["## Rare classes", in_markdown(summary["rare"]["note"]), markdown_table(_rare_table(summary))]
        rare += [in_markdown(each["needed"]) for each in summary["rare"]["rows"][:_MOST_NEEDED]]
    is_error = summary["floor"]["metric"] == "error"
    parts = [*rare, *markdown_limit(summary)] if is_error else [*markdown_limit(summary), *rare]
    if (gap := summary["gap"]) is not None:
        parts += ["## Your model", in_markdown(gap["sentence"]), markdown_table(gap_table(summary))]
        parts += [markdown_table(gap_places_table(summary)), in_markdown(gap["note"])]
    if summary["costs"] is not None:
        parts += ["## Where the money goes", *map(in_markdown, summary["costs"]["notes"])]
        parts.append(markdown_table(_cost_table(summary)))
        if summary["costs"]["class_weights"] is not None:
            parts.append(markdown_table(_weight_table(summary)))
    if summary["curve"] is not None:
        parts += ["## Learning curve", markdown_curve(summary["curve"], summary["floor"])]
    if (subgroups := summary["subgroups"]) is not None:
        parts += [f"## Subgroups by {in_markdown(subgroups['column'])}", in_markdown(subgroups["sentence"])]
        parts += [markdown_table(_subgroup_table(summary), None), in_markdown(subgroups["note"])]
    parts += markdown_findings(summary)
    parts += ["## Classes", in_markdown(summary["floor"]["trees"]["note"]), markdown_table(_class_table(summary))]
    parts += ["## Hardest pairs", markdown_table(_pair_table(summary))]
    parts += ["## Rows to look at", in_markdown(summary["suspects"]["note"])]
    if summary["suspects"]["rows"]:
        parts.append(markdown_table(_suspect_table(summary)))
    lines = summary["tree"]["text"].splitlines()
    return [*parts, f"## Class tree{_hardest_of(summary)}", "\n".join("    " + visible(line) for line in lines)]
