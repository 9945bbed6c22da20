"""What examples print, beside what pages say they print."""

import os
import re

#: After figures have changed: pages are rewritten by what their examples print.
UPDATE = os.environ.get("BAYESFLOOR_UPDATE_PAGES") == "1"
FRACTION = re.compile(r"\d+\.\d+")
#: A fraction in percent, or the lower end of a range in percent.
PERCENT = re.compile(r"\d+\.\d+(?=(?:–\d+(?:\.\d+)?)?%)")


def assert_same_text(text, expected, tolerance=0.01):
    """Everything is as expected; the last digits of fractions may depend on the machine and on versions.

    The tolerance is absolute for values below 1 and for percentages, and relative for larger values.
    """
    assert FRACTION.split(text) == FRACTION.split(expected)
    in_percent = {match.start() for match in PERCENT.finditer(expected)}
    for found, stated in zip(FRACTION.findall(text), FRACTION.finditer(expected), strict=True):
        value = float(stated.group())
        allowed = tolerance * (100.0 if stated.start() in in_percent else max(1.0, value))
        assert abs(float(found) - value) <= allowed + 1e-9, f"{found} where the page has {stated.group()}"
