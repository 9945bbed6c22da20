"""The sections of a report: each knows its data, its text and its HTML.

`SECTIONS` lists them in their order; the task decides which of them there are. `summarise` walks that list to make the
summary; `bayesfloor.report.text` and `bayesfloor.report.page` walk it to show the summary.

- `section`: what a section is, and what it takes its data from
- `answer`: the first screen
- `floor`: all figures, and the learning curve
- `gap`: a model of the reader's
- `classes`, `costs`, `subgroups`: of classes alone
- `noise`: of numbers alone
- `suspects`: rows whose label is hard to believe, or whose number does not fit
- `data`: the columns
- `notes`: findings, the models tried, how to read a report and make it again
"""

from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from bayesfloor.report.blocks import Summary
from bayesfloor.report.sections.answer import Answer
from bayesfloor.report.sections.classes import Classes, Pairs, Rare, Tree
from bayesfloor.report.sections.costs import Costs
from bayesfloor.report.sections.data import Data
from bayesfloor.report.sections.floor import Curve, Floor
from bayesfloor.report.sections.gap import Gap
from bayesfloor.report.sections.noise import Noise
from bayesfloor.report.sections.notes import Again, Findings, Learners, Reading
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.report.sections.subgroups import Subgroups
from bayesfloor.report.sections.suspects import OddNumbers, WrongLabels

#: Name and version of the layout of the summary.
SCHEMA = "bayesfloor/summary/1"


#: All sections in their order: the answer, what bears on it, where it hurts, the columns; and then details.
SECTIONS: tuple[type[Section[Any]], ...] = (
    *(Answer, Findings, Gap, Rare, Floor, Costs, Subgroups, Curve, Noise),
    *(Pairs, Classes, WrongLabels, OddNumbers, Data),
    *(Tree, Learners, Reading, Again),
)


def sections_for(task: str) -> list[Section[Any]]:
    """Return the sections of a report, in their order.

    Parameters
    ----------
    task : {"classification", "regression"}
        Whether the target is a class or a number.

    Returns
    -------
    list of Section
    """
    return [section() for section in SECTIONS if task in section.tasks]


def sections_shown(summary: Summary) -> list[Section[Any]]:
    """Return the sections of a report that have something to show, those that are folded last."""
    shown = [section for section in sections_for(summary["task"]) if section.is_shown(summary)]
    return sorted(shown, key=lambda section: section.is_folded(summary))


def summarise(facts: Facts[Any], command: str) -> Summary:
    """Put everything that a report shows into one dict of plain values.

    Rates are shares from 0 to 1; names are text as it is, and each renderer escapes it.

    Parameters
    ----------
    facts : Facts
        What the report is about, and what was computed.
    command : str
        What makes this report again.

    Returns
    -------
    dict
    """
    task = facts.source.problem.task
    summary: Summary = {
        "schema": SCHEMA,
        "version": version("bayesfloor"),
        "title": facts.source.title,
        "created": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "task": task,
        "how_to_read": [],
        "command": command,
        "seconds": 0.0,
    }
    sections = sections_for(task)
    for section in sections:
        summary |= section.data(facts)
    for section in sections:
        if section.is_shown(summary):
            words = section.words(facts).items()
            summary["how_to_read"] += [{"heading": heading, "text": text} for heading, text in words]
    return summary
