"""Random point sets in random partitions: forests from a file and from a cluster's tasks, beside those from an array.

    python benchmarks/fuzz_partitions.py                       1000 cases: from a file, and a cluster's tasks run here
    python benchmarks/fuzz_partitions.py --seconds 600         as many cases as ten minutes take
    python benchmarks/fuzz_partitions.py --how cluster         on two worker processes of a local Dask cluster
    python benchmarks/fuzz_partitions.py --seed 7 --first 812 --cases 1    one case again

Case i of a seed is always the same. Edges, weights, counts and sums must be equal bit for bit; the first line of a
difference names the case and what differs. The exit status is 1 when there is one.
"""

from __future__ import annotations

import argparse
import contextlib
import pickle
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from bayesfloor import class_forests, spanning_forests
from bayesfloor.forest import plan
from bayesfloor.forest.partitions import cluster_rows, dispatch
from bayesfloor.forest.partitions.graph import Graph

HOWS = ("file", "tasks", "tasks from a file", "cluster", "cluster from a file")
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"tile_size": 2},
    {"tile_size": 5, "near_tiles": 1},
    {"buffer_edges": 1},
    {"survivors_per_point": 0.01, "buffer_edges": 16, "tile_size": 8},
    {"projection": "pca", "kernel": "products"},
    {"projection": "none", "kernel": "differences"},
)


@dataclass(frozen=True)
class Case:
    """Points, labels, and how the work is cut up."""

    X: np.ndarray
    y: np.ndarray | None  # None for the forests of all rows alone
    n_trees: int
    seed: int
    n_jobs: int
    settings: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        sizes = None if self.y is None else np.unique(self.y, return_counts=True)[1].tolist()
        return f"X {self.X.shape}, classes {sizes}, {self.n_trees} trees, {self.n_jobs} threads, {self.settings}"


