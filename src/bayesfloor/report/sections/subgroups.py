"""Subgroups: the floor and what was reached among the rows of each, and whether they differ."""

import numpy as np

from bayesfloor.floor.learned.result import SubgroupFloors
from bayesfloor.report.blocks import MARKDOWN, Block, Paragraph, Summary, TextTable, range_of
from bayesfloor.report.figures import ClassFigures
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import counted, p_text, percent, percent_range

#: Chance of differences between subgroups below which they are said to differ.
_DIFFERENT = 0.05


class Subgroups(Section[ClassFigures]):
    """Subgroups, those that surely err most first."""

    key = "subgroups"
    title = "Subgroups"
    tasks = ("classification",)
    meaning = (
        "A subgroup that errs more than others may be harder, with a higher floor, or less well learnt, with "
        "the same floor. Better columns help the first; a better model, or more of its rows, helps the second. "
        "The share of all errors is what a subgroup contributes to the error of all rows."
    )

    def data(self, facts: Facts[ClassFigures]) -> Summary:
        """List the subgroups; None where none were asked for."""
        found = facts.figures.learned.subgroups
        if found is None:
            return {"subgroups": None}
        rows = [
            {
                "name": found.names[code],
                "n_rows": int(found.n_samples[code]),
                "n_tested": int(found.n_rows[code]),
                "share": float(found.share[code]),
                "share_of_errors": float(found.share_of_errors[code]),
                "floor": _known(found.estimate[code]),
                "low": float(found.interval[code, 0]),
                "high": float(found.interval[code, 1]),
                "reached": _known(found.reached[code]),
                "reached_low": float(found.reached_interval[code, 0]),
                "reached_high": float(found.reached_interval[code, 1]),
            }
            for code in np.argsort(-found.reached_interval[:, 0], kind="stable").tolist()
        ]
        subgroups = {
            "column": found.column,
            "rows": rows,
            "reached_p_value": found.reached_p_value,
            "floor_p_value": found.floor_p_value,
            "sentence": answer_on_subgroups(found),
            "note": _note(found),
        }
        return {"subgroups": subgroups}

    def heading(self, summary: Summary) -> str:
        """Return the heading with the column that tells."""
        return f"Subgroups by {summary['subgroups']['column']}"

    def text(self, summary: Summary) -> list[Block]:
        """Return whether they differ, and the table."""
        subgroups = summary["subgroups"]
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
            for each in subgroups["rows"]
        ]
        headings = ("subgroup", "rows", "of rows", "of errors", "reached", "range", "floor", "range")
        table = TextTable(headings, rows, is_whole=True)
        return [Paragraph(subgroups["sentence"]), table, Paragraph(subgroups["note"], only=MARKDOWN)]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def answer_on_subgroups(found: SubgroupFloors) -> str:
    """Say whether subgroups differ; the finding BF041 says how."""
    if len(found.names) < 2:
        return f"All rows are in one subgroup, {found.names[0]!r}: there is nothing to compare."
    if found.reached_p_value >= _DIFFERENT:
        return f"That the subgroups differ in their errors is not shown ({p_text(found.reached_p_value)})."
    floors = "their floors differ too" if found.floor_p_value < _DIFFERENT else "that their floors differ is not shown"
    of_errors = f"The subgroups differ in their errors ({p_text(found.reached_p_value)})"
    return f"{of_errors}; {floors} ({p_text(found.floor_p_value)})."


def _note(found: SubgroupFloors) -> str:
    """Say what the figures of subgroups are measured on."""
    note = (
        "All figures are from the same models, among the rows of each subgroup. The floor is what was reached there, "
        "less what the learning curve leaves to be won. Its range begins at 0 where the models are not surely "
        "better than chance in the subgroup, or still learn fast: what they did not learn looks the same as chance."
    )
    if found.note:
        note += f" {found.note}"
    return note
