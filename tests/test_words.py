"""Plain words: phrases that readers stumbled over stand nowhere in the README, the guide and the package."""

import re
from pathlib import Path

from one_case import for_each

ROOT = Path(__file__).resolve().parents[1]
FILES = [
    ROOT / "README.md",
    *sorted(
        file
        for folder in ("docs", "src", "examples")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in {".md", ".rst", ".py", ".html", ".json"} and "_build" not in file.parts
    ),
]
#: What was said, and what to say.
PLAIN = {
    r"\bproven\b": "measured: a model did this on rows it had not seen",
    r"\bup to sampling\b": "measured, allowing for sampling",
    r"\b(?:held|holds) the known floor\b": "on simulated data with a known floor the range contained it … of … times",
    r"\bas (?:it|they) lies? there\b": "takes messy tables",
    r"\bnam(?:e|es|ed|ing) the largest class\b": "always predicting the commonest class",
    r"\btheir shares of the classes\b": "target-encoded",
    r"\bdirections of (?:hashed )?n-grams\b": "components of text n-grams",
    r"\bcolumn that tells (?:them|gaps)\b": "plus a was-missing flag",
}


def places_of(phrase, text):
    """Lines on which a phrase begins; a line may end within it."""
    return [text.count("\n", 0, match.start()) + 1 for match in re.finditer(phrase.replace(" ", r"\s+"), text, re.I)]


@for_each("phrase, plain", PLAIN.items())
def test_words_are_plain(phrase, plain):
    texts = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in FILES}
    assert len(texts) > 300
    found = {name: places for name, text in texts.items() if (places := places_of(phrase, text))}
    assert found == {}, f"say: {plain}"


def test_phrases_are_found():
    assert places_of(r"\bup to sampling\b", "a\nthe upper side, up\nto sampling") == [2]
    assert places_of(r"\bproven\b", "Proven.") == [1]
    assert places_of(r"\bproven\b", "unproven") == []
