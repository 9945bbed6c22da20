"""The command datasets."""

import bayesfloor as bf
from bayesfloor.cli.options import RUN_DEFAULTS, RunOptions
from bayesfloor.cli.output import show


def datasets(*, options: RunOptions = RUN_DEFAULTS) -> None:
    """List the data sets that are known by name: built in, or NPZ files of the folder $BAYESFLOOR_DATA.

    Examples
    --------
    bayesfloor datasets
    BAYESFLOOR_DATA=~/data bayesfloor datasets --json
    """
    names = bf.list_datasets()
    show("datasets", {"datasets": names}, "\n".join(names), options)
