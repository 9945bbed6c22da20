"""A finding: something noticed in the data that a reader of the result should know, and the page that explains it.

There is a page of Markdown in ``finding_pages`` for every code, ``BF001.md`` and so on. `Finding.explain`,
``bayesfloor explain`` and the documentation show the same text. A page has a title, ``# BF008: …``, and the sections
that `SECTIONS` names. Links to other pages of the documentation are written as code hosts follow them, relative to that
folder; codes of other findings are plain text.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: Where the pages of findings are.
FOLDER = Path(__file__).with_name("finding_pages")

#: The sections of each page, in their order.
SECTIONS = (
    "What it means",
    "How it is found",
    "Why it matters",
    "Example",
    "What to do",
    "What it does not mean",
    "See also",
)

_LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(docs/[^)]+)\)")


@cache
def finding_codes() -> tuple[str, ...]:
    """Return the codes of all findings, in their order."""
    return tuple(sorted(page.stem for page in FOLDER.glob("BF*.md")))


def finding_page(code: str) -> str:
    """Return the page of a finding in Markdown, with the files of the documentation named where it links to them.

    Parameters
    ----------
    code : str
        ``BF001`` and so on.

    Returns
    -------
    str
    """
    return _LINK.sub(r"\1 (\2)", (FOLDER / f"{code}.md").read_text(encoding="utf-8"))


def finding_title(code: str) -> str:
    """Return the title of a finding's page without its code; empty for a code that has no page."""
    if code not in finding_codes():
        return ""
    with (FOLDER / f"{code}.md").open(encoding="utf-8") as page:
        return page.readline().partition(": ")[2].rstrip()


def finding_sections(code: str) -> dict[str, str]:
    """Return the text of each section of a finding's page, by its heading with underscores: ``what_it_means``."""
    _, *parts = re.split(r"^## (.+)\n", finding_page(code), flags=re.MULTILINE)
    names = (heading.lower().replace(" ", "_") for heading in parts[::2])
    return {name: text.strip() for name, text in zip(names, parts[1::2], strict=True)}


@dataclass(frozen=True)
class Finding:
    """Something about the data that bears on the floor.

    Attributes
    ----------
    code : str
        ``BF001`` and so on.
    sentence : str
        What was found, with the figures.
    hint : str
        What to do about it.

    Examples
    --------
    >>> from bayesfloor import bayes_error
    >>> (finding,) = bayes_error([[0.0], [1.5], [3.1], [9.0], [8.2], [7.1]], [0, 0, 0, 1, 1, 1], n_trees=1).findings
    >>> finding.title
    'A class with very few rows'
    >>> print(finding.explain())  # doctest: +ELLIPSIS
    # BF001: A class with very few rows
    ...
    """

    code: str
    sentence: str
    hint: str

    @property
    def title(self) -> str:
        """What such a finding is about, in a few words."""
        return finding_title(self.code)

    def explain(self) -> str:
        """Say what the finding means, how it comes about, what it spoils, and what to do, with an example.

        Returns
        -------
        str
            Markdown, as ``bayesfloor explain`` prints it.
        """
        return finding_page(self.code)

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence} {self.hint}"


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by code."""
    return tuple(sorted(findings, key=lambda finding: finding.code))
