"""Text for people and files that nothing in a name can write over or turn round."""

import json

import pytest

from bayesfloor.runtime.text import json_text, unique_names

HOSTILE = 'a\x1b[31mb\x7f\x9b\u202e\u2066\u200f\u2028\U000e0001\ud800"\\\n'


@pytest.mark.parametrize("ascii_only", [False, True])
def test_json_escapes_what_is_not_seen(ascii_only):
    value = {HOSTILE: [HOSTILE, "größe 大小", 1.5, None]}
    text = json_text(value, ascii_only=ascii_only)
    assert json.loads(text) == value
    assert all(sign.isprintable() for line in text.split("\n") for sign in line)
    assert ("größe 大小" in text) is not ascii_only


def test_names_that_come_again_are_numbered():
    assert unique_names(["a", "b", "a", "a_2", "a"]) == ["a", "b", "a_2_", "a_2", "a_3"]
    assert unique_names([]) == []
