"""What a newcomer waits for: the import, and a first answer with no kernel compiled yet."""

import os
import subprocess
import sys
import tempfile

COMMAND = [sys.executable, "-m", "bayesfloor", "floor", "iris", "--fast", "--quiet"]


def timeraw_import():
    return "from bayesfloor import difficulty_report"


class ColdStart:
    """`bayesfloor floor --fast` on a machine that has never run it."""

    timeout = 600
    number = 1  # the second call would find what the first has kept
    repeat = (1, 3, 60.0)
    warmup_time = 0

    def setup(self):
        """Make an empty folder."""
        self.folder = tempfile.TemporaryDirectory()

    def teardown(self):
        self.folder.cleanup()

    def time_fast_floor(self):
        environment = {**os.environ, "NUMBA_CACHE_DIR": self.folder.name}
        subprocess.run(COMMAND, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
