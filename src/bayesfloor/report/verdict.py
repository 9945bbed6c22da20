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
from bayesfloor.floor.learned.trust.checks import first_metric
from bayesfloor.floor.learned.trust.found import Reason
from bayesfloor.floor.learned.trust.leaks import names_of
from bayesfloor.floor.trees.near_copies import Copies
from bayesfloor.report.figures import ClassFigures, Figures
from bayesfloor.report.metric_words import beats_nothing, limit_word
from bayesfloor.runtime.text import counted, difference, written_range

#: Findings that say of the error, or of the variance explained, that models do no better than without features,
_NOTHING = {"BF023", "BF048"}
#: that they only begin to see what there is, or that no end of the curve is in sight,
_OPEN = {"BF039", "BF040", "BF051", "BF052"}
#: and that more rows help. They are of the first metric where this is one of these.
_HELPS = {"BF025", "BF050"}
_OF_FINDINGS = {"error", "r2", "rmse", "mae"}
#: A sample of the rows was used.
SAMPLED = {"BF021", "BF047"}
#: Share of the rows that repeat another, from which copies are a reason, and from which they stand in the headline.
_SOME_COPIES, _MANY_COPIES = 0.05, 0.5
#: Rows below which every figure is rough.
_FEW_ROWS = 100
#: Width of the range of what was reached, as a share of what was won over no features, from which rows are too few.
_WIDE = 0.5
#: How many labels must be doubtful for looking at them to be a step of its own.
_FEWEST_WRONG = 3
#: Share of what is left to win from which another step is worth naming.
WORTH = 0.02
#: What no look at a table can tell. The best 50 of 2,000 columns of noise let models reach 5 to 8% on shuffled labels.
NOT_TESTABLE = (
    "Not testable: columns that were filled in after the outcome, chosen or encoded by the labels beforehand (the best "
    "50 of 2,000 columns of noise reach 5–8%), or tied to a batch."
)


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
        labels", "better columns", "better metric" or "stop".
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
    trust : {"nothing found", "with care", "leak", "not checked"}
        What speaks against the figures; not checked where nothing was looked for.
    reasons : tuple of Reason
        Why, those that change the figures first.
    limit : Limit
        How far models can go.
    steps : tuple of Step
        What to do next, the first one first.
    telling : tuple of str
        The columns that tell most by themselves.
    as_asked : MetricFloor or None
        The first metric with all columns and with rows dealt out at random, where `limit` is without leaks or with rows
        kept apart.
    """

    trust: str
    reasons: tuple[Reason, ...]
    limit: Limit
    steps: tuple[Step, ...]
    telling: tuple[str, ...] = ()
    as_asked: MetricFloor | None = None

    @property
    def headline(self) -> list[str]:
        """Sentences that come before all figures."""
        return [reason.sentence for reason in self.reasons if reason.in_headline]

    @property
    def trust_sentence(self) -> str:
        """Say in one line whether the figures can be trusted, and why."""
        if self.trust == "not checked":
            return "Leaks, rows that belong together and an order in time were not looked for."
        return " ".join(reason.sentence for reason in self.reasons) or "Nothing suspicious was found."

    @property
    def untested(self) -> str:
        """Say what no look at a table can tell, and which columns to think about."""
        most = f" The most telling columns: {names_of(self.telling)}." if self.telling else ""
        return f"{NOT_TESTABLE}{most}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as the summary has them."""
        metric = self.limit.metric
        limit = {
            "metric": metric.name,
            **_figures_of(metric),
            "reached_by": self.limit.reached_by or "stack",
            "more_rows": self.limit.more_rows,
            "as_asked": None if self.as_asked is None else _figures_of(self.as_asked),
        }
        return {
            "trust": self.trust,
            "trust_sentence": self.trust_sentence,
            "untested": self.untested,
            "telling": list(self.telling),
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
    checked = figures.checked
    limit = limit_of(figures.headline, {each.code for each in figures.learned.findings}, figures.reached_by)
    reasons = tuple(sorted(_reasons(figures, limit), key=lambda reason: not reason.in_headline))
    trust = (
        "leak"
        if checked.leaks
        else "with care"
        if reasons
        else "nothing found"
        if checked.is_checked
        else "not checked"
    )
    as_asked = None if checked.are_alike else first_metric(checked.given.floor)
    return Verdict(trust, reasons, limit, tuple(_steps(figures, limit, reasons)), figures.telling, as_asked)


def _figures_of(metric: MetricFloor) -> dict[str, float]:
    low, high = metric.interval
    return {"reached": metric.reached, "estimate": metric.estimate, "low": low, "high": high}


def limit_of(metric: MetricFloor, codes: Collection[str] = (), reached_by: str | None = None) -> Limit:
    """Decide what more rows would bring, from the figures of a metric and from what was found in its curve."""
    codes = set(codes) if metric.name in _OF_FINDINGS else set()
    gain, left = _worse(metric, metric.reached, metric.estimate), abs(metric.perfect - metric.reached)
    low, high = metric.reached_interval
    value = metric.curve.value
    has_improved = _worse(metric, float(value[-1]), float(value[0])) > 0
    scale = abs(metric.baseline - metric.perfect)
    at_most = _worse(metric, low if metric.larger_is_better else high, metric.best)
    is_done = at_most <= WORTH * scale
    if codes & _NOTHING or beats_nothing(metric):
        state = "nothing"
    elif metric.reached == metric.perfect and is_done:
        state = "done"
    elif codes & _OPEN:
        state = "open"
    elif codes & _HELPS:
        state = "helps"
    elif gain <= STILL_FALLING * left:  # next to nothing may be left only where the rows suffice to say so
        state = "little" if is_done or abs(metric.perfect - metric.estimate) > WORTH * scale else "unknown"
    else:  # a quarter of the range is about a standard error; of the error, findings have said so
        is_clear = metric.name != "error" and has_improved and gain > (high - low) / 4.0
        state = "helps" if is_clear else "unknown"
    return Limit(metric, reached_by, state)


def _worse(metric: MetricFloor, first: float, second: float) -> float:
    """Return by how much the first value is worse than the second."""
    return second - first if metric.larger_is_better else first - second


def _reasons(figures: Figures, limit: Limit) -> Iterator[Reason]:
    metric, learned = limit.metric, figures.learned
    yield from figures.checked.reasons
    for finding in learned.findings:
        if isinstance(finding, Copies) and finding.share >= _SOME_COPIES:
            yield Reason("copies", (), finding.sentence, None, finding.share >= _MANY_COPIES)
    low, high = metric.reached_interval
    won = abs(metric.baseline - metric.reached)
    if learned.n_rows < _FEW_ROWS or (
        limit.more_rows != "nothing" and high - low > _WIDE * won and metric.reached != metric.perfect
    ):
        yield Reason(
            "few rows",
            (),
            f"What was reached is uncertain: {written_range(low, high, metric.is_rate)} fits these "
            f"{counted(learned.n_rows)} rows.",
        )


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
                f"Leave out {names_of(reason.columns)} wherever you train and test, unless you will know {them} when "
                "you predict.",
            )
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
        action, what, why = "better columns", "Get other columns", "nothing that was tried tells the target"
        if all(getattr(finding, "is_told", finding.code not in _NOTHING) for finding in figures.learned.findings):
            action, what = "better metric", "Use another metric"
            why = f"the columns tell something of the target that the {metric.title} does not show"
        yield Step(action, None, f"{what}, or {rows}: {why}.")
        return
    yield from _steps_to_win(figures, limit)


