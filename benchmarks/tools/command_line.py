"""How a script reads its command line: its docstring is its help."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter


def parser_of(doc: str | None) -> ArgumentParser:
    """Return a parser whose help is the docstring of a script."""
    return ArgumentParser(description=doc, formatter_class=RawDescriptionHelpFormatter)
