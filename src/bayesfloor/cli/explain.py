"""The command explain: what the codes of findings mean."""

import re
import sys
from typing import Annotated

from cyclopts import Parameter

from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.options import SHOW_DEFAULTS, ShowOptions
from bayesfloor.cli.output import show, table_text
from bayesfloor.runtime.findings import finding_codes, finding_page, finding_sections, finding_title
from bayesfloor.runtime.text import listed

#: Maximum length of a line on a terminal.
_WIDEST = 100
#: Maximum number of similar codes that are suggested for an unknown one.
_MOST_NEAR = 3


def explain(
    *codes: Annotated[str, Parameter(name="CODE", help="Codes such as BF008, or their numbers; all by default.")],
    options: ShowOptions = SHOW_DEFAULTS,
) -> None:
    """Say what a finding means, how it comes about, and what to do about it.

    Without a code, list all of them.

    Examples
    --------
    bayesfloor explain
    bayesfloor explain BF008
    bayesfloor explain bf3 bf37 --json
    """
    if not codes:
        titles = [(code, finding_title(code)) for code in finding_codes()]
        listing = {"findings": [{"code": code, "title": title} for code, title in titles]}
        show("explain", listing, table_text(["code", "what was found"], titles), options)
        return
    wanted = list(dict.fromkeys(_known_code(each) for each in codes))
    pages = [finding_page(code).rstrip() for code in wanted]
    result = [{"code": code, "title": finding_title(code), **finding_sections(code)} for code in wanted]
    show("explain", {"findings": result}, "\n\n".join(map(_shown, pages)), options)


def _known_code(given: str) -> str:
    """Return the code that is meant: BF008, bf8 and 8 are the same."""
    number = re.fullmatch(r"(?:bf)?0*(\d{1,3})", given.strip(), flags=re.IGNORECASE)
    code = f"BF{int(number[1]):03d}" if number else given
    if code in finding_codes():
        return code
    if number:
        near = sorted(finding_codes(), key=lambda known: _distance(known, code))
    else:
        near = [each for each in finding_codes() if given and given.lower() in finding_title(each).lower()]
    named = listed([f"{each} ({finding_title(each)})" for each in near[:_MOST_NEAR]])
    hint = f"; did you mean {named}?" if near else "."
    raise UsageError(f"there is no finding {code!r}{hint} 'bayesfloor explain' lists all.")


def _distance(known: str, code: str) -> tuple[bool, int, int]:
    """Tell how far a code is from one that is known: first those whose digits were swapped, then one that differs."""
    n_different = sum(one != other for one, other in zip(known, code, strict=True))
    return sorted(known) != sorted(code), n_different, abs(int(known[2:]) - int(code[2:]))


def _shown(page: str) -> str:
    """Return a page as it is for a file or a pipe, and with headings and code set apart for a terminal."""
    if not sys.stdout.isatty():
        return page
    from io import StringIO

    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    buffer = StringIO()
    # the terminal's own colours, without a background, suit a light terminal and a dark one
    console = Console(file=buffer, force_terminal=True, theme=Theme({"markdown.code": "bold cyan"}))
    console.print(Markdown(page, code_theme="ansi_dark"), width=min(console.width, _WIDEST))
    return buffer.getvalue().rstrip()
