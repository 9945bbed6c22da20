"""Which labels say that there is none: one rule for arrays, frames and files; and the finding on rows left out."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from bayesfloor.data.labels import find_missing
from bayesfloor.runtime.arrays import Bools
from bayesfloor.runtime.checks import warn_caller
from bayesfloor.runtime.findings import Finding
from bayesfloor.runtime.text import counted, listed, percent, quoted
from bayesfloor.tables.spellings import MISSING_TEXTS, to_number

#: The finding on rows that were left out.
LEFT_OUT = "BF014"
#: Share of the rows from which on a word such as "None" is a class.
CLASS_SHARE = 0.02
#: Words that are the name of a class in many files, in any case; and others exactly as written, since Na is sodium.
_WORDS, _WORDS_AS_WRITTEN = frozenset({"none", "nil", "unknown"}), frozenset({"NA", "na"})
#: Marks of a missing label that are a class where no two others would be left, the minus signs also beside a plus.
_MINUS_SIGNS = frozenset({"-", "--", "---"})
_SIGNS = _MINUS_SIGNS | {"?", ".", "missing", "undefined"}
#: Marks that are never a class: in any case, and as written.
_NEVER = frozenset({"nan", "null", "n/a", "n.a.", "<na>", "<null>", "(null)", "#n/a", "not available"})
_NEVER_AS_WRITTEN = MISSING_TEXTS - {"?", "NA"} | {"#NA", "NaT", "#VALUE!", "#REF!", "#DIV/0!", "#NULL!"}


def missing_kind(label: str) -> str:
    """Return how a label, by itself, says that there is none: "word", "sign", "never" a class; "" where it does not."""
    short = label.casefold()
    if label in _WORDS_AS_WRITTEN or short in _WORDS:
        return "word"
    return "never" if label in _NEVER_AS_WRITTEN or short in _NEVER else "sign" * (short in _SIGNS)


def missing_labels(n_rows: Mapping[str, int]) -> list[str]:
    """Return which of the labels of a target say that there is none.

    Marks such as ``?`` and ``NaN`` do. A minus beside a plus is a class, and so is a sign where no two other classes
    would be left. A word such as ``None`` is a class if 2% of the rows have it, or no mark stands beside it; among
    numbers it is none.

    Parameters
    ----------
    n_rows : mapping of str to int
        How many rows have each label, of all rows of the table; empty text for those that have none at all.

    Returns
    -------
    list of str
    """
    kinds = {label: missing_kind(label) for label in n_rows}
    if any(label and not label.strip("+") for label in n_rows):
        kinds |= dict.fromkeys(_MINUS_SIGNS & kinds.keys(), "")
    names = [label for label, kind in kinds.items() if not kind]
    if not names or any(to_number(name) is None and to_number(name, ",") is None for name in names):
        is_marked = any(n_rows[label] for label, kind in kinds.items() if kind in ("sign", "never"))
        n_spelled = Counter[str]()
        for word in (words := [label for label, kind in kinds.items() if kind == "word"]):
            n_spelled[word.casefold()] += n_rows[word]
        fewest = CLASS_SHARE * sum(n_rows.values()) if is_marked else 0.0
        kinds |= {word: "" for word in words if n_spelled[word.casefold()] >= fewest}
    found = [label for label, kind in kinds.items() if kind]
    return found if len(kinds) - len(found) >= 2 else [label for label in found if kinds[label] == "never"]


def find_unlabelled(y: NDArray[Any]) -> tuple[Bools, dict[str, int]]:
    """Return which rows have no label in an array, and how many rows have each mark that says so."""
    is_missing = find_missing(y)
    if y.dtype.kind not in "UO":
        return is_missing, {}
    texts = ["" if gap else str(label).strip() for label, gap in zip(y.tolist(), is_missing.tolist(), strict=True)]
    n_rows = Counter(texts)
    found = set(missing_labels(n_rows))
    is_missing |= [text in found for text in texts]
    return is_missing, {label: n_rows[label] for label in found - {""}}


def counted_labels(n_rows: Mapping[str, int]) -> str:
    """List the labels that were taken for missing, the most frequent first, with their numbers."""
    often = sorted(n_rows, key=lambda label: -n_rows[label])
    return listed([f"{quoted(label)} ({counted(n_rows[label])})" for label in often], 6)


def without_label(what: str, target: str, marks: Mapping[str, int]) -> str:
    """Say why rows are left out that have no label, or no number."""
    among = f", {counted_labels(marks)} among them" if marks else ""
    return f"without a {what} in {quoted(target)}{among}"


def find_left_out(left_out: Mapping[str, int], n_given: int | None, what: str = "All figures") -> Iterator[Finding]:
    """Say which rows are left out, and why.

    Parameters
    ----------
    left_out : mapping of str to int
        How many rows are left out for each reason.
    n_given : int or None
        Rows that they are among; None where these were drawn at random.
    what : str, default="All figures"
        What they are left out of.
    """
    n_rows = sum(left_out.values())
    if not n_rows:
        return
    among = "rows drawn" if n_given is None else f"{counted(n_given)} rows ({percent(n_rows / n_given)})"
    reasons = "; ".join(f"{counted(n)} {reason}" for reason, n in left_out.items() if n)
    hint = f"{what} are about the other rows, which may differ from these."
    if "among them" in reasons:
        hint += " A label that is a class: give it another name, or read_table(keep_missing_as_class=True)."
    yield Finding(LEFT_OUT, f"{counted(n_rows)} of {among} {'is' if n_rows == 1 else 'are'} left out: {reasons}.", hint)


def warn_of_left_out(findings: Iterable[Finding]) -> None:
    """Warn of rows that are left out, where a result has no findings."""
    for finding in findings:
        if finding.code == LEFT_OUT:
            warn_caller(str(finding), UserWarning)
