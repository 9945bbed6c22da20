"""A model of votes: each row has a hidden class, and rows of one class differ in how clear they are.

A row has the hidden class z with probability π_z. A share c of the rows is clear: every annotator names z. Any other
row has a vector p of label probabilities that is drawn from a Dirichlet distribution with mean m_z and precision s, and
its votes are drawn from p. With c = 0 and s = ∞ all rows of a class are equally hard. The larger c and the smaller s,
the more rows differ. The likelihood of votes n at a row that is not clear is that of Pólya's urn::

    P(n | z) ∝ Π_k Π_{j < n_k} (s m_zk + j)  /  Π_{j < Σn} (s + j)

Each further vote for k is a fresh draw from m_z with probability s m_zk / (s m_zk + j), else it repeats one of the j
before it. Taking z, "clear or not" and "fresh or repeated" as missing gives an EM algorithm whose steps are sums over a
table: how many rows have j votes for class k. Many fits with other weights of the rows, as a bootstrap needs, run side
by side. Both c and s are held fixed: with two or three votes at a row the data hardly tell them from each other.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import digamma, gammainc, gammaln

from bayesfloor.runtime.arrays import Floats, Ints

#: Votes added to each hidden class, spread as all votes are, so that no probability becomes zero: the maximum number,
#: and the maximum share of the mean number per class. With many classes and few rows, more would bias the fit.
_PSEUDO_VOTES, _PSEUDO_SHARE = 0.5, 0.005
#: Rows that are added to each hidden class.
_PSEUDO_ROWS = 0.5
#: Maximum number of accelerated steps of EM; each takes three plain ones.
_MAX_STEPS = 150
#: A fit has converged when no parameter moves by more than this in one step of EM.
_TOLERANCE = 1e-4
#: Maximum count for which logarithms are added one by one, which is exact and faster than gamma functions.
_MOST_ADDED = 20
#: Maximum number of probabilities of hidden classes, over patterns and fits, in memory: 32 MB.
_MOST_VALUES = 4_000_000
#: Nodes of the integral for the mean of the largest probability.
_NODES = 48


@dataclass(frozen=True)
class Patterns:
    """Distinct rows of vote counts, as the EM algorithm needs them.

    Attributes
    ----------
    counts : ndarray of shape (n_patterns, n_classes)
        Votes for each class.
    n_rows : ndarray of shape (n_patterns,)
        How many rows have each pattern.
    seen : sparse matrix of shape (n_patterns, n_cells)
        1 where a pattern has that many votes for that class; a cell is a class and a count above 0.
    seen_in : sparse matrix of shape (n_cells, n_patterns)
        The same by cells.
    cell_class, cell_count : ndarray of shape (n_cells,)
        What each cell stands for.
    unanimous, named : ndarray
        Patterns whose votes are all for one class, and that class.
    """

    counts: Ints
    n_rows: Floats
    seen: Any
    seen_in: Any
    cell_class: Ints
    cell_count: Ints
    unanimous: Ints
    named: Ints


def patterns_of(counts: Ints) -> Patterns:
    """Collect the distinct rows of a matrix of vote counts."""
    distinct, n_rows = np.unique(counts, axis=0, return_counts=True)
    where, of_class = np.nonzero(distinct)
    votes = distinct[where, of_class]
    cells, cell = np.unique(np.column_stack([of_class, votes]), axis=0, return_inverse=True)
    seen = sparse.csr_array((np.ones(len(where)), (where, cell.ravel())), shape=(len(distinct), len(cells)))
    unanimous = np.flatnonzero((distinct > 0).sum(axis=1) == 1)
    named = distinct[unanimous].argmax(axis=1)
    return Patterns(distinct, n_rows.astype(np.float64), seen, seen.T, cells[:, 0], cells[:, 1], unanimous, named)


class Setting(NamedTuple):
    """How much rows of one class differ.

    Attributes
    ----------
    precision : float
        s; inf where all rows that are not clear are equally hard.
    clear : float
        c, the share of rows on which every annotator agrees.
    """

    precision: float
    clear: float


@dataclass(frozen=True)
class Mixture:
    """Fitted models, one for each set of row weights.

    Attributes
    ----------
    setting : Setting
        s and c.
    shares : ndarray of shape (n_fits, n_classes)
        π.
    means : ndarray of shape (n_fits, n_classes, n_classes)
        m: by hidden class, then by label.
    log_likelihood : ndarray of shape (n_fits,)
        Without the terms that no parameter enters.
    """

    setting: Setting
    shares: Floats
    means: Floats
    log_likelihood: Floats

    def largest(self) -> Floats:
        """Return E max_k p_k under each model."""
        unclear = (self.shares * mean_of_largest(self.means, self.setting.precision)).sum(axis=1)
        return np.asarray(self.setting.clear + (1.0 - self.setting.clear) * unclear)


def mean_of_largest(means: Floats, precision: float) -> Floats:
    """Return the mean of the largest entry of Dirichlet vectors.

    With independent G_k ~ Gamma(α_k), their sum is independent of the vector G / ΣG, so that E max p = E max G / Σα,
    and E max G is the integral of 1 - Π_k P(G_k ≤ x).

    Parameters
    ----------
    means : ndarray of shape (..., n_classes)
        Their means.
    precision : float
        The sum of their parameters; inf for a distribution at its mean.

    Returns
    -------
    ndarray of shape (...)
    """
    if np.isinf(precision):
        return np.asarray(means.max(axis=-1))
    # the sum of all G lies below this but for 1e-9 of the cases
    top = precision + 6.5 * np.sqrt(precision) + 22.0
    nodes, weight = _legendre_nodes()
    # cubed: small parameters make the integrand steep at zero
    u = (nodes + 1.0) / 2.0
    x, weight = top * u**3, weight / 2.0 * 3.0 * u**2 * top
    below = np.ones((*means.shape[:-1], _NODES))
    for k in range(means.shape[-1]):
        below *= gammainc(np.maximum(precision * means[..., k, None], 1e-12), x)
    return np.asarray(((1.0 - below) * weight).sum(axis=-1) / precision)


@cache
def _legendre_nodes() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def fit_mixture(patterns: Patterns, weights: Floats, setting: Setting, start: Mixture | None = None) -> Mixture:
    """Fit a model for each set of weights by EM, accelerated by squared extrapolation (SQUAREM).

    Parameters
    ----------
    patterns : Patterns
        Vote counts.
    weights : ndarray of shape (n_fits, n_patterns)
        How many rows have each pattern.
    setting : Setting
        s and c, which are held fixed.
    start : Mixture or None
        Where to start: a single fit. None puts most of each hidden class on its own label.

    Returns
    -------
    Mixture
    """
    n_fits, n_classes = len(weights), patterns.counts.shape[1]
    at_once = max(_MOST_VALUES // (n_classes * len(patterns.counts)), 1)
    if n_fits > at_once:
        parts = [
            fit_mixture(patterns, weights[first : first + at_once], setting, start)
            for first in range(0, n_fits, at_once)
        ]
        return Mixture(
            setting,
            np.concatenate([part.shares for part in parts]),
            np.concatenate([part.means for part in parts]),
            np.concatenate([part.log_likelihood for part in parts]),
        )
    votes = weights @ patterns.counts
    overall = (votes + 1.0) / (votes + 1.0).sum(axis=1, keepdims=True)
    if start is None:
        shares = overall.copy()
        means = 0.7 * np.eye(n_classes) + 0.3 * overall[:, None, :]
    else:
        shares, means = (np.repeat(each[:1], n_fits, axis=0) for each in (start.shares, start.means))
    theta = np.concatenate([shares[:, None, :], means], axis=1)
    constant, added = _constant(patterns, setting), _added_votes(patterns) * overall
    log_likelihood = np.full(n_fits, -np.inf)
    active = np.arange(n_fits)
    for _ in range(_MAX_STEPS):
        w, pseudo = weights[active], added[active, None, :]
        first, at_start = _em_step(patterns, w, pseudo, setting, constant, theta[active])
        second, _ = _em_step(patterns, w, pseudo, setting, constant, first)
        moved = np.abs(second - first).max(axis=(1, 2))
        further = _extrapolated(theta[active], first, second)
        after, at_jump = _em_step(patterns, w, pseudo, setting, constant, further)
        theta[active] = np.where((at_jump >= at_start)[:, None, None], after, second)
        log_likelihood[active] = np.maximum(at_start, at_jump)
        active = active[moved > _TOLERANCE]
        if not len(active):
            break
    return Mixture(setting, theta[:, 0], theta[:, 1:], log_likelihood)


def _constant(patterns: Patterns, setting: Setting) -> Floats:
    """Return log (1 - c) - log Π_j (s + j) for each pattern."""
    apart = np.full(len(patterns.counts), np.log1p(-setting.clear))
    if np.isfinite(setting.precision):
        apart -= gammaln(setting.precision + patterns.counts.sum(axis=1)) - gammaln(setting.precision)
    return apart


def _em_step(
    patterns: Patterns, weights: Floats, added: Floats, setting: Setting, constant: Floats, theta: Floats
) -> tuple[Floats, Floats]:
    """Take one step of EM; also return the penalised log-likelihood where it started."""
    shares, means = theta[:, 0], theta[:, 1:]
    n_fits, n_classes = shares.shape
    cells = means[:, :, patterns.cell_class]  # (n_fits, hidden class, cell)
    if np.isinf(setting.precision):
        table = patterns.cell_count * np.log(cells)
        fresh = np.broadcast_to(patterns.cell_count.astype(float), cells.shape)
    else:
        urn = setting.precision * cells
        most = int(patterns.cell_count.max(initial=0))
        if most > _MOST_ADDED:
            table = gammaln(urn + patterns.cell_count) - gammaln(urn)
            fresh = urn * (digamma(urn + patterns.cell_count) - digamma(urn))
        else:
            table, fresh = np.zeros_like(urn), np.zeros_like(urn)
            for j in range(most):
                reached = patterns.cell_count > j
                table[..., reached] += np.log(urn[..., reached] + j)
                fresh[..., reached] += urn[..., reached] / (urn[..., reached] + j)
    flat = table.reshape(n_fits * n_classes, -1)
    log_p = (patterns.seen @ flat.T).reshape(-1, n_fits, n_classes) + constant[:, None, None]
    urn_alone = log_p[patterns.unanimous, :, patterns.named]
    with_clear = np.logaddexp(urn_alone, np.log(setting.clear) if setting.clear else -np.inf)
    log_p[patterns.unanimous, :, patterns.named] = with_clear
    log_p += np.log(shares)
    top = log_p.max(axis=2, keepdims=True)
    joint = np.exp(log_p - top)
    total = joint.sum(axis=2, keepdims=True)
    hidden = joint * (weights.T[:, :, None] / total)
    penalty = (added * np.log(means)).sum(axis=(1, 2))
    penalty += _PSEUDO_ROWS * np.log(shares).sum(axis=1)
    log_likelihood = (weights.T * (np.log(total) + top)[:, :, 0]).sum(axis=0) + penalty
    new = np.empty_like(theta)
    new[:, 0] = hidden.sum(axis=0) + _PSEUDO_ROWS
    hidden[patterns.unanimous, :, patterns.named] *= np.exp(urn_alone - with_clear)
    in_cell = (patterns.seen_in @ hidden.reshape(len(hidden), -1)).T.reshape(n_fits, n_classes, -1)
    drawn = np.zeros((n_classes, n_fits, n_classes))
    np.add.at(drawn, patterns.cell_class, np.moveaxis(in_cell * fresh, 2, 0))
    new[:, 1:] = np.moveaxis(drawn, 0, 2) + added
    new /= new.sum(axis=2, keepdims=True)
    return new, log_likelihood


def _added_votes(patterns: Patterns) -> float:
    """Return how many votes are added to each hidden class."""
    of_class = float(patterns.n_rows @ patterns.counts.sum(axis=1)) / patterns.counts.shape[1]
    return min(_PSEUDO_VOTES, _PSEUDO_SHARE * of_class)


def _extrapolated(start: Floats, first: Floats, second: Floats) -> Floats:
    """Go on in the direction of two steps of EM; each row stays a distribution."""
    step, bend = first - start, (second - first) - (first - start)
    size = np.sqrt((step**2).sum(axis=(1, 2)) / np.maximum((bend**2).sum(axis=(1, 2)), 1e-300))
    ahead = np.clip(size, 1.0, 64.0)[:, None, None]
    further = np.maximum(start + 2.0 * ahead * step + ahead**2 * bend, 1e-3 * second)
    return np.asarray(further / further.sum(axis=2, keepdims=True))


def expected_probabilities(counts: Ints, fitted: Mixture) -> Floats:
    """Return the mean of p given the votes at a row, of shape (n_patterns, n_classes), by the first fit."""
    (precision, clear), shares, means = fitted.setting, fitted.shares[0], fitted.means[0]
    n_classes, n_votes = len(shares), counts.sum(axis=1)
    if np.isinf(precision):
        log_urn = counts @ np.log(means).T
    else:
        alpha = precision * means
        log_urn = (gammaln(alpha[None] + counts[:, None]) - gammaln(alpha)).sum(axis=2)
        log_urn -= (gammaln(precision + n_votes) - gammaln(precision))[:, None]
    log_urn += np.log1p(-clear) + np.log(shares)
    all_for = (counts == n_votes[:, None]) & (clear > 0)  # every class where there is no vote
    with np.errstate(divide="ignore"):
        log_clear = np.log(clear * shares) + np.where(all_for, 0.0, -np.inf)
    top = np.maximum(log_urn.max(axis=1), log_clear.max(axis=1))[:, None]
    urn, sure = np.exp(log_urn - top), np.exp(log_clear - top)
    total = urn.sum(axis=1) + sure.sum(axis=1)
    expected = urn @ means
    if np.isfinite(precision):
        expected = (precision * expected + urn.sum(axis=1)[:, None] * counts) / (precision + n_votes)[:, None]
    return np.asarray((expected + sure).reshape(-1, n_classes) / total[:, None])


def draw_probabilities(fitted: Mixture, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw label probabilities of rows from the first fit, of shape (n_draws, n_classes)."""
    (precision, clear), shares, means = fitted.setting, fitted.shares[0], fitted.means[0]
    hidden = rng.choice(len(shares), n_draws, p=shares / shares.sum())
    drawn = means[hidden]
    if np.isfinite(precision):
        # a gamma of a tiny shape may be zero for all classes
        gammas = rng.standard_gamma(precision * drawn) + 1e-300 * drawn
        drawn = gammas / gammas.sum(axis=1, keepdims=True)
    is_clear = rng.random(n_draws) < clear
    return np.where(is_clear[:, None], np.eye(len(shares))[hidden], drawn)
