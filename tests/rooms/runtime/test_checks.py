"""Checks of parameters."""

import pickle

import numpy as np
import pytest

from bayesfloor.runtime.checks import ParameterError, check_float, check_int, check_n_trees, check_random_state_seed
from helpers.one_case import for_each


def test_n_trees():
    assert check_n_trees(3) == 3
    assert type(check_n_trees(np.int32(3))) is int
    for wrong in (0, -1):
        with pytest.raises(ValueError, match=r"'n_trees' parameter must be an int in the range \[1, inf\)"):
            check_n_trees(wrong)
    for wrong in (2.0, "3", None, True):
        with pytest.raises(TypeError, match="'n_trees' parameter must be an int"):
            check_n_trees(wrong)


def test_both_ends_of_a_range_of_ints_are_in_it():
    assert [check_int("k", value, 2, 4) for value in (2, 4)] == [2, 4]
    for wrong in (1, 5):
        with pytest.raises(ValueError, match=r"'k' parameter must be an int in the range \[2, 4\]"):
            check_int("k", wrong, 2, 4)


def test_brackets_tell_which_ends_of_a_range_of_floats_are_in_it():
    assert check_float("share", 1, "(0, 1]") == 1.0
    assert check_float("share", 0, "[0, 1)") == 0.0
    for wrong, allowed in ((0, "(0, 1]"), (1, "[0, 1)"), (1.5, "[0, 1]"), (-0.5, "[0, 1]"), (float("nan"), "[0, 1]")):
        with pytest.raises(ValueError, match="'share' parameter must be a float in the range"):
            check_float("share", wrong, allowed)


@for_each("seed", [0, 1, np.int64(5), 2**64 - 1])
def test_an_integer_is_the_seed(seed):
    assert check_random_state_seed(seed) == int(seed)


@for_each("make", [np.random.default_rng, np.random.RandomState])
def test_generators_give_their_next_number(make):
    generator = make(7)
    first, second = check_random_state_seed(generator), check_random_state_seed(generator)
    assert first != second
    assert check_random_state_seed(make(7)) == first
    assert 0 <= first < 2**64


def test_none_is_a_fresh_seed():
    seeds = {check_random_state_seed(None) for _ in range(5)}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**64 for seed in seeds)


def test_seeds_that_are_none():
    for wrong in (-1, 2**64, 0.5, "0", True):
        with pytest.raises(ParameterError, match="'random_state' parameter must be an int in the range"):
            check_random_state_seed(wrong)


def test_an_error_of_a_parameter_can_be_sent_to_another_process():
    error = ParameterError("cv", "an int", "five")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is ParameterError
    assert str(again) == str(error) == "The 'cv' parameter must be an int. Got 'five' instead."
