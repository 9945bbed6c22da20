"""The floor from votes, and what a reader of it should know.

BF044   too few votes: one or two at most rows, few rows with two, or two annotators in all
BF045   an annotator who disagrees with all others
"""

from time import perf_counter
from typing import Any

import numpy as np

from bayesfloor.floor.learned.certainty import proportion_interval
from bayesfloor.floor.votes.annotators import AnnotatorAgreement, compare_annotators
from bayesfloor.floor.votes.mixture import Mixture, draw_probabilities, expected_probabilities, patterns_of
from bayesfloor.floor.votes.result import MajorityVote, VoteFloor
from bayesfloor.floor.votes.settings import fit_settings, floor_bounds, row_agreement
from bayesfloor.floor.votes.uncertainty import (
    NO_SPREAD,
    agreement_interval,
    annotator_spread,
    floor_interval,
    within_bounds,
)
from bayesfloor.floor.votes.vote_table import VoteTable, check_votes, with_shared_columns
from bayesfloor.runtime.arrays import Floats, Ints
from bayesfloor.runtime.checks import check_confidence, check_int, check_random_state_seed
from bayesfloor.runtime.findings import Finding, in_order
from bayesfloor.runtime.frames import like_input
from bayesfloor.runtime.text import counted, listed, percent, percent_range, shown

#: Numbers of votes whose majority a model may be measured against.
_MAJORITIES = (1, 3, 5, 9)
#: Rows drawn from the model for these; the standard error is .002.
_N_DRAWS = 40_000
#: Report fewer rows with two votes or more: figures are rough.
_FEW_ROWS = 50
#: Minimum share of rows with three votes; with fewer, the model says no more than the agreement.
_THIRD_VOTES = 0.25


