"""The first screen: what is predicted from what, whether to trust the answer, how far models can go, what to do next.

Two kinds of figures meet in a report, and each is called what it is. What a model reached on rows that it had not seen
is measured. The end of a learning curve is extrapolated. Nothing is called impossible that a model on the same page has
done. What to say is decided in `bayesfloor.report.verdict`.
"""

from typing import Any

from bayesfloor.data.metrics import metric_info
from bayesfloor.floor.learned.counted_rows import leads_with_ranking
from bayesfloor.floor.learned.result import ClassRanking, LearnedFloor, MetricFloor
from bayesfloor.floor.learned.trust.source import UNTITLED
from bayesfloor.report.blocks import LONG_NAME, Block, Bullets, Paragraph, Summary
from bayesfloor.report.fast_model import FastModel
from bayesfloor.report.figures import ClassFigures, NumberFigures
from bayesfloor.report.metric_words import (
    beats_nothing,
    in_text,
    is_beaten,
    limit_word,
    sentence_on,
    verdict_on,
)
from bayesfloor.report.page.charts import floor_scale
from bayesfloor.report.page.svg import both_widths
from bayesfloor.report.sections.classes import rare_classes
from bayesfloor.report.sections.costs import dearest_decision
from bayesfloor.report.sections.noise import place_of_noise
from bayesfloor.report.sections.section import Facts, Section
from bayesfloor.report.verdict import SAMPLED, Limit, Verdict
from bayesfloor.runtime.text import (
    chosen,
    counted,
    exact_percent,
    figure,
    percent,
    percent_range,
    shortened,
    written_range,
)
from bayesfloor.tables.unlabelled import LEFT_OUT

#: Share of the stack's lead over what needs no features from which a model is called good.
NEARLY_ALL = 0.9
#: A pair is called hard from this share of its rows that models confuse.
_HARD = 0.005
#: Classes that the first screen names; of more there is a count.
_MOST_NAMED = 4
#: Share of the rows given from which on the first screen says which are left out.
_WORTH_SAYING = 0.01


class Answer(Section[Any]):
    """The answer in a few sentences and one picture."""

    key = "answer"

    def data(self, facts: Facts[Any]) -> Summary:
        """Return the sentences, the verdict, and the fast model."""
        figures, target, verdict = facts.figures, facts.target_value, facts.verdict
        if isinstance(figures, NumberFigures):
            answer = answer_on_numbers(figures, verdict.limit, facts.source.target)
            fast = None
        else:
            answer, fast = answer_on_classes(figures, verdict), _fast_model(figures)
        goal = None
        if target is not None:
            word, sentence = verdict_on(figures.headline, target)
            goal = {"target": target, "verdict": word, "sentence": sentence}
        return {
            "answer": [*verdict.headline, *answer],
            "verdict": verdict.to_dict(),
            "goal": goal,
            "fast_model": fast,
        }

    def words(self, facts: Facts[Any]) -> dict[str, str]:
        """Explain the limit, and what is called good."""
        figures = facts.figures
        metric, is_number = figures.headline, isinstance(figures, NumberFigures)
        words = {f"The {limit_word(metric.larger_is_better)}": _meaning_of_limit(metric, is_number=is_number)}
        if isinstance(figures, ClassFigures):
            words["The fast model"] = (
                "'bayesfloor fit' trains it. It is called good where it wins at least "
                f"{exact_percent(NEARLY_ALL)} of what the stack of models wins over what needs no features."
            )
        return words

    def text(self, summary: Summary) -> list[Block]:
        """Return the first screen: what is predicted, trust, the answer, and what to do next."""
        verdict, goal = summary["verdict"], summary["goal"]
        about = " ".join(f"{term}: {text}." for term, text in about_of(summary))
        blocks: list[Block] = [
            Paragraph(about),
            Paragraph(f"{_said_of_trust(verdict)} {verdict['untested']}"),
            Paragraph(" ".join(_without_reasons(summary)), "bold"),
        ]
        if goal is not None:
            value = chosen(goal["target"], summary["floor"]["is_rate"])
            blocks.append(Paragraph(f"Target {value}: {goal['verdict']}. {goal['sentence']}", "bold"))
        if verdict["steps"]:
            steps = [(f"{number + 1}.", step["sentence"]) for number, step in enumerate(verdict["steps"])]
            blocks += [Paragraph("Do next:"), Bullets(steps)]
        if summary["fast_model"] is not None:
            blocks.append(Paragraph(summary["fast_model"]["sentence"]))
        return [*blocks, Paragraph(_meaning_of_range(summary))]

    def drawn(self, summary: Summary) -> dict[str, Any]:
        """Draw the scale, and say what is predicted from what."""
        return {
            "about": about_of(summary),
            "sentences": _without_reasons(summary),
            "scale": both_widths(floor_scale, summary["floor"]),
            "range_note": _meaning_of_range(summary),
        }


