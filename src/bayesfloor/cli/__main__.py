"""``python -m bayesfloor.cli`` is ``bayesfloor``."""

from bayesfloor.cli import script

script()
