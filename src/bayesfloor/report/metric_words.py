"""What is said of a metric that models are judged by, whether of classes or of numbers.

A floor is the lowest value that any model can attain; where larger is better, a ceiling is the highest.
"""

from collections.abc import Mapping
from typing import Any

from bayesfloor.data.metrics import NUMBER_METRICS, metric_info
from bayesfloor.floor.learned.result import MetricFloor
from bayesfloor.runtime.text import chosen, written, written_range


def limit_word(larger_is_better: bool) -> str:
    """Name the best value that any model can attain."""
    return "ceiling" if larger_is_better else "floor"


def title_of(metric: MetricFloor) -> str:
    """Name a metric, with the class that it is of."""
    return f"{metric.title} {metric.about}".rstrip()


def meanings(metrics: Mapping[str, MetricFloor]) -> dict[str, str]:
    """Explain metrics other than the error, by a heading for each."""
    headings = {name: title_of(metric) for name, metric in metrics.items() if name != "error"}
    return {heading[0].upper() + heading[1:]: metric_info(name).meaning for name, heading in headings.items()}


def beats_nothing(metric: MetricFloor) -> bool:
    """Tell whether what was reached is not surely better than what needs no features."""
    low, high = metric.reached_interval
    return low <= metric.baseline if metric.larger_is_better else high >= metric.baseline


def is_beaten(metric: MetricFloor) -> bool:
    """Tell whether one value for all rows does better than models of numbers, as the median may where an MAE counts.

    Models are trained to predict means. What they reach then says nothing of how low the metric can go.
    """
    return metric.name in NUMBER_METRICS and not metric.larger_is_better and metric.baseline < metric.measured


def sentence_on(metric: MetricFloor) -> str:
    """Say what is known of a metric."""
    if not is_beaten(metric):
        return metric.sentence()
    return (
        f"Always predicting the same value has {metric.said(metric.baseline)}, and the models, which predict means, "
        f"{metric.written(metric.reached)}: how low it can go is not told here."
    )


def verdict_on(metric: MetricFloor, target: float) -> tuple[str, str]:
    """Hold what was learned against a target: a word, and a sentence."""
    is_rate, word = metric.is_rate, limit_word(metric.larger_is_better)
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
            "going on as it does, for models like those tried; better features would change the problem itself."
        )
    side = "below" if metric.estimate <= target else "above"
    return "undecided", (
        f"The {word} is estimated {side} {goal}, at {written(metric.estimate, is_rate)}, but its range, "
        f"{written_range(low, high, is_rate)}, holds {goal} too; the best model tried reaches "
        f"{written(metric.reached, is_rate)}."
    )


def in_text(label: Any) -> str:
    """Name a class or a target inside a sentence; in quotes where it would not read as one word."""
    text = str(label)
    return text if text.replace("_", "").replace("-", "").replace(".", "").isalnum() else f"'{text}'"
