"""What a report says of the figure that models are judged by: the error by default, or another metric.

`learned.estimate`, `interval`, `reached` and `curve` are those of the first metric that was asked for. A floor is the
lowest value that any model can attain; where larger is better, a ceiling is the highest.
"""

from typing import Any

from bayesfloor.floor.learned.findings import STILL_FALLING
from bayesfloor.floor.learned.result import ClassRanking, CostDecisions, LearnedFloor, MetricFloor
from bayesfloor.report.fast_model import FastModel
from bayesfloor.runtime.text import (
    chosen,
    counted,
    difference,
    exact_percent,
    figure,
    percent,
    percent_range,
    written,
)
from bayesfloor.runtime.text import written_range as between

#: Share of the stack's lead over what needs no features from which a model is called good.
NEARLY_ALL = 0.9
#: What each metric is, for those who read a report; top_k_error is known by what comes after the number.
_MEANINGS = {
    "balanced_error": (
        "The mean of the classes' own error rates, by decisions that make it the least. Each class counts the same, "
        "however rare it is."
    ),
    "log_loss": (
        "Minus the mean logarithm of the probability that is given to the true class. 0 is certain and right; a model "
        "that always gives the shares of the classes has what is shown as 'without features'."
    ),
    "brier": (
        "The mean squared distance of the probabilities from the labels: 0 is certain and right. Of two classes it is "
        "that of one of them, as usual."
    ),
    "roc_auc": (
        "The chance that a row of a class is ranked above a row of another: 0.5 is chance, 1 is perfect. Of more than "
        "two classes it is the mean over the classes, each against the rest."
    ),
    "average_precision": (
        "The area under the curve of precision and recall, which is the share of the class by chance and 1 where all "
        "its rows are ranked first. It says more than the ROC AUC of a rare class."
    ),
    "f1": (
        "The harmonic mean of precision and recall, at the threshold where that is the largest. Of more than two "
        "classes it is the mean over them."
    ),
    "top_error": "The share of rows whose class is not among those that the model holds for the most probable ones.",
    "cost": (
        "What decisions cost per row by the given costs, where each is the one that is expected to cost the least. "
        "It needs probabilities that are right, not labels alone."
    ),
}


def metric_of(learned: LearnedFloor) -> MetricFloor:
    """Return what is known of the first metric that was asked for."""
    return learned.metrics[learned.metric]


def error_of(learned: LearnedFloor) -> LearnedFloor | MetricFloor:
    """Return the floor of the error, whatever metric was asked for."""
    return learned if learned.metric == "error" else learned.metrics["error"]


def limit_word(metric: MetricFloor) -> str:
    """Name the best value that any model can attain."""
    return "ceiling" if metric.larger_is_better else "floor"


def answer_of_metric(learned: LearnedFloor, hardest: str, rare: list[ClassRanking]) -> list[str]:
    """Return the sentences that a report on another metric than the error begins with."""
    metric = metric_of(learned)
    level, word = exact_percent(learned.confidence), limit_word(metric)
    side, extreme = ("above", "high") if metric.larger_is_better else ("below", "low")
    interval = f"{level} range {between(*metric.interval, metric.is_rate)}"
    if metric.best == metric.perfect:
        first = (
            f"The {word} is about {metric.said(metric.estimate)} ({interval}); how {extreme} it can get cannot be told "
            "from these rows."
        )
    else:
        first = (
            f"No model is likely to get {side} {metric.said(metric.best)}; the {word} is about "
            f"{metric.written(metric.estimate)} ({interval})."
        )
    second = f"The best model tried {reaches(metric)}"
    told = [first, f"{second}; {hardest}." if hardest else f"{second}."]
    if learned.metric == "cost" and learned.cost is not None and (dearest := _dearest(learned.cost)):
        told.append(f"{dearest}.")
    if rare:
        told.append(_found(max(rare, key=lambda each: each.n_samples)))
    error = learned.metrics["error"]
    told.append(
        f"The floor of the error is about {percent(error.estimate)} (range {percent_range(*error.interval)}); "
        f"{percent(error.reached)} was reached, and always naming the largest class has "
        f"{percent(learned.majority_error)}."
    )
    return told


def beats_nothing(metric: MetricFloor) -> bool:
    """Tell whether what was reached is not surely better than what needs no features."""
    low, high = metric.reached_interval
    return low <= metric.baseline if metric.larger_is_better else high >= metric.baseline


def reaches(metric: MetricFloor) -> str:
    """Say what was reached, and whether more rows would change it."""
    reached, without = metric.written(metric.reached), metric.written(metric.baseline)
    if beats_nothing(metric):
        return f"reaches {reached}, which is not surely better than what needs no features ({without})"
    if metric.reached == metric.perfect:
        return f"reaches {reached} on rows that it was not trained on, and nothing is left to win"
    return f"reaches {reached} ({without} without features), {with_more_rows(metric)}"


