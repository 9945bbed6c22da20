"""Findings, the models that were tried, how to read a report, and how to make it again."""

import shlex
from typing import Any, NamedTuple

from bayesfloor.report.blocks import MARKDOWN, Block, Bullets, Lines, Paragraph, Summary
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.findings import Finding

#: Findings that change most first; those that are not named here come between these and the last ones.
_FIRST = (
    *("BF009", "BF005", "BF034", "BF036", "BF037", "BF038", "BF004", "BF023", "BF048", "BF013", "BF028", "BF022"),
    *("BF042", "BF029", "BF039", "BF040", "BF051", "BF052", "BF024", "BF049", "BF026", "BF041"),
)
#: Findings that change nothing.
_LAST = ("BF021", "BF047", "BF006", "BF035")
#: Findings that the first screen, or a section of their own, says already.
_SAID = {"BF034", "BF036", "BF037", "BF038", "BF023", "BF048", "BF024", "BF049"}
_SAID |= {"BF025", "BF050", "BF039", "BF040", "BF051", "BF052", "BF026", "BF041", "BF054"}
#: Findings on the estimates of spanning trees alone: they stand with the class tree.
_OF_TREES = {"BF001", "BF002", "BF003", "BF007", "BF008", "BF010", "BF011", "BF012", "BF016", "BF018"}
#: Options of reports that 'fit' does not have.
_OF_REPORTS = {f"--{name}" for name in ("metric", "costs", "positive", "target-value")}
_OF_REPORTS |= {f"--{name}" for name in ("by", "model", "predictions", "id", "column")}
#: Findings that are shown at once, at the most.
_MOST_SHOWN = 3


class SortedFindings(NamedTuple):
    """Findings by where they are shown, each part by consequence: at once, folded, and with the class tree."""

    shown: list[Summary]
    folded: list[Summary]
    of_trees: list[Summary]


def sorted_findings(summary: Summary) -> SortedFindings:
    """Say which findings of a report are shown where."""
    of_trees = [each for each in summary["findings"] if each["code"] in _OF_TREES]
    others = [each for each in summary["findings"] if each["code"] not in _OF_TREES]
    said = _said(summary)
    telling = [each for each in others if each["code"] not in said and each["code"] not in _LAST][:_MOST_SHOWN]
    return SortedFindings(telling, [each for each in others if each not in telling], of_trees)


def _said(summary: Summary) -> set[str]:
    """Return the codes of what the first screen says."""
    has_leak = any(each["kind"] == "leak" for each in summary["verdict"]["reasons"])
    return _SAID | {"BF009"} if has_leak else _SAID


def _consequence(finding: Finding) -> int:
    """Return a number that is small where a finding changes much."""
    if finding.code in _LAST:
        return len(_FIRST) + 1 + _LAST.index(finding.code)
    return _FIRST.index(finding.code) if finding.code in _FIRST else len(_FIRST)


def findings_text(findings: list[Summary], more: list[Summary] | None = None) -> list[Block]:
    """Return findings as a list, others for Markdown alone, and where to read what they mean."""
    items, others = (
        [(each["code"], f"{each['sentence']} {each['hint']}") for each in some] for some in (findings, more or [])
    )
    blocks: list[Block] = [Bullets(items), *([Bullets(others, only=MARKDOWN)] if others else [])]
    return [*blocks, Paragraph(f"'bayesfloor explain {findings[0]['code']}' says more.", "dim")]


class Findings(Section[Any]):
    """Findings, each with a code that can be looked up: those that matter most, and the others folded."""

    key = "findings"
    title = "Findings"

    def data(self, facts: Facts[Any]) -> Summary:
        """List the findings, by consequence."""
        keys = ("code", "sentence", "hint")
        found = sorted(facts.figures.findings, key=_consequence)
        return {"findings": [{key: getattr(each, key) for key in keys} for each in found]}

    def is_shown(self, summary: Summary) -> bool:
        """Tell whether there are any beside those on spanning trees."""
        return any(sorted_findings(summary)[:2])

    def is_folded(self, summary: Summary) -> bool:
        """Tell whether none says anything new."""
        return not sorted_findings(summary).shown

    def text(self, summary: Summary) -> list[Block]:
        """Return the findings that are shown at once, and in Markdown the others; in a detail, these alone."""
        found = sorted_findings(summary)
        return findings_text(found.shown, found.folded) if found.shown else findings_text(found.folded)

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Part them into those that are shown and those that are folded."""
        return sorted_findings(summary)._asdict()


class Learners(Section[Any]):
    """The learners of the stack; on the page alone."""

    key = "learners"
    title = "Models tried"
    is_detail = True

    def data(self, facts: Facts[Any]) -> Summary:
        """List how much each learner weighs."""
        return {"learners": [{"name": name, "weight": weight} for name, weight in facts.figures.weights.items()]}


class Reading(Section[Any]):
    """The words of a report, which the sections that use them explain."""

    key = "reading"
    title = "How to read this"
    is_detail = True

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
    is_detail = True

    def text(self, summary: Summary) -> list[Block]:
        """Return the command, and what trains the models that were tried."""
        made_by = Paragraph(f"Made by bayesfloor {summary['version']} with", only=MARKDOWN)
        return [
            made_by,
            Lines([summary["command"]], only=MARKDOWN),
            Paragraph("The best model that was tried is trained on all rows, and kept, by", only=MARKDOWN),
            Lines([model_call(summary)], only=MARKDOWN),
        ]

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Add what trains the models that were tried."""
        return {"model_call": model_call(summary)}


def model_call(summary: Summary) -> str:
    """Write the command, or the call, that gives the stack of models as a model."""
    try:
        words = shlex.split(summary["command"])
    except ValueError:  # a caller may name anything as the command, such as text with one quotation mark
        words = []
    if words[:2] != ["bayesfloor", "report"]:
        return f"Stacked{'Regressor' if summary['task'] == 'regression' else 'Classifier'}().fit(X, y)"
    kept, is_kept = [], True
    for word in words[2:]:
        is_kept = word not in _OF_REPORTS if word.startswith("--") else is_kept
        kept += [word] if is_kept else []
    return shlex.join(["bayesfloor", "fit", *kept, "--model", "stack", "--out", "model.skops"])
