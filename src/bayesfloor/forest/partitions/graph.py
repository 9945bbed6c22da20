"""The tasks that turn partitions of rows into forests, as a graph, and what is made of their results.

::

    partition 0 ──grow──┐                            every class that is cut into partitions: merged, pairs finished
    partition 1 ──grow──┼──join 0 1──┐                        │
    partition 2 ──grow──┤  join 0 2  ├──merge──┐              ▼
      ...           └──join 1 2──┘   ...   ├──merge──▶ the whole
                                  ──merge──┘

Every two rows meet in one task, and forests compose, so that merging what all tasks keep is exact. Merging goes in a
tree, in an order that follows blocks of the square of all pairs of partitions: what a block keeps is a forest of its
rows. No task of a worker gets more than `task_edges` edges (`Limits`). What is left then goes to the calling process,
which holds the forests in the end anyhow, some parts at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesfloor.forest.classes.class_forests import ClassForests, class_record
from bayesfloor.forest.classes.joining import PairEdges, PairSums
from bayesfloor.forest.order.arrays import Edges, ForestEdges
from bayesfloor.forest.order.edges import together
from bayesfloor.forest.order.points import Points
from bayesfloor.forest.partitions.layout import Layout, Unit
from bayesfloor.forest.partitions.tasks import (
    JoinedPairs,
    Partition,
    PartitionEnds,
    PartitionForests,
    SharedInputs,
    finish_pairs,
    grow_partition,
    join_partitions,
    merge_between,
    merge_parts,
)
from bayesfloor.forest.results import Forests, to_forests
from bayesfloor.forest.sweep.tiling import Tiled
from bayesfloor.runtime.settings import limits
from bayesfloor.runtime.task_graph import Graph, Job, Lazy

# Maximum number of results merged at once.
FAN_IN = 8


class Part(NamedTuple):
    """A result to be merged with others: the partitions that it is about, and how many edges it has at most."""

    name: str
    partitions: frozenset[int]
    n_edges: int
    here: bool = False

    @property
    def place(self) -> int:
        """A number by which parts about neighbouring partitions lie together: the bits of the first and the last."""
        first, last = min(self.partitions), max(self.partitions)
        return sum((first >> bit & 1) << 2 * bit + 1 | (last >> bit & 1) << 2 * bit for bit in range(31))


def partition_ends(layout: Layout, ranked: Points) -> list[PartitionEnds]:
    """Return what merging has to know of every partition."""
    starts, every = layout.partition_starts.tolist(), map(layout.rows_of, range(layout.n_partitions))
    return [
        PartitionEnds(first, ranked.hashes[rows], ranked.ranks[rows], ranked.sites[rows])
        for first, rows in zip(starts, every, strict=False)
    ]


def forest_graph(
    layout: Layout, shared: SharedInputs, ends: list[PartitionEnds], partitions: Sequence[Partition | Lazy | Job]
) -> Graph:
    """Return the graph of all tasks.

    Parameters
    ----------
    layout : Layout
        Which rows are in which partition.
    shared : SharedInputs
        What is wanted.
    ends : list of PartitionEnds
        Of every partition.
    partitions : list
        Every partition, or the job that makes it; its needs are added to the graph by the caller.

    Returns
    -------
    Graph
        The last of its wanted results is the forests of all rows; the others hold classes and pairs of them, where
        there are classes.
    """
    graph = Graph(data={"shared": shared})
    sizes = np.diff(layout.partition_starts)
    for number, partition in enumerate(partitions):
        graph.data[f"ends {number}"] = ends[number]
        if isinstance(partition, Job):
            graph.jobs[f"partition {number}"] = partition
        else:
            graph.data[f"partition {number}"] = partition
    for b, size in enumerate(sizes):
        graph.jobs[f"grow {b}"] = Job(grow_partition, ("shared", f"partition {b}"), int(size) ** 2 // 2)
    pairs = [(a, b) for b in range(layout.n_partitions) for a in range(b)]
    for a, b in sorted(pairs, key=lambda pair: -sizes[pair[0]] * sizes[pair[1]]):
        needs = ("shared", f"partition {a}", f"partition {b}", f"grow {a}", f"grow {b}")
        graph.jobs[f"join {a} {b}"] = Job(join_partitions, needs, int(sizes[a] * sizes[b]))
    merging = Merging(graph, layout, shared.task.n_trees)
    parts = [merging.unit(unit) for unit in layout.units]
    for u, one in enumerate(layout.units):
        for v, other in enumerate(layout.units[u + 1 :], u + 1):
            if one.is_cut or other.is_cut:
                parts.append(merging.finish_pairs(one, other, parts[u], parts[v]))
            else:
                parts.append(merging.join(one.partitions[0], other.partitions[0]))
    has_classes = len(layout.class_starts) > 2
    graph.wanted = [part.name for part in parts] if has_classes else []
    graph.wanted.append(merging.merge("whole", parts).name if has_classes else parts[0].name)
    return graph


# Of some parts: what the job that merges them needs, and how many edges come of it at most.
JobOf = Callable[[list[Part]], tuple[tuple[str | list[str], ...], int]]


class Merging:
    """The jobs that merge what others found, on workers as far as tasks stay small."""

    def __init__(self, graph: Graph, layout: Layout, n_trees: int):
        self.graph, self.layout, self.n_trees = graph, layout, n_trees
        self.sizes = np.diff(layout.partition_starts)
        self.n_classes = {b: len(unit.classes) for unit in layout.units for b in unit.partitions}

    def rows(self, partitions: frozenset[int]) -> int:
        """Return the rows of some partitions."""
        return int(sum(self.sizes[b] for b in partitions))

    def grown(self, b: int) -> Part:
        """Return the forests of a partition: those of its classes, and the edges between each two."""
        return Part(f"grow {b}", frozenset([b]), self.n_trees * int(self.sizes[b]) * self.n_classes[b])

    def join(self, one: int, other: int) -> Part:
        """Return two partitions joined."""
        a, b = min(one, other), max(one, other)
        n_edges = self.n_classes[b] * int(self.sizes[a]) + self.n_classes[a] * int(self.sizes[b])
        return Part(f"join {a} {b}", frozenset([a, b]), self.n_trees * n_edges)

    def unit(self, unit: Unit) -> Part:
        """Return the forests of the classes of a unit."""
        if not unit.is_cut:
            return self.grown(unit.partitions[0])
        parts = [self.grown(b) for b in unit.partitions]
        parts += [self.join(a, b) for b in unit.partitions for a in unit.partitions if a < b]
        return self.merge(f"class {unit.classes[0]}", parts)

    def merge(self, name: str, parts: list[Part]) -> Part:
        """Add the jobs that merge parts into forests of all their rows."""

        def job_of(some: list[Part]) -> tuple[tuple[str | list[str], ...], int]:
            partitions = frozenset().union(*(part.partitions for part in some))
            needs = ("shared", [f"ends {b}" for b in sorted(partitions)], [part.name for part in some])
            return needs, self.n_trees * self.rows(partitions)

        left = self._reduced(name, parts, merge_parts, job_of)
        last = left[0] if len(left) == 1 < len(parts) else self._chained(name, left, merge_parts, job_of)
        self.graph.jobs[name] = self.graph.jobs.pop(last.name)
        return last._replace(name=name)

    def finish_pairs(self, one: Unit, other: Unit, part_of_one: Part, part_of_other: Part) -> Part:
        """Add the jobs that finish the pairs of two units, one of which is a class cut into partitions."""
        cut, with_it = (one, other) if one.is_cut else (other, one)
        starts = f"starts {with_it.partitions[0]}"
        self.graph.data[starts] = self.layout.class_starts[with_it.classes.start : with_it.classes.stop + 1]
        name = f"finish {cut.partitions[0]} {with_it.partitions[0]}"

        def ends_of(unit: Unit, partitions: frozenset[int]) -> list[str]:
            return [f"ends {b}" for b in unit.partitions if b in partitions]

        def job_of(some: list[Part]) -> tuple[tuple[str | list[str], ...], int]:
            both = frozenset().union(*(part.partitions for part in some))
            needs = ("shared", ends_of(cut, both), ends_of(with_it, both), starts, [part.name for part in some])
            in_cut = self.rows(both.intersection(cut.partitions))
            return needs, self.n_trees * (len(with_it.classes) * in_cut + self.rows(both) - in_cut)

        known = [part_of_one, part_of_other] if cut is one else [part_of_other, part_of_one]
        found = [self.join(a, b) for a in cut.partitions for b in with_it.partitions]
        found = self._reduced(f"between {name[7:]}", found, merge_between, job_of)
        here = any(part.here for part in known) or sum(part.n_edges for part in (*known, *found)) > limits().task_edges
        if here and len(found) > 1:
            found = [self._chained(f"between {name[7:]}", found, merge_between, job_of)]
        both = frozenset(cut.partitions) | frozenset(with_it.partitions)
        needs = (
            *("shared", ends_of(cut, both), ends_of(with_it, both), starts),
            *([part.name for part in known], [part.name for part in found]),
        )
        self.graph.jobs[name] = Job(finish_pairs, needs, here=here)
        rows_cut = self.rows(frozenset(cut.partitions))
        n_edges = len(with_it.classes) * rows_cut + self.rows(both) - rows_cut
        return Part(name, both, self.n_trees * n_edges, here)

    def _reduced(self, name: str, parts: list[Part], work: Callable[..., Any], job_of: JobOf) -> list[Part]:
        """Merge parts on workers, level by level, until there is one or no two have few enough edges."""
        mine = [part for part in parts if part.here]
        parts, level = sorted((part for part in parts if not part.here), key=lambda part: part.place), 0
        while len(runs := in_runs(parts, FAN_IN, limits().task_edges)) < len(parts):
            parts = [
                some[0] if len(some) == 1 else self._add(f"{name} {level} {number}", some, work, job_of, here=False)
                for number, some in enumerate(runs)
            ]
            level += 1
        return parts + mine

    def _chained(self, name: str, parts: list[Part], work: Callable[..., Any], job_of: JobOf) -> Part:
        """Merge parts in the calling process, as many at a time as have about as many edges as the result."""
        here = len(parts) > 1 or parts[0].here
        runs = in_runs(parts, len(parts), max(limits().task_edges, job_of(parts)[1]))
        known: list[Part] = []
        for number, some in enumerate(runs):
            known = [self._add(f"{name} last {number}", [*known, *some], work, job_of, here)]
        return known[0]

    def _add(self, name: str, parts: list[Part], work: Callable[..., Any], job_of: JobOf, here: bool) -> Part:
        needs, most_edges = job_of(parts)
        self.graph.jobs[name] = Job(work, needs, here=here)
        partitions = frozenset().union(*(part.partitions for part in parts))
        return Part(name, partitions, min(most_edges, sum(part.n_edges for part in parts)), here)


def in_runs(parts: list[Part], most_parts: int, most_edges: int) -> list[list[Part]]:
    """Put parts that follow each other into runs of at most so many parts, and edges where these are several."""
    runs: list[list[Part]] = []
    n_edges = 0
    for part in parts:
        if runs and len(runs[-1]) < most_parts and n_edges + part.n_edges <= most_edges:
            runs[-1].append(part)
            n_edges += part.n_edges
        else:
            runs.append([part])
            n_edges = part.n_edges
    return runs


def whole_forests(layout: Layout, ranked: Points, shared: SharedInputs, result: Any) -> Forests:
    """Turn the result of the last job into the record that users get."""
    grown = result.forests[0].edges if isinstance(result, PartitionForests) else result
    return to_forests(grown, layout.rows, ranked, shared.task.n_trees_asked)


def class_records(
    layout: Layout, ranked: Points, shared: SharedInputs, graph: Graph, results: dict[str, Any], classes: np.ndarray
) -> ClassForests:
    """Put together the forests of all classes, their pairs and the whole."""
    n_classes = len(classes)
    class_counts = np.diff(layout.class_starts)
    n_pairs = n_classes * (n_classes - 1) // 2
    sums = PairSums.empty(n_pairs, shared.task.n_trees)
    first, count = np.zeros(n_pairs, np.int64), np.zeros(n_pairs, np.int64)
    found: list[Edges] = []
    n_found = 0
    for a, b, joined in _joined_units(layout, results):
        one, other = a.classes.start + joined.classes[0], b.classes.start + joined.classes[1]
        low, high = np.minimum(one, other), np.maximum(one, other)
        pair = low * n_classes - low * (low + 1) // 2 + high - low - 1
        sums.put(pair, joined.sums)
        count[pair] = np.diff(joined.edge_starts)
        first[pair] = n_found + joined.edge_starts[:-1]
        number_of = np.repeat(np.arange(len(pair)), count[pair])
        u, v = np.minimum(joined.edges.u, joined.edges.v), np.maximum(joined.edges.u, joined.edges.v)
        starts = layout.class_starts.astype(np.int32)
        found.append(Edges(u - starts[low[number_of]], v - starts[high[number_of]], joined.edges.d2))
        n_found += len(u)
    codes = np.triu_indices(n_classes, 1)
    edge_sums = sums.edge_sums(class_counts[codes[0]] + class_counts[codes[1]])
    cross = PairEdges(together(found), first, count)
    copies = [_copies(layout, ranked, c) for c in range(n_classes)]
    forests = _class_forests(layout, results)
    record = class_record(classes, ranked, shared.task, copies, forests, sums.tree_cross, edge_sums, cross)
    vars(record)["whole"] = whole_forests(layout, ranked, shared, results[graph.wanted[-1]])
    return record


def _joined_units(layout: Layout, results: dict[str, Any]) -> Iterator[tuple[Unit, Unit, JoinedPairs]]:
    """Yield all pairs of units whose classes were joined, and what came of it."""
    for u, one in enumerate(layout.units):
        if not one.is_cut and (within := results[f"grow {one.partitions[0]}"].pairs) is not None:
            yield one, one, within
        for other in layout.units[u + 1 :]:
            if not one.is_cut and not other.is_cut:
                yield one, other, results[f"join {one.partitions[0]} {other.partitions[0]}"]
            else:
                cut, with_it = (one, other) if one.is_cut else (other, one)
                yield cut, with_it, results[f"finish {cut.partitions[0]} {with_it.partitions[0]}"]


def _class_forests(layout: Layout, results: dict[str, Any]) -> list[ForestEdges]:
    """Return the forests of every class, ends numbered within it."""
    forests: list[ForestEdges] = []
    for unit in layout.units:
        if unit.is_cut:
            own = [results[f"class {unit.classes[0]}"]]
        else:
            own = [forest.edges for forest in results[f"grow {unit.partitions[0]}"].forests]
        for c, grown in zip(unit.classes, own, strict=True):
            start = np.int32(layout.class_starts[c])
            # copies, because what came over the network may be read-only, which kernels are not compiled for
            forests.append(ForestEdges(grown.u - start, grown.v - start, grown.d2.copy(), grown.tree.copy()))
    return forests


def _copies(layout: Layout, ranked: Points, c: int) -> Tiled:
    """Return the rows of a class as copies, without the tiles, which stayed with the tasks."""
    rows = layout.rows[layout.class_starts[c] : layout.class_starts[c + 1]]
    side: Any = None
    return Tiled(side, len(rows), rows, ranked.hashes[rows], ranked.ranks[rows])