def _said_of_trust(verdict: Summary) -> str:
    sentence = verdict["trust_sentence"]
    return sentence if verdict["trust"] == "nothing found" else f"Trust: {verdict['trust']}. {sentence}"


def about_of(summary: Summary) -> list[tuple[str, str]]:
    """Say what is predicted, from what, and what models are judged by: terms, and a few words for each."""
    data, floor = summary["data"], summary["floor"]
    rows = counted(data["n_rows"])
    if data["n_samples"] != data["n_rows"]:
        rows += f" of {counted(data['n_samples'])}"
    sizes = f"{rows} rows, {counted(data['n_columns'])} column{'' if data['n_columns'] == 1 else 's'}"
    sizes += "" if data["source"] == UNTITLED else f", {data['source']}"
    if any(each["code"] in SAMPLED for each in summary["findings"]):
        sizes += f"; models had {counted(floor['n_rows'])} of the rows"
    metric = f"{floor['title']}, the {metric_info(floor['metric']).short}"
    metric += " (larger is better)" if floor["larger_is_better"] else ""
    left_out = [each["sentence"].partition(": ")[2] for each in summary["findings"] if each["code"] == LEFT_OUT]
    is_worth_it = data["n_samples"] - data["n_rows"] >= _WORTH_SAYING * data["n_samples"]
    about = [("Predicted", f"{data['target']} ({_values_of(summary)})"), ("From", sizes)]
    about += [("Left out", each.removesuffix(".")) for each in left_out if is_worth_it]
    return [*about, ("Judged by", metric)]


def _values_of(summary: Summary) -> str:
    """List the classes of a target with their shares, or its range."""
    if summary["task"] == "regression":
        numbers = summary["data"]["numbers"]
        return f"a number from {figure(numbers['low'])} to {figure(numbers['high'])}"
    classes = sorted(summary["classes"], key=lambda each: -each["share"])
    if len(classes) > _MOST_NAMED:
        return f"{counted(summary['data']['n_classes'])} classes"
    return ", ".join(f"{shortened(each['name'], LONG_NAME)} {percent(each['share'])}" for each in classes)


def _without_reasons(summary: Summary) -> list[str]:
    """Return the answer without what bears on trust, which stands beside it."""
    reasons = [each["sentence"] for each in summary["verdict"]["reasons"] if each["in_headline"]]
    return [sentence for sentence in summary["answer"] if sentence not in reasons]


def _meaning_of_limit(metric: MetricFloor, *, is_number: bool) -> str:
    """Say what the best value of a metric is."""
    if metric.name == "error":
        return (
            "The lowest error that any classifier can reach on data like these, also called the Bayes error. Below it "
            "is chance: rows that look the same and have different labels."
        )
    most = "highest" if metric.larger_is_better else "lowest"
    left = "noise: rows that look the same and have different values"
    if not is_number:
        left = "chance: rows that look the same and have different labels"
    return f"The {most} {metric.title} that any model can attain on data like these. What is left beyond it is {left}."


