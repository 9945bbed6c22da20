"""docs/floor.md shows the floors that were measured."""

from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "floor.md").read_text(encoding="utf-8")


def table_of(text, header):
    """The rows of the Markdown table that begins with a header, as lists of cells."""
    lines = text[text.index(header) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_shows_the_measured_floors():
    """The short table of real sets, and the figures in the sentence below it, against benchmarks/results."""
    results = (DOCS.parent / "benchmarks" / "results" / "floor_real.md").read_text(encoding="utf-8")
    kinds = ("boosting", "extra trees", "RBF SVM")
    expected, verdicts = [], []
    for name, _, _, _, floor, _, bounds, one_tree, *errors, verdict, _ in table_of(results, "| set | rows |"):
        values = [float(error.split()[0]) for error in errors]
        best = {
            f"{min(values):.3f} ({kind})" for kind, value in zip(kinds, values, strict=True) if value == min(values)
        }
        verdicts.append(verdict.strip("*"))
        expected.append((name, floor, bounds, one_tree, best, verdicts[-1]))
    shown = table_of(PAGE, "| set | floor | bounds |")
    assert len(shown) == len(expected)
    for (*cells, reached, verdict), (*figures, best, expected_verdict) in zip(shown, expected, strict=True):
        assert cells == figures
        assert reached in best
        assert verdict == expected_verdict
    n_above, n_beyond = sum(map(bool, verdicts)), verdicts.count("lower bound above")
    assert f"On {n_above} of these {len(shown)} rows" in PAGE
    assert f"on {n_beyond} the lower bound is above it too" in PAGE.replace("\n", " ")
