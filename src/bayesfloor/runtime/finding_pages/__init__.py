"""What each finding means: a page of Markdown beside this file for every code, ``BF001.md`` and so on.

`Finding.explain`, ``bayesfloor explain`` and the documentation show the same text. A page has a title, ``# BF008: …``,
and the sections that `SECTIONS` names. Links to other pages of the documentation are written as code hosts follow them,
relative to this folder; codes of other findings are plain text.
"""

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent

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