@like_input
def vote_floor(
    votes: Any,
    *,
    rows: Any = None,
    annotators: Any = None,
    labels: Any = None,
    form: str | None = None,
    classes: Any = None,
    confidence: float = 0.95,
    n_bootstrap: int = 100,
    random_state: Any = 0,
) -> VoteFloor:
    """Estimate the lowest error of predicting an annotator's label, from the labels of several.

    Where annotators disagree about a row, no model can name the label that the next one gives. With p the probabilities
    of the labels by an annotator at random, the best prediction errs with probability 1 - max p, and the floor is the
    mean of that over rows. The share of votes outside the majority of a row is far too low for two to five votes. A
    model of votes takes its place, fitted to all rows at once: rows may have any number of votes, or none.

    Parameters
    ----------
    votes : matrix, data frame or array-like
        One of three forms:

        - counts, of shape (n_samples, n_classes): how many annotators gave each label. A matrix of numbers is read as
          this.
        - labels, of shape (n_samples, n_annotators): None, NaN or empty text where an annotator gave none. A matrix of
          text is read as this; for labels that are numbers, pass ``form="labels"``.
        - a long table, with a line for each vote: a data frame with columns for row, annotator and label; or the labels
          of all votes, with `rows` and `annotators`.
    rows, annotators, labels : str or array-like, default=None
        Of a long table: the names of its columns, None to find them by their names ("row", "item", "task"; "annotator",
        "worker", "rater"; "label", "vote", "class" and the like). With an array of labels, `rows` and `annotators` are
        arrays of the same length. For a matrix of labels, `annotators` names its columns.
    form : {"counts", "labels", "long"} or None, default=None
        Which form `votes` has; None decides as above.
    classes : array-like of shape (n_classes,), default=None
        The labels that the columns of counts stand for.
    confidence : float, default=0.95
        Level of the intervals.
    n_bootstrap : int, default=100
        Draws of the rows for the interval, at least 20.
    random_state : int, None or random generator, default=0
        Seeds the bootstrap.

    Returns
    -------
    VoteFloor
        The estimate and its interval, the agreement, ceilings of the accuracy, each annotator.

    See Also
    --------
    soft_label_floor : The floor from rows of probabilities.
    learned_floor : The floor from columns and one label for each row.

    Notes
    -----
    Annotators are taken as drawn at random, and gaps as having nothing to do with the label. The figures are about
    annotators like these; where it is known who voted, the interval allows for others.

    With two votes at a row the agreement is known, but not the floor: rows that are all a little unclear and rows of
    which most are clear and some a coin flip give the same votes. The estimate takes rows of a class to be equally
    hard unless the votes speak against it, which is the smallest floor that fits. The interval spans all that the
    votes allow. See the guide for the model.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesfloor import vote_floor
    >>> rng = np.random.default_rng(0)
    >>> first = rng.binomial(3, np.where(rng.random(500) < 0.5, 0.9, 0.1))  # three votes, each wrong in 10%
    >>> floor = vote_floor(np.column_stack([first, 3 - first]))
    >>> bool(floor.interval[0] < 0.1 < floor.interval[1]), round(floor.majority.naive, 2)
    (True, 0.09)
    """
    started = perf_counter()
    confidence = check_confidence(confidence)
    n_bootstrap = check_int("n_bootstrap", n_bootstrap, 20)
    seed = check_random_state_seed(random_state)
    table = check_votes(votes, rows=rows, annotators=annotators, labels=labels, form=form, classes=classes)
    has_votes = table.counts.sum(axis=1) > 0
    counts = table.counts[has_votes]
    agreed = row_agreement(counts)
    agreed = np.sort(agreed[np.isfinite(agreed)])  # a sum must not depend on the order of the rows
    if not len(agreed):
        raise ValueError(f"no row has two votes, of {len(counts)} with a vote: nothing tells how far annotators agree")
    agreement = float(agreed.mean())
    _check_above_chance(counts, agreement, agreement_interval(agreed, NO_SPREAD, confidence)[1])
    n_classes = len(table.classes)
    shared = with_shared_columns(table)
    patterns = patterns_of(shared.counts[has_votes])
    fitted = fit_settings(patterns, agreement)
    main = fitted.fits[int(fitted.weight.argmax())]
    spread = annotator_spread(shared, main, seed)
    of_agreement = agreement_interval(agreed, spread, confidence)
    estimate, interval = floor_interval(patterns, fitted, spread, confidence, n_bootstrap, seed)
    reached, n_tested = _reached(patterns.counts, patterns.n_rows, main)
    reached_high = proportion_interval(reached * n_tested, n_tested, confidence)[1]
    # other annotators may be harder to predict
    reached_high += (of_agreement[1] - of_agreement[0]) / 2 if spread.agreement else 0.0
    has_third_votes = bool((counts.sum(axis=1) >= 3).mean() >= _THIRD_VOTES)
    interval = within_bounds(interval, of_agreement, n_classes, reached_high, has_third_votes=has_third_votes)
    estimate = min(max(estimate, interval[0]), interval[1])
    compared = None if table.annotator is None else compare_annotators(table)
    return VoteFloor(
        estimate=estimate,
        interval=interval,
        bounds=floor_bounds(agreement, n_classes),
        reached=reached,
        agreement=agreement,
        agreement_interval=of_agreement,
        majority=MajorityVote(_naive(patterns.counts, patterns.n_rows), _ceilings(main, estimate, seed)),
        annotators=compared,
        n_samples=table.n_samples,
        n_rows=len(counts),
        n_votes=len(table.row),
        classes=table.classes,
        confidence=confidence,
        findings=in_order([*_too_few(counts, table, interval), *_outliers(compared)]),
        seconds=perf_counter() - started,
    )


def _check_above_chance(counts: Ints, agreement: float, highest: float) -> None:
    """Refuse tables whose columns agree surely less often than labels dealt out at random: these are no votes."""
    by_chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    if highest < by_chance:
        raise ValueError(
            f"two votes at a row agree in {percent(agreement)} of the cases, less often than votes dealt out at random "
            f"({percent(by_chance)}): these are no votes on the same question. Pass a column for each annotator, or a "
            "count for each class, and leave out all other columns"
        )


