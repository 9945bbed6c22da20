"""Pairs of tables: as many rows as they say, the same for the same seed, and a page that counts what is recorded."""

import pandas as pd
import pytest

from benchmarks.problems.drift_pairs import SAME, SHIFTS, pair_of
from benchmarks.truth.drift import power_of
from benchmarks.truth.drift_peers import N_PEERS, each_column, kernel_mean


@pytest.mark.parametrize("name", [*SHIFTS, *SAME])
def test_pairs_are_as_declared(name):
    kind = (SHIFTS | SAME)[name]
    old, new = pair_of(name, 3)
    assert (len(old), len(new)) == (kind.n_old, kind.n_new)
    assert list(old.columns) == list(new.columns)
    assert ("y" in old) == kind.has_target
    for frame, again in zip((old, new), pair_of(name, 3), strict=True):
        pd.testing.assert_frame_equal(frame, again)
    assert not old.equals(pair_of(name, 4)[0])


def test_peers_find_a_large_shift_and_none_in_a_copy():
    old, new = pair_of("numbers alone", 0)
    for test in (each_column, kernel_mean):
        assert test(old, old.copy()) > 0.9
        assert test(old, new + 1.0) < 0.01


def test_power_is_the_share_of_small_p_values():
    records = [{"kind": "few rows", "seed": s, "test": "drift", "p_value": p, "seconds": 1.0}
               for s, p in enumerate([0.01, 0.05, 0.2, None])]  # fmt: skip
    records += [{"kind": "few rows", "seed": N_PEERS, "test": "evidently", "p_value": 0.0, "seconds": 1.0}]
    assert power_of(records) == {("few rows", "drift"): (0.5, 4, 1.0)}  # of peers the first seeds alone
