"""A process of its own for each cell that is being measured, which can be killed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from queue import Empty, SimpleQueue
from typing import Any

from benchmarks.study.plan import Cell, Protocol

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class CellChild:
    """A process that measures cells, one after the other, until it is over budget or no longer needed."""

    def __init__(self) -> None:
        # The same modules as here, wherever they came from.
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.study.cell_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, **_ONE_THREAD, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C is for the parent, which then kills the child
        )
        self._answers: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def is_alive(self) -> bool:
        """Whether it can measure another cell."""
        return self._process.poll() is None

    def measure(
        self,
        cell: Cell,
        protocol: Protocol,
        data_dir: str | None,
        budget_seconds: float | None,
        *,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> dict[str, Any]:
        """Measure a cell.

        Parameters
        ----------
        cell : Cell
            Which.
        protocol : Protocol
            How.
        data_dir : str or None
            Folder of data sets.
        budget_seconds : float or None
            How long fit and test may take; then the process is killed.
        is_wanted : callable
            Is asked every second whether to go on; if not, the process is killed.

        Returns
        -------
        dict
            "event": "done" with "result" and "context", "over budget", "unwanted", or "failed" with "kind" and "text".
        """
        request = {**asdict(cell), "protocol": asdict(protocol), "data_dir": data_dir}
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()
            answer = self._next_answer(None, is_wanted)
            if answer["event"] == "started":
                answer = self._next_answer(budget_seconds, is_wanted)
        except BrokenPipeError:
            answer = _ended_by_itself()
        except BaseException:  # interrupted
            self.kill()
            raise
        if answer["event"] in ("over budget", "unwanted") or not self.is_alive:
            self.kill()
        return answer

    def kill(self) -> None:
        """End the process and whatever it has started, and wait for its end."""
        with suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()

    def _next_answer(self, seconds: float | None, is_wanted: Callable[[], bool]) -> dict[str, Any]:
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            # In short turns: some systems do not interrupt a wait without end.
            left = 1.0 if deadline is None else min(1.0, deadline - time.monotonic())
            if left <= 0:
                return {"event": "over budget"}
            if not is_wanted():
                return {"event": "unwanted"}
            with suppress(Empty):
                line = self._answers.get(timeout=left)
                return json.loads(line) if line else _ended_by_itself()

    def _listen(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        with suppress(OSError, ValueError):  # closed when killed
            for line in stdout:
                self._answers.put(line)
        self._answers.put("")


def _ended_by_itself() -> dict[str, Any]:
    return {"event": "failed", "kind": "ChildProcessError", "text": "its process ended, perhaps for want of memory"}
