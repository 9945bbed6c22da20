"""The command datasets."""

import bayesfloor as bf
from bayesfloor.cli.options import SHOW_DEFAULTS, ShowOptions
from bayesfloor.cli.output import show


def datasets(*, options: ShowOptions = SHOW_DEFAULTS) -> None:
    """List the data sets that are known by name: built in, or NPZ files of the folder $BAYESFLOOR_DATA.

    Examples
    --------
    bayesfloor datasets
    BAYESFLOOR_DATA=~/data bayesfloor datasets --json
    """
    names = bf.list_datasets()
    show("datasets", {"datasets": names}, "\n".join(names), options)
