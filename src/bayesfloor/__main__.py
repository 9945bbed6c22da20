"""``python -m bayesfloor`` is ``bayesfloor``."""

from bayesfloor.cli import script

script()
