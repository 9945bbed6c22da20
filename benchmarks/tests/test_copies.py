"""Tables of benchmarks/truth/copies.py: how often rows are there, and which are alike."""

import numpy as np
import pytest

from benchmarks.truth.copies import ALIKE, COPIED, copied, measure


@pytest.mark.parametrize("half", ["design", "held-out"])
def test_rows_are_there_as_often_as_a_table_says(half):
    assert len(COPIED[half]) == len(ALIKE[half]) == 20
    for made in COPIED[half]:
        X, y, after, labels = copied(made, np.random.default_rng(0))
        assert len(after) == len(labels) == round(made[1] * len(X))
        n_same = len(np.unique(after, axis=0))
        assert (n_same == len(np.unique(X, axis=0))) == (made[3] == 0)
        assert len(np.unique(y)) == len(np.unique(labels))


def test_answers_to_a_questionnaire_are_no_copies():
    found = measure("alike", "design", 0)
    assert found["repeats"] > 0.3
    assert found["told"] == []