def _meaning_of_range(summary: Summary) -> str:
    """Say which end of the range is measured, and what the other rests on."""
    worse, better, side = "upper", "lower", "below"
    if summary["floor"]["larger_is_better"]:
        worse, better, side = "lower", "upper", "above"
    return (
        f"The {worse} end of the range is never {side} what a model reached on rows it had not seen. The {better} end "
        "is extrapolated from what the models tried learn of the columns as encoded. It is no bound: other models may "
        "see more, and structure finer than the distances between rows cannot be seen in them."
    )


def _fast_model(figures: ClassFigures) -> Summary:
    """List what a fast model reaches beside the stack, by each metric."""
    fast, learned = figures.fast_model, figures.learned
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


def answer_on_classes(figures: ClassFigures, verdict: Verdict) -> list[str]:
    """Return the two or three sentences on how far models can go."""
    hardest, limit = hardest_pairs(figures), verdict.limit
    rare = rare_classes(figures.learned) if leads_with_ranking(figures.pairs.class_counts) else []
    if figures.learned.metric != "error":
        return answer_of_metric(figures.learned, limit, figures.metrics["error"], hardest, rare)
    if rare:
        return answer_of_ranking(limit.metric, rare)
    return answer_of_models(limit, figures.learned.n_rows, hardest)


def answer_of_models(limit: Limit, n_rows: int, hardest: str) -> list[str]:
    """Answer on the error, by what models reached."""
    metric = limit.metric
    level = exact_percent(metric.confidence)
    first = f"The floor is about {percent(metric.estimate)} ({level} range {percent_range(*metric.interval)})."
    best = f"{limit.best_model[0].upper()}{limit.best_model[1:]}"
    if limit.more_rows == "nothing":
        second = (
            "Nothing that was tried surely beats always predicting the commonest class "
            f"({percent(metric.baseline)} error)"
        )
    elif limit.more_rows == "done":
        second = f"{best} makes no error on {counted(n_rows)} rows that it was not trained on"
    else:
        second = f"{best} reaches {percent(metric.reached)}{limit.words()}"
    return [first, f"{second}; {hardest}." if hardest else f"{second}."]


def answer_of_ranking(error: MetricFloor, rare: list[ClassRanking]) -> list[str]:
    """Answer where nearly all rows are of one class: what the error says is little, and comes last."""
    largest = max(rare, key=lambda each: each.n_samples)
    name, (low, high) = in_text(largest.label), largest.auc_interval
    measured = f"ROC AUC of {largest.auc:.3f} ({exact_percent(error.confidence)} range {low:.3f}–{high:.3f})"
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
        f"The error says little here: always predicting the commonest class errs on {percent(error.baseline)} of the "
        f"rows, and the floor is about {percent(error.estimate)} (range {percent_range(*error.interval)})."
    )
    return [first, second, third]


def answer_of_metric(
    learned: LearnedFloor, limit: Limit, error: MetricFloor, hardest: str, rare: list[ClassRanking]
) -> list[str]:
    """Return the sentences that a report on another metric than the error begins with."""
    metric = limit.metric
    level, word = exact_percent(metric.confidence), limit_word(metric.larger_is_better)
    interval = f"{level} range {written_range(*metric.interval, metric.is_rate)}"
    extreme = "high" if metric.larger_is_better else "low"
    is_open = f"; how {extreme} it can get cannot be told from these rows" if metric.best == metric.perfect else ""
    first = f"The {word} is about {metric.said(metric.estimate)} ({interval}){is_open}."
    second = f"{limit.best_model[0].upper()}{limit.best_model[1:]} {_reaches(limit)}"
    sentences = [first, f"{second}; {hardest}." if hardest else f"{second}."]
    if learned.metric == "cost" and learned.cost is not None and (dearest := dearest_decision(learned.cost)):
        sentences.append(f"{dearest}.")
    if rare:
        sentences.append(_found(max(rare, key=lambda each: each.n_samples)))
    sentences.append(
        f"The floor of the error is about {percent(error.estimate)} (range {percent_range(*error.interval)}); "
        f"{percent(error.reached)} was reached, and always predicting the commonest class has "
        f"{percent(error.baseline)}."
    )
    return sentences


