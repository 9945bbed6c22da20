"""Findings, the models that were tried, how to read a report, and how to make it again."""

from typing import Any

from bayesfloor.report.blocks import MARKDOWN, Block, Bullets, Lines, Paragraph, Summary
from bayesfloor.report.sections.section import Facts, Section


class Findings(Section[Any]):
    """Findings, each with a code that can be looked up."""

    key = "findings"
    title = "What to know first"

    def data(self, facts: Facts[Any]) -> Summary:
        """List the findings."""
        keys = ("code", "sentence", "hint")
        return {"findings": [{key: getattr(each, key) for key in keys} for each in facts.figures.findings]}

    def text(self, summary: Summary) -> list[Block]:
        """Return the findings, and where to read what they mean."""
        findings = summary["findings"]
        items = [(each["code"], f"{each['sentence']} {each['hint']}") for each in findings]
        return [Bullets(items), Paragraph(f"'bayesfloor explain {findings[0]['code']}' says more.", "dim")]


class Learners(Section[Any]):
    """The learners of the stack; on the page alone."""

    key = "learners"
    title = "Models tried"

    def data(self, facts: Facts[Any]) -> Summary:
        """List how much each learner weighs."""
        return {"learners": [{"name": name, "weight": weight} for name, weight in facts.figures.weights.items()]}


class Reading(Section[Any]):
    """The words of a report, which the sections that use them explain."""

    key = "reading"
    title = "How to read this"

    def is_shown(self, summary: Summary) -> bool:
        """Tell whether there is a word to explain."""
        return bool(summary["how_to_read"])

    def text(self, summary: Summary) -> list[Block]:
        """Return the explanations."""
        words = [(f"{each['heading']}.", each["text"]) for each in summary["how_to_read"]]
        return [Bullets(words, only=MARKDOWN)]

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Part the explanations into paragraphs."""
        return {"words": [(each["heading"], each["text"].split("\n\n")) for each in summary["how_to_read"]]}


class Again(Section[Any]):
    """What makes the report again."""

    key = "again"
    title = "Run it again"

    def text(self, summary: Summary) -> list[Block]:
        """Return the command."""
        made_by = Paragraph(f"Made by bayesfloor {summary['version']} with", only=MARKDOWN)
        return [made_by, Lines([summary["command"]], only=MARKDOWN)]
