"""Rows of a table tested in one case, which lists all that fail: a case of its own for each would cost more than it."""

import functools
import inspect

import pytest


def for_each(names, rows):
    """Take the place of `pytest.mark.parametrize`: all rows are one case, whose fixtures they share."""
    names = names.split(", ") if isinstance(names, str) else list(names)
    rows = list(rows)

    def decorate(test):
        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in names]

        @functools.wraps(test)
        def over_all(**fixtures):
            errors = []
            for row in rows:
                given = dict(zip(names, row if len(names) > 1 else [row], strict=True))
                try:
                    test(**given, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"in the row {row!r:.500}")
                    errors.append(error)
            if errors:
                raise BaseExceptionGroup(f"{len(errors)} of {len(rows)} rows failed", errors)

        over_all.__signature__ = signature.replace(parameters=left)
        return over_all

    return decorate