def _naive(counts: Ints, weights: Floats) -> float:
    """Return the mean over rows of the share of votes that are not for the most frequent label."""
    return float((weights * (1.0 - counts.max(axis=1) / counts.sum(axis=1))).sum() / weights.sum())


def _reached(counts: Ints, weights: Floats, fitted: Mixture) -> tuple[float, float]:
    """Return the error of predicting each vote from the others at its row, and the rows that this rests on."""
    n_votes = counts.sum(axis=1)
    pattern, label = np.nonzero((counts > 0) & (n_votes > 1)[:, None])
    others = counts[pattern].copy()
    others[np.arange(len(label)), label] -= 1
    wrong = expected_probabilities(others, fitted).argmax(axis=1) != label
    share = weights[pattern] * counts[pattern, label] / n_votes[pattern]
    return float((share * wrong).sum() / share.sum()), float(share.sum())


def _ceilings(fitted: Mixture, estimate: float, seed: int) -> dict[int, float]:
    """Return the highest accuracy against the majority of some votes; the best prediction is the most probable label.

    The model gives how much the majority of more votes adds to the accuracy against one.
    """
    rng = np.random.default_rng([seed, 3])
    p = draw_probabilities(fitted, _N_DRAWS, rng)
    best = p.argmax(axis=1)
    against_one = float(p.max(axis=1).mean())
    ceilings = {1: 1.0 - estimate}
    for n_votes in _MAJORITIES[1:]:
        drawn = rng.multinomial(n_votes, p / p.sum(axis=1, keepdims=True))
        most = drawn.max(axis=1)
        is_named = drawn[np.arange(len(p)), best] == most
        share = is_named / (drawn == most[:, None]).sum(axis=1)
        gained = float(share.mean()) - against_one
        ceilings[n_votes] = min(max(ceilings[1] + gained, ceilings[1]), 1.0)
    return ceilings


def _too_few(counts: Ints, table: VoteTable, interval: tuple[float, float]) -> list[Finding]:
    n_votes = counts.sum(axis=1)
    with_two, with_three = int((n_votes >= 2).sum()), int((n_votes >= 3).sum())
    reasons = []
    if with_two < _FEW_ROWS:
        reasons.append(f"only {counted(with_two)} rows have two votes or more")
    if with_three < _THIRD_VOTES * len(counts):
        reasons.append(f"only {counted(with_three)} of {counted(len(counts))} rows have three votes or more")
    if table.annotator is not None and len(np.unique(table.annotator)) == 2:
        reasons.append("there are two annotators, and nothing tells how others would differ from them")
    if not reasons:
        return []
    return [
        Finding(
            "BF044",
            f"Too few votes to tell how hard single rows are: {' and '.join(reasons)}. The agreement is known, the "
            f"floor only as {percent_range(*interval)}.",
            "A third vote at some of the rows, by another annotator, says more than votes at more rows.",
        )
    ]


def _outliers(compared: AnnotatorAgreement | None) -> list[Finding]:
    if compared is None or not compared.is_outlier.any():
        return []
    places = np.flatnonzero(compared.is_outlier)
    places = places[np.argsort(compared.agreement[places], kind="stable")]
    worst = places[0]
    named = listed([shown(compared.names[place]) for place in places])
    who, disagrees = ("Annotator", "disagrees") if len(places) == 1 else ("Annotators", "disagree")
    return [
        Finding(
            "BF045",
            f"{who} {named} {disagrees} with all others: {shown(compared.names[worst])} agrees with them on "
            f"{percent(float(compared.agreement[worst]))} of the rows, they with each other on "
            f"{percent(float(compared.others[worst]))}.",
            "Look at their votes: labels may be swapped, or given at random. Without them the floor is lower.",
        )
    ]
