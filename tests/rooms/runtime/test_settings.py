"""What is set for a block holds there, in its threads as well, and nowhere else."""

import numpy as np
import pytest

from bayesfloor import learned_floor, regression_floor, settings
from bayesfloor.runtime.limits import available_memory, check_n_jobs, one_of_a_pool
from bayesfloor.runtime.settings import Limits, limits
from bayesfloor.runtime.threads import supervise
from helpers.one_case import for_each


def test_blocks_lie_within_blocks():
    with settings(n_jobs=3, limits=Limits(part_rows=5)):
        with settings(n_jobs=2):
            assert check_n_jobs(None) == 2
            assert limits().part_rows == 5
            with settings(limits=Limits(memory=100)):
                assert available_memory() == 100
                assert check_n_jobs(None) == 2
        assert check_n_jobs(None) == 3
        assert check_n_jobs(1) == 1  # what a call says itself goes before
        with one_of_a_pool(2):
            assert check_n_jobs(None) == 1  # pools do not nest
    assert limits().part_rows == Limits().part_rows


def test_threads_have_the_settings_of_the_block():
    with settings(limits=Limits(chunk_rows=7)):
        found = supervise(lambda pool: pool.run(lambda _: limits().chunk_rows, [(n,) for n in range(4)]), 2, False)
    assert found == [7, 7, 7, 7]


@for_each("n_jobs", [0, True, 1.5, "all"])
def test_what_is_no_number_of_threads(n_jobs):
    with pytest.raises(ValueError, match="'n_jobs' parameter must be an int"), settings(n_jobs=n_jobs):
        pass


@pytest.mark.parametrize(("floor", "learner"), [(learned_floor, "gaussian"), (regression_floor, "linear")])
def test_figures_are_means_over_as_many_repeats_as_are_asked_for(floor, learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int) if learner == "gaussian" else X[:, 0] + rng.normal(size=60)
    asked = {"learners": [learner], "checks": False, "prepare": None}
    once, often = floor(X, y, repeats=1, **asked), floor(X, y, repeats=6, **asked)
    assert once.reached == floor(X, y, **asked).reached  # tests deal rows out once
    seeds = [floor(X, y, repeats=1, random_state=seed, **asked).reached for seed in range(6)]
    others = [floor(X, y, repeats=6, random_state=100 * seed, **asked).reached for seed in range(1, 3)]
    assert np.std([often.reached, *others]) < 0.7 * np.std(seeds)
    in_time = [floor(X, y, repeats=n, time=np.arange(60), **asked) for n in (1, 6)]
    assert in_time[0].interval == in_time[1].interval
    with pytest.raises(ValueError, match="'repeats' parameter must be an int in the range"):
        floor(X, y, repeats=0, **asked)
