"""Floors of tables on disk: all rows are trained on, and the answer does not depend on how they are stored."""

import numpy as np
import polars
import pytest
from scipy.special import expit

from bayesfloor import learned_floor, regression_floor
from bayesfloor.floor.learned import from_disk, large_tables
from bayesfloor.floor.learned.large_tables import problem_on_disk
from bayesfloor.tables.sources import sample_of, source_of


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch, set_limits):
    set_limits(disk_rows=3000, learned_rows=400, part_rows=800, part_rounds=8)
    monkeypatch.setattr(from_disk, "FEWEST_ROWS", 80)


def frame_of(n=6000, seed=0):
    """Draw rows with gaps, categories of few and of many values, and a target whose errors are known."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    code, place = rng.integers(0, 4, n), rng.integers(0, 100, n)
    p = expit(3 * (X[:, 0] + (code % 2) * X[:, 1] + np.sin(place)))
    columns = {f"x{j}": np.where(rng.random(n) < (0.1 if j == 2 else 0.0), np.nan, X[:, j]) for j in range(3)}
    columns |= {"kind": np.array(list("abcd"))[code], "place": np.char.add("town ", place.astype(str))}
    columns["label"] = np.where(rng.random(n) < p, "yes", "no")
    columns["amount"] = X[:, 0] + (code % 2) * X[:, 1] + np.sin(place) + 0.5 * rng.standard_normal(n)
    return polars.DataFrame(columns), float(np.minimum(p, 1 - p).mean())


def folder_of(frame, folder, n_files=3):
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), n_files)):
        frame[rows].write_parquet(folder / f"part-{number}.parquet")
    return folder


def test_classes_of_a_folder(tmp_path):
    frame, truth = frame_of()
    folder = folder_of(frame.drop("amount"), tmp_path / "rows")
    floor = learned_floor(folder, "label")
    assert floor.n_samples == floor.n_rows == 6000
    assert truth - 0.03 <= floor.reached <= truth + 0.06
    assert not any(finding.code == "BF021" for finding in floor.findings)
    assert all(np.asarray(floor.suspicious.row) < 6000)
    sizes = floor.metrics["error"].curve.size
    assert sizes[0] > 5000
    assert sizes[0] / sizes[2] == pytest.approx(4, rel=0.1)
    # smaller sizes down to a hundred rows, of which all figures are there
    np.testing.assert_allclose(sizes[0] / sizes[3:], [16, 64], rtol=0.02)
    curve = floor.metrics["error"].curve
    for values in (curve.value, curve.expected, curve.middle, curve.fitted):
        assert np.isfinite(values).all()
        assert values.shape == sizes.shape
    assert curve.covariance.shape == (5, 5)
    assert curve.value[-1] > curve.value[0] + 0.02
    assert floor.rows_for(float(curve.value[3])).rows < sizes[2]


def test_numbers_of_a_text_file(tmp_path):
    frame, _ = frame_of()
    path = tmp_path / "rows.csv"
    frame.drop("label").write_csv(path)
    floor = regression_floor(path, "amount")
    assert floor.n_samples == floor.n_rows == 6000
    truth = 1 - 0.25 / frame["amount"].var()
    assert truth - 0.1 < floor.reached < truth + 0.03
    for metric in floor.metrics.values():
        assert metric.curve.size.shape == metric.curve.value.shape == metric.curve.fitted.shape == (5,)
    assert floor.metrics["r2"].curve.value[-1] < floor.reached - 0.05


def test_the_answer_is_the_same_for_other_files_chunks_and_threads(tmp_path, set_limits):
    set_limits(disk_rows=1500, part_rows=400, part_rounds=3)
    frame, _ = frame_of(1600)
    frame = frame.drop("amount")
    one = learned_floor(folder_of(frame, tmp_path / "one", 1), "label", n_jobs=1)

    set_limits(chunk_rows=350)
    other = learned_floor(folder_of(frame, tmp_path / "other", 5), "label", n_jobs=2)
    assert one.interval == other.interval
    assert one.estimate == other.estimate
    assert one.weights == other.weights


def test_all_rows_but_the_tested_ones_are_in_one_part(tmp_path):
    frame, _ = frame_of()
    folder = folder_of(frame.drop("amount"), tmp_path / "rows")
    problem = problem_on_disk(folder, "label", task="classification", seed=0, n_jobs=1).problem
    stored = problem.stored
    assert stored.n_rows == 6000
    assert list(problem.classes) == ["no", "yes"]
    np.testing.assert_array_equal(stored.class_counts, frame["label"].value_counts().sort("label")["count"])
    in_parts = sum(np.bincount(part.read().y, minlength=2) for part in stored.parts)
    np.testing.assert_array_equal(in_parts + np.bincount(stored.tested.y), stored.class_counts)
    n_tested = len(stored.tested)
    assert 300 < n_tested < 600
    labels = frame["label"].to_numpy()[stored.numbers]
    np.testing.assert_array_equal(problem.classes[problem.codes], labels)
    # features of the tested rows are those of the file
    x0 = frame["x0"].to_numpy()[stored.numbers[:n_tested]]
    place = list(problem.feature_names).index("x0")
    assert np.corrcoef(problem.X[:n_tested, place], x0)[0, 1] > 0.999


def test_smaller_training_sets_are_the_first_rows_of_other_quarters(tmp_path):
    frame, _ = frame_of()
    folder = folder_of(frame.drop("amount"), tmp_path / "rows")
    problem = problem_on_disk(folder, "label", task="classification", seed=0, n_jobs=1).problem
    sets = from_disk.sets_of(problem.stored)
    assert [(own.size, own.view) for own in sets] == [
        *[(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)],
        *[(3, 0), (3, 1), (4, 0), (4, 1)],
    ]
    n_rows = sum(part.n_rows for part in problem.stored.parts)
    assert [own.n_rows for own in sets[5:]] == [n_rows // 16] * 2 + [n_rows // 64] * 2
    for own in sets[5:]:
        quarter = problem.stored.parts[1 + 2 * own.view :: 4]
        found, all_rows = (np.concatenate([part.read().points for part in parts]) for parts in (own.parts, quarter))
        np.testing.assert_array_equal(found, all_rows[: own.n_rows])
    # as many rows of the sample, and no row of both views
    plan = from_disk.plan_from_disk(problem, 5)
    for own, split in zip(sets, plan.splits, strict=True):
        assert split.tests[0][1] == own.view
        assert len(split.train) == (own.n_rows if own.size > 2 else len(problem.X) - len(problem.stored.tested))
    for first, second in ((5, 6), (7, 8)):
        assert not np.intersect1d(plan.splits[first].train, plan.splits[second].train).size


def test_the_sample_is_in_random_order_where_the_file_is_sorted(tmp_path):
    frame = frame_of()[0].drop("amount").sort("label")
    problem = problem_on_disk(
        folder_of(frame, tmp_path / "rows"), "label", task="classification", seed=0, n_jobs=1
    ).problem
    stored = problem.stored
    labels = np.asarray(frame["label"] == "yes")[stored.numbers]
    np.testing.assert_array_equal(problem.codes == list(problem.classes).index("yes"), labels)
    # learners of few parameters take the first of these rows alone
    sample = labels[len(stored.tested) :]
    share, first = sample.mean(), sample[: len(sample) // 4]
    assert abs(first.mean() - share) < 4.5 * (share * (1 - share) / len(first)) ** 0.5


def test_rows_without_a_label_are_left_out(tmp_path):
    frame, _ = frame_of()
    is_gap = np.arange(6000) % 10 == 0
    labels = [None if gap else label for gap, label in zip(is_gap, frame["label"], strict=True)]
    frame = frame.drop("amount").with_columns(label=polars.Series(labels))
    problem = problem_on_disk(
        folder_of(frame, tmp_path / "rows"), "label", task="classification", seed=0, n_jobs=1
    ).problem
    assert problem.stored.n_rows == 5400
    assert not is_gap[problem.stored.numbers].any()


@pytest.mark.parametrize("what", ["copies", "rare class", "class beside the sample", "few rows", "no name"])
def test_what_needs_all_rows_together_is_left_to_memory(tmp_path, what):
    frame, _ = frame_of()
    frame = frame.drop("amount")
    if what == "copies":
        frame = polars.concat([frame[:3000], frame[:3000]])
    if what == "rare class":
        labels = frame["label"].to_numpy().copy()
        labels[:20] = "never"
        frame = frame.with_columns(label=polars.Series(labels))
    if what == "class beside the sample":
        sampled = sample_of(source_of(folder_of(frame, tmp_path / "first")), 1500).rows  # a quarter of all rows
        labels = frame["label"].to_numpy().copy()
        labels[np.setdiff1d(np.arange(6000), sampled)[:3]] = "never"
        frame = frame.with_columns(label=polars.Series(labels))
    if what == "few rows":
        frame = frame[:2000]
    folder = folder_of(frame, tmp_path / "rows")
    y = frame["label"].to_numpy() if what == "no name" else "label"
    assert problem_on_disk(folder, y, task="classification", seed=0, n_jobs=1) is None


def test_labels_that_mean_a_missing_one_elsewhere_are_classes_in_every_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(large_tables, "AT_ONCE", 500)
    frame, _ = frame_of()
    signs = frame["kind"].replace({"a": "+", "b": "-", "c": "up", "d": "down"}).alias("sign")
    frame = frame.drop("amount", "kind").with_columns(signs)
    frame = frame.sort(frame["sign"] == "+")  # a minus is a label beside a plus alone, and most chunks have none
    problem = problem_on_disk(
        folder_of(frame, tmp_path / "rows"), "sign", task="classification", seed=0, n_jobs=1
    ).problem
    assert problem.stored.n_rows == 6000
    counts = [int((signs == sign).sum()) for sign in problem.classes]
    np.testing.assert_array_equal(problem.stored.class_counts, counts)


def test_words_are_classes_by_their_share_of_all_rows(tmp_path):
    """The sample has no row with the mark that makes a rare word a missing label."""
    frame, _ = frame_of()
    for share, left_out in ((0.012, 73), (0.04, 1)):
        labels = frame["label"].to_numpy().astype(object)
        sampled = sample_of(source_of(frame.lazy()), 1500).rows
        rows = np.random.default_rng(1).permutation(6000)
        labels[rows[: round(share * 6000)]] = "None"
        labels[np.setdiff1d(np.arange(6000), sampled)[0]] = "?"
        marked = frame.drop("amount").with_columns(label=polars.Series(labels.tolist()))
        folder = folder_of(marked, tmp_path / f"rows {share}")
        problem = problem_on_disk(folder, "label", task="classification", seed=0, n_jobs=1).problem
        assert problem.stored.n_rows == 6000 - left_out == problem.stored.class_counts.sum()
        assert problem.n_samples == 6000
        assert problem.classes.tolist() == (["no", "yes"] if left_out > 1 else ["None", "no", "yes"])
        (finding,) = problem.findings
        marks = "'None' (72), '?' (1)" if left_out > 1 else "'?' (1)"
        assert f"{left_out} without a label in 'label', {marks} among them" in finding.sentence
        assert f"{left_out} of 6,000 rows" in finding.sentence


@pytest.mark.slow
def test_a_cluster_gives_the_same_answer(tmp_path, client, set_limits):
    set_limits(part_rounds=3)
    frame, _ = frame_of(4000)
    folder = folder_of(frame.drop("amount"), tmp_path / "rows")
    here, there = learned_floor(folder, "label"), learned_floor(folder, "label", client=client)
    assert here.interval == there.interval
    assert here.weights == there.weights


def test_a_lazy_frame_of_fewer_rows_than_were_expected(monkeypatch):
    """A lazy frame does not tell how many rows it has before they are drawn."""
    monkeypatch.setattr(large_tables, "SAMPLE_ROWS", 2500)
    frame, _ = frame_of(4000)
    given = problem_on_disk(frame.drop("amount").lazy(), "label", task="classification", seed=0, n_jobs=1)
    assert given is not None
    assert given.problem.stored.n_rows == 4000
    assert len(given.sample.X) == 1000


def test_folds_are_checked_before_rows_are_read(tmp_path):
    for floor in (learned_floor, regression_floor):
        for cv in (1, 0, -2):
            with pytest.raises(ValueError, match="'cv' parameter must be"):
                floor(tmp_path / "missing.csv", "label", cv=cv)
