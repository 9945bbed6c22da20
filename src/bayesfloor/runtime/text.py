"""Text shown to people: names and values out of files and arrays, counts and lists, safe wherever they are shown."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def visible(text: Any) -> str:
    """Write text in one line, with control characters, and those that turn the direction, as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text))


def shown(name: Any) -> str:
    """Name a class or feature in a message; text is quoted, so that control characters show as escapes."""
    value = name.item() if isinstance(name, np.generic) else name
    return repr(value)


def quoted(text: str, longest: int = 40) -> str:
    """Quote a value in a message; a long one is cut."""
    return repr(text if len(text) <= longest else text[:longest] + "…")


def shortened(text: Any, most: int) -> str:
    """Write text in at most so many letters."""
    shown = visible(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def listed(items: Sequence[str], most: int = 5) -> str:
    """Join items by commas, the first few only."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def counted(number: int) -> str:
    """Write a count with blanks between thousands: 3 812."""
    return f"{number:,}".replace(",", " ")


def in_markdown(text: Any) -> str:
    """Write text so that Markdown shows it as it is, in a paragraph or a cell of a table."""
    shown = visible(text)
    for sign in "\\`*_[]#|~":
        shown = shown.replace(sign, "\\" + sign)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