def _reaches(limit: Limit) -> str:
    """Say what was reached, and whether more rows would change it."""
    metric = limit.metric
    reached, without = metric.written(metric.reached), metric.written(metric.baseline)
    if limit.more_rows == "nothing":
        return f"reaches {reached}, which is not surely better than what needs no features ({without})"
    if limit.more_rows == "done":
        return f"reaches {reached} on rows that it was not trained on, and nothing is left to win"
    return f"reaches {reached} ({without} without features){limit.words()}"


def _found(ranking: ClassRanking) -> str:
    """Say how many rows of a rare class can be found."""
    name = in_text(ranking.label)
    return (
        f"The 1% of rows that it ranks highest hold {percent(ranking.recall_at_top)} of the {counted(ranking.n_rows)} "
        f"rows of {name}; with at most one false alarm for each hit, {percent(ranking.recall_at_precision)} of them "
        "can be found."
    )


def hardest_pairs(figures: ClassFigures) -> str:
    """Name the one or two hardest pairs of three or more classes."""
    pairs, confused = figures.pairs, figures.confusions
    if len(pairs.classes) < 3:
        return ""
    hard = [(a, b) for a, b in figures.pair_order[:2].tolist() if confused.of_pairs[a, b] >= _HARD]
    if not hard:
        return "no two classes look alike to models"
    named = " and ".join(f"{in_text(pairs.classes[a])} against {in_text(pairs.classes[b])}" for a, b in hard)
    return f"{named} {'are the hardest pairs' if len(hard) > 1 else 'is the hardest pair'}"


def answer_on_numbers(figures: NumberFigures, limit: Limit, target: str) -> list[str]:
    """Return the sentences on how far models of a number can go."""
    where = place_of_noise(figures.learned.noise, target)
    if figures.learned.metric == "r2":
        first = _answer_of_variance(limit, target)
    else:
        first = _answer_of_error(limit, figures.metrics["r2"], target)
    return [*first, where] if where else first


def _answer_of_variance(limit: Limit, target: str) -> list[str]:
    metric, name = limit.metric, in_text(target)
    interval = f"{exact_percent(metric.confidence)} range {percent_range(*metric.interval)}"
    if limit.more_rows == "nothing":
        return [
            f"Nothing that was tried surely explains any of the variance of {name}: the best model tried explains "
            f"{percent(max(metric.reached, 0.0))}.",
            f"The ceiling is about {percent(metric.estimate)} ({interval}).",
        ]
    is_open = ": these rows do not tell how much more" if metric.best >= metric.perfect else ""
    return [
        f"About {percent(metric.estimate)} of the variance of {name} can be explained ({interval}){is_open}; "
        f"{limit.best_model} explains {percent(metric.reached)}{limit.words()}."
    ]


def _answer_of_error(limit: Limit, explained: MetricFloor, target: str) -> list[str]:
    metric, name = limit.metric, in_text(target)
    title = metric.title
    interval = f"{exact_percent(metric.confidence)} range {written_range(*metric.interval, False)}"
    reached, without = figure(metric.reached), figure(metric.baseline)
    if is_beaten(metric):
        first = sentence_on(metric)
    elif limit.more_rows == "nothing":
        first = (
            f"Nothing that was tried surely predicts {name}: the best model's {title} is {reached}, and {without} "
            f"needs no features; the floor is about {figure(metric.estimate)} ({interval})."
        )
    else:
        is_open = ", and these rows do not tell how much lower" if metric.best <= metric.perfect else ""
        first = (
            f"The {title} of {name} can get down to about {figure(metric.estimate)} ({interval}){is_open}; "
            f"{limit.best_model} has {reached} ({without} without features){limit.words()}."
        )
    second = (
        f"It explains {percent(max(explained.reached, 0.0))} of the variance, and about {percent(explained.estimate)} "
        f"can be explained (range {percent_range(*explained.interval)})."
    )
    return [first, second]
