"""Tables with permuted labels: which there are, and what the page says."""

from benchmarks.truth import permutation


def test_there_are_tables_of_both_tasks():
    numbers = [kind.is_number for kind in permutation.KINDS.values()]
    assert len(numbers) >= 30
    assert 5 <= sum(numbers) <= len(numbers) - 20


def test_the_page_says_what_is_wrong():
    records = [
        {"table": "a", "task": "classification", "n": 9, "value": value, "is_covered": value < 0.55, "seconds": 1.0}
        for value in (0.5, 0.52, 0.6)
    ]
    page = "\n".join(permutation.summarise(records))
    assert "mean 0.5400 ± 0.0306" in page  # standard deviation .05292, over the root of 3
    assert "NOT within 0.005 of 0.5" in page
    assert "Intervals right in 66.7%, NOT as the 97.5%" in page
