"""Text for people and files that nothing in a name can write over or turn round."""

import json

from bayesfloor.runtime.text import figure, json_text, percent, percent_range, unique_names
from helpers.one_case import for_each

HOSTILE = 'a\x1b[31mb\x7f\x9b\u202e\u2066\u200f\u2028\U000e0001\ud800"\\\n'


@for_each("ascii_only", [False, True])
def test_json_escapes_what_is_not_seen(ascii_only):
    value = {HOSTILE: [HOSTILE, "größe 大小", 1.5, None]}
    text = json_text(value, ascii_only=ascii_only)
    assert json.loads(text) == value
    assert all(sign.isprintable() for line in text.split("\n") for sign in line)
    assert ("größe 大小" in text) is not ascii_only


def test_names_that_come_again_are_numbered():
    assert unique_names(["a", "b", "a", "a_2", "a"]) == ["a", "b", "a_2_", "a_2", "a_3"]
    assert unique_names([]) == []


def test_rates_have_the_digits_that_matter():
    expected = {
        0.0: "0%",
        0.00004: "<0.01%",
        0.00042: "0.04%",
        0.0123: "1.2%",
        0.135: "13.5%",
        1.0: "100%",
        None: "–",
    }
    assert {rate: percent(rate) for rate in expected} == expected


def test_ranges_and_figures():
    assert percent_range(0.00001, 0.151) == "0–15.1%"
    assert percent_range(0.9996, 1.0) == "99.96–100%"
    assert percent_range(0.99997, 1.0) == ">99.99–100%"
    assert percent_range(0.013, 0.151) == "1.3–15.1%"
    assert [figure(value) for value in (0.01234, 4.567, 12345.0, 0.9996)] == ["0.0123", "4.57", "12,300", "0.9996"]
