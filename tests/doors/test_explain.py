"""What a finding means, on the command line."""

import json
import sys

from bayesfloor.results import Finding
from helpers.one_case import for_each


def page(code):
    return Finding(code, "", "").explain()


@for_each("given", ["BF008", "bf008", "Bf8", "8", "008"])
def test_a_page(run, given):
    assert run("explain", given) == (0, page("BF008"), "")


def test_several_pages_and_all_codes(run):
    assert run("explain 7 bf8 BF007").out == page("BF007") + "\n" + page("BF008")
    whole = json.loads(run("explain 7 8 --json").out)
    assert (whole["command"], whole["findings"]) == ("explain", [])
    first, second = whole["result"]["findings"]
    headings = [line[3:].lower().replace(" ", "_") for line in page("BF008").splitlines() if line.startswith("## ")]
    assert list(first) == list(second) == ["code", "title", *headings]
    assert (first["code"], second["code"]) == ("BF007", "BF008")
    assert first["title"] == "Features on very different scales"
    assert first["example"].startswith("```python\nimport numpy")
    listed = json.loads(run("explain --json").out)["result"]["findings"]
    assert len(listed) > 40
    assert listed == [{"code": each["code"], "title": Finding(each["code"], "", "").title} for each in listed]
    assert run("explain").out.splitlines()[1:] == [f"{each['code']}  {each['title']}" for each in listed]


@for_each(
    "given, says",
    [
        ("BF080", "there is no finding 'BF080'; did you mean BF008 (Too many dimensions"),
        ("copies", "BF037 (Copies of one observation), BF038 (Rows that are nearly copies"),
        ("nonsense", "there is no finding 'nonsense'. 'bayesfloor explain' lists all."),
        ("\x1b[31m", r"there is no finding '\x1b[31m'"),
        ("9" * 5000, "there is no finding"),
        ("", "there is no finding ''"),
    ],
)
def test_unknown_codes(run, given, says):
    outcome = run("explain", "BF008", given)
    assert (outcome.code, outcome.out) == (2, "")
    assert says in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_terminal_gets_headings_and_colours(run, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = run("explain BF008").out
    assert "\x1b[" in shown
    assert "## " not in shown
    assert "```" not in shown
    assert "Too many dimensions for the number of rows" in shown