def draw_points(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Draw points of some kind: continuous, tied, copied, far apart or hardly so, at any scale."""
    kind = rng.integers(8)
    if kind == 0:
        X = rng.integers(0, rng.integers(1, 6), (n, d)).astype(float)
    elif kind == 1:
        X = 1e6 * rng.standard_normal((4, d))[rng.integers(0, 4, n)] + rng.standard_normal((n, d))
    elif kind == 2:
        X = np.eye(d)[rng.integers(0, d, n)] * rng.choice([1.0, -1.0, -0.0], (n, 1))
    elif kind == 3:
        X = rng.standard_cauchy((n, d))
    elif kind == 4:
        X = np.outer(rng.permutation(n), np.ones(d))
    else:
        X = rng.standard_normal((n, d))
    if rng.random() < 0.3:
        X = X[rng.integers(0, rng.integers(1, n + 1), n)]
    if rng.random() < 0.1:
        X = X + 1e-10 * rng.standard_normal((n, d))
    if rng.random() < 0.1:
        X = X * rng.choice([1e-250, 1e-170, 1e160, 1e250])
    return np.ascontiguousarray(X)


def draw_case(seed: int, number: int) -> Case:
    """Draw a case; its number and the seed decide everything."""
    rng = np.random.default_rng([seed, number])
    n = int(rng.integers(2, rng.choice([12, 60, 150, 500], p=[0.3, 0.35, 0.25, 0.1])))
    d = int(rng.choice([1, 2, 3, 5, 9, 40], p=[0.2, 0.25, 0.2, 0.15, 0.1, 0.1]))
    X = draw_points(rng, n, d)
    n_classes = int(rng.integers(1, min(n, 9) + 1))
    y = None
    if n_classes > 1:
        shares = rng.dirichlet(np.full(n_classes, rng.choice([0.3, 1.0, 10.0])))
        y = rng.choice(n_classes, n, p=shares)
        y[rng.permutation(n)[:n_classes]] = np.arange(n_classes)
        if rng.random() < 0.3:
            y = y[np.lexsort(X.T)] if rng.random() < 0.5 else np.sort(y)
    # about 25 partitions at most: what many more cost is tasks, not cases
    settings = SETTINGS[rng.integers(len(SETTINGS))] | {"partition_rows": int(rng.integers(max(1, n // 25), n + 1))}
    if rng.random() < 0.7:
        settings["all_pairs_below"] = 2
    return Case(X, y, int(rng.integers(1, 4)), int(rng.integers(100)), int(rng.integers(1, 4)), settings)


def forests_of(case: Case, X: Any, client: Any = None) -> Any:
    arguments = {"n_trees": case.n_trees, "random_state": case.seed, "n_jobs": case.n_jobs, "client": client}
    return spanning_forests(X, **arguments) if case.y is None else class_forests(X, case.y, **arguments)


def differences(case: Case, actual: Any, expected: Any) -> Iterator[str]:
    """Name what is not equal to the last bit."""
    if case.y is None:
        yield from forests_differ("forests", actual, expected)
        return
    yield from forests_differ("whole", actual.whole, expected.whole)
    if not np.array_equal(actual.pair_cross_counts, expected.pair_cross_counts):
        yield "pair_cross_counts"
    for name in expected.pair_edge_sums._fields:
        if not np.array_equal(getattr(actual.pair_edge_sums, name), getattr(expected.pair_edge_sums, name)):
            yield f"pair_edge_sums.{name}"
    for a, b in combinations(expected.classes, 2):
        yield from forests_differ(f"pair({a}, {b})", actual.pair(a, b), expected.pair(a, b))


def forests_differ(what: str, actual: Any, expected: Any) -> Iterator[str]:
    for name in ("tree", "edges", "n_components", "rows"):
        if not np.array_equal(getattr(actual, name), getattr(expected, name)):
            yield f"{what}.{name}"
    if not np.array_equal(actual.weights.view(np.int64), expected.weights.view(np.int64)):
        yield f"{what}.weights"
    sites = np.unique(np.column_stack((actual.sites, expected.sites)), axis=0)
    if not len(sites) == len(np.unique(actual.sites)) == len(np.unique(expected.sites)):
        yield f"{what}.sites"


class TasksHere:
    """Stands in for a cluster: runs a graph's jobs in a random order that their needs allow, one at a time.

    Values are pickled on the way, and arrays arrive read-only, as they do from another process.
    """

    rng = np.random.default_rng(0)

    def __init__(self, cluster: Any, graph: Graph):
        self.graph = graph

    def run(self, report: Any) -> dict[str, Any]:
        """Have all jobs done and return the wanted results."""
        known = {name: sent(value) for name, value in self.graph.data.items()}
        waiting = dict(self.graph.jobs)
        while waiting:
            ready = [name for name, job in waiting.items() if all(need in known for need in job.names())]
            name = ready[self.rng.integers(len(ready))]
            job = waiting.pop(name)
            needs = [
                [received(known[n]) for n in need] if isinstance(need, list) else received(known[need])
                for need in job.needs
            ]
            known[name] = sent(sent_and_received(job.work)(*needs))
        return {name: received(known[name]) for name in self.graph.wanted}


def sent(value: Any) -> tuple[bytes, list[bytes]]:
    buffers: list[pickle.PickleBuffer] = []
    return pickle.dumps(value, protocol=5, buffer_callback=buffers.append), [bytes(b.raw()) for b in buffers]


def received(message: tuple[bytes, list[bytes]]) -> Any:
    return pickle.loads(message[0], buffers=message[1])


def sent_and_received(value: Any) -> Any:
    return received(sent(value))


@contextlib.contextmanager
def tasks_here(seed: int, number: int) -> Iterator[Any]:
    """Have a cluster's tasks run in this process; yields what to pass as its client."""
    TasksHere.rng = np.random.default_rng([seed, number, 1])
    stand_in = mock.Mock(n_slots=2)
    with (
        mock.patch.object(dispatch, "check_client", lambda client: client),
        mock.patch.object(dispatch, "Cluster", return_value=stand_in),
        mock.patch.object(dispatch, "ClusterRun", TasksHere),
        mock.patch.object(cluster_rows, "ClusterRun", TasksHere),
    ):
        yield stand_in


def run_case(case: Case, how: str, folder: Path, client: Any) -> list[str]:
    """Return what differs between the forests of an array and those computed in a given way."""
    with plan.override(**case.settings | {"partition_rows": None}):
        expected = forests_of(case, case.X)
    source: Any = case.X
    if "file" in how:
        source = folder / "X.npy"
        np.save(source, case.X)
    with plan.override(**case.settings):
        actual = forests_of(case, source, client)
    return list(differences(case, actual, expected))


def fuzz(seed: int, first: int, n_cases: int, seconds: float, hows: list[str]) -> int:
    """Run cases and print what differs; returns how many do."""
    started = time.monotonic()
    counts: Counter[str] = Counter()
    n_bad = 0
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        client = None
        if any("cluster" in how for how in hows):
            from distributed import Client, LocalCluster

            cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
            client = stack.enter_context(Client(stack.enter_context(cluster)))
        for number in range(first, first + n_cases):
            if time.monotonic() - started > seconds:
                break
            case = draw_case(seed, number)
            for how in hows:
                try:
                    with tasks_here(seed, number) if "tasks" in how else contextlib.nullcontext(client) as passed:
                        wrong = run_case(case, how, folder, None if how == "file" else passed)
                except Exception:  # the case is told below, and the rest go on
                    wrong = [traceback.format_exc()]
                counts[how] += 1
                if wrong:
                    n_bad += 1
                    print(f"seed {seed}, case {number}, {how}: {', '.join(wrong)}\n    {case}", flush=True)
    for how in hows:
        print(f"{how}: {counts[how]} cases")
    print(f"{n_bad} of {counts.total()} differ, seed {seed}, {time.monotonic() - started:.0f} s")
    return n_bad


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, default=None, help="how many; 1000 without --seconds")
    parser.add_argument("--seconds", type=float, default=None, help="stop after so long")
    parser.add_argument("--how", action="append", choices=HOWS, help="may be given several times")
    options = parser.parse_args()
    n_cases = options.cases or (1000 if options.seconds is None else 10**9)
    hows = options.how or ["file", "tasks", "tasks from a file"]
    raise SystemExit(fuzz(options.seed, options.first, n_cases, options.seconds or 1e9, hows) > 0)


if __name__ == "__main__":
    main()
