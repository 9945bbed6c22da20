"""What examples print, beside what pages say they print."""

import re

FRACTION = re.compile(r"\d+\.\d+")
#: A fraction in percent, or the lower end of a range in percent.
PERCENT = re.compile(r"\d+\.\d+(?=(?:–\d+(?:\.\d+)?)?%)")


def assert_same_text(text, expected, tolerance=0.01):
    """Everything is as expected; the last digits of fractions may depend on the machine and on versions."""
    assert FRACTION.split(text) == FRACTION.split(expected)
    in_percent = {match.start() for match in PERCENT.finditer(expected)}
    for found, stated in zip(FRACTION.findall(text), FRACTION.finditer(expected), strict=True):
        allowed = 100 * tolerance if stated.start() in in_percent else tolerance
        assert abs(float(found) - float(stated.group())) <= allowed + 1e-9, f"{found} where the page has {stated.group()}"