def with_more_rows(metric: MetricFloor) -> str:
    """Say whether more rows would change what was reached."""
    low, high = metric.reached_interval
    gain, left = abs(metric.estimate - metric.reached), abs(metric.perfect - metric.reached)
    if gain <= STILL_FALLING * left:
        return "and more rows would change that little"
    if gain > (high - low) / 4.0:  # about a standard error
        return "and is still improving with more data"
    return "on too few rows to tell whether more would help"


def _found(ranking: ClassRanking) -> str:
    """Say how many rows of a rare class can be found."""
    name = in_text(ranking.label)
    return (
        f"The 1% of rows that it ranks highest hold {percent(ranking.recall_at_top)} of the {counted(ranking.n_rows)} "
        f"rows of {name}; with at most one false alarm for each hit, {percent(ranking.recall_at_precision)} of them "
        "can be found."
    )


def worth_of_metric(learned: LearnedFloor, carriers: str) -> str:
    """Say what is proven of a metric other than the error, and what is extrapolated."""
    metric = metric_of(learned)
    most, side = ("at least", "higher") if metric.larger_is_better else ("at most", "lower")
    proven = (
        f"That {metric.said(metric.proven, most)} can be had is proven, up to sampling: a stack of models (above all "
        f"{carriers}) reaches {metric.written(metric.reached)} on rows that it was not trained on."
    )
    if metric.best == metric.perfect:
        return f"{proven} How much {side} it can go is open: nothing in these rows tells where the learning curve ends."
    return (
        f"{proven} How much {side} it can go is extrapolated from a learning curve: no method can prove, from data "
        "alone, that no better model exists."
    )


def verdict_on_target(metric: MetricFloor, target: float) -> tuple[str, str]:
    """Hold what was learned against a target: a word, and a sentence."""
    is_rate, word = metric.is_rate, limit_word(metric)
    goal = chosen(target, is_rate)
    (low, high), (reached_low, reached_high) = metric.interval, metric.reached_interval
    larger = metric.larger_is_better
    surely, most = (reached_low, "at least") if larger else (reached_high, "at most")
    if (surely >= target) if larger else (surely <= target):
        return "feasible", (
            f"A model tried here reaches {written(metric.reached, is_rate)}, {most} {written(surely, is_rate)} "
            f"allowing for sampling: {goal} has been done."
        )
    best, ends, side = (high, "ends", "below") if larger else (low, "starts", "above")
    if (best < target) if larger else (best > target):
        return "not feasible", (
            f"The {word}'s range {ends} at {written(best, is_rate)}, {side} {goal}. This rests on the learning curve "
            "going on as it does; better features would change the problem itself."
        )
    side = "below" if metric.estimate <= target else "above"
    return "undecided", (
        f"The {word} is estimated {side} {goal}, at {written(metric.estimate, is_rate)}, but its range, "
        f"{between(low, high, is_rate)}, holds {goal} too; the best model tried reaches "
        f"{written(metric.reached, is_rate)}."
    )


def is_good(fast: FastModel, metric: MetricFloor) -> bool:
    """Tell whether a fast model wins nearly all of what the stack wins over what needs no features."""
    value = fast.values[metric.name]
    lead, of_stack = (abs(each - metric.baseline) for each in (value, metric.reached))
    is_worse = value < metric.baseline if metric.larger_is_better else value > metric.baseline
    return not beats_nothing(metric) and not is_worse and lead >= NEARLY_ALL * of_stack


def sentence_on_fast_model(fast: FastModel, learned: LearnedFloor) -> str:
    """Say what a fast model reaches, what the stack does, and how long it trains."""
    metric, error = metric_of(learned), error_of(learned)
    if is_good(fast, metric):
        what = "The fastest good model"
    else:
        what = "A fast model" if beats_nothing(metric) else "A fast model, not as good as the stack"
    told = f"errs on {percent(fast.values['error'])} (the stack: {percent(error.reached)})"
    if metric.name != "error":
        of_stack = metric.written(metric.reached)
        told = f"reaches {metric.said(fast.values[metric.name])} (the stack: {of_stack}), {told}"
    return f"{what}: {fast.name} {told} and trains in {_in_seconds(fast.seconds)}."


def _in_seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 9.5 else f"{seconds:.1f} s" if seconds >= 0.095 else f"{seconds:.2f} s"


