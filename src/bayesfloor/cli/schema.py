"""The command schema: what ``--json`` prints, as JSON Schema."""

import json
from typing import Annotated

from cyclopts import Parameter

from bayesfloor.cli.output import write
from bayesfloor.cli.schemas import schema_of


def schema(
    command: Annotated[
        str | None,
        Parameter(name="NAME", help="A command, or 'summary' for the JSON file of a report; all by default."),
    ] = None,
    /,
) -> None:
    """Print the JSON Schema of what a command prints with --json.

    The field 'schema' of each output names the command and the version of its
    layout. A version never gains, loses or renames a field.
    """
    write(json.dumps(schema_of(command), indent=2, ensure_ascii=False))