def _sampled(figures: Figures) -> str | None:
    """Say that models can have more of the rows, where they had a sample of them."""
    learned = figures.learned
    if not any(each.code in SAMPLED for each in learned.findings):
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
        suspicious = figures.learned.suspicious
        # without a lower end, all of them may be noise that is the same everywhere
        n_wrong = 0 if suspicious.n_wrong_interval[0] == 0.0 else len(suspicious)
        if n_wrong >= _FEWEST_WRONG and metric.reached > 0.0:
            size = min(n_wrong / suspicious.n_tested, metric.reached)
            yield Step(
                "mend labels",
                size,
                f"Look at the labels of {n_wrong} rows that models find rather wrong than right: up to "
                f"{difference(size, True)} of the error if all are mistakes.",
            )
    rest = abs(metric.perfect - metric.estimate)
    scale = abs(metric.baseline - metric.perfect)
    if limit.more_rows == "little" and not figures.err_alike and rest <= WORTH * scale:
        yield Step("stop", gap, f"Stop: about {difference(gap, metric.is_rate)} can be won here.")
    elif rest > WORTH * scale:
        yield Step(
            "better columns",
            rest,
            f"Find better columns: they can win at most what lies beyond the {limit_word(metric.larger_is_better)}, "
            f"{difference(rest, metric.is_rate)}.",
        )
