"""Records made by hand, for tables whose figures are computed by hand."""

from benchmarks.study.plan import Cell
from benchmarks.study.records import DONE, OVER_BUDGET, Record

CONTEXT = {"machine": {"cpu": "a"}, "versions": {"python": "3"}, "revision": None}
BASE = {"n_folds": 10, "test_share": 0.2, "scale": "standard"}


def made_record(dataset, method, split=0, *, ari=0.5, seconds=1.0, n_configurations=19, **base):
    result = {
        "ari": ari,
        "accuracy": ari / 2,
        "macro_f1": ari / 4,
        "seconds": 2 * seconds,
        "cpu_seconds": seconds,
        "n_configurations": n_configurations,
        "chosen": {"C": 1.0},
    }
    protocol = {**BASE, "grid": {"C": [1.0] * n_configurations}, "settings": {}, **base}
    return Record(Cell(dataset, split, method), protocol, DONE, result, None, "paper", CONTEXT)


def over_budget(dataset, method, split=0, *, budget=900.0, n_configurations=19):
    protocol = {**BASE, "grid": {"C": [1.0] * n_configurations}, "settings": {}}
    return Record(Cell(dataset, split, method), protocol, OVER_BUDGET, None, budget, "paper", CONTEXT)
