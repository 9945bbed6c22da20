"""How a script reads its command line: its docstring is its help."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path

from benchmarks.tools.records import Record, read_records


def parser_of(doc: str | None) -> ArgumentParser:
    """Return a parser whose help is the docstring of a script."""
    return ArgumentParser(description=doc, formatter_class=RawDescriptionHelpFormatter)


def run_or_table(
    doc: str | None,
    parts: list[str],
    run: Callable[[list[str], int, Path], None],
    write_table: Callable[[list[Record]], None],
    records: Path,
    workers: int,
) -> None:
    """Run parts of a script, or write its page from its records, as the command line asks."""
    parser = parser_of(doc)
    parser.add_argument("command", choices=("run", "table"))
    parser.add_argument("--part", nargs="*", choices=parts, default=parts)
    parser.add_argument("--workers", type=int, default=workers)
    parser.add_argument("--out", type=Path, default=records)
    asked = parser.parse_args()
    if asked.command == "run":
        run(asked.part, asked.workers, asked.out)
    else:
        write_table(read_records(asked.out))
