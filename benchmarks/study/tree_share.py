"""How much of SmartSVM's time its floors and class tree take, and whether it would be fastest if they were free.

python -m benchmarks.study.tree_share

On split 0 of all sets but fars, with one thread; beside the CPU seconds of DAG, OvO and OvR in the records. Data sets
are read from $BAYESFLOOR_DATA, or from shared/data beside the repository.
"""

import time
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.problems.stored_sets import DATA
from benchmarks.study.methods import find_method
from benchmarks.study.paper_sets import load_paper_set
from benchmarks.study.plan import PAPER_SETS, Cell, Protocol
from benchmarks.study.protocol import Parts, split_and_scale
from benchmarks.study.records import read_records
from benchmarks.tools.pages import RESULTS


def cpu_seconds(classifier: Any, parts: Parts) -> float:
    started = time.process_time()
    classifier.fit(parts.X_train, parts.y_train)
    return time.process_time() - started


if __name__ == "__main__":
    protocol = Protocol()
    smart = find_method("SmartSVM", protocol)
    recorded = {record.cell: record.result for record in read_records(RESULTS / "study")[0] if record.result}
    n_fastest = 0
    sets = [name for name in PAPER_SETS if name != "fars"]
    for name in sets:
        table = load_paper_set(name, data_dir=DATA)
        assert table.y is not None
        parts = split_and_scale(table.X, table.y, 0, protocol)
        with threadpool_limits(1):
            first = smart.make(0).fit(parts.X_train, parts.y_train)
            whole = cpu_seconds(smart.make(0), parts)
            without_tree = cpu_seconds(smart.make(0).set_params(tree=first.tree_), parts)
        best = min(recorded[Cell(name, 0, rival)]["cpu_seconds"] for rival in ("DAG", "OvO", "OvR"))
        n_fastest += without_tree < best
        print(f"{name:11} {whole:7.3f} s, floors and tree {1 - without_tree / whole:4.0%}; rivals' best {best:7.3f} s")
    print(f"Fastest with the tree for free: {n_fastest} of {len(sets)}")
