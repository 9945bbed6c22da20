"""Text from a file, shown to a person."""

from typing import Any


def visible(text: Any) -> str:
    """Write text in one line, with control characters, and those that turn the direction, as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in str(text))
