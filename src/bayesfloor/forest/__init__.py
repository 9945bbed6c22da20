"""Points become exact spanning forests: the first k edge-disjoint minimum spanning trees.

::

    X ──points──▶ hashes, ranks, sites ──tiling──▶ tiles in a k-d tree, one tree of tiles per class
                                                        │
                 near neighbours, a sample's trees ◀──seed
                          │
                       Kruskal ──▶ last tree ──bottleneck──▶ how far each point must look
                          ▲                                        │
                          └──settle (float64)◀── survivors ◀──sweep (float32)

Let F_k(S) be the forests of S under the strict order of edges (`order`). Forests compose: F_k(A ∪ B) needs of A and B
only what F_k(A) and F_k(B) keep, and the edges between. So every class is grown once, every pair of classes adds one
block of distances, and the whole set falls out of the pairs (`classes`).

Within one block (`sweep`): a seed graph gives a first last tree; an edge longer than the heaviest edge between its ends
in that tree can never enter; tiles, boxes and one comparison per pair find the few edges that still can; Kruskal's walk
over these, in float64, settles the result. A set of rows with up to four features is grown by Borůvka's rounds instead
(`sweep.boruvka`). `docs/design.md` has the proofs.

============  ==============================================================================
`order`       the strict order of edges: row hashes, identical rows, Kruskal, bottlenecks
`sweep`       tiles, seed, bounds, the one driver, and its kernels for the CPU
`gpu`         forests on a device
`classes`     every pair of classes, and the whole from the pairs
`partitions`  rows cut up for files and clusters: layout, tasks, threads, Dask
============  ==============================================================================

A room imports only from those above it in this list.
`api` checks arguments, `results` is what users get; `plan` holds the engine's settings.
"""

from bayesfloor.forest.api import class_forests, spanning_forests
from bayesfloor.forest.classes.class_forests import ClassForests
from bayesfloor.forest.results import Forests

__all__ = ["ClassForests", "Forests", "class_forests", "spanning_forests"]
