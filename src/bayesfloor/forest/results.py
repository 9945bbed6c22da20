"""What the engine returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesfloor.data.labels import check_labels
from bayesfloor.forest.order.arrays import F64, I32, I64, ForestEdges
from bayesfloor.forest.order.kruskal_kernels import merge_components
from bayesfloor.forest.order.label_kernels import connect_classes, count_classes_at_sites, count_cross_edges, sum_edges
from bayesfloor.forest.order.points import Points
from bayesfloor.runtime.checks import check_int
from bayesfloor.runtime.kernels import spare_compilation
from bayesfloor.runtime.results import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Seconds that the interpreter takes to sum over one edge.
PLAIN_EDGE_S = 3e-5

# Seconds that the interpreter takes for one merge.
PLAIN_MERGE_S = 5e-6


def linkage_of(n_points: int, edges: I64, weights: F64) -> F64:
    """Return the single-linkage hierarchy of a spanning tree, whose edges come lightest first, as SciPy writes it."""
    merges = np.empty((n_points - 1, 4))
    with spare_compilation(PLAIN_MERGE_S * n_points, merge_components):
        merge_components(edges, weights, merges)
    return merges


class EdgeSums(NamedTuple):
    """Sums over the edges of all trees that counts of cross edges, their variance and their moments are made of.

    One number per problem, as arrays of one shape. Rows with the same values are interchangeable: each edge is spread
    evenly over the pairs of rows that it could join, which gives pair e the weight w_e (1 for every edge where no two
    rows are equal). Row v has the degree d_v = Σ w_e over the pairs that it is in, and the cross degree c_v over those
    of them whose labels differ.
    """

    total: F64  #: Σ w_e, the number of edges
    squares: F64  #: Σ w_e²
    degree_squares: F64  #: Σ d_v²
    cross: F64  #: Σ w_e over cross edges, the label-averaged number of cross edges
    cross_squares: F64  #: Σ w_e² over cross edges
    cross_degree_squares: F64  #: Σ c_v²
    cross_degree_products: F64  #: Σ c_v d_v
    n_spanning: I64  #: trees that join all points
    n_components: I64  #: sets of classes connected through points they share: a tree needs one edge less to join all


@dataclass(frozen=True, eq=False, repr=False)
class Forests(Result, says="n_samples n_trees spans"):
    """The first edge-disjoint minimum spanning trees of a set of points.

    Attributes
    ----------
    n_samples : int
        Number of rows.
    n_trees : int
        Number of trees that have an edge; fewer than asked for when the points run out of edges.
    edges : ndarray of shape (m, 2), int64
        Row numbers, the smaller first; tree after tree, each from its lightest edge to its heaviest.
    weights : ndarray of shape (m,), float64
        Lengths.
    tree : ndarray of shape (m,), int64
        The tree of each edge, from 0.
    sites : ndarray of shape (n_samples,), int64
        Rows with the same values share a site.
    n_components : ndarray of shape (n_trees,), int64
        1 where the tree spans all points. A point can use up all its edges in earlier trees; later ones then leave
        it out.
    n_trees_asked : int
        Number of trees asked for.
    rows : ndarray of int64 or None
        For a pair of classes: the rows of X that the points are, ascending.
    """

    n_samples: int
    n_trees: int
    edges: I64
    weights: F64
    tree: I64
    sites: I64
    n_components: I64
    n_trees_asked: int
    rows: I64 | None = None

    @property
    def spans(self) -> bool:
        """Whether all trees asked for exist and join all points."""
        return self.n_trees == self.n_trees_asked and bool(np.all(self.n_components == 1))

    def cross_counts(self, y: ArrayLike) -> F64:
        """Count the edges between classes.

        Among rows with the same values labels are averaged, so that the count does not depend on which of them an
        edge happens to end in.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        ndarray of shape (n_trees, n_classes, n_classes)
            Symmetric, with a zero diagonal; classes in sorted order.
        """
        classes, codes = check_labels(y, self.n_samples, min_classes=1)
        return self._count(codes, len(classes))

    def edge_sums(self, y: ArrayLike) -> EdgeSums:
        """Sum over the edges what the variance of the number of cross edges needs.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        EdgeSums of shape ()
            Cross edges are those between any two classes.
        """
        classes, codes = check_labels(y, self.n_samples, min_classes=1)
        graph, sums, component = self._sum(codes, len(classes), by_class=False)
        return self._sums_of_whole(graph, sums, component)

    def one_vs_rest_edge_sums(self, y: ArrayLike) -> EdgeSums:
        """Do the same for each class against all others.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        EdgeSums of shape (n_classes,)
            Cross edges are those between one class and all others; classes in sorted order.
        """
        classes, codes = check_labels(y, self.n_samples, min_classes=1)
        return self._all_edge_sums(codes, len(classes))[1]

    def _all_edge_sums(self, codes: I64, n_classes: int) -> tuple[EdgeSums, EdgeSums]:
        """Return `edge_sums` and `one_vs_rest_edge_sums` of labels that are places among the classes."""
        graph, sums, component = self._sum(codes, n_classes, by_class=True)
        is_alone = np.bincount(component)[component] == 1
        graph_sums = np.broadcast_to(graph[:, None], (3, len(component)))
        by_class = EdgeSums._make([*graph_sums, *sums[:-1].T, np.full(len(component), self._n_spanning), 1 + is_alone])
        return self._sums_of_whole(graph, sums, component), by_class

    def _sums_of_whole(self, graph: F64, sums: F64, component: I64) -> EdgeSums:
        return EdgeSums._make([*graph, *sums[-1], self._n_spanning, np.asarray(len(np.unique(component)))])

    def to_linkage(self, *, tree: int = 0) -> F64:
        """Return the single-linkage hierarchy of a tree as SciPy writes it.

        The first tree, the minimum spanning tree, gives that of ``scipy.cluster.hierarchy.linkage(X, "single")``, whose
        memory grows with the square of the number of rows. Of distances that are equal SciPy may merge another first;
        the heights are the same.

        Parameters
        ----------
        tree : int, default=0
            Which tree. A later one gives the hierarchy of what the trees before have left.

        Returns
        -------
        ndarray of shape (n_samples - 1, 4)
            Of each merge the two clusters, the smaller number first, their distance, and the number of rows. Rows are
            clusters 0 to n_samples - 1; merge i makes cluster n_samples + i.

        Raises
        ------
        ValueError
            When the tree does not join all rows; see `n_components`.

        Examples
        --------
        >>> import bayesfloor
        >>> forests = bayesfloor.spanning_forests([[0.0], [7.0], [1.0], [3.0]], n_trees=1)
        >>> forests.to_linkage()
        array([[0., 2., 1., 2.],
               [3., 4., 2., 3.],
               [1., 5., 4., 4.]])
        """
        tree = check_int("tree", tree, 0, self.n_trees - 1)
        if self.n_components[tree] > 1:
            raise ValueError(
                f"Tree {tree} leaves the rows in {self.n_components[tree]} pieces, because trees before it have used "
                "up edges that it would need: it is no hierarchy of all rows."
            )
        first, last = np.searchsorted(self.tree, (tree, tree + 1))
        return linkage_of(self.n_samples, self.edges[first:last], self.weights[first:last])

    @property
    def _n_spanning(self) -> I64:
        return np.asarray(np.count_nonzero(self.n_components == 1))

    def _sum(self, codes: I64, n_classes: int, by_class: bool) -> tuple[F64, F64, I64]:
        first, second = self._ends_as_sites()
        with spare_compilation(PLAIN_EDGE_S * len(first), sum_edges):
            start, label, count = count_classes_at_sites(self.sites, codes, int(self.sites.max()) + 1, n_classes)
            graph, sums = sum_edges(first, second, start, label, count, n_classes, by_class)
            return graph, sums, connect_classes(start, label, n_classes)

    def _count(self, codes: I64, n_classes: int) -> F64:
        first, second = self._ends_as_sites()
        counts = np.zeros((self.n_trees, n_classes, n_classes))
        with spare_compilation(PLAIN_EDGE_S * len(first), count_cross_edges):
            start, label, count = count_classes_at_sites(self.sites, codes, int(self.sites.max()) + 1, n_classes)
            count_cross_edges(first, second, self.tree, start, label, count, counts)
        return counts

    def _ends_as_sites(self) -> tuple[I32, I32]:
        sites = self.sites.astype(np.int32)
        return sites.take(self.edges[:, 0]), sites.take(self.edges[:, 1])

    def _table_html(self) -> str:
        return ""  # there may be millions of edges

    def _columns(self) -> dict[str, Any]:
        """Return a row for each edge."""
        return {"tree": self.tree, "i": self.edges[:, 0], "j": self.edges[:, 1], "weight": self.weights}


def to_forests(
    grown: ForestEdges,
    row_of: np.ndarray,
    points: Points,
    n_trees_asked: int,
    *,
    rows: I64 | None = None,
) -> Forests:
    """Turn edges between copies, in the strict order, into the record that users get; `rows` are some of the points."""
    u, v, d2, tree = grown
    n_samples = len(row_of)
    sizes = np.bincount(tree)
    n_trees = len(sizes)
    if n_trees > 1:
        by_tree = np.concatenate([np.flatnonzero(tree == t) for t in range(n_trees)])
        u, v, d2 = u.take(by_tree), v.take(by_tree), d2.take(by_tree)
    ends_u, ends_v = row_of.take(u), row_of.take(v)
    edges = np.empty((len(tree), 2), np.int64)
    np.minimum(ends_u, ends_v, out=edges[:, 0])
    np.maximum(ends_u, ends_v, out=edges[:, 1])
    return Forests(
        n_samples=n_samples,
        n_trees=n_trees,
        edges=edges,
        weights=np.ldexp(np.sqrt(d2), points.exponent),
        tree=np.repeat(np.arange(n_trees), sizes),
        sites=points.sites if rows is None else number_anew(points.sites[rows]),
        n_components=n_samples - sizes,
        n_trees_asked=n_trees_asked,
        rows=rows,
    )


def number_anew(sites: I64) -> I64:
    """Number the sites of some of the rows from 0 on, without gaps."""
    largest = int(sites.max())
    if largest > 64 * len(sites):
        return np.unique(sites, return_inverse=True)[1]
    present = np.zeros(largest + 1, np.int64)
    present[sites] = 1
    return (np.cumsum(present) - 1).take(sites)
