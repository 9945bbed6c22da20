"""``python -m bayesfloor.cli`` is ``bayesfloor``."""

import sys

from bayesfloor.cli.start import main

sys.exit(main())
