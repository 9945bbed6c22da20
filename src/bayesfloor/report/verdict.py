"""The verdict of a report: can its figures be trusted, how far can it go, what to do next.

It is decided once, from all figures, and all sentences speak from it, so that no two of them can disagree::

    figures ──┬── reasons    leaks, rows that belong together, an order of time, copies, few rows ──┐
              ├── limit      the best model on the page, the floor or ceiling, what more rows bring ├── Verdict
              └── steps      drop columns, split otherwise, more rows, a better model, stop ... ────┘

A reason that changes what the figures say stands in the headline, before them. All sizes
are of the first metric that was asked for.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bayesfloor.floor.learned.findings import STILL_FALLING
from bayesfloor.floor.learned.result import MetricFloor
from bayesfloor.floor.learned.trust.checks import TrustChecks
from bayesfloor.floor.learned.trust.leaks import names_of
from bayesfloor.report.figures import ClassFigures, Figures
from bayesfloor.report.metric_words import beats_nothing, limit_word
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import counted, difference, exact_percent, percent, written_range

#: Findings that say of the error, or of the variance explained, that models do no better than without features,
_NOTHING = {"BF023", "BF048"}
#: that they only begin to see what there is, or that no end of the curve is in sight,
_OPEN = {"BF039", "BF040", "BF051", "BF052"}
#: and that more rows help. They are of the first metric where this is one of these.
_HELPS = {"BF025", "BF050"}
_OF_FINDINGS = {"error", "r2", "rmse", "mae"}
#: A sample of the rows was used.
SAMPLED = {"BF021", "BF047"}
#: Copies that were left out or kept together.
_COPIES = {"BF037", "BF038"}
#: Rows below which every figure is rough.
_FEW_ROWS = 100
#: Width of the range of what was reached, as a share of what was won over no features, from which rows are too few.
_WIDE = 0.5
#: How many labels must be doubtful for looking at them to be a step of its own.
_FEWEST_WRONG = 3
#: Share of what is left to win from which another step is worth naming.
_WORTH = 0.02


@dataclass(frozen=True)
class Reason:
    """Why figures may not hold for rows to come.

    Attributes
    ----------
    kind : {"leak", "groups", "time", "order", "copies", "few rows"}
        What it is about.
    columns : tuple of str
        Columns that it is about.
    sentence : str
        What was found, with the figures.
    value : float or None
        What is reached where it is heeded, or where it is not if the figures heed it already.
    in_headline : bool
        Whether it changes what the figures say, or may.
    """

    kind: str
    columns: tuple[str, ...]
    sentence: str
    value: float | None = None
    in_headline: bool = False


@dataclass(frozen=True, eq=False)
class Limit:
    """How far models can go.

    Attributes
    ----------
    metric : MetricFloor
        The first metric: what the best model on the page reached, and the floor or ceiling.
    reached_by : str or None
        The name of that model; None for the stack.
    more_rows : {"nothing", "done", "little", "helps", "open", "unknown"}
        What more rows would bring: nothing beats no features yet, nothing is left to win, little, something, something
        without an end in sight, or these are too few to tell.
    """

    metric: MetricFloor
    reached_by: str | None = None
    more_rows: str = "unknown"

    @property
    def best_model(self) -> str:
        """What the model that reached most is called in a sentence."""
        return "the best model tried" if self.reached_by is None else f"the best model tried, {self.reached_by},"

    @property
    def gap(self) -> float:
        """What lies between what was reached and the floor or ceiling; 0 where nothing does."""
        return max(_worse(self.metric, self.metric.reached, self.metric.estimate), 0.0)

    @property
    def by_doubling(self) -> float:
        """What twice as many rows would win, if the learning curve goes on as it does."""
        n_rows = float(self.metric.curve.size[0])
        now, doubled = self.metric.curve_at([n_rows, 2.0 * n_rows]).tolist()
        return max(min(_worse(self.metric, now, doubled), self.gap), 0.0)

    def words(self) -> str:
        """Say what more rows would bring, after a sentence on what was reached."""
        return {
            "little": ", and more rows would change that little",
            "helps": " and is still improving with more data",
            "open": " and is still improving with more data, how far cannot be told",
            "unknown": ", on too few rows to tell whether more would help",
        }.get(self.more_rows, "")


@dataclass(frozen=True)
class Step:
    """Something to do next.

    Attributes
    ----------
    action : str
        "drop columns", "split by groups", "split by time", "more rows", "more of the rows", "better model", "mend
        labels", "better columns" or "stop".
    size : float or None
        What it changes in the metric; None where that is not known.
    sentence : str
        What to do, and why.
    """

    action: str
    size: float | None
    sentence: str


@dataclass(frozen=True, eq=False)
class Verdict:
    """Trust, limit and next steps.

    Attributes
    ----------
    trust : {"yes", "with care", "no", "not checked"}
        Whether the figures can be taken as they are; not checked where nothing was trained.
    reasons : tuple of Reason
        Why, those that change the figures first.
    limit : Limit or None
        How far models can go; None where nothing was trained.
    steps : tuple of Step
        What to do next, the first one first.
    """

    trust: str
    reasons: tuple[Reason, ...]
    limit: Limit | None
    steps: tuple[Step, ...]

    @property
    def headline(self) -> list[str]:
        """Sentences that come before all figures."""
        return [reason.sentence for reason in self.reasons if reason.in_headline]

    @property
    def trust_sentence(self) -> str:
        """Say in one line whether the figures can be trusted, and why."""
        if self.trust == "not checked":
            return "No model was trained, so that leaks, groups and an order in time were not looked for."
        if not self.reasons:
            return "No leaks, no rows that belong together and no order in time were found."
        return " ".join(reason.sentence for reason in self.reasons)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as the summary has them."""
        limit = None
        if self.limit is not None:
            metric = self.limit.metric
            limit = {
                "metric": metric.name,
                "reached": metric.reached,
                "reached_by": self.limit.reached_by or "stack",
                "estimate": metric.estimate,
                "low": metric.interval[0],
                "high": metric.interval[1],
                "more_rows": self.limit.more_rows,
            }
        return {
            "trust": self.trust,
            "trust_sentence": self.trust_sentence,
            "reasons": [asdict(reason) | {"columns": list(reason.columns)} for reason in self.reasons],
            "limit": limit,
            "steps": [asdict(step) for step in self.steps],
        }


