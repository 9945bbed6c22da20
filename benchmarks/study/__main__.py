"""``python benchmarks/study run``, ``table``, ``rank`` and ``figures``."""

import os
import sys
from pathlib import Path

BENCHMARKS = str(Path(__file__).resolve().parents[1])

if __name__ == "__main__":
    # Python puts this folder on the path. Its parent makes `study` a package, here and in every child process.
    if not __package__:
        sys.path[0] = BENCHMARKS
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (BENCHMARKS, os.environ.get("PYTHONPATH"))))

    from bayesfloor.cli.start import main
    from study.app import study

    sys.exit(main(app=study))
