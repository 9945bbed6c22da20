"""Forests from a Dask cluster beside the same forests from threads: time, and memory of the workers.

    python benchmarks/cluster.py [--repeats 3] [--out benchmarks/results/cluster.md]
    python benchmarks/cluster.py --only memory                 print one of the two tables

Two worker processes of one thread each against two threads of this process, in turn, on 50 000 x 64 Gaussian mixtures;
then the peak memory of two workers that Dask lets keep 51 MiB, while the number of rows doubles twice. On a machine
that does other work as well only ratios mean anything; the processor time of both sides is given beside the clock's.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import dask
import dask.array
import numpy as np
from distributed import Client, LocalCluster, wait

from bayesfloor import spanning_forests
from point_sets import mixture

ROWS, FEATURES = 50_000, 64
# Rows whose partitions are all of 15 000 rows.
GROWING = (60_000, 120_000, 240_000)
# The limit of a worker's memory, and the share of it that data and results may take before Dask spills them.
LIMIT_BYTES, TARGET = 2**30, 0.05
# Rows in a chunk of a persisted array.
CHUNK_ROWS = 20_000


def two_workers(**options: object) -> LocalCluster:
    return LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50, **options)


def sheet(n: int, d: int) -> np.ndarray:
    """Draw points close to three of d dimensions: large rows whose distances take little time."""
    rng = np.random.default_rng(0)
    return rng.random((n, 3)) @ rng.standard_normal((3, d)) + 1e-3 * rng.standard_normal((n, d))


def stored_rows(path: str, first: int, last: int) -> np.ndarray:
    return np.array(np.load(path, mmap_mode="r")[first:last])


def persisted(client: Client, path: Path, n: int) -> dask.array.Array:
    """Have the workers read a file, and keep it."""
    bounds = [(first, min(n, first + CHUNK_ROWS)) for first in range(0, n, CHUNK_ROWS)]
    chunks = [dask.delayed(stored_rows)(str(path), *own) for own in bounds]
    parts = [
        dask.array.from_delayed(chunk, (last - first, FEATURES), np.float64)
        for chunk, (first, last) in zip(chunks, bounds, strict=True)
    ]
    array = client.persist(dask.array.concatenate(parts))
    wait(array)
    return array


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
        X = sheet(n, FEATURES)
        path = folder / f"{n}.npy"
        np.save(path, X)
        expected = spanning_forests(X)
        peaks, times = [], []
        for kind in ("array", "file", "persisted"):
            with (
                dask.config.set({"distributed.worker.memory.target": TARGET}),
                two_workers(memory_limit=LIMIT_BYTES, local_directory=str(folder)) as cluster,
                Client(cluster) as client,
            ):
                spanning_forests(X[:9_000], client=client)
                before = client.run(peak_bytes)
                source = {"array": X, "file": path}.get(kind)
                source = persisted(client, path, n) if source is None else source
                elapsed, used, forests = timed(lambda source=source: spanning_forests(source, client=client), client)
                after = client.run(peak_bytes)
                assert after.keys() == before.keys()  # or a worker was started anew
                assert np.array_equal(forests.edges, expected.edges)
                assert np.array_equal(forests.weights.view(np.int64), expected.weights.view(np.int64))
                peaks += [max(before.values()), max(after.values())]
                times.append(f"{used:.0f} s")
            print(n, kind, [peak >> 20 for peak in peaks[-2:]], f"{elapsed:.1f} s", file=sys.stderr, flush=True)
        mib = [f"{peak / 2**20:.0f}" for peak in peaks]
        lines.append(f"| {n // 1000} 000 | {X.nbytes / 2**20:.0f} | {' | '.join(mib)} | {', '.join(times)} |")
    return lines


TIMES = """\
Two workers of one thread each against two threads, in turn; medians, and the range of the ratio. Edges, and
the bits of all weights, are equal. Processor time is that of the client and its workers.

| points | cluster | threads | ratio | cluster, processor | threads, processor | ratio |
|---|---|---|---|---|---|---|"""

MEMORY = """\
## Memory of a worker

Peak memory of a worker process, the larger of two, in MiB, while the number of rows doubles twice. Dask may keep 51 MiB
of data and results in each (`memory_limit` 1 GiB, `distributed.worker.memory.target` 0.05) and spills the rest to disk.
Points are close to three of 64 dimensions; before: after a call on 9 000 rows. The array is scattered by the client,
the file read by the workers, the persisted Dask array used where it lies; its own chunks count towards the 51 MiB.
Edges, and the bits of all weights, are those of the local run.

| rows | all points | array: before | after | file: before | after | persisted: before | after | processor |
|---|---|---|---|---|---|---|---|---|"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=["times", "memory"])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    lines = [
        "# Forests from a Dask cluster",
        "",
        f"`python benchmarks/cluster.py --repeats {arguments.repeats} --out benchmarks/results/cluster.md`, 3 trees, "
        f"{os.cpu_count()} cores, on which other work ran as well (load {load:.0f} at the start).",
        "",
    ]
    if arguments.only != "memory":
        with two_workers() as cluster, Client(cluster) as client:
            small = mixture(9_000, FEATURES, 3)[0]
            spanning_forests(small, client=client)  # kernels are loaded
            spanning_forests(small)
            lines += [TIMES, *(line for extent in (3, 10) for line in compare(client, extent, arguments.repeats)), ""]
    if arguments.only != "times":
        with tempfile.TemporaryDirectory() as folder:
            lines += [MEMORY, *memory_while_rows_grow(Path(folder)), ""]
    print("\n".join(lines))
    if arguments.out:
        arguments.out.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
