"""Columns that give the target away, and what they are taken for."""

import numpy as np
import pandas as pd

from bayesfloor.floor.learned.trust.checks import is_worse_without
from bayesfloor.floor.learned.trust.leaks import Leaks, find_leaks
from bayesfloor.floor.learned.trust.single_columns import explained_by_columns, floors_of_columns
from bayesfloor.floor.learned.trust.source import source_of
from bayesfloor.floor.trees.problem import check_options
from helpers.one_case import for_each

RNG = np.random.default_rng(0)
N = 240
PLAIN = pd.DataFrame(RNG.standard_normal((N, 4)), columns=["a", "b", "c", "d"])
LABELS = pd.Series(np.where(PLAIN["a"] + RNG.standard_normal(N) > 0, "yes", "no"))
NUMBERS = pd.Series(np.exp(PLAIN["a"] + RNG.standard_normal(N)))
IS_YES = (LABELS == "yes").to_numpy()
FACTOR = RNG.uniform(20, 400, N)


def leaks(y, **planted):
    frame = PLAIN.assign(**planted, y=y)
    task = "classification" if y.dtype.kind in "OU" or y.dtype == "str" else "regression"
    source = source_of(frame, "y", None, task=task)
    how = {"bias_correction": True, "forced_edges": "drop", "device": "cpu", "client": None}
    options = check_options(n_trees=3, confidence=0.95, n_jobs=1, random_state=0, progress=False, **how)
    measure = explained_by_columns if task == "regression" else floors_of_columns
    return find_leaks(source, measure(source, options), 0)


def test_a_column_that_tells_the_target():
    of_classes = {
        "state": np.where(IS_YES, "closed", "active"),
        "known afterwards": np.where(IS_YES, RNG.integers(1, 28, N), np.nan),
        "an id, class by class": np.argsort(np.argsort(IS_YES + 0.1 * RNG.random(N))) * 3.0,
        "a score": np.where(IS_YES, 0.6, 0.2) + 0.19 * RNG.random(N),
    }
    above = NUMBERS.median() < NUMBERS
    of_numbers = {
        "log": np.log(NUMBERS),
        "root": -np.sqrt(NUMBERS),
        "rounded": (NUMBERS / 2.54).round(2),
        "bins": pd.qcut(NUMBERS, 10, labels=False).astype(float),
        "words": np.where(above, "high", "low"),
        "gaps": np.where(above, 1.0, np.nan),
    }
    for y, columns in ((LABELS, of_classes), (NUMBERS, of_numbers)):
        assert [name for name, column in columns.items() if leaks(y, x=column) != Leaks(("x",))] == []


def test_two_columns_that_tell_it_together():
    late = np.where(IS_YES, RNG.integers(1, 15, N), -RNG.integers(0, 15, N))
    assert leaks(LABELS, due=FACTOR, done=FACTOR + late) == Leaks((), (("due", "done"),))
    assert leaks(NUMBERS, n=FACTOR, total=NUMBERS * FACTOR) == Leaks((), (("n", "total"),))
    assert leaks(NUMBERS, net=NUMBERS - FACTOR, tax=FACTOR) == Leaks((), (("net", "tax"),))
    assert Leaks(("a",), (("b", "c"), ("c", "d"))).columns == ("a", "b", "c", "d")


def test_every_leak_is_found_at_once():
    gone = np.where(IS_YES, RNG.integers(1, 28, N), np.nan)
    assert leaks(LABELS, year=gone, month=gone + RNG.integers(0, 9, N), state=IS_YES * 1) == Leaks(
        ("year", "month", "state")
    )


@for_each("y", [LABELS, NUMBERS])
def test_good_columns_are_no_leaks(y):
    told = IS_YES + 0.4 * RNG.standard_normal(N) if y is LABELS else np.log(NUMBERS) + 0.2 * RNG.standard_normal(N)
    some = np.where(RNG.random(N) < 0.3, np.nan, PLAIN["b"])
    rare = 1.0 * (np.arange(N) % 60 == 7)  # its few rows cannot be far from each other
    assert not leaks(y, good=told, gaps=some, rare=rare, town=[f"town {code}" for code in RNG.integers(0, 30, N)])
    assert not leaks(y)


def test_where_most_columns_tell_all_the_problem_is_easy():
    easy = {f"x{place}": IS_YES + 0.1 * RNG.random(N) for place in range(8)}
    assert not leaks(LABELS, **easy)


def test_what_is_a_leak_whatever_the_others_tell():
    """A number in another unit, or a value that only one class has; not a class by its score, nor bins."""
    gone = np.where(IS_YES, RNG.integers(1, 28, N), np.nan)
    assert leaks(LABELS, gone=gone, state=IS_YES * 1).exact == ("gone",)
    assert leaks(NUMBERS, log=np.log(NUMBERS).astype(np.float32), bins=pd.qcut(NUMBERS, 10, labels=False)).exact == (
        "log",
    )
    nearly = NUMBERS * np.exp(0.05 * RNG.standard_normal(N))
    assert leaks(NUMBERS, nearly=nearly) == Leaks(("nearly",))
    assert not leaks(NUMBERS, nearly=nearly).exact
    easy = {f"x{place}": IS_YES + 0.1 * RNG.random(N) for place in range(8)}
    assert leaks(LABELS, **easy, gone=gone) == Leaks(("gone",))


def test_a_column_is_a_leak_where_the_others_tell_far_less():
    from types import SimpleNamespace as Metric

    def reached(value, width=0.02):
        ends = (value - width, value + width)
        return Metric(reached=value, perfect=0.0, baseline=0.5, reached_interval=ends)

    assert is_worse_without(reached(0.01), reached(0.2))
    assert not is_worse_without(reached(0.01), reached(0.02))
    assert not is_worse_without(reached(0.18), reached(0.2))
    assert not is_worse_without(reached(0.01, 0.05), reached(0.09, 0.08))  # of fifty rows, four more errors
