"""Classes that are whole numbers in an order."""

import numpy as np
import pytest

from bayesfloor import difficulty_report
from bayesfloor.report.ordered_classes import find_ordered_classes


def overlap(places):
    """How much classes overlap that lie at these places on a line."""
    return np.exp(-np.abs(np.subtract.outer(places, places)))


def test_classes_in_their_order_are_found_and_others_are_not():
    (found,) = find_ordered_classes(np.arange(5) + 3, overlap(np.arange(5)), "quality")
    assert found.code == "BF057"
    assert "The 5 classes of 'quality'" in found.sentence
    assert "--task regression" in found.hint
    for classes, hardness in [
        (np.arange(4), overlap(np.arange(4))),  # too few to tell an order from chance
        (np.arange(21), overlap(np.arange(21))),
        (np.arange(6), overlap(np.array([0, 3, 1, 5, 2, 4]))),
        (np.arange(8), np.ones((8, 8))),
        (np.array(list("abcdef")), overlap(np.arange(6))),
    ]:
        assert find_ordered_classes(classes, hardness, "y") == []


@pytest.mark.limits(learners=("gaussian", "linear"))
def test_a_report_on_grades_offers_the_number():
    rng = np.random.default_rng(0)
    y = rng.integers(1, 7, 300)
    report = difficulty_report((y + rng.normal(0, 0.8, 300))[:, None], y, effort="fast", checks=False)
    assert "BF057" in [finding.code for finding in report.findings]
