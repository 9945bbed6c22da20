"""What was noticed in the data that bears on the answer."""

from dataclasses import asdict
from typing import Any

from bayesfloor.report.blocks import Block, Bullets, Paragraph, Summary
from bayesfloor.report.sections.section import Facts, Section


class Findings(Section[Any]):
    """Findings, each with a code that can be looked up."""

    key = "findings"
    title = "What to know first"

    def data(self, facts: Facts[Any]) -> Summary:
        """List the findings."""
        return {"findings": [asdict(each) for each in facts.figures.findings]}

    def text(self, summary: Summary) -> list[Block]:
        """Return the findings, and where to read what they mean."""
        findings = summary["findings"]
        told = [(each["code"], f"{each['sentence']} {each['hint']}") for each in findings]
        return [Bullets(told), Paragraph(f"'bayesfloor explain {findings[0]['code']}' says more.", "dim")]