def note_on_curve(metric: MetricFloor, err_alike: bool) -> str:
    """Say whether more rows or a better model would close the gap; the latter where near rows err alike."""
    is_rate, word = metric.is_rate, limit_word(metric)
    is_error = metric.name == "error"
    if metric.reached == metric.perfect:
        return "No error is left to win." if is_error else "Nothing is left to win."
    sign = -1.0 if metric.larger_is_better else 1.0
    gap = sign * (metric.reached - metric.estimate)
    size = float(metric.curve.size[0])
    now, doubled = (float(metric.curve.at(n)) for n in (size, 2 * size))
    gained = max(min(sign * (now - doubled), gap), 0.0)
    if is_error:
        left = f"lie {percent(gap)} of the rows"
    else:
        left = f"{'lie' if is_rate else 'lies'} {difference(gap, is_rate)}"
    parts = [
        f"Between what was reached ({written(metric.reached, is_rate)}) and the {word} "
        f"({written(metric.estimate, is_rate)}) {left}."
        if gap > 0
        else f"What was reached is about the {word}."
    ]
    if gap > 0 and gained > 0:
        won = percent(gained) if is_error else difference(gained, is_rate)
        parts.append(f"If the curve goes on as it does, twice as many rows would win about {won}.")
    if err_alike:
        parts.append("Rows next to each other err alike: a better model could win something with these rows as well.")
    else:
        parts.append("No structure was found that the models missed: a better model has nothing obvious to win here.")
    return " ".join(parts)


def _dearest(cost: CostDecisions) -> str:
    """Name the true class and the decision that cost the most; nothing where some decisions are gains."""
    total = float(cost.pair_costs.sum())
    if total <= 0.0 or cost.pair_costs.min() < 0.0:
        return ""
    k, j = divmod(int(cost.pair_costs.argmax()), cost.pair_costs.shape[1])
    share = percent(float(cost.pair_costs[k, j]) / total)
    return f"{share} of the cost is for {decision_in_words(cost, k, j)}"


def decision_in_words(cost: CostDecisions, k: int, j: int) -> str:
    """Say what is decided for a row of a class."""
    name = in_text(cost.classes[k])
    if j == len(cost.classes):
        return f"not deciding on {name}"
    return f"naming {name} rightly" if j == k else f"taking {name} for {in_text(cost.classes[j])}"


def notes_on_costs(learned: LearnedFloor) -> list[str]:
    """Say what decisions cost, where most of it goes, how many rows are not decided, and which weights follow."""
    cost, metric = learned.cost, learned.metrics["cost"]
    assert cost is not None
    level = exact_percent(learned.confidence)
    notes = [
        f"Deciding by these costs, the best model tried pays {figure(metric.reached)} per row; the floor is about "
        f"{figure(metric.estimate)} ({level} range {between(*metric.interval, False)}), and the best decision without "
        f"features costs {figure(metric.baseline)}."
    ]
    if dearest := _dearest(cost):
        notes.append(f"{dearest}.")
    n_classes = len(cost.classes)
    if cost.costs.shape[1] > n_classes:
        share, paid = float(cost.pair_rows[:, -1].sum()), float(cost.pair_costs[:, -1].sum())
        notes.append(f"{percent(share)} of the rows are not decided, which costs {figure(paid)} per row.")
    notes.append(_note_on_weights(cost))
    return notes


def _note_on_weights(cost: CostDecisions) -> str:
    if cost.class_weights is not None:
        return (
            "A learner that knows no costs comes to the same decisions with the class weights below: a mistake costs "
            "the same whatever a row is taken for."
        )
    if cost.costs.shape[1] > len(cost.classes):
        why = "no weight says when not to decide"
    else:
        why = "what a mistake costs depends on what a row is taken for, not on its true class alone"
    return f"No class weights lead to the same decisions: {why}. Take the decision of the least expected cost instead."


def meanings(learned: LearnedFloor) -> dict[str, str]:
    """Explain the metrics that were asked for, beside the error, by a heading for each."""
    told = {}
    for metric in learned.metrics.values():
        if metric.name != "error":
            key = "top_error" if metric.name.startswith("top_") else metric.name
            heading = f"{metric.title} {metric.about}".rstrip()
            told[heading[0].upper() + heading[1:]] = _MEANINGS[key]
    return told


def meaning_of_limit(metric: MetricFloor) -> tuple[str, str]:
    """Return a heading and what the best value of a metric is."""
    most = "highest" if metric.larger_is_better else "lowest"
    return f"The {limit_word(metric)}", (
        f"The {most} {metric.title} that any model can attain on data like these. What is left beyond it is chance: "
        "rows that look the same and have different labels."
    )


def in_text(label: Any) -> str:
    """Name a class inside a sentence; in quotes where it would not read as one word."""
    text = str(label)
    return text if text.replace("_", "").replace("-", "").replace(".", "").isalnum() else f"'{text}'"
