"""The sums over rows, taken by the workers of a Dask cluster, with the same results to the last bit.

::

    this process: coefficients ──▶ all workers ──▶ each lane of rows: loss, gradient, products ──▶ added up here

A lane is a fixed share of the blocks of rows, and stays on the worker that it was sent to, together with its features
where memory allows. A step sends the coefficients to the workers, and gets one sum from each lane back. Blocks, lanes
and the order of additions are those of `RowSums`. A lane that is lost with its worker is sent to another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesfloor.learn.landmarks.efforts import KEPT_BYTES
from bayesfloor.learn.landmarks.feature_map import F32, FeatureMap
from bayesfloor.learn.landmarks.row_sums import N_LANES, RowSums, Sums, total_of
from bayesfloor.runtime.arrays import Ints
from bayesfloor.runtime.cluster import Cluster, KeptRun
from bayesfloor.runtime.limits import one_of_a_pool
from bayesfloor.runtime.task_graph import Graph, Job
from bayesfloor.runtime.threads import WorkerPool, supervise

if TYPE_CHECKING:
    from distributed import Future


@dataclass(frozen=True, eq=False, kw_only=True)
class LaneRows(RowSums):
    """The rows of one lane, on a worker.

    Attributes
    ----------
    own_blocks : dict of int to slice
        Where among these rows the blocks of the lane are, by their numbers among all blocks.
    """

    own_blocks: dict[int, slice]

    def block(self, number: int) -> slice:
        """Return the rows of one block."""
        return self.own_blocks[number]


@dataclass(frozen=True, eq=False)
class Lane:
    """What makes the rows of a lane: threads, and features that are kept, do not travel."""

    feature_map: FeatureMap
    columns: F32
    codes: Ints
    weight: F32
    own_blocks: dict[int, slice]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_rows"}

    @property
    def rows(self) -> LaneRows:
        """The rows, made once in each process."""
        if "_rows" not in self.__dict__:
            feature_map = FeatureMap(**{name: aligned(value) for name, value in self.feature_map.to_dict().items()})
            columns, codes, weight = map(aligned, (self.columns, self.codes, self.weight))
            most = KEPT_BYTES // N_LANES  # a worker may have all lanes
            made = LaneRows(feature_map, columns, codes, weight, WorkerPool(1), most, own_blocks=self.own_blocks)
            self.__dict__["_rows"] = made
        rows: LaneRows = self.__dict__["_rows"]
        return rows


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterSums(RowSums):
    """Rows with their classes in this process, and sums over them that the workers of a cluster take.

    Attributes
    ----------
    cluster : Cluster
        The scheduler and its workers; `bayesfloor.runtime.cluster.cluster_of` checks a client.
    """

    cluster: Cluster
    _sent: dict[str, Future[Any]] = field(init=False, default_factory=dict, repr=False)
    _lanes: dict[str, Lane] = field(init=False, default_factory=dict, repr=False)

    def add_up(self, of_lane: Callable[..., Sums], *arguments: Any, numbers: Iterable[int] | None = None) -> Sums:
        """Add up what a function of a module returns for each lane; see `RowSums.add_up`."""
        if not self._lanes:
            self._lanes.update({f"lane {lane}": self._lane(mine) for lane, mine in self.lanes().items()})
        wanted = self.lanes(numbers)
        jobs = {
            f"sum {lane}": Job(partial(_sum_on_worker, of_lane, mine), (f"lane {lane}", "shared"))
            for lane, mine in wanted.items()
        }
        data = {f"lane {lane}": self._lanes[f"lane {lane}"] for lane in wanted}
        graph = Graph({**data, "shared": arguments}, jobs, list(jobs))
        results = KeptRun(self.cluster, graph, self._sent).run(None)
        return total_of([results[name] for name in jobs])

    def _lane(self, numbers: list[int]) -> Lane:
        """Put the rows of a lane together."""
        slices = [self.block(number) for number in numbers]
        own_blocks, first = {}, 0
        for number, rows in zip(numbers, slices, strict=True):
            own_blocks[number] = slice(first, first + rows.stop - rows.start)
            first = own_blocks[number].stop
        order = np.concatenate([np.arange(rows.start, rows.stop) for rows in slices])
        return Lane(self.feature_map, self.columns[order], self.codes[order], self.weight[order], own_blocks)


def aligned(value: Any) -> Any:
    """Return an array at an address that suits its numbers, and anything else as it is.

    Arrays that travelled lie where their message has them. NumPy does not give them to BLAS there, but adds up by
    itself, in another order.
    """
    return np.require(value, requirements="A") if isinstance(value, np.ndarray) else value


def _sum_on_worker(of_lane: Callable[..., Sums], numbers: list[int], lane: Lane, arguments: tuple[Any, ...]) -> Sums:
    """Take the sum of a lane with BLAS held to one thread: the order of additions decides about the last bits."""
    with one_of_a_pool(2):  # a worker may run several tasks at a time
        return supervise(lambda _: of_lane(lane.rows, numbers, *map(aligned, arguments)), 1, False)
