"""The report as one HTML file: a summary in, a page out that needs nothing else."""

import base64
import hashlib

from markupsafe import Markup, escape

from bayesfloor.report.blocks import Summary
from bayesfloor.report.page.templating import fill, template_text
from bayesfloor.report.sections import sections_shown


def render_page(summary: Summary, *, fragment: bool = False) -> str:
    """Write the report as HTML.

    Parameters
    ----------
    summary : dict
        The figures and sentences of a report; `README.md` of the room says what is in it.
    fragment : bool, default=False
        Return a ``<div>`` for notebooks, which holds the page in a frame of its own: neither style sheet reaches the
        other. By default a whole page.

    Returns
    -------
    str
        HTML that asks for nothing from elsewhere.
    """
    style, script = (Markup(template_text(name)) for name in ("report.css", "report.js"))
    shown: dict[bool, list[dict[str, str]]] = {False: [], True: []}
    for each in sections_shown(summary):
        part = {"key": each.key, "heading": each.heading(summary), "body": each.html(summary)}
        shown[each.is_folded(summary)].append(part)
    page = fill(
        "page.html",
        summary,
        style=style,
        script=script,
        policy=content_policy(script),
        sections=shown[False],
        details=shown[True],
    )
    return str(fill("fragment.html", summary, page=escape(str(page))) if fragment else page)


def content_policy(script: str) -> str:
    """Return the policy that a browser is to hold the page to: its own style, this script, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
