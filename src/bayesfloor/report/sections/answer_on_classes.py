"""What a report on classes begins with, in sentences that are true.

Three kinds of figures meet in a report, and each is called what it is. An error that a model reached is proven, up to
sampling. The end of a learning curve is extrapolated. A figure from spanning trees is an estimate that tends to be too
high in high dimension and small samples; it ranks, and proves nothing. So nothing is called impossible because of
spanning trees, and nothing at all that a model on the same page has done.
"""

from bayesfloor.floor.learned.result import ClassRanking, LearnedFloor, MetricFloor
from bayesfloor.floor.learned.summary import STILL_FALLING, leads_with_ranking
from bayesfloor.floor.trees.results import BayesError, PairwiseBayesError
from bayesfloor.report.figures import FEWEST_ROWS, ClassFigures
from bayesfloor.report.metric_words import beats_nothing, carriers_of, in_text, limit_word, with_more_rows, worth_of
from bayesfloor.report.sections.costs import dearest_decision
from bayesfloor.report.sections.rare import rare_classes
from bayesfloor.runtime.text import counted, exact_percent, percent, percent_range, written_range

#: A pair is called hard from this share of its largest possible floor on.
_HARD = 0.005


def answer(figures: ClassFigures) -> list[str]:
    """Return the two or three sentences that a report begins with."""
    hardest = hardest_pairs(figures.pairs)
    if figures.learned is None:
        return _answer_of_trees(figures.trees, hardest)
    if figures.learned.metric != "error":
        rare = rare_classes(figures.learned) if leads_with_ranking(figures.classes.class_counts) else []
        return answer_of_metric(figures.learned, hardest, rare)
    if leads_with_ranking(figures.classes.class_counts) and (rare := rare_classes(figures.learned)):
        return answer_of_ranking(figures.learned, rare)
    return answer_of_models(figures.learned, hardest)


def answer_of_models(learned: LearnedFloor, hardest: str) -> list[str]:
    """Answer on the error, by what models reached."""
    level = exact_percent(learned.confidence)
    first = f"The floor is about {percent(learned.estimate)} ({level} range {percent_range(*learned.interval)})."
    codes = {finding.code for finding in learned.findings}
    if "BF023" in codes:
        second = (
            "Nothing that was tried surely beats always naming the largest class "
            f"({percent(learned.majority_error)} error)"
        )
    elif learned.reached == 0.0:
        second = f"The best model tried makes no error on {learned.n_rows} rows that it was not trained on"
    elif "BF025" in codes:
        second = f"The best model tried reaches {percent(learned.reached)} and is still improving with more data"
    elif learned.reached - learned.estimate <= STILL_FALLING * learned.reached:
        second = f"The best model tried reaches {percent(learned.reached)}, and more rows would change that little"
    else:
        second = (
            f"The best model tried reaches {percent(learned.reached)}, with too few errors to tell whether more rows "
            "would help"
        )
    return [first, f"{second}; {hardest}." if hardest else f"{second}."]


def answer_of_ranking(learned: LearnedFloor, rare: list[ClassRanking]) -> list[str]:
    """Answer where nearly all rows are of one class: what the error says is little, and comes last."""
    largest = max(rare, key=lambda each: each.n_samples)
    name, (low, high) = in_text(largest.label), largest.auc_interval
    measured = f"ROC AUC of {largest.auc:.3f} ({exact_percent(learned.confidence)} range {low:.3f}–{high:.3f})"
    if low > 0.5:
        first = (
            f"The best model tried ranks {name} above the rest with an {measured}: the 1% of rows ranked highest hold "
            f"{percent(largest.recall_at_top)} of its {counted(largest.n_rows)} rows."
        )
    else:
        first = f"No model tried surely ranks {name} above the rest: an {measured}, where chance has 0.5."
    others = ""
    if len(rare) > 1:
        others = f" {len(rare) - 1} more rare {'classes are' if len(rare) > 2 else 'class is'} in the table."
    second = (
        f"With at most one false alarm for each hit, {percent(largest.recall_at_precision)} of {name} can be found; "
        f"the average precision is {largest.average_precision:.3f}, by chance {largest.share:.3g}.{others}"
    )
    third = (
        f"The error says little here: naming the largest class always errs on {percent(learned.majority_error)} of the "
        f"rows, and the floor is about {percent(learned.estimate)} (range {percent_range(*learned.interval)})."
    )
    return [first, second, third]


