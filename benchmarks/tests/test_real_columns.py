"""Real columns with a known truth: the truth by simulation, what a teacher may see, the halves, and the page."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from bayesfloor import learned_floor, regression_floor
from benchmarks.problems import real_columns as problems
from benchmarks.problems.real_columns import PROBLEMS, TABLES, TEACHERS, RealTable, TaughtProblem
from benchmarks.tools.pages import HALVES
from benchmarks.tools.records import append_record
from benchmarks.truth import real_columns as script
from benchmarks.truth.truth import figures, interval_scores

N = 1200
CLASSES = RealTable("made classes", "design", "classes", "none", "", "label")
NUMBERS = RealTable("made numbers", "design", "numbers", "none", "", "amount")


@pytest.fixture(scope="module")
def frame():
    """Numbers, text, gaps, a constant and a heavy tail; `row` tells rows apart."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, N))
    kind = rng.choice(["red", "green", "blue"], N, p=[0.6, 0.3, 0.1])
    score = a + (kind == "red") + 0.5 * b**2
    return pd.DataFrame(
        {
            "row": np.arange(N),
            "a": np.where(rng.random(N) < 0.1, np.nan, a),
            "b": b,
            "heavy": np.exp(3 * rng.standard_normal(N)),
            "kind": np.where(rng.random(N) < 0.05, None, kind),
            "same": 1.0,
            "label": np.array(["no", "perhaps", "yes"])[np.digitize(score + rng.standard_normal(N), [0.5, 1.5])],
            "amount": 100 * np.exp(score),
        }
    )


def written(folder, table, frame):
    path = table.path(folder)
    path.parent.mkdir(exist_ok=True)
    frame.drop(columns={"label", "amount"} - {table.target}).to_csv(path, index=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, frame):
    folder = tmp_path_factory.mktemp("fetched")
    for table in (CLASSES, NUMBERS):
        written(folder, table, frame)
    return folder


