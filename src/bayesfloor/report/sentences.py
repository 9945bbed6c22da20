"""What the figures say, in sentences that are true.

Three kinds of figures meet in a report, and each is called what it is. An error that a model reached is proven, up to
sampling. The end of a learning curve is extrapolated. A figure from spanning trees is an estimate that tends to be too
high in high dimension and small samples; it ranks, and proves nothing. So nothing is called impossible because of
spanning trees, and nothing at all that a model on the same page has done.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from bayesfloor.floor.learned.findings import STILL_FALLING
from bayesfloor.floor.learned.result import ClassRanking, LearnedFloor, SubgroupFloors
from bayesfloor.floor.learned.row_plan import MIN_FOLDS
from bayesfloor.floor.learned.strata import is_rare, leads_with_ranking
from bayesfloor.floor.trees.results import BayesError, PairwiseBayesError
from bayesfloor.report.columns import ColumnFloors
from bayesfloor.report.figures import FEWEST_ROWS, Figures
from bayesfloor.report.metric_sentences import (
    NEARLY_ALL,
    answer_of_metric,
    error_of,
    in_text,
    meaning_of_limit,
    meanings,
    metric_of,
    verdict_on_target,
    worth_of_metric,
)
from bayesfloor.runtime.text import counted, exact_percent, percent, percent_range

#: A pair is called hard from this share of its largest possible floor on.
_HARD = 0.005
#: Chance of differences between subgroups below which they are said to differ.
DIFFERENT = 0.05


def answer(figures: Figures) -> list[str]:
    """Return the two or three sentences that a report begins with."""
    hardest = hardest_pairs(figures.pairs)
    if figures.learned is None:
        return _answer_of_trees(figures.trees, hardest)
    if figures.learned.metric != "error":
        rare = rare_classes(figures.learned) if leads_with_ranking(figures.classes.class_counts) else []
        return answer_of_metric(figures.learned, hardest, rare)
    if leads_with_ranking(figures.classes.class_counts) and (rare := rare_classes(figures.learned)):
        return _answer_of_ranking(figures.learned, rare)
    return _answer_of_models(figures.learned, hardest)


def _answer_of_models(learned: LearnedFloor, hardest: str) -> list[str]:
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


def rare_classes(learned: LearnedFloor) -> list[ClassRanking]:
    """Return the rare classes that have enough rows to be trained and tested on."""
    are_rare = is_rare(np.array([each.share for each in learned.ranking]))
    rare = [each for each, is_one in zip(learned.ranking, are_rare, strict=True) if is_one and each.n_rows >= MIN_FOLDS]
    if learned.n_classes == 2 and "roc_auc" in learned.metrics:  # one figure has one range on one page
        return [replace(each, auc_interval=learned.metrics["roc_auc"].reached_interval) for each in rare]
    return rare


def _answer_of_ranking(learned: LearnedFloor, rare: list[ClassRanking]) -> list[str]:
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


def more_of_class(ranking: ClassRanking, learned: LearnedFloor) -> str:
    """Say what more rows of a rare class would bring, and what that rests on."""
    name, n = in_text(ranking.label), ranking.n_rows
    low, high = ranking.auc_interval
    shares = learned.curve.size / learned.n_rows
    trained = [counted(max(round(n * share), 0)) for share in shares[::-1]]
    reached = [f"{auc:.3f}" for auc in ranking.auc_by_size[::-1]]
    text = (
        f"The AUC's range, {low:.3f} to {high:.3f}, rests on {counted(n)} rows of {name}; about {counted(4 * n)} would "
        f"halve it. With {_and(trained)} of them in training the AUC was {_and(reached)}"
    )
    if not ranking.is_rising:
        return f"{text}: no gain that {counted(n)} rows could show."
    gain = ranking.auc_by_size[0] - ranking.auc_by_size[1]
    before = ranking.auc_by_size[1] - ranking.auc_by_size[2]
    ahead = gain * min(gain / before, 1.0) if before > 0 else gain
    ahead = min(ahead, 1.0 - ranking.auc)
    return f"{text}: it still rises, and twice as many would win about {ahead:.3f} more if that goes on."


def note_on_ranking(learned: LearnedFloor) -> str:
    """Say what the figures of rare classes are measured on."""
    note = (
        "Rows are ranked by the probability of the class, from models that were not trained on them. The AUC is the "
        "chance that a row of the class is ranked above any other row; average precision equals the share by chance."
    )
    if any(each.n_rows > each.share * learned.n_rows + 1 for each in rare_classes(learned)):
        note += (
            f" Of the {counted(learned.n_samples)} rows {counted(learned.n_rows)} were used, with more of the rare "
            "classes than their share; all figures are weighted back to it."
        )
    return note


def answer_on_subgroups(found: SubgroupFloors) -> str:
    """Say whether subgroups differ; the finding BF041 says how."""
    if len(found.names) < 2:
        return f"All rows are in one subgroup, {found.names[0]!r}: there is nothing to compare."
    if found.reached_p_value >= DIFFERENT:
        return f"That the subgroups differ in their errors is not shown ({_p_value(found.reached_p_value)})."
    floors = "their floors differ too" if found.floor_p_value < DIFFERENT else "that their floors differ is not shown"
    of_errors = f"The subgroups differ in their errors ({_p_value(found.reached_p_value)})"
    return f"{of_errors}; {floors} ({_p_value(found.floor_p_value)})."


def _p_value(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def note_on_subgroups(found: SubgroupFloors) -> str:
    """Say what the figures of subgroups are measured on."""
    note = (
        "All figures are from the same models, among the rows of each subgroup. The floor is what was reached there, "
        "less what the learning curve leaves to be won. Its range begins at 0 where the models are not surely "
        "better than chance in the subgroup, or still learn fast: what they did not learn looks the same as chance."
    )
    if found.note:
        note += f" {found.note}"
    return note


def note_on_columns(columns: ColumnFloors, n_columns: int, most: int) -> str:
    """Say what the figures of single columns are."""
    note = (
        "What a column tells alone is the share of the error of always naming the largest class that it removes, "
        f"from spanning trees of {counted(columns.n_rows)} rows. It comes out a little low: the order says more than "
        "the figure. Columns may tell more together than each alone."
    )
    if columns.is_balanced:
        note += " For this, the largest class was cut down to the size of the next."
    if n_columns > most:
        note += f" Listed are the {most} most telling of {counted(n_columns)} columns."
    return note


def _and(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _answer_of_trees(trees: BayesError, hardest: str) -> list[str]:
    level = exact_percent(trees.confidence)
    first = (
        f"Spanning trees alone put the floor at about {percent(trees.estimate)} "
        f"({level} range {percent_range(*trees.interval)} for sampling alone)."
    )
    second = "No model was trained, and such figures tend to be too high, so a model may do better than this"
    told = [first, f"{second}; {hardest}." if hardest else f"{second}."]
    if leads_with_ranking(trees.class_counts):
        told.append(
            "Nearly all rows are of one class, so that an error says little of the others; models show how high they "
            "can be ranked."
        )
    return told


def hardest_pairs(pairs: PairwiseBayesError) -> str:
    """Name the one or two hardest pairs of three or more classes."""
    if len(pairs.classes) < 3:
        return ""
    hard = [(a, b) for a, b in pairs.by_hardness()[:2] if pairs.normalized[a, b] >= _HARD]
    if not hard:
        return "no two classes look alike to the spanning trees"
    named = " and ".join(f"{in_text(pairs.classes[a])} against {in_text(pairs.classes[b])}" for a, b in hard)
    return f"{named} {'are the hardest pairs' if len(hard) > 1 else 'is the hardest pair'}"


def worth(figures: Figures, fast: bool) -> str:
    """Say which side is proven and which is extrapolated."""
    if figures.learned is None:
        why = "" if fast else f"Fewer than {FEWEST_ROWS} rows are too few to train and test models. "
        return (
            f"{why}Nothing here is proven: the range covers sampling only, and the bounds from spanning trees hold as "
            "rows are added without end. In high dimension and small samples they come out too high."
        )
    learned = figures.learned
    if learned.metric != "error":
        return worth_of_metric(learned, _carriers(learned))
    if leads_with_ranking(figures.classes.class_counts) and rare_classes(learned):
        return (
            f"AUC, recall, precision and the error of {percent(learned.reached)} that was reached are measured on rows "
            "that the models were not trained on; ranges are for sampling. The floor below is extrapolated from a "
            "learning curve."
        )
    return (
        f"Proven, up to sampling, is the upper side: a stack of models (above all {_carriers(learned)}) was wrong on "
        f"{percent(learned.reached)} of rows that it was not trained on. {_lower_side(learned)}"
    )


def _carriers(learned: LearnedFloor) -> str:
    """Name the learners that have the largest exponents, up to three, until they have half of all."""
    names: list[str] = []
    so_far = 0.0
    for name, weight in learned.weights.items():
        if so_far >= 0.5 * sum(learned.weights.values()) or len(names) == 3:
            break
        names.append(name)
        so_far += weight
    return "; ".join(names)


def _lower_side(learned: LearnedFloor) -> str:
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


def verdict(figures: Figures, target: float) -> dict[str, Any]:
    """Hold the figures against a target: an error, or a value of the metric that was asked for."""
    learned = figures.learned
    if learned is None:
        goal = exact_percent(target)
        trees = figures.trees
        if trees.upper_interval[1] <= target:
            word, sentence = (
                "feasible",
                (
                    f"The spanning trees' upper bound, {percent(trees.upper_interval[1])} at its highest, is not above "
                    f"{goal}. No model was trained: this says that such a classifier exists, not which."
                ),
            )
        else:
            word, sentence = (
                "undecided",
                (
                    f"The spanning trees' bounds are {percent_range(trees.lower, trees.upper)}. They tend to be too "
                    f"high, so they cannot rule {goal} out; train models (leave out fast) to learn more."
                ),
            )
    else:
        word, sentence = verdict_on_target(metric_of(learned), target)
    return {"target": target, "verdict": word, "sentence": sentence}


def note_on_trees(figures: Figures) -> str:
    """Say how far the figures from spanning trees can be believed here."""
    trees, learned = figures.trees, figures.learned
    note = (
        "Figures of classes and pairs come from spanning trees. They say which are hard; in high dimension and small "
        "samples they tend to be too high."
    )
    if learned is None:
        return note
    reached = error_of(learned).reached
    if trees.estimate > reached:
        note = (
            f"The spanning trees' own estimate, {percent(trees.estimate)}, is above the {percent(reached)} that a "
            "model reached, so it is too high here. The figures of classes and pairs come from the same trees: they "
            "say which are hard, not how low an error can go."
        )
    return note if learned.metric == "error" else f"{note} They are errors, whatever metric the report is about."


def how_to_read(figures: Figures) -> list[dict[str, str]]:
    """Explain the words of a report."""
    texts = {
        "The floor": (
            "The lowest error that any classifier can reach on data like these, also called the Bayes error rate. What "
            "is left below it is chance: rows that look the same and have different labels."
        ),
        "The range": (
            "Its upper end is an error that a model attains on rows it has not seen, allowing for sampling. Its lower "
            "end assumes that the learning curve goes on as it does. It is not a bound: structure finer than the "
            "distances between rows cannot be seen in them."
        ),
        "Reached": (
            "The error of the best model tried: a stack of fast learners, each row predicted by models that were not "
            "trained on it."
        ),
        "Classes and pairs": (
            "Minimum spanning trees join each row to near ones. Where many of their edges run between two classes, the "
            "classes overlap. The estimate is among the rows concerned; 'of its maximum' divides it by the error of "
            "always naming the larger side, so 0% is no overlap and 100% is hopeless. The order is by the lower end "
            "of the range, so that a class of a few rows is not first by chance. The models' error at the same task "
            "stands beside it: where that is lower, believe the model."
        ),
        "Rows to look at": (
            "Both ends of tree edges between classes: rows that look alike and are labelled differently. The first of "
            "each two has neighbours that speak for the other's label. Some are label errors; others are what makes "
            "the floor."
        ),
        "The class tree": (
            "Classes cut in two, again and again, where they are easiest to tell apart. Each cut is a binary problem; "
            "its figure adds up the overlap across it."
        ),
    }
    learned = figures.learned
    if learned is not None and learned.metric != "error":
        texts = _of_metric(learned, texts)
    if learned is not None and rare_classes(learned):
        texts["Rare classes"] = (
            "Never naming a rare class costs next to nothing, so the error hides how well it can be found. The AUC is "
            "the chance that one of its rows is ranked above a row of another class: 0.5 is chance, 1 is perfect. The "
            "recall is the share of its rows that are found."
        )
    if figures.fast_model is not None:
        texts["The fast model"] = (
            f"{figures.fast_model.name}, trained on {counted(figures.fast_model.n_rows)} rows at a time and tested on "
            "the same rows as the stack; 'bayesfloor fit' trains it. It is called good where it wins at least "
            f"{exact_percent(NEARLY_ALL)} of what the stack wins over what needs no features."
        )
    if figures.learned is not None and figures.learned.subgroups is not None:
        texts["Subgroups"] = (
            "A subgroup that errs more than others may be harder, with a higher floor, or less well learnt, with the "
            "same floor. Better columns help the first; a better model, or more of its rows, helps the second. The "
            "share of all errors is what a subgroup contributes to the error of all rows."
        )
    if figures.learned is None:
        texts["The range"] = (
            "What sampling alone may change. It knows nothing of the estimate's bias, which is upwards in high "
            "dimension and small samples."
        )
        del texts["Reached"]
        texts["Classes and pairs"] = texts["Classes and pairs"].split(" The models'")[0]
    return [{"heading": heading, "text": text} for heading, text in texts.items()]


def _of_metric(learned: LearnedFloor, texts: dict[str, str]) -> dict[str, str]:
    """Explain the words of a report on another metric than the error."""
    metric = metric_of(learned)
    heading, text = meaning_of_limit(metric)
    worse, better = ("lower", "upper") if metric.larger_is_better else ("upper", "lower")
    of_range = (
        f"Its {worse} end is a value that a model attains on rows it has not seen, allowing for sampling. Its {better} "
        "end assumes that the learning curve goes on as it does. It is not a bound: structure finer than the "
        "distances between rows cannot be seen in them."
    )
    reached = (
        "What the best model tried attains: a stack of fast learners, each row predicted by models that were not "
        "trained on it."
    )
    others = {key: each for key, each in texts.items() if key not in ("The floor", "The range", "Reached")}
    return {heading: text, "The range": of_range, "Reached": reached, **meanings(learned), **others}
