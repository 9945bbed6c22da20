"""Points become exact spanning forests: the first k edge-disjoint minimum spanning trees.

::

    X ──points──▶ hashes, ranks, sites ──tiling──▶ tiles in a k-d tree, one tree of tiles per class
                                                        │
                 near neighbours, a sample's trees ◀──seed
                          │
                       Kruskal ──▶ last tree ──bottleneck──▶ how far each point must look
                          ▲                                        │
                          └──settle (float64)◀── survivors ◀──sweep (float32)

Let F_k(S) be the forests of S under the strict order of edges (`kruskal`). Forests compose: F_k(A ∪ B) needs of A and
B only what F_k(A) and F_k(B) keep, and the edges between. So every class is grown once, every pair of classes adds
one block of distances, and the whole set falls out of the pairs (`classes`).

Within one block (`engine`): a seed graph gives a first last tree; an edge longer than the heaviest edge between its
ends in that tree can never enter (`bottleneck`); tiles, boxes and one comparison per pair find the few edges that
still can (`sweep_kernels`); Kruskal's walk over these, in float64, settles the result. `docs/design.md` has the proofs.

Rows that are too many for one process are cut into blocks (`row_blocks`). Tasks grow every block, join every two, and
merge what these keep, in a tree (`block_tasks`, `block_graph`, `block_runs`). A Dask cluster runs them (`cluster`,
`cluster_rows`), or threads do, on files larger than memory (`row_store`, `row_chunks`, `out_of_core`,
`block_threads`). `elsewhere` says which input goes where.

Files named ``*_kernels``, and `hashing`, `kruskal`, `bottleneck`, `kdtree`, `blocks` and `labels`, hold kernels only.
"""

from bayesfloor.forest.api import class_forests, spanning_forests
from bayesfloor.forest.classes import ClassForests
from bayesfloor.forest.results import Forests

__all__ = ["ClassForests", "Forests", "class_forests", "spanning_forests"]
