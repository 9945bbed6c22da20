"""Tables of what is refused: each row has what is handed in and the words that say why it cannot be used."""

import re
import reprlib


def not_refused(call, table, error=ValueError):
    """Return a line for each row of a table, of arguments and a pattern, that is not refused in such words.

    >>> not_refused(int, [("a", "invalid literal"), ("b", "too large"), ("3", "three")])
    ["'b': invalid literal for int() with base 10: 'b'", "'3' is taken"]
    """
    wrong = []
    for given, words in table:
        shown = reprlib.repr(given)
        try:
            call(given)
        except error as raised:
            if not re.search(words, str(raised)):
                wrong.append(f"{shown}: {raised}")
        else:
            wrong.append(f"{shown} is taken")
    return wrong


def options_not_refused(call, table):
    """Return a line for each row of options and a pattern, for which `call(**options)` is not refused so."""
    return not_refused(lambda options: call(**options), table, (ValueError, TypeError, FileNotFoundError))