def verdict_of(figures: Figures) -> Verdict:
    """Decide on all figures of a report.

    Parameters
    ----------
    figures : Figures
        What was computed.

    Returns
    -------
    Verdict
    """
    if figures.learned is None:
        step = Step("better model", None, "Train models (leave out fast): spanning trees alone rule nothing out.")
        return Verdict("not checked", (), None, (step,))
    limit = limit_of(figures.headline, {each.code for each in figures.learned.findings}, figures.reached_by)
    reasons = tuple(sorted(_reasons(figures, limit), key=lambda reason: not reason.in_headline))
    trust = "no" if any(each.kind == "leak" for each in reasons) else "with care" if reasons else "yes"
    return Verdict(trust, reasons, limit, tuple(_steps(figures, limit, reasons)))


def limit_of(metric: MetricFloor, codes: Collection[str] = (), reached_by: str | None = None) -> Limit:
    """Decide what more rows would bring, from the figures of a metric and from what was found in its curve."""
    codes = set(codes) if metric.name in _OF_FINDINGS else set()
    gain, left = _worse(metric, metric.reached, metric.estimate), abs(metric.perfect - metric.reached)
    low, high = metric.reached_interval
    value = metric.curve.value
    has_improved = _worse(metric, float(value[-1]), float(value[0])) > 0
    if codes & _NOTHING or beats_nothing(metric):
        state = "nothing"
    elif metric.reached == metric.perfect:
        state = "done"
    elif codes & _OPEN:
        state = "open"
    elif codes & _HELPS:
        state = "helps"
    elif gain <= STILL_FALLING * left:
        state = "little"
    else:  # a quarter of the range is about a standard error; of the error, findings have said so
        is_clear = metric.name != "error" and has_improved and gain > (high - low) / 4.0
        state = "helps" if is_clear else "unknown"
    return Limit(metric, reached_by, state)


