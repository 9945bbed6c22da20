"""What examples print, beside what pages say they print."""

import re

FRACTION = re.compile(r"\d+\.\d+")


def assert_same_text(text, expected, tolerance=0.01):
    """Everything is as expected; the last digits of fractions may depend on the machine and on versions."""
    assert FRACTION.split(text) == FRACTION.split(expected)
    for found, stated in zip(FRACTION.findall(text), FRACTION.findall(expected), strict=True):
        assert abs(float(found) - float(stated)) <= tolerance + 1e-9
