"""Forests from a Dask cluster beside the same forests from threads: time, and memory of the workers.

    python benchmarks/cluster.py [--repeats 3] [--out benchmarks/results/cluster.md]

Two worker processes of one thread each against two threads of this process, in turn, on 50 000 x 64 Gaussian mixtures;
then the peak memory of the workers while the number of rows grows. On a machine that does other work as well only
ratios mean anything; the processor time of both sides is given beside the time on the clock.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster

from bayesfloor import spanning_forests
from point_sets import mixture

ROWS, FEATURES = 50_000, 64
GROWING = (25_000, 50_000, 100_000)


def two_workers() -> LocalCluster:
    return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)


def peak_bytes() -> int:
    """Return the most memory this process had so far; getrusage would count that of the process that started it."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    raise OSError("the system does not tell the peak memory of a process")


def timed(compute, client: Client | None = None) -> tuple[float, float, object]:
    """Return the seconds on the clock, the processor seconds here and on the workers, and the result."""

    def processor_s() -> float:
        return time.process_time() + (sum(client.run(time.process_time).values()) if client else 0.0)

    used, start = processor_s(), time.perf_counter()
    result = compute()
    return time.perf_counter() - start, processor_s() - used, result


def compare(client: Client, extent: float, repeats: int) -> list[str]:
    X, _ = mixture(ROWS, FEATURES, extent)
    rows = []
    for _ in range(repeats):
        away = timed(lambda: spanning_forests(X, client=client), client)
        here = timed(lambda: spanning_forests(X, n_jobs=2))
        assert np.array_equal(away[2].edges, here[2].edges)
        assert np.array_equal(away[2].weights.view(np.int64), here[2].weights.view(np.int64))
        rows.append((away[0], here[0], away[0] / here[0], away[1], here[1], away[1] / here[1]))
        print(f"extent {extent}: " + " ".join(f"{value:.2f}" for value in rows[-1]), file=sys.stderr, flush=True)
    name = f"mixture [-{extent:g}, {extent:g}] {ROWS // 1000} 000 x {FEATURES}"
    medians = [statistics.median(column) for column in zip(*rows, strict=True)]
    spread = f"{min(row[2] for row in rows):.2f} to {max(row[2] for row in rows):.2f}"
    figures = f"{medians[0]:.1f} s | {medians[1]:.1f} s | **{medians[2]:.2f}** ({spread})"
    return [f"| {name} | {figures} | {medians[3]:.1f} s | {medians[4]:.1f} s | {medians[5]:.2f} |"]


def memory_while_rows_grow(folder: Path) -> list[str]:
    lines = []
    for n in GROWING:
        X, _ = mixture(n, FEATURES, 3)
        path = folder / f"{n}.npy"
        np.save(path, X)
        peaks = []
        for source in (X, path):
            with two_workers() as cluster, Client(cluster) as client:
                spanning_forests(X[:9_000], client=client)
                before = max(client.run(peak_bytes).values())
                spanning_forests(source, client=client)
                peaks += [before, max(client.run(peak_bytes).values())]
        print(n, peaks, file=sys.stderr, flush=True)
        mib = [f"{peak / 2**20:.0f}" for peak in peaks]
        lines.append(f"| {n // 1000} 000 | {X.nbytes / 2**20:.0f} | {' | '.join(mib)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with two_workers() as cluster, Client(cluster) as client:
        small = mixture(9_000, FEATURES, 3)[0]
        spanning_forests(small, client=client)  # kernels are loaded
        spanning_forests(small)
        times = [line for extent in (3, 10) for line in compare(client, extent, arguments.repeats)]
    with tempfile.TemporaryDirectory() as folder:
        memory = memory_while_rows_grow(Path(folder))
    lines = [
        "# Forests from a Dask cluster",
        "",
        f"`python benchmarks/cluster.py --repeats {arguments.repeats} --out benchmarks/results/cluster.md`, 3 trees, "
        f"{os.cpu_count()} cores, on which other work ran as well (load {load:.0f} at the start).",
        "",
        "Two workers of one thread each against two threads, in turn; medians, and the range of the ratio. Edges, and",
        "the bits of all weights, are equal. Processor time is that of the client and its workers.",
        "",
        "| points | cluster | threads | ratio | cluster, processor | threads, processor | ratio |",
        "|---|---|---|---|---|---|---|",
        *times,
        "",
        "Peak memory of a worker, the larger of the two, in MiB, on mixtures [-3, 3]; before: after 9 000 rows. A task",
        "holds two partitions, and what it makes of them; these stop growing at 8 MiB of points (16 384 rows here) and",
        "have 12 500 rows at 50 000 and at 100 000. What grows from there on is left to the worker's share of points,",
        "copies of partitions that Dask has not dropped yet, and edges, O(n k); these were not measured one by one.",
        "",
        "| rows | all points | array: before | array: after | file: before | file: after |",
        "|---|---|---|---|---|---|",
        *memory,
        "",
    ]
    print("\n".join(lines))
    if arguments.out:
        arguments.out.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
