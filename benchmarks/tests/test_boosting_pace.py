"""Boosting over parts in several ways: settings are those of the library, and each way is on the page."""

import inspect

from bayesfloor.learn import boosting_by_parts
from benchmarks.speed import boosting_pace
from benchmarks.speed.boosting_pace import TABLES, WAYS, write_table


def test_settings_are_those_of_boosting():
    *_, as_it_is = WAYS.values()
    assert all(getattr(boosting_by_parts, name) == value for name, value in as_it_is.items())
    code = inspect.getsource(boosting_by_parts)
    for settings in WAYS.values():
        assert all(hasattr(boosting_by_parts, name) and code.count(name) > 1 for name in settings)
    assert boosting_by_parts.FEWEST_TREES < boosting_by_parts.MOST_TREES


def test_the_page_has_each_way_of_each_table(monkeypatch):
    pages = []
    monkeypatch.setattr(boosting_pace, "write_page", lambda name, *parts: pages.append((name, "\n".join(parts))))
    figures = {"n_rows": 10**6, "n_classes": 3, "n_rounds": 150, "error": 0.25, "standard_error": 0.004}
    figures |= {"log_loss": 0.7, "seconds": 60.0, "cpu_seconds": 100.0}
    write_table([figures | {"table": table, "way": way} for table in TABLES for way in WAYS])
    ((name, text),) = pages
    assert name == "boosting_pace"
    lines = [line for line in text.splitlines() if line.startswith("| ") and "0.2500 ± 0.0040" in line]
    assert [line.split("|")[1].strip() for line in lines] == [table for table in TABLES for _ in WAYS]
    assert [line.split("|")[4].strip() for line in lines[:3]] == list(WAYS)
