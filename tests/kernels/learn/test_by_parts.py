"""Learners over parts of the rows: the same as over all rows at once, whoever works on which part."""

import os
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.neighbors import NearestNeighbors

from bayesfloor.data import row_parts
from bayesfloor.data.row_parts import PartWriter, RowPart, first_rows
from bayesfloor.learn import boosting_by_parts
from bayesfloor.learn.boosting import scores_by, shares_of
from bayesfloor.learn.boosting_by_parts import Round, boost_parts, boosted_target, sums_of_bins, sums_of_leaves
from bayesfloor.learn.boosting_kernels import UNCOUNTED, Trees, unpacked
from bayesfloor.learn.boosting_part_kernels import LEAF_UNIT, MOST_SLOPE, sum_by_leaf, write_probabilities
from bayesfloor.learn.by_parts import LEARNERS, PartLearners, merged_nearest, nearest_of_part
from bayesfloor.learn.parts import PartPool
from bayesfloor.learn.training_rows import Train
from bayesfloor.runtime.cluster import cluster_of
from bayesfloor.runtime.settings import Limits
from bayesfloor.runtime.threads import WorkerPool


@pytest.fixture(autouse=True)
def small_parts(monkeypatch, set_limits):
    set_limits(part_rows=500)
    set_limits(part_rounds=12)
    monkeypatch.setattr(boosting_by_parts, "FEWEST_ROUNDS", 6)


