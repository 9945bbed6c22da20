"""answers.py names what has changed: a figure, a fold, an exit code, a word; and nothing where nothing has."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

from benchmarks.tools import answers
from benchmarks.tools.answer_cases import CASES, Case, bf, commanded, figures_of_case, points, words, words_of_sections
from benchmarks.tools.answer_figures import changes, figures_of


@dataclass(frozen=True)
class Answer:
    """A result with a nested one, a property, and what is no answer."""

    estimate: float
    curve: np.ndarray
    inner: "Answer | None" = None
    seconds: float = 0.0
    _secret: int = 0

    @property
    def range(self):
        return (self.estimate, float("inf"))

    @property
    def honest(self):
        return self


def state_with(monkeypatch, calls):
    """Return the state of one input, made in this process."""
    monkeypatch.setitem(CASES, "one", Case(calls, True, 1))
    figures, seconds = figures_of_case("one")
    return {"made_with": {"package": "x"}, "inputs": {"one": {"figures": figures, "seconds": seconds}}}


def changed(before, after):
    return {figure for of_input in answers.differences(before, after).values() for figure, _ in of_input}


def test_figures_follow_public_attributes():
    answer = Answer(0.25, np.arange(3), Answer(np.float32(0.5), np.zeros((20, 20)), seconds=1.0), _secret=1)
    found = figures_of({"floor": answer}, "it")
    assert found["it[floor].estimate"] == 0.25
    assert found["it[floor].curve"] == {"shape": [3], "values": [0, 1, 2]}
    assert found["it[floor].inner.estimate"] == 0.5
    assert found["it[floor].honest"] == "itself"
    assert found["it[floor].inner.curve"]["shape"] == [20, 20]
    assert "bytes" in found["it[floor].inner.curve"]
    assert not any("seconds" in name or "secret" in name for name in found)
    assert json.loads(json.dumps(found)) == found


def test_kinds_of_numbers_are_no_answer_and_their_last_bits_are():
    few, many = np.linspace(0, 1, 5), np.linspace(0, 1, 500)
    for array in (few, many):
        same = dict(changes(figures_of(array, "a"), figures_of(np.asfortranarray(array), "a")))
        assert same == {}
        off = array.copy()
        off[3] = np.nextafter(off[3], 2)
        ((name, how),) = changes(figures_of(array, "a"), figures_of(off, "a"))
        assert name == "a"
        assert ("1 of 5 values, the first at [3]: 0.75 → 0.7500000000000001" in how) == (array is few)
    assert dict(changes(figures_of(np.int32([1, 2]), "a"), figures_of(np.int64([1, 2]), "a"))) == {}
    assert dict(changes(figures_of(1, "a"), figures_of(1.0, "a"))) == {"a": "1 → 1.0"}
    assert dict(changes(figures_of(np.nan, "a"), figures_of(np.nan, "a"))) == {}


def test_what_is_gone_or_new_is_named():
    assert dict(changes({"a": 1, "b": 2}, {"b": 2, "c": 3})) == {"a": "1 → gone", "c": "not there → 3"}
    words_of = {"x": {"set": ["one", "two"]}}, {"x": {"set": ["two", "three"]}}
    assert dict(changes(*words_of)) == {"x": "gone: one; new: three"}


def test_words_and_sections():
    assert words("Took 3.2 seconds, 5% of all it’s worth") == {"Took", "of", "all", "it’s", "worth"}
    assert words_of_sections("# A\none\n## B c\ntwo 2\n") == {"A": {"one"}, "B c": {"two"}}


def test_the_same_twice_is_no_difference(monkeypatch):
    def calls():
        X, y = points(60, 2, 2)
        yield "floor", lambda: bf.learned_floor(X, y, learners=["gaussian"], n_jobs=1)
        yield "trees", lambda: bf.bayes_error(X, y, n_jobs=1)

    states = [state_with(monkeypatch, calls) for _ in range(2)]
    assert len(states[0]["inputs"]["one"]["figures"]) > 100
    assert changed(*states) == set()
    assert answers.failures(states[0]) == []


def test_a_planted_figure_fold_and_exit_code_are_named(monkeypatch):
    def calls(seed=0, code="BF008"):
        X, y = points(60, 2, 2)
        how = {"learners": ["gaussian"], "checks": False, "n_jobs": 1}
        yield "floor", lambda: bf.learned_floor(X, y, random_state=seed, **how)
        yield "command", lambda: commanded(f"explain {code}")

    before = state_with(monkeypatch, calls)
    one = json.loads(json.dumps(before))
    figures = one["inputs"]["one"]["figures"]
    figures["floor.estimate"] = float(np.nextafter(figures["floor.estimate"], 1))
    assert changed(before, one) == {"floor.estimate"}

    folds = changed(before, state_with(monkeypatch, lambda: calls(seed=1)))
    assert {"floor.stack[0][folds]", "floor.stack[0][rows]", "floor.stack[0][predicted][0]"} <= folds
    assert not any(figure.startswith("command") for figure in folds)

    exits = changed(before, state_with(monkeypatch, lambda: calls(code="BF999")))
    assert "command[exit]" in exits
    assert not any(figure.startswith("floor") for figure in exits)


def test_errors_and_names_that_are_gone_take_nothing_else_along(monkeypatch):
    def fails():
        raise ValueError("no rows")

    def calls():
        yield "first", fails
        yield "gone", lambda: bf.no_such_name
        yield "last", lambda: 1
        raise RuntimeError("no input")

    state = state_with(monkeypatch, calls)
    assert state["inputs"]["one"]["figures"] == {
        "first.raised": "ValueError: no rows",
        "gone.gone": "bayesfloor.no_such_name",
        "last": 1,
        "input.raised": "RuntimeError: no input",
    }
    assert [line.partition(" raised")[0] for line in answers.failures(state)] == ["one: first", "one: input"]


def test_inputs_and_reports():
    reports = [name for name in CASES if name.startswith("report: ")]
    assert len(reports) == 14
    assert len(CASES) - len(reports) >= 40
    assert 10 <= sum(each.is_quick for each in CASES.values()) <= 20


def test_store_and_compare(tmp_path, capsys):
    path, other = tmp_path / "a.answers", tmp_path / "b.answers"
    only = ["--only", "class trees", "--processes", "1"]
    assert answers.main(["store", *only, "--into", str(path)]) == 0
    assert answers.main(["compare", str(path), *only]) == 0
    assert "1 of 1 inputs are the same, 0 differ" in capsys.readouterr().out
    state = answers.read(path)
    figures = state["inputs"]["class trees of floors with zeros"]["figures"]
    figures["min-cut 12[nested]"] = "another tree"
    answers.write(state, other)
    assert answers.main(["compare", str(path), "--with", str(other)]) == 1
    assert "    min-cut 12[nested]: " in capsys.readouterr().out
    assert answers.main(["compare", str(path), "--with", str(other), "--except", "*nested]"]) == 0
    with pytest.raises(SystemExit):
        answers.main(["store", "--into", "state.json"])
    with pytest.raises(SystemExit):
        answers.main(["list", "--only", "no input is called so"])
