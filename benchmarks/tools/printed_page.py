"""What a script prints, kept as a page of results.

    python -m benchmarks.tools.printed_page real.chess --out docs/images

runs `benchmarks.real.chess` with the options that follow its name, shows what it prints, and writes it to
results/chess.md with the command that repeats it.
"""

import contextlib
import io
import runpy
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from benchmarks.tools.pages import this_machine, write_page


class Copied(io.StringIO):
    """Text that is shown while it is collected."""

    def write(self, text: str) -> int:
        """Show and keep some text."""
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a script, and write its page."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0].startswith("-"):
        raise SystemExit(__doc__)
    module, options = f"benchmarks.{given[0]}", given[1:]
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise SystemExit(f"there is no script {module}")
    printed, before = Copied(), sys.argv
    sys.argv = [spec.origin, *options]
    try:
        with contextlib.redirect_stdout(printed):
            found = runpy.run_module(module, run_name="__main__")
    finally:
        sys.argv = before
    text = printed.getvalue().strip()
    is_table = text.startswith("|")
    write_page(
        given[0].rpartition(".")[2],
        "# " + str(found["__doc__"]).splitlines()[0].rstrip("."),
        f"`python -m {' '.join([module, *options])}`, on {this_machine()}.",
        text if is_table else f"```text\n{text}\n```",
    )


if __name__ == "__main__":
    main()