def drawn(n, n_classes, seed=0):
    """Draw points, bins and a target; the last column of bins holds codes."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, 3)).astype(np.float32)
    bins = np.column_stack([np.clip(points * 20 + 64, 1, 127), rng.integers(0, 6, n)]).astype(np.uint8)
    score = np.sin(2 * points[:, 0]) + (bins[:, 3] % 2) * points[:, 1]
    if n_classes == 0:
        return points, bins, score + 0.3 * rng.standard_normal(n)
    if n_classes == 2:
        return points, bins, (rng.random(n) < expit(3 * score)).astype(np.int32)
    p = softmax(np.column_stack([score * k for k in range(n_classes)]), axis=1)
    return points, bins, (rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1).astype(np.int32)


def stored(n=2500, n_classes=2, n_batches=3, seed=0):
    points, bins, y = drawn(n, n_classes, seed)
    keys = np.random.default_rng(seed + 1).integers(0, 2**64, n, np.uint64)
    writer = PartWriter(n, 3, 4, np.float64 if n_classes == 0 else np.int32)
    for rows in np.array_split(np.arange(n), n_batches):
        writer.add(keys[rows], points[rows], bins[rows], y[rows])
    return writer.parts(WorkerPool(1)), (keys, points, bins, y)


IS_CATEGORY = np.array([False, False, False, True])


def boosted(pool, target, bins):
    trees = boost_parts(pool, range(len(pool.parts)), target, IS_CATEGORY, 0)
    scores = scores_by(bins.T, IS_CATEGORY, target.start, trees)
    return shares_of(scores) if target.n_classes else scores


def like(parts, n_classes):
    y = np.concatenate([part.read().y for part in parts])
    return Train(np.zeros((len(y), 1)), y, n_classes)


def test_parts_have_the_rows_in_the_order_of_keys_whatever_the_batches():
    parts, (keys, points, bins, y) = stored(n_batches=1)
    order = np.argsort(keys)
    assert len(parts) == 8
    found = [part.read() for part in parts]
    assert_array_equal(np.concatenate([part.points for part in found]), points[order])
    assert_array_equal(np.concatenate([part.bins for part in found]), bins[order])
    assert_array_equal(np.concatenate([part.y for part in found]), y[order])
    for one, other in zip(found, stored(n_batches=7)[0], strict=True):
        assert_array_equal(one.points, other.read().points)


def test_the_first_rows_of_parts():
    parts, (keys, points, _, y) = stored(n_batches=1)
    for n_rows in (1, 100, 600, 2500):
        order = np.argsort(keys)[:n_rows]
        found = [part.read() for part in first_rows(parts, n_rows)]
        assert_array_equal(np.concatenate([part.points for part in found]), points[order])
        assert_array_equal(np.concatenate([part.y for part in found]), y[order])
        assert not any(part.state for part in found)  # what is kept of a part is of all its rows


def test_the_files_are_removed_with_the_parts():
    parts, _ = stored()
    folder = parts[0].file.parent
    assert folder.is_dir()
    del parts
    assert not folder.exists()


def test_a_file_that_was_cut_short_is_an_error():
    parts, _ = stored()
    with open(parts[0].path("bins"), "r+b") as stream:
        stream.truncate(10)
    with pytest.raises(OSError, match="10 values in place of"):
        _ = parts[0].read().bins


def test_a_full_disk_is_named_before_anything_is_written(monkeypatch):
    monkeypatch.setattr(row_parts, "MOST_OF_DISK", 0.0)
    with pytest.raises(OSError, match=r"on disk, and .* left"):
        stored()


@pytest.mark.interpreted
def test_probabilities_are_those_of_scipy():
    for n_scores in (1, 2, 5):
        scores = np.random.default_rng(0).normal(0.0, 8.0, (1000, n_scores)).astype(np.float32)
        scores[:3] = [[-200.0], [0.0], [200.0]]
        probabilities = np.empty((n_scores, 1024), np.float32)
        write_probabilities(scores, probabilities)
        exact = scores.astype(np.float64)
        expected = softmax(exact, axis=1) if n_scores > 1 else expit(exact)
        assert_allclose(probabilities[:, :1000].T, expected, rtol=1e-5, atol=1e-37)


@pytest.mark.interpreted
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_sums_of_leaves_are_those_of_plain_numpy(n_classes):
    _, bins, y = drawn(700, n_classes)
    part = RowPart(np.zeros((700, 1), np.float32), bins, y)
    n_scores = 3 if n_classes == 3 else 1
    trees = Trees.unsplit(2, n_scores, 5)  # the values of the second round are not known yet
    trees.column[:, :, 0], trees.child[:, :, 0] = 0, 1
    trees.left[0, :, 0], trees.left[1, :, 0] = 60, 70  # bins up to 60, and up to 70
    trees.column[:, :, 2], trees.left[:, :, 2], trees.child[:, :, 2] = 3, 0b10101, 3  # even codes
    value = np.random.default_rng(0).standard_normal((n_scores, 10))
    trees.value[0] = value
    target = boosted_target(like_prior(y, n_classes), n_classes)
    current = Round("key", trees.at(slice(1)), IS_CATEGORY, target, 1.0, 0)
    sums = LEAF_UNIT * sums_of_leaves(part, current, trees.at(1), 0, [])
    for k in range(n_scores):
        scores = np.tile(target.start, (700, 1))
        leaves = [np.where(bins[:, 0] <= cut, 1, np.where(bins[:, 3] % 2 == 0, 3, 4)) for cut in (60, 70)]
        scores = scores + value[:, leaves[0]].T
        if n_classes:
            p = softmax(scores, axis=1)[:, k] if n_scores > 1 else expit(scores[:, 0])
            first, second = p - (y == (k if n_scores > 1 else 1)), p * (1 - p)
        else:
            first, second = scores[:, 0] - y, np.ones(700)
        for leaf in (1, 3, 4):
            of_leaf = leaves[1] == leaf
            assert_allclose(sums[k, leaf], [first[of_leaf].sum(), second[of_leaf].sum()], rtol=1e-4, atol=1e-3)


@pytest.mark.interpreted
@pytest.mark.parametrize(("n_classes", "is_lost"), [(0, True), (2, False), (3, False), (3, True)])
def test_sums_of_bins_are_those_of_plain_numpy(n_classes, is_lost):
    _, bins, y = drawn(3000, n_classes)
    part = RowPart(np.zeros((3000, 1), np.float32), bins, y)
    target = boosted_target(like_prior(y, n_classes), n_classes)
    n_scores = len(target.start)
    current = Round("key", Trees.unsplit(0, n_scores, 5), IS_CATEGORY, target, 8.0, 3)
    nodes = Trees.unsplit(1, n_scores, 5).at(0)
    drawn_columns = np.array([0, 2, 3])
    is_in = {0: np.ones(3000, bool)}
    is_in[1], is_in[2] = bins[:, 0] <= 60, bins[:, 0] > 60
    is_in[3], is_in[4] = is_in[2] & (bins[:, 3] % 2 == 0), is_in[2] & (bins[:, 3] % 2 == 1)
    for step, (split, wanted) in enumerate([([], [0]), ([0], [2]), ([2], [3, 4])]):
        if 0 in split:
            nodes.column[:, 0], nodes.left[:, 0], nodes.child[:, 0] = 0, 60, 1
        if 2 in split:
            nodes.column[:, 2], nodes.left[:, 2], nodes.child[:, 2] = 3, 0b010101, 3
        plan = n_scores * [(drawn_columns, np.array(split, np.int64), np.array(wanted, np.int64))]
        if is_lost:
            part.state.clear()
        sums = sums_of_bins(part, current, nodes, plan, step)
        assert sums.shape == (n_scores * len(wanted), 3, 256)
        for k in range(n_scores):
            p = np.exp(target.start) / np.exp(target.start).sum() if n_scores > 1 else expit(target.start)
            first = p[k] - (y == (k if n_scores > 1 else 1)) if n_classes else (target.start[0] - y) / 8.0
            second = p[k] * (1 - p[k]) if n_classes else 0.25
            for place, node in enumerate(wanted):
                for t, column in enumerate(drawn_columns):
                    own = bins[is_in[node], column]
                    g, h, _ = np.transpose([unpacked(word, UNCOUNTED) for word in sums[len(wanted) * k + place, t]])
                    assert_allclose(g, np.bincount(own, first[is_in[node]], 256), atol=0.15)
                    assert_allclose(h, second * np.bincount(own, minlength=256), atol=0.02)


@pytest.mark.parametrize("n_classes", [0, 3])
def test_boosting_of_parts_is_as_good_as_that_of_scikit_learn(n_classes, monkeypatch):
    monkeypatch.setattr(boosting_by_parts, "N_LEAVES", 15)
    parts, (_, _, bins, y) = stored(8000, n_classes)
    _, others, expected = drawn(4000, n_classes, seed=9)
    target = boosted_target(like(parts, n_classes).prior, n_classes)
    found = boosted(PartPool(parts, WorkerPool(1)), target, others)
    settings = {"max_iter": 12, "learning_rate": 0.25, "max_leaf_nodes": 15, "l2_regularization": 1.0}
    peer = (HistGradientBoostingClassifier if n_classes else HistGradientBoostingRegressor)(
        **settings, categorical_features=IS_CATEGORY, early_stopping=False
    ).fit(bins, y)
    if n_classes:
        assert log_loss(expected, found) < log_loss(expected, peer.predict_proba(others)) + 0.01
    else:
        of_peer = ((peer.predict(others) - expected) ** 2).mean()
        assert ((found[:, 0] - expected) ** 2).mean() < 1.05 * of_peer


def like_prior(y, n_classes):
    return Train(np.zeros((len(y), 1)), y, n_classes).prior


@pytest.mark.parametrize("n_classes", [2, 4])
def test_boosting_learns(n_classes):
    parts, _ = stored(n_classes=n_classes)
    _, bins, y = drawn(1000, n_classes, seed=9)
    target = boosted_target(like(parts, n_classes).prior, n_classes)
    found = boosted(PartPool(parts, WorkerPool(1)), target, bins)
    prior = np.tile(like(parts, n_classes).prior, (1000, 1))
    assert log_loss(y, found) < 0.95 * log_loss(y, prior)


def test_a_part_that_was_lost_finds_its_scores_again():
    parts, _ = stored()
    _, bins, _ = drawn(50, 2, seed=9)
    target = boosted_target(like(parts, 2).prior, 2)
    expected = boosted(PartPool(parts, WorkerPool(1)), target, bins)
    calls = []

    class Forgetful(PartPool):
        def run(self, work, numbers, *shared, array="bins"):
            calls.append(numbers)
            if len(calls) % 5 == 0:
                for number in numbers:
                    self.parts[number].state.clear()
            return super().run(work, numbers, *shared, array=array)

    folder = parts[0].state["folder"]  # keeps the files
    found = boosted(Forgetful(parts, WorkerPool(1)), target, bins)
    assert len(calls) > 5
    assert_array_equal(found, expected)
    assert folder.folder.is_dir()


@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_leaves_that_are_known_from_growing_are_those_found_anew(n_classes, monkeypatch):
    """Trees are grown in turns, to their last leaf, and parts forget how before leaves get values."""
    monkeypatch.setattr(boosting_by_parts, "N_LEAVES", 7)
    monkeypatch.setattr(boosting_by_parts, "GROWN_ROWS", 700)
    parts, _ = stored(n_classes=n_classes)
    _, bins, _ = drawn(200, n_classes, seed=9)
    target = boosted_target(like(parts, n_classes).prior, n_classes)
    expected = boosted(PartPool(parts, WorkerPool(1)), target, bins)
    n_forgotten = 0

    class Forgetful(PartPool):
        def run(self, work, numbers, *shared, array="bins"):
            nonlocal n_forgotten
            if work is sums_of_leaves:
                grown = [self.parts[number].state.pop("boosting 0 0 8 tree", None) for number in numbers]
                n_forgotten += sum(each is not None for each in grown)
            return super().run(work, numbers, *shared, array=array)

    assert_array_equal(boosted(Forgetful(parts, WorkerPool(1)), target, bins), expected)
    assert n_forgotten > 0


@pytest.mark.parametrize("n_classes", [0, 7])
def test_steps_of_classes_have_a_bound(n_classes, monkeypatch):
    """Leaves full of a class that was thought impossible have next to no second derivative."""
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 128, (6000, 4)).astype(np.uint8)
    cell = bins[:, 0] // 16 + bins[:, 1] // 16
    is_rare = (cell == 7) & (bins[:, 2] < 8)
    y = np.where(is_rare, 5 + bins[:, 2] % 2, cell % 5)
    parts = [RowPart(np.empty((3000, 0), np.float32), bins[at : at + 3000], y[at : at + 3000]) for at in (0, 3000)]
    target = boosted_target(like_prior(y, n_classes), n_classes) if n_classes else boosted_target(np.zeros(1), 0)
    pool = PartPool(parts, WorkerPool(1))

    def steps():
        values = boost_parts(pool, range(2), target, np.zeros(4, bool), 0).value
        return np.abs(values) / boosting_by_parts._pace(6000, len(target.start))[1]

    bounded = steps()
    monkeypatch.setattr(boosting_by_parts, "MOST_STEP", np.inf)
    if n_classes:
        assert bounded.max() <= 4.0 < steps().max()
    else:
        assert_array_equal(bounded, steps())


def test_more_rows_and_fewer_classes_have_more_rounds(monkeypatch, set_limits):
    monkeypatch.undo()
    set_limits(part_rounds=Limits().part_rounds)
    pace = boosting_by_parts._pace
    assert pace(20_000, 1) == pace(10**7, 3) == (150, 0.15)
    assert pace(20_000, 7) == (64, 0.25)
    assert pace(3_000_000, 7) == (100, 0.22)
    assert pace(3_000_000, 1000) == (40, 0.25)


def turns(n_rows, n_scores=1):
    parts = [RowPart(np.empty((n, 1), np.float32), np.empty((n, 1), np.uint8), np.zeros(n)) for n in n_rows]
    return boosting_by_parts._turns(PartPool(parts, WorkerPool(1)), range(len(parts)), n_scores)


def test_trees_are_grown_to_parts_in_turn(monkeypatch):
    monkeypatch.setattr(boosting_by_parts, "GROWN_ROWS", 100)
    monkeypatch.setattr(boosting_by_parts, "GROWN_SCORES", 200)
    assert turns([20] * 5) == [[0, 1, 2, 3, 4]]  # not more than the least
    assert turns([20] * 10) == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]  # the least, which is more than a quarter
    assert [len(own) for own in turns([20] * 40)] == [10] * 4  # a quarter
    assert {len(own) for own in turns([20] * 400)} == {20}  # four times the least, and not more
    assert {len(own) for own in turns([20] * 40, n_scores=10)} == {4}  # fewer rows where there are many scores
    assert turns([300]) == [[0]]  # a single part is never cut


@pytest.mark.interpreted
@pytest.mark.parametrize("n_classes", [0, 3])
def test_sums_do_not_depend_on_the_order_of_parts(n_classes):
    _, bins, y = drawn(3000, n_classes)
    target = boosted_target(like_prior(y, n_classes), n_classes)
    trees = Trees.unsplit(1, len(target.start), 5)
    trees.column[:, :, 0], trees.left[:, :, 0], trees.child[:, :, 0] = 0, 60, 1
    current = Round("key", trees.at(slice(0)), IS_CATEGORY, target, 1.0, 0)

    def of_rows(rows):
        part = RowPart(np.empty((len(rows), 0), np.float32), bins[rows], y[rows])
        return sums_of_leaves(part, current, trees.at(0), 0, [])

    halves = np.array_split(np.random.default_rng(0).permutation(3000), 2)
    assert_array_equal(sum(map(of_rows, halves)), of_rows(np.arange(3000)))


def test_a_number_that_is_far_away_counts_as_much_as_an_integer_can_hold():
    scores, leaves = np.zeros((3, 1), np.float32), np.ones((3, 1), np.uint8)
    sums = np.zeros((1, 2, 2), np.int64)
    sum_by_leaf(leaves, np.array([-1e300, 1e9, 1e9]), 0, scores, sums)
    assert_array_equal(sums[0, 1] * LEAF_UNIT, [-MOST_SLOPE, 3.0])


def test_what_a_part_kept_of_another_round_is_not_used():
    """Of a part on two workers one may have done the last steps, and not all steps before."""
    parts, _ = stored()
    _, bins, _ = drawn(50, 2, seed=9)
    target = boosted_target(like(parts, 2).prior, 2)
    expected = boosted(PartPool(parts, WorkerPool(1)), target, bins)
    states = [[dict(part.state) for _ in range(2)] for part in parts]

    class OnTwoWorkers(PartPool):
        def run(self, work, numbers, *shared, array="bins"):
            # the second worker does the first step of even rounds, and the second step of odd ones
            is_second = work is sums_of_bins and shared[3] == len(shared[0].value.trees.column) % 2
            for number in numbers:
                self.parts[number].state.clear()
                self.parts[number].state.update(states[number][is_second])
            found = super().run(work, numbers, *shared, array=array)
            for number in numbers:
                states[number][is_second] = dict(self.parts[number].state)
            return found

    assert_array_equal(boosted(OnTwoWorkers(parts, WorkerPool(1)), target, bins), expected)


@pytest.mark.interpreted
def test_nearest_rows_of_parts_are_those_of_all_rows():
    parts, _ = stored()
    tested = drawn(40, 2, seed=5)[0]
    found = [nearest_of_part(part.read(), tested, 20) for part in parts]
    merged = found[0]
    for each in found[1:]:
        merged = merged_nearest(merged, each)
    points = np.concatenate([part.read().points for part in parts])
    y = np.concatenate([part.read().y for part in parts])
    distance, rows = NearestNeighbors(n_neighbors=20).fit(points.astype(np.float64)).kneighbors(tested)
    assert_allclose(merged.distance, distance**2, rtol=1e-3, atol=1e-6)
    assert_array_equal(merged.y, y[rows])
    assert_array_equal(merged.points, points[rows])


def predictions(pool, tested, train, sets):
    learners = PartLearners(pool, tested, train, IS_CATEGORY, 0)
    return [learners.predict(own) for own in sets]


@pytest.mark.parametrize("n_classes", [0, 2])
def test_predictions_are_the_same_for_any_number_of_threads(n_classes):
    parts, _ = stored(n_classes=n_classes)
    points, bins, y = drawn(60, n_classes, seed=5)
    tested, sets = RowPart(points, bins, y), [(0, 1, 2, 3), (0, 1), (2,)]
    one, two = (predictions(PartPool(parts, WorkerPool(n)), tested, like(parts, n_classes), sets) for n in (1, 2))
    for first, second in zip(one, two, strict=True):
        assert first.keys() == set(LEARNERS)
        for name in LEARNERS:
            assert first[name].shape == ((60, 2) if n_classes else (60,))
            assert_array_equal(first[name], second[name])


def _one_dies(client):
    client.run(_die, workers=[next(iter(client.scheduler_info()["workers"]))], on_error="ignore")


def _another_comes(client):
    client.cluster.scale(3)
    client.wait_for_workers(3, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("happens", [_one_dies, _another_comes])
def test_workers_of_a_cluster_say_the_same_whatever_happens_to_them(client, request, happens, set_limits):
    client.wait_for_workers(2, timeout=60)  # one may have died in another test
    request.addfinalizer(lambda: client.cluster.scale(2))
    set_limits(part_rounds=3)
    parts, _ = stored()
    points, bins, y = drawn(60, 2, seed=5)
    tested, sets = RowPart(points, bins, y), [(0, 1, 2, 3), (1,)]
    expected = predictions(PartPool(parts, WorkerPool(1)), tested, like(parts, 2), sets)
    cluster = cluster_of(client)
    calls = []

    class Eventful(PartPool):
        def added_up(self, work, numbers, *shared):
            calls.append(work)
            if len(calls) == 30:
                happens(client)
            return super().added_up(work, numbers, *shared)

    found = predictions(Eventful(parts, WorkerPool(1), cluster), tested, like(parts, 2), sets)
    assert len(calls) > 30
    for own, other in zip(found, expected, strict=True):
        for name in LEARNERS:
            assert_array_equal(own[name], other[name])


def _how_often(part):
    time.sleep(0.05)  # longer than it takes to send a part: worth another worker's while
    part.state["calls"] = part.state.get("calls", 0) + 1
    return part.state["calls"]


def _process(part):
    return os.getpid()


@pytest.mark.slow
def test_a_part_stays_with_its_worker_and_each_worker_has_its_share(client):
    client.wait_for_workers(2, timeout=60)  # one may have died in another test
    parts, _ = stored(4000)
    pool = PartPool(parts, WorkerPool(1), cluster_of(client))
    processes = pool.run(_process, range(8))
    assert len(set(processes)) == pool.cluster.n_slots == 2
    assert processes == sorted(processes, key=processes.index)  # neighbours together
    assert len(set(processes[::4])) == 2  # so that those of a turn are not
    for n_calls in range(1, 4):  # by one of the workers alone, while the other has nothing to do
        assert pool.run(_how_often, range(4)) == [n_calls] * 4


def _die():
    os._exit(1)
