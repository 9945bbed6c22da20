"""Names from a file, made harmless for what they are shown on."""

from typing import Any

from bayesfloor.data.visible_text import visible


def in_markdown(text: Any) -> str:
    """Write text so that Markdown shows it as it is, in a paragraph or a cell of a table."""
    shown = visible(text)
    for sign in "\\`*_[]#|~":
        shown = shown.replace(sign, "\\" + sign)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def shortened(text: Any, most: int) -> str:
    """Write text in at most so many letters."""
    shown = visible(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"
