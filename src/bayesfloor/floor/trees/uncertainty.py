"""How far a number of cross edges may be from its mean, and what chance alone would give.

Both questions are about one graph: all trees together, each edge spread evenly over the pairs of rows
of equal value that it could join. So both answers hold for the label-averaged count itself. They
need only the `EdgeSums` of the graph. Arrays of these give the answers for many problems at once.

- `cross_edge_variance`: how much R varies from sample to sample. Edges that share a row share its
  label, and little else, so only their covariances are summed.
- `cross_edge_interval`: an interval for the mean of R from that variance.
- `permutation_moments`, `permutation_p_value`: Friedman and Rafsky's test for any number of
  classes: are there fewer cross edges than random labels would give? Where rows have few distinct
  values, `permuted` takes the place of the normal law.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from bayesfloor.forest.results import EdgeSums
from bayesfloor.runtime.arrays import Floats


def smoothed_share(cross_edges: Any, n_edges: Any) -> Any:
    """Share of cross edges with half an edge of each kind added, so that it is never 0 or 1."""
    return (cross_edges + 0.5) / (n_edges + 1.0)


def cross_edge_variance(sums: EdgeSums) -> Floats:
    """Sampling variance of the number of cross edges in all trees of a graph together.

    With r_e = w_e (1[cross] − q), q the share of cross edges, and S_v = Σ_{e at v} r_e it is
    Σ_v S_v² − Σ_e r_e², the sum of r_e r_f over all pairs of edges that share a row (each edge with
    itself included). In terms of degrees d_v and cross degrees c_v::

        Σ_v S_v² = Σ c_v² − 2q Σ c_v d_v + q² Σ d_v²
        Σ_e r_e² = (1 − 2q) Σ_cross w_e² + q² Σ w_e²

    That difference can come out negative on a few edges. It is never taken to be less than independent
    edges would have, q(1−q) Σ_e w_e².
    """
    share = smoothed_share(sums.cross, sums.total)
    independent = sums.squares * share * (1.0 - share)
    q = sums.cross / sums.total
    at_rows = sums.cross_degree_squares - 2.0 * q * sums.cross_degree_products + q**2 * sums.degree_squares
    at_edges = (1.0 - 2.0 * q) * sums.cross_squares + q**2 * sums.squares
    return np.maximum(at_rows - at_edges, independent)


def cross_edge_interval(
    cross_edges: ArrayLike, variance: ArrayLike, n_edges: ArrayLike, confidence: float
) -> tuple[Floats, Floats]:
    """Interval for the mean number of cross edges among n_edges.

    Wilson's interval for a share, with as many independent edges as would have the given variance.
    It stays within [0, n_edges], keeps its width where no or nearly no edge crosses, and is the
    normal interval R ± z·sd elsewhere.
    """
    R, total = np.asarray(cross_edges, np.float64), np.asarray(n_edges, np.float64)
    z2 = ndtri(0.5 + 0.5 * confidence) ** 2
    share = smoothed_share(R, total)
    independent = share * (1.0 - share) * total**2 / np.asarray(variance, np.float64)
    q = R / total
    centre = q + 0.5 * z2 / independent
    half = np.sqrt(z2 / independent * (q * (1.0 - q) + 0.25 * z2 / independent))
    scale = total / (1.0 + z2 / independent)
    return np.maximum(scale * (centre - half), 0.0), np.minimum(scale * (centre + half), total)


def permutation_moments(sums: EdgeSums, class_counts: ArrayLike) -> tuple[Floats, Floats]:
    """Mean and variance of the cross edges of all trees when labels are dealt at random.

    Two edges on the same two rows, on three rows, and on four both cross with probability q2, q3 and
    q4. With N rows, class counts c and falling powers x^(j)::

        s2 = Σ c^(2) / N^(2)        q2 = 1 − s2
        q3 = Σ c (N−c) (N−c−1) / N^(3)
        q4 = 1 − 2 s2 + [Σ c^(4) + (Σ c^(2))² − Σ (c^(2))²] / N^(4)

    With the total weight W, A = Σ_e w_e² and B = Σ_v d_v²::

        mean = W q2        variance = A q2 + (B − 2A) q3 + (W² + A − B) q4 − W² q2²

    For unit weights these are the moments of Friedman and Rafsky (1979), for K classes.

    Parameters
    ----------
    sums : EdgeSums
        Sums over all edges.
    class_counts : array-like of shape (..., K)
        Rows per class.

    Returns
    -------
    mean, variance : ndarray
    """
    c = np.asarray(class_counts, np.float64)
    N = c.sum(axis=-1)
    others = N[..., None] - c
    c2 = c * (c - 1.0)
    N2 = N * (N - 1.0)
    N3 = N2 * (N - 2.0)
    N4 = N3 * (N - 3.0)
    s2 = c2.sum(axis=-1) / N2
    q2 = 1.0 - s2
    # Fewer than three or four rows hold no two edges that need so many.
    q3 = np.sum(c * others * (others - 1.0), axis=-1) / np.where(N3 > 0, N3, np.inf)
    both_same = np.sum(c2 * (c - 2.0) * (c - 3.0), axis=-1) + c2.sum(axis=-1) ** 2 - np.sum(c2**2, axis=-1)
    q4 = np.where(N4 > 0, 1.0 - 2.0 * s2 + both_same / np.where(N4 > 0, N4, np.inf), 0.0)
    W, A, B = sums.total, sums.squares, sums.degree_squares
    variance = A * q2 + (B - 2.0 * A) * q3 + (W**2 + A - B) * q4 - (W * q2) ** 2
    # What is left after cancellation when the count cannot vary is rounding, not variance.
    is_rounding = variance < 1e-9 * (W * q2) ** 2 / N
    return W * q2, np.where(is_rounding, 0.0, variance)


def permutation_p_value(cross_edges: ArrayLike, mean: ArrayLike, variance: ArrayLike) -> Floats:
    """Probability of so few cross edges among labels dealt at random, by the normal law.

    1 where the count cannot vary, as when all rows are equal.
    """
    sd = np.sqrt(np.asarray(variance, np.float64))
    excess = np.asarray(cross_edges, np.float64) - np.asarray(mean, np.float64)
    z = np.divide(excess, sd, out=np.full(np.shape(excess), np.inf), where=sd > 0)
    return np.asarray(ndtr(z), np.float64)
