"""The command datasets."""

import bayesfloor as bf
from bayesfloor.cli.options import RUN_DEFAULTS, RunOptions
from bayesfloor.cli.output import records_text, show


def datasets(*, options: RunOptions = RUN_DEFAULTS) -> None:
    """List the data sets that are known by name: built in, or NPZ files of the folder $BAYESFLOOR_DATA.

    Examples
    --------
    bayesfloor datasets
    BAYESFLOOR_DATA=~/data bayesfloor datasets --json
    """
    sizes = {"n_samples": "rows", "n_features": "features", "n_classes": "classes"}
    headings = {"name": "name", **sizes, "origin": "from"}
    listed = [{name: getattr(info, name) for name in headings} for info in bf.list_datasets()]
    show("datasets", {"datasets": listed}, records_text(listed, headings), options)
