"""The tasks that turn partitions of rows into forests, as a graph, and what is made of their results.

::

    partition 0 ──grow──┐                            every class that is cut into partitions: merged, pairs finished
    partition 1 ──grow──┼──join 0 1──┐                        │
    partition 2 ──grow──┤  join 0 2  ├──merge──┐              ▼
      ...           └──join 1 2──┘   ...   ├──merge──▶ the whole
                                  ──merge──┘

Every two rows meet in one task, and forests compose, so that merging what all tasks keep is exact. Merging goes in a
tree: what travels from one level to the next is a forest each, never more than a few edges per row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesfloor.forest.classes.class_forests import ClassForests
from bayesfloor.forest.classes.joining import PairEdges
from bayesfloor.forest.order.arrays import I32, I64, Edges, ForestEdges
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
    merge_parts,
)
from bayesfloor.forest.results import EdgeSums, Forests, Origin, to_forests
from bayesfloor.forest.sweep.tiling import Tiled

# Results merged at once.
FAN_IN = 8


@dataclass(frozen=True)
class Job:
    """A call of a pure function; its arguments are names of data or of other jobs, or lists of these."""

    work: Callable[..., Any]
    needs: tuple[str | list[str], ...]
    amount: int = 0  # distances, for progress
    is_kept: bool = True  # whether the result is small enough to be kept until the end

    def names(self) -> Iterator[str]:
        """Yield the names of all that is needed."""
        for need in self.needs:
            yield from need if isinstance(need, list) else [need]


@dataclass(eq=False)
class Graph:
    """Data, jobs in an order in which they can be done, and whose results are wanted."""

    data: dict[str, Any] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    wanted: list[str] = field(default_factory=list)

    @property
    def amount(self) -> int:
        """The distances of all jobs."""
        return sum(job.amount for job in self.jobs.values())


@dataclass(frozen=True, eq=False)
class RankedRows:
    """What is known of all rows without their values."""

    n_features: int
    exponent: int
    hashes: np.ndarray
    order: I32
    sites: I64

    @property
    def ranks(self) -> I32:
        """The rank of each row."""
        ranks = np.empty(len(self.order), np.int32)
        ranks[self.order] = np.arange(len(self.order), dtype=np.int32)
        return ranks


def partition_ends(layout: Layout, ranked: RankedRows) -> list[PartitionEnds]:
    """Return what merging has to know of every partition."""
    ranks = ranked.ranks
    every = []
    for partition in range(layout.n_partitions):
        rows = layout.rows_of(partition)
        first = int(layout.partition_starts[partition])
        every.append(PartitionEnds(first, ranked.hashes[rows], ranks[rows], ranked.sites[rows]))
    return every


def forest_graph(
    layout: Layout, shared: SharedInputs, ends: list[PartitionEnds], partitions: list[Partition | Job]
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
    parts: list[tuple[str, frozenset[int]]] = []
    for unit in layout.units:
        if unit.is_cut:
            parts.append((_merge_class(graph, unit), frozenset(unit.partitions)))
        else:
            parts.append((f"grow {unit.partitions[0]}", frozenset(unit.partitions)))
    for u, one in enumerate(layout.units):
        for other in layout.units[u + 1 :]:
            both = frozenset(one.partitions) | frozenset(other.partitions)
            if one.is_cut or other.is_cut:
                parts.append((_finish_pairs(graph, layout, one, other), both))
            else:
                parts.append((f"join {one.partitions[0]} {other.partitions[0]}", both))
    has_classes = len(layout.class_starts) > 2
    graph.wanted = [name for name, _ in parts] if has_classes else []
    graph.wanted.append(_merge(graph, "whole", parts) if has_classes else parts[0][0])
    return graph


def _merge_class(graph: Graph, unit: Unit) -> str:
    """Merge the forests of a class that is cut into partitions."""
    parts = [(f"grow {b}", frozenset([b])) for b in unit.partitions]
    parts += [(f"join {a} {b}", frozenset([a, b])) for b in unit.partitions for a in unit.partitions if a < b]
    return _merge(graph, f"class {unit.classes[0]}", parts)


def _merge(graph: Graph, name: str, parts: list[tuple[str, frozenset[int]]]) -> str:
    """Add the jobs that merge parts, each with the partitions that it is about, and return the name of the last."""
    level = 0
    parts = sorted(parts, key=lambda part: sorted(part[1]))  # neighbours share partitions
    while name not in graph.jobs:
        merged = []
        for first in range(0, len(parts), FAN_IN):
            some = parts[first : first + FAN_IN]
            partitions = frozenset().union(*(of for _, of in some))
            last = len(parts) <= FAN_IN
            job = name if last else f"{name} {level} {first // FAN_IN}"
            needs = ("shared", [f"ends {b}" for b in sorted(partitions)], [part for part, _ in some])
            graph.jobs[job] = Job(merge_parts, needs)
            merged.append((job, partitions))
        parts = merged
        level += 1
    return name


def _finish_pairs(graph: Graph, layout: Layout, one: Unit, other: Unit) -> str:
    """Add the job that finishes the pairs of two units, one of which is a class cut into partitions."""
    cut, with_it = (one, other) if one.is_cut else (other, one)
    known = [f"class {cut.classes[0]}"]
    known.append(f"class {with_it.classes[0]}" if with_it.is_cut else f"grow {with_it.partitions[0]}")
    found = [f"join {min(a, b)} {max(a, b)}" for a in cut.partitions for b in with_it.partitions]
    starts = f"starts {with_it.partitions[0]}"
    graph.data[starts] = layout.class_starts[with_it.classes.start : with_it.classes.stop + 1]
    name = f"finish {cut.partitions[0]} {with_it.partitions[0]}"
    ends_a, ends_b = ([f"ends {b}" for b in unit.partitions] for unit in (cut, with_it))
    graph.jobs[name] = Job(finish_pairs, ("shared", ends_a, ends_b, starts, known, found))
    return name


def whole_forests(
    layout: Layout, ranked: RankedRows, shared: SharedInputs, result: Any, origin: Origin | None = None
) -> Forests:
    """Turn the result of the last job into the record that users get; with an origin it can be extended."""
    grown = result.forests[0].edges if isinstance(result, PartitionForests) else result
    return to_forests(
        *grown,
        row_of=layout.rows,
        sites=ranked.sites,
        exponent=ranked.exponent,
        n_trees_asked=shared.task.n_trees_asked,
        origin=origin,
    )


def class_records(
    layout: Layout, ranked: RankedRows, shared: SharedInputs, graph: Graph, results: dict[str, Any], classes: np.ndarray
) -> ClassForests:
    """Put together the forests of all classes, their pairs and the whole."""
    n_classes = len(classes)
    class_counts = np.diff(layout.class_starts)
    n_pairs = n_classes * (n_classes - 1) // 2
    tree_edges = np.zeros((n_pairs, shared.task.n_trees), np.int64)
    tree_cross, sums = np.zeros((n_pairs, shared.task.n_trees)), np.zeros((n_pairs, 7))
    touch = np.zeros(n_pairs, np.bool_)
    first, count = np.zeros(n_pairs, np.int64), np.zeros(n_pairs, np.int64)
    found: list[Edges] = []
    n_found = 0
    for a, b, joined in _joined_units(layout, results):
        one, other = a.classes.start + joined.classes[0], b.classes.start + joined.classes[1]
        low, high = np.minimum(one, other), np.maximum(one, other)
        pair = low * n_classes - low * (low + 1) // 2 + high - low - 1
        tree_edges[pair], tree_cross[pair] = joined.tree_edges, joined.tree_cross
        sums[pair], touch[pair] = joined.sums, joined.touch
        count[pair] = np.diff(joined.edge_starts)
        first[pair] = n_found + joined.edge_starts[:-1]
        number_of = np.repeat(np.arange(len(pair)), count[pair])
        u, v = np.minimum(joined.edges.u, joined.edges.v), np.maximum(joined.edges.u, joined.edges.v)
        starts = layout.class_starts.astype(np.int32)
        found.append(Edges(u - starts[low[number_of]], v - starts[high[number_of]], joined.edges.d2))
        n_found += len(u)
    counts = np.zeros((shared.task.n_trees, n_classes, n_classes))
    codes = np.triu_indices(n_classes, 1)
    counts[:, codes[0], codes[1]] = counts[:, codes[1], codes[0]] = tree_cross.T
    n_points = class_counts[codes[0]] + class_counts[codes[1]]
    n_spanning = np.count_nonzero(tree_edges == n_points[:, None] - 1, axis=1)
    empty = np.empty((0, ranked.n_features))
    record = ClassForests(
        classes,
        class_counts,
        len(layout.rows),
        shared.task.n_trees,
        counts,
        EdgeSums._make([*sums.T.copy(), n_spanning, np.where(touch, 1, 2)]),
        Points(empty, ranked.exponent, ranked.hashes, ranked.order, ranked.sites),
        shared.task,
        [_copies(layout, ranked, c) for c in range(n_classes)],
        _class_forests(layout, results),
        PairEdges(Edges(*map(np.concatenate, zip(*found, strict=True))), first, count),
    )
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


def _copies(layout: Layout, ranked: RankedRows, c: int) -> Tiled:
    """Return the rows of a class as copies, without the tiles, which stayed with the tasks."""
    rows = layout.rows[layout.class_starts[c] : layout.class_starts[c + 1]]
    side: Any = None
    return Tiled(side, len(rows), rows, ranked.hashes[rows], ranked.ranks[rows])

