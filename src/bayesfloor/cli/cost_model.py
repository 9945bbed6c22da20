"""What work on a table costs: seconds and memory, by rows, columns, classes and workers.

A table of n rows and c columns is read, and u of its rows are used::

    seconds of one core = start + read · n · c + small · s · c · k + many · (u - s) · c · k

s is u, or 10 000 where u is more: up to there all learners are cross-validated, and of more rows some are held out, and
learners of linear cost are trained on the rest. A floor of rows on disk ("disk") trains on all rows of a file of
200 000 rows or more, in constant memory. k is 1 for a number, and (1 + classes) / 4 for classes; no more than 1.5 for
rows on disk, whose trees are as many for six classes as for more. Reading and the start are one process's, so that

    seconds by the clock = start + read · n · c + the rest / workers

and for rows on disk that the workers of a cluster train on, rounds · (ask + each · workers) besides: they are asked in
each round of boosting.

``benchmarks/speed/large_tables.py fit`` fits the constants to what it has measured, and writes them here; its page,
``benchmarks/results/large_tables.md``, has measured and modelled figures side by side. Spanning forests have a model of
their own, which docs/scale.md explains.
"""

from typing import NamedTuple

from bayesfloor.data.sampling import LEARNED_ROWS


class Cost(NamedTuple):
    """Seconds of one core: at the start, for a value of the first rows that are used, and for one of all others."""

    start_s: float
    small_s: float
    many_s: float


class Memory(NamedTuple):
    """Bytes: of the program, and for a value of the rows that are used."""

    program: float
    used: float


class Messages(NamedTuple):
    """Seconds of a round of boosting in which workers are asked and answer: in any case, and for each of them."""

    ask_s: float
    each_s: float


# fitted: begin
COSTS = {
    "floor": Cost(start_s=3.76, small_s=0.000203, many_s=5.97e-05),
    "disk": Cost(start_s=0.0, small_s=0.000823, many_s=9.71e-06),
    "report": Cost(start_s=0.0, small_s=0.000375, many_s=5.37e-05),
    "landmarks": Cost(start_s=0.0, small_s=4.25e-05, many_s=1.98e-06),
    "stack": Cost(start_s=0.0, small_s=0.000424, many_s=5.31e-05),
    "smartsvm": Cost(start_s=7.74, small_s=0.0, many_s=1.8e-05),
}
READ_S = {"binary": 4.52e-07, "text": 4.21e-07}
READ_BYTES = {"binary": 70.0, "text": 12.2}
MEMORY = Memory(program=525000000.0, used=112.0)
DISK_BYTES = 1970000000.0
DISK_WORKER_BYTES = 1100000000.0
MESSAGES = Messages(ask_s=0.211, each_s=0.208)
# fitted: end

#: Seconds beside those of the default effort; benchmarks/results/efforts.md has the measurement.
EFFORT = {"fast": 0.5, "default": 1.0}
#: How often the rows are read: a text table once more, to find its encoding; for rows on disk twice more.
PASSES = {"binary": 1, "text": 2}
DISK_PASSES = 2
#: Rounds of boosting of all training sets of rows on disk in which workers are asked.
DISK_ROUNDS = 750
#: What classes cost in training on rows on disk, at the most, beside a number.
MOST_OF_CLASSES = 1.5

#: Values of a table that are in memory at a time, at the most: of a larger one rows are drawn.
HELD_VALUES = 64_000_000

#: Seconds of one core for a distance, and for each of its features, where boxes keep no tiles apart.
CORE_PAIR, CORE_PAIR_FEATURE = 2.0e-9, 1.0e-10
#: Seconds of one core for a point: ranks, tiles, seeds, walks.
CORE_POINT = 3.0e-5
#: Seconds for a point of the last merge, which is one thread's, whatever else there is.
LAST_WALK = 3.0e-6
#: Where boxes keep tiles apart: seconds of one core for a million points, and the power of the growth from there.
PRUNED = {2: (9.8, 1.0), 8: (31.0, 1.3)}
#: Features from which on every two points meet.
ALL_PAIRS = 16


class Size(NamedTuple):
    """What work is about.

    Attributes
    ----------
    n_rows, n_columns : int
        Of the table.
    n_used : int
        Rows that are used.
    n_classes : int or None
        None for a number.
    form : {"binary", "text"}
        How it is stored.
    """

    n_rows: float
    n_columns: float
    n_used: float
    n_classes: int | None
    form: str = "binary"


class Seconds(NamedTuple):
    """Seconds of one core that one process needs, and that workers share; rounds in which a cluster is asked."""

    alone: float
    shared: float
    n_rounds: int = 0

    def by_the_clock(self, n_workers: int, *, is_cluster: bool = False) -> float:
        """Return the seconds until so many threads, or workers of a cluster, are done."""
        messages = self.n_rounds * (MESSAGES.ask_s + n_workers * MESSAGES.each_s) if is_cluster else 0.0
        return self.alone + self.shared / n_workers + messages

    @property
    def of_cores(self) -> float:
        """Seconds of all cores together."""
        return self.alone + self.shared


def values_trained(size: Size, method: str) -> tuple[float, float]:
    """Return the values of the first rows that are used and of the others, each counted by what classes cost."""
    of_classes = 1.0 if size.n_classes is None else (1 + size.n_classes) / 4
    factor = size.n_columns * (min(of_classes, MOST_OF_CLASSES) if method == "disk" else of_classes)
    small = min(size.n_used, LEARNED_ROWS)
    return small * factor, (size.n_used - small) * factor


def seconds_of(method: str, size: Size, effort: str = "default") -> Seconds:
    """Return the seconds that some work takes.

    Parameters
    ----------
    method : str
        One of `COSTS`, or "trees" for spanning trees alone.
    size : Size
        What it is about.
    effort : {"fast", "default"}
        How much is trained.

    Returns
    -------
    Seconds
    """
    read = READ_S[size.form] * size.n_rows * size.n_columns
    if method == "trees":
        return Seconds(COSTS["landmarks"].start_s + read, forest_seconds(size.n_used, size.n_columns, 1))
    cost, (small, many) = COSTS[method], values_trained(size, method)
    shared = EFFORT[effort] * (cost.small_s * small + cost.many_s * many)
    return Seconds(cost.start_s + read, shared, DISK_ROUNDS if method == "disk" else 0)


def memory_of(size: Size, method: str = "floor") -> float:
    """Return the bytes of the process that reads a table and trains on it."""
    read = READ_BYTES[size.form] * min(size.n_rows * size.n_columns, HELD_VALUES)
    return read + (DISK_BYTES if method == "disk" else worker_memory_of(size))


def worker_memory_of(size: Size, method: str = "floor") -> float:
    """Return the bytes of a worker: the rows that are used are sent to each of them, but for parts of those on disk."""
    return DISK_WORKER_BYTES if method == "disk" else MEMORY.program + size.n_columns * MEMORY.used * size.n_used


def forest_seconds(n: float, d: float, cores: float) -> float:
    """Return the seconds that exact spanning forests of n points in d dimensions take on so many cores."""
    last = n * LAST_WALK
    if d < ALL_PAIRS:
        at_million, power = PRUNED[2 if d < 5 else 8]
        return at_million * (n / 1e6) ** power / cores + last
    return (n * n / 2 * (CORE_PAIR + CORE_PAIR_FEATURE * d) + n * CORE_POINT) / cores + last