def _worse(metric: MetricFloor, first: float, second: float) -> float:
    """Return by how much the first value is worse than the second."""
    return second - first if metric.larger_is_better else first - second


def _reached(metric: MetricFloor) -> str:
    """Say what a model does, with the value that it reached."""
    if metric.name == "error":
        return f"errs on {percent(metric.reached)}"
    if metric.name == "r2":
        return f"explains {percent(max(metric.reached, 0.0))} of the variance"
    return f"reaches {metric.said(metric.reached)}"


def _range(metric: MetricFloor) -> str:
    return (
        f"the {limit_word(metric.larger_is_better)} is about {metric.written(metric.estimate)} "
        f"({exact_percent(metric.confidence)} range {written_range(*metric.interval, metric.is_rate)})"
    )


def _reasons(figures: Figures, limit: Limit) -> Iterator[Reason]:
    assert figures.learned is not None
    metric, checks = limit.metric, figures.checks
    if checks.leaks and checks.without_leaks is not None:
        without, them = checks.without_leaks, "them" if len(checks.leaks.columns) > 1 else "it"
        apart = ""
        if checks.apart is not None:
            apart = f" and with {_kept_apart(checks.apart)}"
        yield Reason(
            "leak",
            checks.leaks.columns,
            f"{checks.leaks.sentence()}: without {them}{apart} a model {_reached(without)}, and {_range(without)}. All "
            f"other figures are with {them}.",
            without.reached,
            True,
        )
    elif checks.apart is not None:
        value = None if checks.mixed is None else checks.mixed.reached
        yield Reason(checks.apart.kind, (str(checks.apart.column),), _said_of_apart(checks), value, True)
    for found in checks.dependence:
        if found.column is not None and checks.unsure is not None:
            unsure = checks.unsure
            which = f"a new '{found.column}'" if found.kind == "groups" else f"later rows, by '{found.column}',"
            yield Reason(
                found.kind,
                (found.column,),
                f"For {which} a model {_reached(unsure)}, and {_range(unsure)}; the other figures are for rows at "
                "random, and the difference may be chance.",
                unsure.reached,
                True,
            )
        elif found is not checks.apart and found.code != "BF035":
            yield Reason(found.kind, () if found.column is None else (found.column,), found.sentence)
    for finding in figures.learned.findings:
        if finding.code in _COPIES:
            yield Reason("copies", (), finding.sentence)
    low, high = metric.reached_interval
    won = abs(metric.baseline - metric.reached)
    n_rows = figures.learned.n_rows
    if n_rows < _FEW_ROWS or (
        limit.more_rows != "nothing" and high - low > _WIDE * won and metric.reached != metric.perfect
    ):
        yield Reason(
            "few rows",
            (),
            f"What was reached is uncertain: {written_range(low, high, metric.is_rate)} fits these {counted(n_rows)} "
            "rows.",
        )


def _said_of_apart(checks: TrustChecks) -> str:
    """Say what figures are for, and what rows at random would have given."""
    assert checks.apart is not None
    name, mixed = f"'{checks.apart.column}'", checks.mixed
    if mixed is None:
        return (
            f"These figures are for a new {name}: rows of one {name} are nearly copies of each other, and kept apart."
        )
    if checks.apart.kind == "groups":
        what = f"These figures are for a new {name}: rows of one {name} are alike, and with them on both sides"
    else:
        what = f"These figures are for later rows, by {name}: with past and future mixed,"
    return f"{what} a model {_reached(mixed)}, which does not hold there."


def _kept_apart(found: Finding) -> str:
    column = getattr(found, "column", "")
    return f"rows of one '{column}' kept apart" if found.code == "BF034" else f"models of the past alone, by '{column}'"


