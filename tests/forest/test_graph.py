"""What the tasks of a graph get, and in which order they come."""

from itertools import combinations

import numpy as np
import pytest

from bayesfloor.forest import plan
from bayesfloor.forest.order.arrays import ForestEdges
from bayesfloor.forest.partitions import graph, tasks
from bayesfloor.forest.partitions.dispatch import RowsInMemory, plan_partitions
from bayesfloor.runtime.settings import Limits, settings
from forest.agreement import assert_same_forests
from forest.point_sets import make_labels, make_points
from naive_forests import naive_forests

MERGES = (tasks.merge_parts, tasks.merge_between, tasks.finish_pairs)


def planned(n, n_classes, merge_edges):
    X = make_points("gaussian", n, 6)
    codes = None if n_classes == 1 else make_labels(n, n_classes)
    with plan.override(partition_rows=40), settings(limits=Limits(task_edges=merge_edges)):
        return X, plan_partitions(RowsInMemory.of(X), codes, 3, 0, 2)


@pytest.mark.parametrize("n_classes", [1, 3])
def test_no_merge_of_a_worker_gets_more_edges_than_it_may(n_classes):
    X, of_rows = planned(300, n_classes, 800)
    jobs = of_rows.graph.jobs
    known = {
        name: value.make() if isinstance(value, graph.Lazy) else value for name, value in of_rows.graph.data.items()
    }
    n_edges = {}
    for name in of_rows.graph.depth_first():
        job = jobs[name]
        if job.work in MERGES:
            found = [known[need] for need in job.names() if need in jobs]
            n_edges[name] = sum(len(edges.u) for part in found for edges in tasks.edges_in(part))
        known[name] = job.work(*job.arguments(known))
    assert max(count for name, count in n_edges.items() if not jobs[name].here) <= 800
    assert any(job.here for job in jobs.values())
    assert max(n_edges.values()) > 800  # so that without a limit a worker would have had more
    whole = known[of_rows.graph.wanted[-1]]
    assert isinstance(whole, ForestEdges)
    assert_same_forests(of_rows.record(known), naive_forests(X, 3))
    if n_classes > 1:
        assert any(job.work is tasks.merge_between for job in jobs.values())
        y = make_labels(300, n_classes)
        by_class = of_rows.record(known, np.unique(y))
        for a, b in combinations(range(n_classes), 2):
            assert_same_forests(by_class.pair(a, b), naive_forests(X[(y == a) | (y == b)], 3))


def test_few_edges_are_merged_by_workers_alone():
    _, of_rows = planned(300, 1, 10**6)
    assert not any(job.here for job in of_rows.graph.jobs.values())


def test_depth_first_uses_results_soon():
    """Of all joins few are there at a time before they are merged; job after job as listed, they all would be."""
    _, of_rows = planned(480, 1, 10**6)
    of_graph = of_rows.graph
    order = of_graph.depth_first()
    assert sorted(order) == sorted(of_graph.jobs)
    users = of_graph.users()
    place = {name: number for number, name in enumerate(order)}
    joins = [name for name in order if name.startswith("join")]
    for name in order:
        assert all(place[need] < place[name] for need in of_graph.jobs[name].names() if need in place)
    last_use = {name: max(place[user] for user in users[name]) for name in joins}
    most = max(sum(place[name] <= now < last_use[name] for name in joins) for now in range(len(order)))
    assert most <= 2 * graph.FAN_IN < len(joins)
