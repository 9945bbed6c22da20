"""What `bayesfloor report` says of trust, and its answer, are found in what it prints."""

import pytest

from benchmarks.real.report import answer_in

ANSWER = "The floor is about 0.47% (95% range 0–1.5%). The best model tried reaches 1.3%."


@pytest.mark.parametrize("trust", ["Nothing suspicious was found. And so on.", "Trust: leak. 'code' tells."])
def test_the_answer_begins_with_trust(trust):
    printed = f"digits\nPredicted: class. From: 9 rows.\n{trust}\n{ANSWER}\nDo next:\n1.  Get more rows.\n"
    assert answer_in(printed) == f"{trust} {ANSWER}"


def test_an_answer_without_a_word_on_trust_is_an_error():
    with pytest.raises(ValueError, match="nothing is said of trust"):
        answer_in(f"digits\n{ANSWER}")
