"""The command datasets."""

import bayesfloor as bf
from bayesfloor.cli.input import check_folder
from bayesfloor.cli.options import RUN_DEFAULTS, RunOptions
from bayesfloor.cli.output import records_text, show


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