def _steps(figures: Figures, limit: Limit, reasons: Sequence[Reason]) -> Iterator[Step]:
    """List what to do next: first what makes the figures true, then what wins most."""
    metric = limit.metric
    for reason in reasons:
        if reason.kind == "leak":
            them = "them" if len(reason.columns) > 1 else "it"
            value = metric.reached if reason.value is None else reason.value
            yield Step(
                "drop columns",
                abs(value - metric.reached),
                f"Leave out {names_of(reason.columns)}, unless you will know {them} when you predict, and ask again.",
            )
            return
        elif reason.kind in ("groups", "time") and reason.columns:
            size = None if reason.value is None else abs(reason.value - metric.reached)
            yield Step(
                f"split by {reason.kind}",
                size,
                f"Split by '{reason.columns[0]}' whenever you train and test: {reason.kind}='{reason.columns[0]}'.",
            )
    if limit.more_rows == "done":
        yield Step("stop", 0.0, "Stop: nothing is left to win.")
        return
    if figures.gap is not None and figures.gap.sure_gap_interval[0] > 0.0:
        sure = figures.gap.sure_gap
        won = difference(sure, metric.is_rate)
        yield Step("better model", sure, f"Improve your model: {won} can surely be won, as the stack did.")
    if limit.more_rows == "nothing":
        rows = "far more rows" if _sampled(figures) is None else "train on far more of the rows"
        yield Step("better columns", None, f"Get other columns, or {rows}: nothing that was tried tells the target.")
        return
    yield from _steps_to_win(figures, limit)


def _sampled(figures: Figures) -> str | None:
    """Say that models can have more of the rows, where they had a sample of them."""
    learned = figures.learned
    if learned is None or not any(each.code in SAMPLED for each in learned.findings):
        return None
    had, given = counted(learned.n_rows), counted(learned.n_samples)
    return f"Train on more of the rows (max_rows), as models had {had} of {given}"


def _steps_to_win(figures: Figures, limit: Limit) -> Iterator[Step]:
    """List what to do where models have won something, and something is left."""
    metric, doubled, gap = limit.metric, limit.by_doubling, limit.gap
    sampled = _sampled(figures)
    action, what = ("more rows", "Get more rows") if sampled is None else ("more of the rows", sampled)
    if limit.more_rows in ("helps", "open"):
        end = ", and more rows would tell where it ends" if limit.more_rows == "open" else ""
        won = f"twice as many would win about {difference(doubled, metric.is_rate)}"
        yield Step(action, doubled, f"{what}: {won}{end}.")
    elif limit.more_rows == "unknown":
        yield Step(action, doubled, f"{what}: these are too few to tell what can be won.")
    if figures.err_alike:
        yield Step(
            "better model", gap, "Try a model made for such data: rows next to each other err alike, which can be won."
        )
    if isinstance(figures, ClassFigures) and metric.name == "error":
        suspicious = None if figures.learned is None else figures.learned.suspicious
        n_wrong = 0 if suspicious is None else len(suspicious)
        if suspicious is not None and n_wrong >= _FEWEST_WRONG and metric.reached > 0.0:
            size = min(n_wrong / suspicious.n_tested, metric.reached)
            yield Step(
                "mend labels",
                size,
                f"Look at the labels of {n_wrong} rows that models find rather wrong than right: up to "
                f"{difference(size, True)} of the error if all are mistakes.",
            )
    rest = abs(metric.perfect - metric.estimate)
    scale = abs(metric.baseline - metric.perfect)
    if limit.more_rows == "little" and not figures.err_alike and rest <= _WORTH * scale:
        yield Step("stop", gap, f"Stop: only {difference(gap, metric.is_rate)} can be won here.")
    elif rest > _WORTH * scale:
        only = "Only other columns" if limit.more_rows == "little" and not figures.err_alike else "Other columns"
        yield Step(
            "better columns",
            rest,
            f"Find better columns: {only.lower()} can win what lies beyond the {limit_word(metric.larger_is_better)}, "
            f"{difference(rest, metric.is_rate)}.",
        )
