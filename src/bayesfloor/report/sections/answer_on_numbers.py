"""What a report on numbers begins with, in sentences that are true.

What a model explained on rows that it was not trained on is proven, up to sampling. The ceiling is extrapolated: from
the learning curve, and from how much near rows differ. So nothing is called impossible that a model on the same page
has done.
"""

from bayesfloor.floor.learned.result import MetricFloor
from bayesfloor.report.figures import NumberFigures
from bayesfloor.report.metric_words import beats_nothing, in_text, is_beaten, sentence_on, with_more_rows
from bayesfloor.report.sections.noise import place_of_noise
from bayesfloor.runtime.text import exact_percent, figure, percent, percent_range, written_range


def answer(figures: NumberFigures, target: str) -> list[str]:
    """Return the sentences that a report begins with."""
    where = place_of_noise(figures.learned.noise, target)
    is_of_variance = figures.learned.metric == "r2"
    first = _answer_of_variance(figures, target) if is_of_variance else _answer_of_error(figures, target)
    return [*first, where] if where else first


def _answer_of_variance(figures: NumberFigures, target: str) -> list[str]:
    metric, name = figures.headline, in_text(target)
    interval = f"{exact_percent(metric.confidence)} range {percent_range(*metric.interval)}"
    if beats_nothing(metric):
        return [
            f"Nothing that was tried surely explains any of the variance of {name}: the best model tried explains "
            f"{percent(max(metric.reached, 0.0))}.",
            f"The ceiling is about {percent(metric.estimate)} ({interval}).",
        ]
    reached = f"the best model tried explains {percent(metric.reached)}{_more_rows(metric)}"
    if metric.best >= metric.perfect:
        return [
            f"About {percent(metric.estimate)} of the variance of {name} can be explained ({interval}): these rows do "
            f"not tell how much more; {reached}."
        ]
    return [
        f"No model can explain more than about {percent(metric.estimate)} of the variance of {name} ({interval}); "
        f"{reached}."
    ]


def _more_rows(metric: MetricFloor) -> str:
    """Say whether more rows would help; a curve that does not rise tells nothing of that."""
    more, value = with_more_rows(metric), metric.curve.value
    rises = value[0] > value[-1] if metric.larger_is_better else value[0] < value[-1]
    if not rises and more.startswith("and is"):
        more = "on too few rows to tell whether more would help"
    return f" {more}" if more.startswith("and is") else f", {more}"


def _answer_of_error(figures: NumberFigures, target: str) -> list[str]:
    metric, name = figures.headline, in_text(target)
    title = metric.title
    interval = f"{exact_percent(metric.confidence)} range {written_range(*metric.interval, False)}"
    reached, without = figure(metric.reached), figure(metric.baseline)
    if is_beaten(metric):
        first = sentence_on(metric)
    elif beats_nothing(metric):
        first = (
            f"Nothing that was tried surely predicts {name}: the best model's {title} is {reached}, and {without} "
            f"needs no features; the floor is about {figure(metric.estimate)} ({interval})."
        )
    else:
        start = f"No model can get the {title} of {name} below about {figure(metric.estimate)} ({interval})"
        if metric.best <= metric.perfect:
            start = (
                f"The {title} of {name} can get down to about {figure(metric.estimate)} ({interval}), and these rows "
                "do not tell how much lower"
            )
        first = f"{start}; the best model tried has {reached} ({without} without features){_more_rows(metric)}."
    explained = figures.metrics["r2"]
    second = (
        f"It explains {percent(max(explained.reached, 0.0))} of the variance, and about {percent(explained.estimate)} "
        f"can be explained (range {percent_range(*explained.interval)})."
    )
    return [first, second]
