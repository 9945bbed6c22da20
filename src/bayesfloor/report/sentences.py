"""What the figures say, in sentences that are true.

Three kinds of figures meet in a report, and each is called what it is. An error that a model reached is proven, up to
sampling. The end of a learning curve is extrapolated. A figure from spanning trees is an estimate that tends to be too
high in high dimension and small samples; it ranks, and proves nothing. So nothing is called impossible because of
spanning trees, and nothing at all that a model on the same page has done.
"""

from typing import Any

from bayesfloor.floor.learned.result import LearnedFloor
from bayesfloor.floor.learned.summary import ERR_ALIKE, STILL_FALLING
from bayesfloor.floor.trees.results import BayesError, PairwiseBayesError
from bayesfloor.report.figures import FEWEST_ROWS, Figures
from bayesfloor.runtime.text import exact_percent, percent, percent_range

#: A pair is called hard from this share of its largest possible floor on.
_HARD = 0.005


def answer(figures: Figures) -> list[str]:
    """Return the two sentences that a report begins with."""
    hardest = hardest_pairs(figures.pairs)
    if figures.learned is None:
        return _answer_of_trees(figures.trees, hardest)
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


def _answer_of_trees(trees: BayesError, hardest: str) -> list[str]:
    level = exact_percent(trees.confidence)
    first = (
        f"Spanning trees alone put the floor at about {percent(trees.estimate)} "
        f"({level} range {percent_range(*trees.interval)} for sampling alone)."
    )
    second = "No model was trained, and such figures tend to be too high, so a model may do better than this"
    return [first, f"{second}; {hardest}." if hardest else f"{second}."]


def hardest_pairs(pairs: PairwiseBayesError) -> str:
    """Name the one or two hardest pairs of three or more classes."""
    if len(pairs.classes) < 3:
        return ""
    hard = [(a, b) for a, b in pairs.by_hardness()[:2] if pairs.normalized[a, b] >= _HARD]
    if not hard:
        return "no two classes look alike to the spanning trees"
    named = " and ".join(f"{in_text(pairs.classes[a])} against {in_text(pairs.classes[b])}" for a, b in hard)
    return f"{named} {'are the hardest pairs' if len(hard) > 1 else 'is the hardest pair'}"


def in_text(label: Any) -> str:
    """Name a class inside a sentence; in quotes where it would not read as one word."""
    text = str(label)
    return text if text.replace("_", "").replace("-", "").replace(".", "").isalnum() else f"'{text}'"


def worth(figures: Figures, fast: bool) -> str:
    """Say which side is proven and which is extrapolated."""
    if figures.learned is None:
        why = "" if fast else f"Fewer than {FEWEST_ROWS} rows are too few to train and test models. "
        return (
            f"{why}Nothing here is proven: the range covers sampling only, and the bounds from spanning trees hold as "
            "rows are added without end. In high dimension and small samples they come out too high."
        )
    learned = figures.learned
    return (
        f"Proven, up to sampling, is the upper side: a stack of models was wrong on {percent(learned.reached)} of rows "
        "that it was not trained on. The lower side is extrapolated from a learning curve: no method can prove, from "
        "data alone, that no better classifier exists."
    )


def verdict(figures: Figures, target: float) -> dict[str, Any]:
    """Hold the figures against a target error."""
    learned, goal = figures.learned, exact_percent(target)
    if learned is None:
        trees = figures.trees
        if trees.upper_interval[1] <= target:
            word, sentence = "feasible", (
                f"The spanning trees' upper bound, {percent(trees.upper_interval[1])} at its highest, is not above "
                f"{goal}. No model was trained: this says that such a classifier exists, not which."
            )
        else:
            word, sentence = "undecided", (
                f"The spanning trees' bounds are {percent_range(trees.lower, trees.upper)}. They tend to be too high, "
                f"so they cannot rule {goal} out; train models (leave out fast) to learn more."
            )
    elif learned.reached_interval[1] <= target:
        word, sentence = "feasible", (
            f"A model tried here reaches {percent(learned.reached)}, at most {percent(learned.reached_interval[1])} "
            f"allowing for sampling: {goal} has been done."
        )
    elif learned.interval[0] > target:
        word, sentence = "not feasible", (
            f"The floor's range starts at {percent(learned.interval[0])}, above {goal}. This rests on the learning "
            "curve going on as it does; better features would change the problem itself."
        )
    else:
        side = "below" if learned.estimate <= target else "above"
        word, sentence = "undecided", (
            f"The floor is estimated {side} {goal}, at {percent(learned.estimate)}, but its range, "
            f"{percent_range(*learned.interval)}, holds {goal} too; the best model tried reaches "
            f"{percent(learned.reached)}."
        )
    return {"target": target, "verdict": word, "sentence": sentence}


def note_on_trees(figures: Figures) -> str:
    """Say how far the figures from spanning trees can be believed here."""
    trees, learned = figures.trees, figures.learned
    if learned is not None and trees.estimate > learned.reached:
        return (
            f"The spanning trees' own estimate, {percent(trees.estimate)}, is above the {percent(learned.reached)} "
            "that a model reached, so it is too high here. The figures of classes and pairs come from the same trees: "
            "they say which are hard, not how low an error can go."
        )
    return (
        "Figures of classes and pairs come from spanning trees. They say which are hard; in high dimension and small "
        "samples they tend to be too high."
    )


def note_on_curve(learned: LearnedFloor) -> str:
    """Say whether more rows or a better model would close the gap."""
    gap = learned.reached - learned.estimate
    if learned.reached == 0.0:
        return "No error is left to win."
    size = float(learned.curve.size[0])
    now, doubled = (float(learned.curve.at(n)) for n in (size, 2 * size))
    gained = max(min(now - doubled, gap), 0.0)
    parts = [
        f"Between what was reached ({percent(learned.reached)}) and the floor ({percent(learned.estimate)}) lie "
        f"{percent(gap)} of the rows."
        if gap > 0
        else "What was reached is about the floor."
    ]
    if gap > 0:
        parts.append(f"If the curve goes on as it does, twice as many rows would win about {percent(gained)}.")
    if learned.residual_z > ERR_ALIKE:
        parts.append("Rows next to each other err alike: a better model could win something with these rows as well.")
    else:
        parts.append("No structure was found that the models missed: a better model has nothing obvious to win here.")
    return " ".join(parts)


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
    if figures.learned is None:
        texts["The range"] = (
            "What sampling alone may change. It knows nothing of the estimate's bias, which is upwards in high "
            "dimension and small samples."
        )
        del texts["Reached"]
        texts["Classes and pairs"] = texts["Classes and pairs"].split(" The models'")[0]
    return [{"heading": heading, "text": text} for heading, text in texts.items()]
