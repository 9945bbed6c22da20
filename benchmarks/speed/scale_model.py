"""What exact forests cost far past what was run: the model of docs/scale.md, beside what was measured.

    python -m benchmarks.speed.scale_model

Prints the tables of docs/scale.md.
"""

from benchmarks.tools.pages import as_table

# seconds of one core for a distance, and for each of its features, where boxes keep no tiles apart
CORE_PAIR, CORE_PAIR_FEATURE = 2.0e-9, 1.0e-10
CORE_POINT = 3.0e-5  # seconds of one core for a point: ranks, tiles, seeds, walks
LAST_WALK = 3.0e-6  # seconds for a point of the last merge, which is one thread's, whatever else there is
# where boxes keep tiles apart: seconds of one core for a million points, and the power of the growth from there
PRUNED = {2: (9.8, 1.0), 8: (31.0, 1.3)}
ALL_PAIRS = 16  # features from which on every two points meet
GPU_PAIR, GPU_PAIR_FEATURE = 2.6e-12, 2.4e-14  # seconds of one H200, near neighbours and sweep
HOST_POINT = 1.0e-6  # seconds for a point on the 16 cores beside it
LINE = 20  # bytes of an edge that travels
TREES = 3


def forest_seconds(n: float, d: float, cores: float) -> float:
    """Return the seconds that exact spanning forests of n points in d dimensions take on so many cores."""
    last = n * LAST_WALK
    if d < ALL_PAIRS:
        at_million, power = PRUNED[2 if d < 5 else 8]
        return at_million * (n / 1e6) ** power / cores + last
    return (n * n / 2 * (CORE_PAIR + CORE_PAIR_FEATURE * d) + n * CORE_POINT) / cores + last


def on_gpus(n: float, d: float, gpus: float) -> float:
    """Return seconds on GPUs with 16 cores each."""
    return (n * n / 2 * (GPU_PAIR + GPU_PAIR_FEATURE * d) + n * HOST_POINT) / gpus + n * LAST_WALK


def traffic(n: float, d: float, workers: int) -> tuple[float, float, float]:
    """Return the number of partitions, the bytes that reach one worker, and those of all edges that travel."""
    partitions = max(4, round((8 * workers) ** 0.5))
    rows = n / partitions
    joins = partitions * (partitions - 1) / 2
    received = joins / workers * rows * d * 8
    return partitions, received, joins * 2 * rows * TREES * LINE


def shown(seconds: float) -> str:
    """Write seconds in the unit that fits."""
    for limit, unit, word in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h"), (6e7, 86400, "days")):
        if seconds < limit:
            return f"{seconds / unit:.3g} {word}"
    return f"{seconds / 3.15e7:.3g} years"


def shown_bytes(number: float) -> str:
    """Write bytes in the unit that fits."""
    for limit, unit, word in ((2**30, 2**20, "MiB"), (2**40, 2**30, "GiB"), (2**50, 2**40, "TiB")):
        if number < limit:
            return f"{number / unit:.3g} {word}"
    return f"{number / 2**50:.3g} PiB"


MEASURED = [
    ("mixture [-3, 3] 10 000 x 64", "2 cores", forest_seconds(1e4, 64, 2), 0.288),
    ("mixture [-3, 3] 10 000 x 256", "2 cores", forest_seconds(1e4, 256, 2), 0.863),
    ("mixture [-3, 3] 20 000 x 16", "2 cores", forest_seconds(2e4, 16, 2), 0.275),
    ("mixture [-3, 3] 50 000 x 64", "CPU time of one core", forest_seconds(5e4, 64, 1), 7.2),
    ("MNIST 60 000 x 784, all pairs and the whole", "2 cores", forest_seconds(6e4, 784, 2), 15.9),
    ("MNIST 60 000 x 784, the whole", "1 H200", on_gpus(6e4, 784, 1), 0.22),
    ("mixture [-3, 3] 1 000 000 x 64", "1 H200", on_gpus(1e6, 64, 1), 5.0),
    ("mixture [-3, 3] 1 000 000 x 784", "1 H200", on_gpus(1e6, 784, 1), 15.7),
]

if __name__ == "__main__":
    measured = [[what, where, shown(model), shown(seen)] for what, where, model, seen in MEASURED]
    tables = [as_table(["what", "on", "model", "measured"], measured)]
    sizes = [1e7, 1e8, 1e9]
    rows = []
    for n in sizes:
        for d in (2, 8):
            rows.append([f"{n:.0e}", str(d), *(shown(forest_seconds(n, d, c)) for c in (16, 1600, 16000)), "–", "–"])
        for d in (64, 1000):
            machines = [forest_seconds(n, d, c) for c in (16, 1600, 16000)] + [on_gpus(n, d, g) for g in (1, 8)]
            rows.append([f"{n:.0e}", str(d), *map(shown, machines)])
    heads = ["n", "d", "1 worker of 16 cores", "100 workers", "1000 workers", "1 H200", "8 H200"]
    tables.append(as_table(heads, rows))
    rows = []
    for n in sizes:
        for d in (64, 1000):
            for workers in (10, 100, 1000):
                partitions, received, edges = traffic(n, d, workers)
                holds = 3 * n / partitions * (8 * d + 200 * TREES)
                figures = map(shown_bytes, (holds, received, edges))
                rows.append([f"{n:.0e}", str(d), str(workers), f"{partitions:.0f}", *figures])
    heads = ["n", "d", "workers", "partitions", "memory of a worker", "rows that reach a worker", "edges that travel"]
    print("\n\n".join([*tables, as_table(heads, rows)]))
