"""One table of calls that are refused in place of a test for each row of it."""

import re


def not_refused(call, table):
    """Rows of a table, of options and words, for which `call(**options)` is not refused in these words."""
    left = []
    for options, words in table:
        try:
            call(**options)
        except (ValueError, TypeError, FileNotFoundError) as error:
            if not re.search(words, str(error)):
                left.append((words, str(error)))
        else:
            left.append((words, "no error"))
    return left
