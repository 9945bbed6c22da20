"""The commands tree, select, weights and datasets."""

from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

import bayesfloor as bf
from bayesfloor.cli.exits import UsageError
from bayesfloor.cli.input import check_folder, check_n_features, engine, open_table, refuse_cluster, rows_to_use
from bayesfloor.cli.options import RUN_DEFAULTS, TABLE_DEFAULTS, Count, Criterion, File, RunOptions, TableOptions
from bayesfloor.cli.output import columns_text, progress_on_stderr, records_text, say, show
from bayesfloor.runtime.text import visible

_LEVEL = {"floor": "floor", "interval_low": "from", "interval_high": "to"}


def tree(
    *files: File,
    cut: Literal["min-cut", "normalized-cut", "average-linkage", "balanced", "random"] = "min-cut",
    dot: bool = False,
    options: TableOptions = TABLE_DEFAULTS,
) -> None:
    """Show the tree of binary problems that cuts between easily told classes give.

    Parameters
    ----------
    cut
        How to cut the classes in two, again and again.
    dot
        Write Graphviz's language, for 'dot -Tsvg'.

    Examples
    --------
    bayesfloor tree digits
    bayesfloor tree digits --cut balanced --dot | dot -Tsvg > tree.svg
    """
    if dot and options.json:
        raise UsageError("--dot and --json exclude each other")
    table = open_table(files, options)
    with engine(options) as how:
        floors = bf.pairwise_bayes_error(table, **how)
    _, second = bf.class_affinity(table, affinity="class-means")
    found = bf.build_class_tree(
        floors.normalized, floors.classes, cut=cut, tie_weights=second, random_state=options.seed
    )
    result = {"cut": cut, "depth": found.depth, "nested": found.to_nested(), **found.to_dict()}
    text = found.to_dot() if dot else found.to_text()
    show("tree", result, text, options, table=table, findings=(*floors.findings, *found.findings))


def select(
    *files: File,
    features: Count = None,
    direction: Literal["forward", "backward"] = "forward",
    criterion: Criterion = "whole",
    lookahead: Literal[1, 2] = 1,
    options: TableOptions = TABLE_DEFAULTS,
) -> None:
    """Find the columns that carry the information, by the floor that they leave.

    Dummies of one text column are selected together. At most 5000 rows are used,
    unless --max-rows says otherwise.

    Parameters
    ----------
    features
        How many columns to select; as many as lower the floor by default.
    direction
        Add columns, or remove them.
    lookahead
        2 may add two columns at once.

    Examples
    --------
    bayesfloor select wine
    bayesfloor select patients.csv --target outcome --features 5 --direction backward
    """
    import polars

    refuse_cluster(options, "'select' searches")
    table = open_table(files, options)
    check_n_features(features, table)
    with progress_on_stderr(options.quiet) as progress:
        selector = bf.FloorSelector(
            "auto" if features is None else features,
            task="classification",
            direction=direction,
            criterion=criterion,
            feature_groups=table.feature_groups,
            lookahead=lookahead,
            max_rows=rows_to_use(table, options),
            n_jobs=options.threads,
            random_state=options.seed,
            progress=progress,
        ).fit(polars.DataFrame(table.X, schema=list(table.feature_names), orient="row"), table.y)
    columns = zip(table.column_names, table.feature_groups, strict=True)
    selected = [name for name, members in columns if selector.support_[members[0]]]
    path, best = selector.path_, selector.floor_
    result = {"selected": selected, "estimate": best.estimate, "interval": best.interval, **path.to_dict()}
    start, done = ("(no column)", "added") if direction == "forward" else ("(all columns)", "removed")
    steps = path._columns()
    steps["features"] = [names or start for names in steps["features"]]
    text = columns_text(steps, {"features": done, "n_features": "features", **_LEVEL, "selected": "kept"})
    text += f"\nselected: {visible(', '.join(selected))}"
    say(
        f"{path.n_rows} of {path.n_samples} rows are used. Each floor is the lowest of many candidates, and so a "
        "little too low.",
        quiet=options.quiet,
    )
    show("select", result, text, options, table=table, findings=best.findings)


def weights(
    *files: File,
    strength: Annotated[float, Parameter(validator=Number(gte=0))] = 1.0,
    basis: Literal["classes", "pairs"] = "classes",
    base: Literal["balanced", "equal"] = "balanced",
    options: TableOptions = TABLE_DEFAULTS,
) -> None:
    """Give weights of classes for training: hard ones weigh more.

    Parameters
    ----------
    strength
        How many times its base weight a hopeless class gets on top.
    basis
        Hard against the rest, or against each other class.
    base
        What the weights start from.

    Examples
    --------
    bayesfloor weights iris
    bayesfloor weights patients.csv --target outcome --basis pairs --base equal --json
    """
    from collections import Counter

    refuse_cluster(options, "'weights' computes")
    table = open_table(files, options)
    assert table.y is not None
    found = bf.bayes_class_weight(
        table.X,
        table.y,
        strength=strength,
        basis=basis,
        base=base,
        n_jobs=options.threads,
        random_state=options.seed,
    )
    listed = [{"class": label, "weight": weight} for label, weight in found.items()]
    n_rows = Counter(table.y.tolist())
    shown = [{**each, "n_rows": n_rows[each["class"]]} for each in listed]
    text = records_text(shown, {"class": "class", "n_rows": "rows", "weight": "weight"})
    result = {"strength": strength, "basis": basis, "base": base, "weights": listed}
    show("weights", result, text, options, table=table)


def datasets(*, data: str | None = None, options: RunOptions = RUN_DEFAULTS) -> None:
    """List the data sets that are known by name.

    Parameters
    ----------
    data
        Folder of data sets; $BAYESFLOOR_DATA by default.

    Examples
    --------
    bayesfloor datasets
    bayesfloor datasets --data ~/data --json
    """
    check_folder(data)
    sizes = {"n_samples": "rows", "n_features": "features", "n_classes": "classes"}
    headings = {"name": "name", **sizes, "origin": "from"}
    listed = [{name: getattr(info, name) for name in headings} for info in bf.list_datasets(data_dir=data)]
    show("datasets", {"datasets": listed}, records_text(listed, headings), options)