@pytest.mark.parametrize("teacher", TEACHERS)
@pytest.mark.parametrize("table", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_truth_by_simulation(folder, table, teacher):
    pool = TaughtProblem(table, teacher).pool(folder)
    assert len(pool.X) == N - N // 2
    rng, rows = np.random.default_rng(1), np.arange(len(pool.X))
    draws = np.array([pool.draw(rows, rng) for _ in range(400)])
    if table.task == "classes":
        assert pool.known.shape[1] == 3
        np.testing.assert_allclose(pool.known.sum(axis=1), 1)
        # The best guess for each row, by counting: no classifier does better on the same draws.
        counts = np.array([(draws == label).sum(axis=0) for label in range(3)])
        least = 1 - counts.max(axis=0).mean() / len(draws)
        wrong = (draws != pool.known.argmax(axis=1)).mean(axis=1)
        assert least <= wrong.mean()
        np.testing.assert_allclose(least, wrong.mean(), atol=0.02)
        found = wrong
    else:
        # R² of the row's own mean over the draws, which no function of the row beats by more than chance
        means = draws.mean(axis=0)
        assert np.abs(means - pool.known[:, 0]).max() < 5 * pool.noise / np.sqrt(len(draws))
        squares = ((draws - pool.known[:, 0]) ** 2).mean(axis=1)
        found = 1 - squares / draws.var()
        assert pool.truth in problems.R2
    assert abs(found.mean() - pool.truth) < 5 * found.std() / np.sqrt(len(found)) + 1e-3


@pytest.mark.parametrize("table", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_sampled_rows_keep_their_labels(folder, table):
    pool = TaughtProblem(table, "boosting").pool(folder)
    X, y = pool.sample(500, np.random.default_rng(2))
    assert X["row"].is_unique
    assert "kind" in X
    assert table.target not in X
    place = pd.Series(np.arange(len(pool.X)), index=pool.X["row"])[X["row"]].to_numpy()
    if table.task == "classes":
        assert abs((pool.known[place].argmax(axis=1) != y).mean() - pool.truth) < 0.06
    else:
        assert (y - pool.known[place, 0]).std() == pytest.approx(pool.noise, rel=0.15)


@pytest.mark.parametrize("teacher", TEACHERS)
@pytest.mark.parametrize("table", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_teacher_sees_no_target_of_the_pool_and_the_same_seed_gives_the_same(folder, frame, table, teacher, tmp_path):
    problem = TaughtProblem(table, teacher)
    pool = problem.pool(folder)
    changed = frame.copy()
    own = changed["row"].isin(pool.X["row"])
    changed.loc[own, table.target] = np.roll(changed.loc[own, table.target], 7)
    assert not changed[table.target].equals(frame[table.target])
    written(tmp_path, table, changed)
    again = problem.pool(tmp_path)
    np.testing.assert_array_equal(again.known, pool.known)
    assert (again.truth, again.noise) == (pool.truth, pool.noise)
    (X, y), (X_again, y_again) = (each.sample(300, np.random.default_rng(3)) for each in (pool, again))
    pd.testing.assert_frame_equal(X, X_again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.array_equal(y, pool.sample(300, np.random.default_rng(4))[1])


def test_teachers_see_columns_that_samples_have(frame):
    """Rows that are equal in all columns have one mean: gaps, rare levels and clipped numbers are encoded alike."""
    X = frame.drop(columns=["row", "label", "amount"])
    encode = problems.encoder(X.iloc[:600])
    twice = pd.concat([X.iloc[600:], X.iloc[600:]])
    Z = encode(twice)
    np.testing.assert_array_equal(Z[:600], Z[600:])
    assert Z.shape[1] == 3 + 4  # a, b, heavy, the levels and their gap; not the constant
    assert np.isfinite(Z).all()
    assert np.abs(encode(X.iloc[:600])[:, :3].mean(axis=0)).max() < 0.15
    assert Z[:, 3:].sum(axis=1).max() == 1


def test_halves_are_disjoint():
    assert len({table.name for table in TABLES}) == len(TABLES) >= 15
    assert len({(table.source, table.member) for table in TABLES}) == len(TABLES)
    assert len({problem.name for problem in PROBLEMS}) == len(PROBLEMS) == 6 * len(TABLES)
    for task in ("classes", "numbers"):
        design, held_out = ([p for p in PROBLEMS if (p.half, p.table.task) == (half, task)] for half in HALVES)
        tables = {problem.table.name for problem in design}
        teachers = {problem.teacher for problem in design}
        assert teachers < set(TEACHERS) == {problem.teacher for problem in held_out}
        assert len(tables) >= 8
        # A held-out problem has a new table, or a teacher that no design problem has.
        assert all(p.table.name not in tables or p.teacher not in teachers for p in held_out)
        assert len({p.table.name for p in held_out} - tables) >= 5
        for half in (design, held_out):
            assert {problem.teacher for problem in half} & set(problems.SMOOTH)
            assert {problem.teacher for problem in half} - set(problems.SMOOTH)


def test_interval_score():
    scores = interval_scores(np.full(3, 0.5), np.array([0.4, 0.51, 0.1]), np.array([0.6, 0.61, 0.45]))
    np.testing.assert_allclose(scores, [0.2, 0.1 + 40 * 0.01, 0.35 + 40 * 0.05])
    # Of all central ranges of a normal truth, that of 95% has the least mean score.
    truth = np.random.default_rng(0).standard_normal(400_000)
    half_widths = np.linspace(1.5, 2.5, 41)
    means = [interval_scores(truth, np.array(-half), np.array(half)).mean() for half in half_widths]
    assert half_widths[np.argmin(means)] == pytest.approx(1.96, abs=0.06)


def run_of(task, seed, low, high, truth=0.2, problem="p", n=300, teacher="polynomial", half="design"):
    floor = {"estimate": (low + high) / 2, "interval": [low, high], "seconds": 2.0}
    about = {"problem": problem, "task": task, "teacher": teacher, "half": half, "n": n, "seed": seed, "truth": truth}
    return about | {"floor": floor, "reached": high, "findings": ["BF051"]}


def test_figures_of_runs():
    def row(*records):
        return dict(zip(script.HEADER, script.row_of(list(records)), strict=True))

    own = row(run_of("classes", 0, 0.1, 0.3), run_of("classes", 1, 0.203, 0.303), run_of("classes", 2, 0.0, 0.15))
    assert [own[key] for key in ("samples", "runs", "covers", "within 0.005")] == ["1", "3", "33.3%", "66.7%"]
    assert own["too strict"] == "33.3%"  # the lower end of the error above the truth, and not the upper one below it
    assert own["mean abs. error"] == f"{(0 + 0.053 + 0.125) / 3:.4f}"
    assert own["width"] == "0.150"
    assert own["score"] == f"{0.15 + 40 * (0.003 + 0.05) / 3:.3f}"
    assert own["spread"] == f"{max(np.std([0.1, 0.203, 0], ddof=1), np.std([0.3, 0.303, 0.15], ddof=1)) / 0.15:.2f}"
    assert row(run_of("numbers", 0, 0.3, 0.4))["too strict"] == "0.0%"
    assert row(run_of("numbers", 0, 0.1, 0.15))["too strict"] == "100.0%"
    assert row(run_of("numbers", 0, 0.1, 0.3))["spread"] == "–"
    covered = figures([run_of("numbers", 0, 0.204, 0.3)], "floor", script.NEARLY).covered
    assert covered.tolist() == [True]


def test_page_has_each_half_apart():
    records = [
        run_of("classes", 0, 0.1, 0.3),
        run_of("numbers", 0, 0.3, 0.4, problem="far"),
        run_of("numbers", 1, 0.1, 0.19, problem="near", teacher="waves"),
        run_of("numbers", 0, 0.1, 0.3, problem="hidden", half="held-out"),
    ]
    text = "\n".join(script.parts_of([records], "design"))
    assert "hidden" not in text
    assert text.index("| far | 300 |") < text.index("| near | 300 |")
    assert "| **smooth** | 1 | 1 | 0.0% |" in text
    assert "| **others** | 1 | 1 | 0.0% |" in text
    assert "None." in text
    assert "## Numbers: the held-out half, 1 problems" in "\n".join(script.parts_of([records], "held-out"))


def test_two_states_are_compared_on_runs_that_both_have(tmp_path):
    before, after = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    for low in (0.1, 0.0):
        append_record(before, run_of("classes", 0 if low else 1, low, 0.3))
    append_record(after, run_of("classes", 0, 0.15, 0.3))
    states = script.states_of(after, before)
    assert [len(records) for records in states] == [1, 1]
    [row] = [line for line in script.of_sizes(states).split("\n") if line.startswith("| all ")]
    assert "| 1 | 1 | 100.0% |" in row
    assert "| 0.0000 → 0.0250 | 0.200 → 0.150 | 0.200 → 0.150 |" in row
    assert len(script.states_of(before, None)[0]) == 2


def test_runs_that_are_recorded_or_larger_than_the_pool_are_left_out(folder, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(script, "measure_all", lambda measure, keys, path, workers: asked.extend(keys))
    monkeypatch.setattr(problems, "TABLES", (CLASSES, NUMBERS))
    file = tmp_path / "r.jsonl"
    append_record(file, run_of("classes", 0, 0.1, 0.3, problem="made classes: waves"))
    script.run([TaughtProblem(CLASSES, "waves"), TaughtProblem(NUMBERS, "cells")], [300, 600, 1000], 2, folder, 1, file)
    names = ["made classes: waves", "made numbers: cells"]
    first = [(names[0], 600, 0), (names[1], 600, 0), (names[1], 300, 0)]
    assert [key[1:] for key in asked] == [*first, *((name, n, 1) for n in (600, 300) for name in names)]


def test_missing_tables_are_named(tmp_path, monkeypatch, capsys):
    stored = RealTable("elsewhere", "design", "numbers", "stored", "nowhere/at-all.csv", "y")
    monkeypatch.setattr(problems, "TABLES", (stored,))
    assert problems.pool_sizes(tmp_path) == {}
    problems.fetch(tmp_path)
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == ["elsewhere is left out"] * 2
    assert "at-all.csv" in said[1]
    monkeypatch.setattr(problems, "TABLES", (CLASSES,))
    with pytest.raises(SystemExit, match="fetch the tables first"):
        problems.pool_sizes(tmp_path)


@pytest.mark.parametrize("table", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_a_run_is_recorded(folder, table, monkeypatch):
    problem = TaughtProblem(table, "polynomial")
    monkeypatch.setitem(script.BY_NAME, problem.name, problem)
    monkeypatch.setattr(script, "learned_floor", partial(learned_floor, learners=["gaussian"]))
    monkeypatch.setattr(script, "regression_floor", partial(regression_floor, learners=["linear"]))
    record, other, again = (script.measure(folder, problem.name, 300, seed) for seed in (0, 2, 0))
    assert record["truth"] == pytest.approx(problem.pool(folder).truth, abs=1e-5)
    assert (record["half"], record["task"], record["n"], record["seed"]) == ("design", table.task, 300, 0)
    low, high = record["floor"]["interval"]
    assert 0 <= low <= record["floor"]["estimate"] <= high <= 1
    assert all(code.startswith("BF") for code in record["findings"])
    assert again["floor"].pop("seconds") > 0
    record["floor"].pop("seconds")
    assert again == record
    assert other["reached"] != record["reached"]