def answer_of_metric(learned: LearnedFloor, hardest: str, rare: list[ClassRanking]) -> list[str]:
    """Return the sentences that a report on another metric than the error begins with."""
    metric = learned.metrics[learned.metric]
    level, word = exact_percent(learned.confidence), limit_word(metric.larger_is_better)
    side, extreme = ("above", "high") if metric.larger_is_better else ("below", "low")
    interval = f"{level} range {written_range(*metric.interval, metric.is_rate)}"
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
    second = f"The best model tried {_reaches(metric)}"
    sentences = [first, f"{second}; {hardest}." if hardest else f"{second}."]
    if learned.metric == "cost" and learned.cost is not None and (dearest := dearest_decision(learned.cost)):
        sentences.append(f"{dearest}.")
    if rare:
        sentences.append(_found(max(rare, key=lambda each: each.n_samples)))
    error = learned.metrics["error"]
    sentences.append(
        f"The floor of the error is about {percent(error.estimate)} (range {percent_range(*error.interval)}); "
        f"{percent(error.reached)} was reached, and always naming the largest class has "
        f"{percent(learned.majority_error)}."
    )
    return sentences


def _reaches(metric: MetricFloor) -> str:
    """Say what was reached, and whether more rows would change it."""
    reached, without = metric.written(metric.reached), metric.written(metric.baseline)
    if beats_nothing(metric):
        return f"reaches {reached}, which is not surely better than what needs no features ({without})"
    if metric.reached == metric.perfect:
        return f"reaches {reached} on rows that it was not trained on, and nothing is left to win"
    return f"reaches {reached} ({without} without features), {with_more_rows(metric)}"


def _found(ranking: ClassRanking) -> str:
    """Say how many rows of a rare class can be found."""
    name = in_text(ranking.label)
    return (
        f"The 1% of rows that it ranks highest hold {percent(ranking.recall_at_top)} of the {counted(ranking.n_rows)} "
        f"rows of {name}; with at most one false alarm for each hit, {percent(ranking.recall_at_precision)} of them "
        "can be found."
    )


def _answer_of_trees(trees: BayesError, hardest: str) -> list[str]:
    level = exact_percent(trees.confidence)
    first = (
        f"Spanning trees alone put the floor at about {percent(trees.estimate)} "
        f"({level} range {percent_range(*trees.interval)} for sampling alone)."
    )
    second = "No model was trained, and such figures tend to be too high, so a model may do better than this"
    sentences = [first, f"{second}; {hardest}." if hardest else f"{second}."]
    if leads_with_ranking(trees.class_counts):
        sentences.append(
            "Nearly all rows are of one class, so that an error says little of the others; models show how high they "
            "can be ranked."
        )
    return sentences


def hardest_pairs(pairs: PairwiseBayesError) -> str:
    """Name the one or two hardest pairs of three or more classes."""
    if len(pairs.classes) < 3:
        return ""
    hard = [(a, b) for a, b in pairs.by_hardness()[:2] if pairs.normalized[a, b] >= _HARD]
    if not hard:
        return "no two classes look alike to the spanning trees"
    named = " and ".join(f"{in_text(pairs.classes[a])} against {in_text(pairs.classes[b])}" for a, b in hard)
    return f"{named} {'are the hardest pairs' if len(hard) > 1 else 'is the hardest pair'}"


def worth(figures: ClassFigures, fast: bool) -> str:
    """Say which side is proven and which is extrapolated."""
    if figures.learned is None:
        why = "" if fast else f"Fewer than {FEWEST_ROWS} rows are too few to train and test models. "
        return (
            f"{why}Nothing here is proven: the range covers sampling only, and the bounds from spanning trees hold as "
            "rows are added without end. In high dimension and small samples they come out too high."
        )
    learned = figures.learned
    if learned.metric != "error":
        return worth_of(figures.headline, carriers_of(figures.weights))
    if leads_with_ranking(figures.classes.class_counts) and rare_classes(learned):
        return (
            f"AUC, recall, precision and the error of {percent(learned.reached)} that was reached are measured on rows "
            "that the models were not trained on; ranges are for sampling. The floor below is extrapolated from a "
            "learning curve."
        )
    return (
        f"Proven, up to sampling, is the upper side: a stack of models (above all {carriers_of(figures.weights)}) was "
        f"wrong on {percent(learned.reached)} of rows that it was not trained on. {lower_side(learned)}"
    )


def lower_side(learned: LearnedFloor) -> str:
    """Say what the lower end of the range rests on."""
    codes = {finding.code for finding in learned.findings}
    low = percent(learned.interval[0])
    if "BF023" in codes:
        return "The lower side is open: where nothing beats the largest class, nothing tells how low the floor may be."
    if "BF039" in codes:
        return (
            f"The lower side ({low}) is open: the models' lead over the largest class still grows fast with more rows, "
            "so how far it goes cannot be told."
        )
    if "BF040" in codes:
        return (
            f"The lower side ({low}) is open: each doubling of the rows still lowers the error as much as the one "
            "before."
        )
    return (
        "The lower side is extrapolated from a learning curve: no method can prove, from data alone, that no better "
        "classifier exists."
    )
