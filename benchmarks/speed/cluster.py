"""Forests from a Dask cluster beside the same forests from threads: time, and memory of the workers.

    python -m benchmarks.speed.cluster [--repeats 3]              write benchmarks/results/cluster.md
    python -m benchmarks.speed.cluster --only memory                 print one of the two tables

Two worker processes of one thread each against two threads of this process, in turn, on 50 000 x 64 Gaussian mixtures;
then the peak memory of two workers that Dask lets keep 51 MiB, while the number of rows doubles twice. On a machine
that does other work as well only ratios mean anything; the processor time of both sides is given beside the clock's.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dask
import dask.array
import numpy as np
from distributed import Client, LocalCluster, wait

from bayesfloor import spanning_forests
from benchmarks.problems.point_sets import mixture
from benchmarks.tools import measuring
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import as_table, write_page

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


def timed(compute: Callable[[], object], client: Client | None = None) -> measuring.Timed:
    """Time a call; processor seconds are those here and on the workers."""

    def processor_s() -> float:
        return time.process_time() + (sum(client.run(time.process_time).values()) if client else 0.0)

    return measuring.timed(compute, processor_s)


def compare(client: Client, extent: float, repeats: int) -> list[str]:
    """Return a row of the table of times."""
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
    row = [name, f"{medians[0]:.1f} s", f"{medians[1]:.1f} s", f"**{medians[2]:.2f}** ({spread})"]
    return [*row, f"{medians[3]:.1f} s", f"{medians[4]:.1f} s", f"{medians[5]:.2f}"]


def memory_while_rows_grow(folder: Path) -> list[list[str]]:
    """Return the rows of the table of memory."""
    rows = []
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
                before = client.run(measuring.memory_mib, "VmHWM")
                source = {"array": X, "file": path}.get(kind)
                source = persisted(client, path, n) if source is None else source
                elapsed, used, forests = timed(lambda source=source: spanning_forests(source, client=client), client)
                after = client.run(measuring.memory_mib, "VmHWM")
                assert after.keys() == before.keys()  # or a worker was started anew
                assert np.array_equal(forests.edges, expected.edges)
                assert np.array_equal(forests.weights.view(np.int64), expected.weights.view(np.int64))
                peaks += [max(before.values()), max(after.values())]
                times.append(f"{used:.0f} s")
            print(n, kind, [round(peak) for peak in peaks[-2:]], f"{elapsed:.1f} s", file=sys.stderr, flush=True)
        mib = [f"{peak:.0f}" for peak in peaks]
        rows.append([f"{n // 1000} 000", f"{X.nbytes / 2**20:.0f}", *mib, ", ".join(times)])
    return rows


TIMES = """\
Two workers of one thread each against two threads, in turn; medians, and the range of the ratio. Edges, and
the bits of all weights, are equal. Processor time is that of the client and its workers."""

MEMORY = """\
## Memory of a worker

Peak memory of a worker process, the larger of two, in MiB, while the number of rows doubles twice. Dask may keep 51 MiB
of data and results in each (`memory_limit` 1 GiB, `distributed.worker.memory.target` 0.05) and spills the rest to disk.
Points are close to three of 64 dimensions; before: after a call on 9 000 rows. The array is scattered by the client,
the file read by the workers, the persisted Dask array used where it lies; its own chunks count towards the 51 MiB.
Edges, and the bits of all weights, are those of the local run."""


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=["times", "memory"])
    options = parser.parse_args()
    parts = [
        "# Forests from a Dask cluster",
        f"`python -m benchmarks.speed.cluster --repeats {options.repeats}`, 3 trees, {os.cpu_count()} cores, on which "
        f"other work ran as well (load {os.getloadavg()[0]:.0f} at the start).",
    ]
    if options.only != "memory":
        with two_workers() as cluster, Client(cluster) as client:
            small = mixture(9_000, FEATURES, 3)[0]
            spanning_forests(small, client=client)  # kernels are loaded
            spanning_forests(small)
            heads = ["points", "cluster", "threads", "ratio", "cluster, processor", "threads, processor", "ratio"]
            parts += [TIMES, as_table(heads, [compare(client, extent, options.repeats) for extent in (3, 10)])]
    if options.only != "times":
        with tempfile.TemporaryDirectory() as folder:
            heads = ["rows", "all points", "array: before", "after", "file: before", "after", "persisted: before"]
            parts += [MEMORY, as_table([*heads, "after", "processor"], memory_while_rows_grow(Path(folder)))]
    if options.only is None:
        write_page("cluster", *parts)
    else:
        print("\n\n".join(parts))


if __name__ == "__main__":
    main()
