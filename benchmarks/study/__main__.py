"""``python -m benchmarks.study run``, ``table``, ``rank`` and ``figures``."""

import os
import sys

from bayesfloor.cli.start import main
from benchmarks.study.app import study
from benchmarks.tools.pages import ROOT

if __name__ == "__main__":
    # for every process that is started from here
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    sys.exit(main(app=study))
