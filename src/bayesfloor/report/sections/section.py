"""What a section is: one part of a report, with its data, its text and its HTML."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from markupsafe import Markup

from bayesfloor.floor.learned.trust.source import Source
from bayesfloor.report.blocks import Block, Summary
from bayesfloor.report.figures import ClassFigures, NumberFigures
from bayesfloor.report.verdict import Verdict

F = TypeVar("F", ClassFigures, NumberFigures)


@dataclass(frozen=True, eq=False)
class Facts(Generic[F]):
    """What sections take their data from.

    Attributes
    ----------
    source : Source
        What the report is about.
    figures : ClassFigures or NumberFigures
        What was computed.
    verdict : Verdict
        What follows from that.
    target_value : float or None
        The value of the first metric that the reader hopes for.
    """

    source: Source
    figures: F
    verdict: Verdict
    target_value: float | None = None


class Section(Generic[F]):
    """One part of a report.

    `data` is called once, when a report is made; `text` and `html` take all that they show from the summary.

    Attributes
    ----------
    key : str
        Its id on the page, the name of its template, and usually where its data are in the summary.
    title : str
        Its heading, in every form.
    meaning : str
        How to read it, where that needs a word.
    tasks : tuple of str
        What the target must be: classes, numbers or either.
    is_detail : bool
        Whether it is folded on the page, last in Markdown, and not on a terminal.
    """

    key = ""
    title = ""
    meaning = ""
    tasks: tuple[str, ...] = ("classification", "regression")
    is_detail = False

    def data(self, facts: Facts[F]) -> Summary:
        """Return what the section adds to the summary, by key; plain values only."""
        return {}

    def words(self, facts: Facts[F]) -> dict[str, str]:
        """Explain the words that the section uses, by a heading for each."""
        return {self.title: self.meaning} if self.meaning else {}

    def is_shown(self, summary: Summary) -> bool:
        """Tell whether there is anything to show; what needs no data of its own is always shown."""
        return bool(summary.get(self.key, True))

    def is_folded(self, summary: Summary) -> bool:
        """Tell whether it is a detail, where that depends on the figures."""
        return self.is_detail

    def heading(self, summary: Summary) -> str:
        """Return the heading, with names out of the data where it has some."""
        return self.title

    def text(self, summary: Summary) -> list[Block]:
        """Return what a terminal and Markdown show; nothing where the page alone shows it."""
        return []

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Return what the template should not work out itself: pictures, and rows prepared for it."""
        return {}

    def html(self, summary: Summary) -> Markup:
        """Return what the page shows below the heading."""
        from bayesfloor.report.page.templating import fill  # not at the top: a terminal needs no templates

        return fill(f"sections/{self.key}.html", summary, **self.drawn(summary))
