"""tree, select, transforms, weights and datasets."""

from typing import Any

import numpy as np

from bayesfloor.cli.engines import engine
from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.input import check_folder, named_columns, open_table, rows_to_use
from bayesfloor.cli.options import RunOptions, TableOptions
from bayesfloor.cli.output import progress_on_stderr, say, say_findings, write, write_json, write_table
from bayesfloor.floor import pairwise_bayes_error
from bayesfloor.runtime.text import visible
from bayesfloor.tables.datasets import list_datasets


def show_tree(file: str, options: TableOptions, *, cut: str, dot: bool) -> None:
    """Show the class tree."""
    from bayesfloor.tree import build_class_tree

    if dot and options.json:
        raise UsageError("--dot and --json exclude each other")
    table = open_table(file, options)
    with engine(options) as how:
        floors = pairwise_bayes_error(named_columns(table), table.y, **how)
    tree = build_class_tree(floors.normalized, floors.classes, cut=cut, random_state=options.seed)
    if options.json:
        result = {"cut": cut, "depth": tree.depth, "nested": tree.to_nested(), **tree.to_dict()}
        write_json("tree", result, table=table, findings=floors.findings)
    else:
        write(tree.to_dot() if dot else tree.to_text())
    say_findings(floors.findings, options.quiet)


def show_selection(
    file: str, options: TableOptions, *, features: int | None, direction: str, criterion: str, lookahead: int
) -> None:
    """Show which columns are selected, step by step."""
    from bayesfloor.choose import BayesErrorSelector

    table = open_table(file, options)
    if features is not None and features > len(table.groups):
        raise UsageError(f"--features {features}: {table.source} has {len(table.groups)} columns beside the target")
    with progress_on_stderr(options.quiet) as progress:
        selector = BayesErrorSelector(
            "auto" if features is None else features,
            direction=direction,
            criterion=criterion,
            groups=table.groups,
            lookahead=lookahead,
            max_rows=rows_to_use(table, options),
            n_jobs=options.threads,
            random_state=options.seed,
            progress=progress,
        ).fit(named_columns(table), table.y)
    columns = zip(table.group_names, table.groups, strict=True)
    selected = [name for name, members in columns if selector.support_[members[0]]]
    path, floor = selector.path_, selector.floor_
    if options.json:
        steps = [
            {
                "features": step.features,
                "n_features": step.n_features,
                "floor": step.level.floor,
                "interval": (step.level.low, step.level.high),
                "kept": step.selected,
            }
            for step in path.steps
        ]
        result = {
            "selected": selected,
            "floor": floor.estimate,
            "interval": floor.interval,
            "direction": direction,
            "criterion": criterion,
            "n_rows": path.n_rows,
            "steps": steps,
        }
        write_json("select", result, table=table, findings=floor.findings)
    else:
        start = "(no column)" if direction == "forward" else "(all columns)"
        rows = [
            (
                ", ".join(map(visible, step.features)) or start,
                step.n_features,
                float(step.level.floor),
                float(step.level.low),
                float(step.level.high),
                bool(step.selected),
            )
            for step in path.steps
        ]
        done = "added" if direction == "forward" else "removed"
        write_table((done, "features", "floor", "from", "to", "kept"), rows)
        write(f"selected: {', '.join(map(visible, selected))}")
    say(
        f"{path.n_rows} of {path.n_samples} rows are used. Each floor is the lowest of many candidates, and so a "
        "little too low.",
        quiet=options.quiet,
    )
    say_findings(floor.findings, options.quiet)


def show_transforms(file: str, options: TableOptions, *, criterion: str) -> None:
    """Rank transforms."""
    from bayesfloor.choose import compare_transforms

    table = open_table(file, options)
    found = compare_transforms(
        table.X,
        table.y,
        criterion=criterion,
        max_rows=rows_to_use(table, options),
        n_jobs=options.threads,
        random_state=options.seed,
    )
    level_of = {"whole": "whole", "mean": "mean_pair", "worst": "worst_pair"}[criterion]
    ranked = [(each, getattr(each, level_of)) for each in found.transforms]
    if options.json:
        listed = [
            {
                "transform": each.name,
                "n_features": each.n_features,
                "takes_new_rows": each.takes_new_rows,
                "floor": level.floor,
                "interval": (level.low, level.high),
                "differs_from_best": found.distinguishable(each.name, found.best),
                "worst_pair_classes": each.worst_pair_classes,
            }
            for each, level in ranked
        ]
        result = {"criterion": criterion, "confidence": found.confidence, "n_rows": found.n_rows, "transforms": listed}
        write_json("transforms", result, table=table, findings=found.findings)
    else:
        rows = [
            (
                each.name,
                each.n_features,
                float(level.floor),
                float(level.low),
                float(level.high),
                found.distinguishable(each.name, found.best),
            )
            for each, level in ranked
        ]
        write_table(("transform", "features", "floor", "from", "to", "differs from the first"), rows)
    say_findings(found.findings, options.quiet)


def show_weights(file: str, options: TableOptions, *, strength: float, by: str, base: str) -> None:
    """Show weights of classes."""
    from bayesfloor.choose import bayes_class_weight

    table = open_table(file, options)
    found = bayes_class_weight(
        table.X,
        table.y,
        strength=strength,
        by=by,
        base=base,
        n_jobs=options.threads,
        random_state=options.seed,
    )
    if options.json:
        listed = [{"class": label, "weight": weight} for label, weight in found.items()]
        result = {"strength": strength, "by": by, "base": base, "weights": listed}
        write_json("weights", result, table=table)
    else:
        assert table.y is not None
        labels, counts = np.unique(table.y, return_counts=True)
        n_rows: dict[Any, int] = dict(zip(labels.tolist(), counts.tolist(), strict=True))
        rows = [(visible(label), n_rows[label], float(weight)) for label, weight in found.items()]
        write_table(("class", "rows", "weight"), rows)


def show_datasets(data: str | None, options: RunOptions) -> None:
    """List data sets."""
    check_folder(data)
    listed = list_datasets(data_dir=data)
    if options.json:
        names = ("name", "n_samples", "n_features", "n_classes", "origin")
        write_json("datasets", {"datasets": [{name: getattr(info, name) for name in names} for info in listed]})
    else:
        sizes = ((info.n_samples, info.n_features, info.n_classes) for info in listed)
        shown = (["" if number is None else number for number in size] for size in sizes)
        rows = [(info.name, *size, info.origin) for info, size in zip(listed, shown, strict=True)]
        write_table(("name", "rows", "features", "classes", "from"), rows)
