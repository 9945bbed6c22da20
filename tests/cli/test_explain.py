"""What a finding means, on the command line."""

import json
import sys

from bayesfloor.runtime.findings import SECTIONS, finding_codes, finding_page, finding_title
from one_case import for_each


@for_each("given", ["BF008", "bf008", "Bf8", "8", "008"])
def test_a_page(run, given):
    assert run("explain", given) == (0, finding_page("BF008"), "")


def test_several_pages(run):
    assert run("explain 7 bf8 BF007").out == finding_page("BF007") + "\n" + finding_page("BF008")


def test_all_codes(run):
    lines = run("explain").out.splitlines()
    assert lines[1:] == [f"{code}  {finding_title(code)}" for code in finding_codes()]
    listed = json.loads(run("explain --json").out)["result"]["findings"]
    assert listed == [{"code": code, "title": finding_title(code)} for code in finding_codes()]


def test_json(run):
    whole = json.loads(run("explain 7 8 --json").out)
    assert (whole["command"], whole["findings"]) == ("explain", [])
    first, second = whole["result"]["findings"]
    names = [heading.lower().replace(" ", "_") for heading in SECTIONS]
    assert list(first) == list(second) == ["code", "title", *names]
    assert (first["code"], second["code"]) == ("BF007", "BF008")
    assert first["title"] == "Features on very different scales"
    assert first["example"].startswith("```python\nimport numpy")


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
