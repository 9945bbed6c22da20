"""Tables and pages."""

import pytest

from benchmarks.tools import pages, printed_page
from benchmarks.tools.measuring import (
    Version,
    in_own_process,
    in_turns,
    median_ratios,
    median_seconds,
    median_times,
    timed,
)
from benchmarks.tools.pages import ROOT


def test_table():
    assert pages.as_table(["a", "b"], [[1, "x"], [2.5, ""]]) == "| a | b |\n| --- | --- |\n| 1 | x |\n| 2.5 |  |"


def test_page_with_notes(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    (tmp_path / "some_notes.md").write_text("\nBy hand.\n")
    pages.write_page("some", "# Title", pages.notes_of("some"), "", pages.notes_of("other"), "end\n")
    assert (tmp_path / "some.md").read_text() == "# Title\n\nBy hand.\n\nend\n"


def test_what_a_script_prints_is_a_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    printed_page.main(["speed.scale_model"])
    text = (tmp_path / "scale_model.md").read_text()
    assert text.startswith("# What exact forests cost far past what was run")
    assert "`python -m benchmarks.speed.scale_model`, on " in text
    assert "\n| what | on | model | measured |\n" in text
    with pytest.raises(SystemExit, match=r"no script benchmarks\.speed\.nothing"):
        printed_page.main(["speed.nothing"])
    with pytest.raises(SystemExit, match="What a script prints"):
        printed_page.main([])


def test_timing():
    clock = iter([1.0, 4.0])
    seconds, cpu, result = timed(lambda: "done", lambda: next(clock))
    assert (cpu, result) == (3.0, "done")
    assert 0 <= seconds < 60
    runs = []
    assert median_seconds(lambda: runs.append(1), runs=5, enough=0.0) >= 0
    assert len(runs) == 1
    median_seconds(lambda: runs.append(1), runs=3)
    assert len(runs) == 4


def test_a_measurement_in_its_own_process():
    found = in_own_process("benchmarks.speed.forests", "growth", 2, 400)
    assert set(found) == {"ours_1", "ours_3", "peak_mib", "process_mib"}


def test_ways_take_turns():
    order = []
    runs = in_turns({"one": lambda: order.append("one"), "other": lambda: order.append("other")}, 2)
    assert order == ["one", "other", "one", "other"]
    assert {way: len(times) for way, times in runs.items()} == {"one": 2, "other": 2}


def test_ratios_are_those_of_rounds():
    slow, fast = [(2.0, 3.0), (8.0, 12.0), (9.0, 9.0)], [(1.0, 1.0), (2.0, 2.0), (3.0, 9.0)]
    assert median_times(slow) == [8.0, 9.0]
    assert median_ratios(slow, fast) == [3.0, 3.0]


def test_a_version_answers_in_its_own_process():
    version = Version(ROOT / "src", "benchmarks.speed.learners", n_threads=1)
    assert "gaussian" in version.ask("iris")
    with pytest.raises(RuntimeError, match="no such set"):
        version.ask("no such set")
    version.close()
    assert version.process.returncode == 1
