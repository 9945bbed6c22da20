"""A report on numbers as text: the parts that a report on classes does not have."""

from bayesfloor.report.text_tables import (
    Summary,
    Terminal,
    TextTable,
    markdown_curve,
    markdown_findings,
    markdown_limit,
    markdown_table,
    shown_of,
)
from bayesfloor.runtime.text import counted, figure, in_markdown, percent, written_range


def _noise_table(summary: Summary) -> TextTable:
    """List the noise where small and large values are predicted."""
    rows = [
        (
            written_range(each["low"], each["high"], False),
            counted(each["n_rows"]),
            figure(each["sd"]),
            written_range(each["sd_low"], each["sd_high"], False),
            percent(each["share"]),
        )
        for each in summary["noise"]["bins"]
    ]
    return TextTable(("predicted", "rows", "noise (sd)", "range", "of the noise"), rows, n_rows=len(rows))


def _odd_table(summary: Summary) -> TextTable:
    """List the rows whose number fits least with that of rows like them."""
    word = summary["suspects"]["row_word"]
    rows = [
        (
            str(each["row"]),
            each["label"],
            figure(each["neighbours_mean"]),
            figure(each["predicted"]),
            f"{each['score']:.1f}",
            str(each["other_row"]),
            each["other_label"],
        )
        for each in summary["suspects"]["rows"]
    ]
    headings = (word, "value", "rows like it", "predicted", "sd away", f"most like {word}", "its value")
    return TextTable(headings, rows, (), len(rows))


def regression_on_terminal(page: Terminal, summary: Summary) -> None:
    """Write what is between the answer and the columns.

    Parameters
    ----------
    page : Terminal
        Where to.
    summary : dict
        As from `summarise_regression`.
    """
    page.limit(summary)
    page.findings(summary)
    page.heading("Where the noise is")
    page.table(_noise_table(summary), None)
    page.paragraph(summary["noise"]["sentence"])
    odd = _odd_table(summary)
    page.heading(f"Rows to look at{shown_of(odd)}")
    if odd.rows:
        page.table(odd)
    page.paragraph(summary["suspects"]["note"])


def regression_markdown(summary: Summary) -> list[str]:
    """Return what is between the answer and the columns, as parts of a Markdown text.

    Parameters
    ----------
    summary : dict
        As from `summarise_regression`.

    Returns
    -------
    list of str
    """
    parts = markdown_limit(summary)
    parts += ["## Learning curve", markdown_curve(summary["curve"], summary["floor"]), *markdown_findings(summary)]
    parts += ["## Where the noise is", in_markdown(summary["noise"]["sentence"])]
    parts += [markdown_table(_noise_table(summary), None), in_markdown(summary["noise"]["note"])]
    parts += ["## Rows to look at", in_markdown(summary["suspects"]["note"])]
    if summary["suspects"]["rows"]:
        parts.append(markdown_table(_odd_table(summary)))
    return parts
