"""The answer that a report begins with, what it rests on, the verdict on a target, and what to train."""

from typing import Any

from bayesfloor.floor.learned.result import LearnedFloor, MetricFloor
from bayesfloor.floor.trees.results import BayesError
from bayesfloor.report.blocks import Block, Paragraph, Summary
from bayesfloor.report.fast_model import FastModel
from bayesfloor.report.figures import ClassFigures, NumberFigures
from bayesfloor.report.metric_words import beats_nothing, carriers_of, limit_word, verdict_on, worth_of
from bayesfloor.report.sections import answer_on_classes, answer_on_numbers
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.runtime.text import chosen, counted, exact_percent, percent, percent_range

#: Share of the stack's lead over what needs no features from which a model is called good.
NEARLY_ALL = 0.9


class Answer(Section[Any]):
    """The answer in a few sentences."""

    key = "answer"

    def data(self, facts: Facts[Any]) -> Summary:
        """Return the sentences, and the fast model."""
        figures, target = facts.figures, facts.target_value
        if isinstance(figures, NumberFigures):
            answer = answer_on_numbers.answer(figures, facts.source.target)
            worth, fast = worth_of(figures.headline, carriers_of(figures.weights)), None
        else:
            answer, worth = answer_on_classes.answer(figures), answer_on_classes.worth(figures, facts.fast)
            fast = _fast_model(figures)
        verdict = None
        if target is not None:
            is_of_trees = figures.learned is None
            word, sentence = (
                _verdict_of_trees(figures.trees, target) if is_of_trees else verdict_on(figures.headline, target)
            )
            verdict = {"target": target, "verdict": word, "sentence": sentence}
        return {"answer": answer, "worth": worth, "verdict": verdict, "fast_model": fast}

    def words(self, facts: Facts[Any]) -> dict[str, str]:
        """Explain the limit, its range and what was reached."""
        figures = facts.figures
        if figures.learned is None:
            return {
                "The floor": _meaning_of_limit(None, is_number=False),
                "The range": (
                    "What sampling alone may change. It knows nothing of the estimate's bias, which is upwards in high "
                    "dimension and small samples."
                ),
            }
        metric, is_number = figures.headline, isinstance(figures, NumberFigures)
        worse, better = ("lower", "upper") if metric.larger_is_better else ("upper", "lower")
        words = {
            f"The {limit_word(metric.larger_is_better)}": _meaning_of_limit(metric, is_number=is_number),
            "The range": (
                f"Its {worse} end is {'an error' if metric.name == 'error' else 'a value'} that a model attains on "
                f"rows it has not seen, allowing for sampling. Its {better} end assumes that the learning curve goes "
                "on as it does. It is not a bound: structure finer than the distances between rows cannot be seen in "
                "them."
            ),
            "Reached": (
                "What the best model tried attains: a stack of fast learners, each row predicted by models that were "
                "not trained on it."
            ),
        }
        if isinstance(figures, ClassFigures) and figures.fast_model is not None:
            words["The fast model"] = (
                f"{figures.fast_model.name}, trained on {counted(figures.fast_model.n_rows)} rows at a time and tested "
                "on the same rows as the stack; 'bayesfloor fit' trains it. It is called good where it wins at least "
                f"{exact_percent(NEARLY_ALL)} of what the stack wins over what needs no features."
            )
        return words

    def text(self, summary: Summary) -> list[Block]:
        """Return the sentences."""
        blocks: list[Block] = [Paragraph(" ".join(summary["answer"]), "bold"), Paragraph(summary["worth"])]
        if summary["fast_model"] is not None:
            blocks.append(Paragraph(summary["fast_model"]["sentence"]))
        if (verdict := summary["verdict"]) is not None:
            goal = chosen(verdict["target"], summary["floor"]["is_rate"])
            blocks.append(Paragraph(f"Target {goal}: {verdict['verdict']}. {verdict['sentence']}", "bold"))
        return blocks


def _meaning_of_limit(metric: MetricFloor | None, *, is_number: bool) -> str:
    """Say what the best value of a metric is; by default of the error."""
    if metric is None or metric.name == "error":
        return (
            "The lowest error that any classifier can reach on data like these, also called the Bayes error rate. What "
            "is left below it is chance: rows that look the same and have different labels."
        )
    most = "highest" if metric.larger_is_better else "lowest"
    left = "noise: rows that look the same and have different values"
    if not is_number:
        left = "chance: rows that look the same and have different labels"
    return f"The {most} {metric.title} that any model can attain on data like these. What is left beyond it is {left}."


def _verdict_of_trees(trees: BayesError, target: float) -> tuple[str, str]:
    """Hold what spanning trees say against a target; they rule nothing out."""
    goal = exact_percent(target)
    if trees.upper_interval[1] <= target:
        return "feasible", (
            f"The spanning trees' upper bound, {percent(trees.upper_interval[1])} at its highest, is not above {goal}. "
            "No model was trained: this says that such a classifier exists, not which."
        )
    return "undecided", (
        f"The spanning trees' bounds are {percent_range(trees.lower, trees.upper)}. They tend to be too high, so they "
        f"cannot rule {goal} out; train models (leave out fast) to learn more."
    )


def _fast_model(figures: ClassFigures) -> Summary | None:
    """List what a fast model reaches beside the stack, by each metric."""
    fast, learned = figures.fast_model, figures.learned
    if fast is None or learned is None:
        return None
    metrics = [
        {
            "metric": name,
            "title": each.title,
            "is_rate": each.is_rate,
            "value": fast.values[name],
            "stack": each.reached,
        }
        for name, each in learned.metrics.items()
    ]
    return {
        "name": fast.name,
        "seconds": fast.seconds,
        "n_rows": fast.n_rows,
        "is_good": is_good(fast, figures.headline),
        "metrics": metrics,
        "sentence": sentence_on_fast_model(fast, learned),
    }


def is_good(fast: FastModel, metric: MetricFloor) -> bool:
    """Tell whether a fast model wins nearly all of what the stack wins over what needs no features."""
    value = fast.values[metric.name]
    lead, of_stack = (abs(each - metric.baseline) for each in (value, metric.reached))
    is_worse = value < metric.baseline if metric.larger_is_better else value > metric.baseline
    return not beats_nothing(metric) and not is_worse and lead >= NEARLY_ALL * of_stack


def sentence_on_fast_model(fast: FastModel, learned: LearnedFloor) -> str:
    """Say what a fast model reaches, what the stack does, and how long it trains."""
    metric, reached = learned.metrics[learned.metric], learned.metrics["error"].reached
    if is_good(fast, metric):
        what = "The fastest good model"
    else:
        what = "A fast model" if beats_nothing(metric) else "A fast model, not as good as the stack"
    words = f"errs on {percent(fast.values['error'])} (the stack: {percent(reached)})"
    if metric.name != "error":
        of_stack = metric.written(metric.reached)
        words = f"reaches {metric.said(fast.values[metric.name])} (the stack: {of_stack}), {words}"
    return f"{what}: {fast.name} {words} and trains in {_in_seconds(fast.seconds)}."


def _in_seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 9.5 else f"{seconds:.1f} s" if seconds >= 0.095 else f"{seconds:.2f} s"
