"""Turn the records of `landmarks.py` and of the study into a page, pictures, and a few lines."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, mean, median, stdev
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.problems.landmark_sets import DESIGN_SETS, FURTHER_SETS
from benchmarks.real.landmarks import EFFORTS, GROWTH, LINEAR, MODELS, PARTS, PEERS, STUDY, SVM_GRID
from benchmarks.study.plan import PAPER_METHODS, PAPER_SETS
from benchmarks.study.ranks import Ranking, nemenyi_difference
from benchmarks.study.records import read_records as read_study
from benchmarks.study.summary import STAND_INS
from benchmarks.tools import pages
from benchmarks.tools.pages import as_table, notes_of, write_page

#: A lead in the adjusted Rand index that is smaller is no clear lead, however sure it is.
LEAST_LEAD = 0.002

#: Records by set, model and split.
Cells = dict[tuple[str, str], dict[int, dict[str, Any]]]


# The study: beside the six linear SVMs


@dataclass(frozen=True)
class Beside:
    """A method beside the best of the six on one set: the one that it is least ahead of, over the splits of both.

    Attributes
    ----------
    name, rival : str
        The set, and the best of the six there.
    splits : int
        How many splits both have.
    ours, theirs : float
        Mean adjusted Rand indices.
    error : float
        Standard error of the mean of the paired differences.
    """

    name: str
    rival: str
    splits: int
    ours: float
    theirs: float
    error: float

    @property
    def lead(self) -> float:
        """How far ahead."""
        return self.ours - self.theirs

    @property
    def is_level(self) -> bool:
        """Whether it is ahead, or behind by one standard error at the most."""
        return self.lead >= -self.error - 1e-12  # where one split alone differs, both are equal but for rounding

    @property
    def is_clear(self) -> bool:
        """Whether it is ahead by more than two standard errors, and by more than `LEAST_LEAD`."""
        return self.lead > max(2 * self.error, LEAST_LEAD)


def study_cells(*folders: Path) -> Cells:
    """Return the results of one or several folders of the study; GenSVM's smaller grid where the full one has none."""
    cells: Cells = defaultdict(dict)
    full = {small: name for name, small in STAND_INS.items()}
    for folder in folders:
        records = [record for record in read_study(folder)[0] if record.result is not None]
        for record in sorted(records, key=lambda record: record.cell.method in full):
            method = full.get(record.cell.method, record.cell.method)
            assert record.result is not None
            cells[record.cell.dataset, method].setdefault(record.cell.split, record.result)
    return cells


def beside_six(cells: Cells, method: str) -> list[Beside]:
    """Compare a method with the best of the six on each of the paper's sets."""
    found = []
    for name in PAPER_SETS:
        own = cells.get((name, method), {})
        rivals = []
        for rival in PAPER_METHODS:
            other = cells.get((name, rival), {})
            if common := sorted(own.keys() & other.keys()):
                leads = [own[split]["ari"] - other[split]["ari"] for split in common]
                error = stdev(leads) / math.sqrt(len(leads)) if len(leads) > 1 else 0.0
                ours, theirs = (mean(each[split]["ari"] for split in common) for each in (own, other))
                rivals.append(Beside(name, rival, len(common), ours, theirs, error))
        if rivals:
            found.append(min(rivals, key=lambda each: each.lead))
    return found


def times_beside_fastest(cells: Cells, method: str) -> dict[str, tuple[str, float, float]]:
    """Return, for each set, the fastest of the six, its CPU seconds and the method's, over the splits of both."""
    found = {}
    for name in PAPER_SETS:
        own = cells.get((name, method), {})
        rivals = []
        for rival in (name for name in PAPER_METHODS if name not in STAND_INS):  # never the fastest, or a smaller grid
            other = cells.get((name, rival), {})
            if common := own.keys() & other.keys():
                seconds = (mean(each[split]["cpu_seconds"] for split in common) for each in (other, own))
                rivals.append((rival, *seconds))
        if rivals:
            found[name] = min(rivals, key=lambda each: each[1])
    return found


def lines_of_study(method: str, times: Path | None) -> list[str]:
    """Say how a method stands beside the six."""
    compared = beside_six(study_cells(STUDY, STUDY / "fresh"), method)
    if not compared:
        return [f"{method}: no records of the study."]
    level, clear = ([each for each in compared if getattr(each, which)] for which in ("is_level", "is_clear"))
    behind = [f"{each.name} ({each.lead:+.4f} ± {each.error:.4f})" for each in compared if not each.is_level]
    n = len(compared)
    splits = f"{min(each.splits for each in compared)} to {max(each.splits for each in compared)} splits"
    lines = [
        f"{method}: ARI at least the best of the six, within one paired standard error, on {len(level)} of {n} sets "
        f"({splits}); clearly ahead (two standard errors, and {LEAST_LEAD}) on {len(clear)}; "
        f"behind on {', '.join(behind) or 'none'}.",
    ]
    found = times_beside_fastest(study_cells(times or STUDY), method)
    if found:
        ratios = {name: own / other for name, (_, other, own) in found.items()}
        slower = [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio >= 1]
        lines.append(
            f"{method}: CPU time below the fastest of the six on {sum(ratio < 1 for ratio in ratios.values())} of "
            f"{len(ratios)} sets, geometric mean of the ratios {geometric_mean(ratios.values()):.2f}; "
            f"not on {', '.join(slower) or 'none'}."
        )
    return lines


def study_table(method: str, times: Path | None) -> str:
    """Show a method beside the best and the fastest of the six, set by set."""
    found = times_beside_fastest(study_cells(times or STUDY), method)
    rows = []
    for each in beside_six(study_cells(STUDY, STUDY / "fresh"), method):
        verdict = "ahead" if each.is_clear else "level" if each.is_level else "behind"
        row = [each.name, f"{each.theirs:.4f} ({each.rival})", f"{each.ours:.4f}"]
        row += [f"{each.lead:+.4f} ± {each.error:.4f}", verdict, str(each.splits)]
        if each.name in found:
            rival, other, own = found[each.name]
            row += [f"{other:.3f} ({rival})", f"{own:.3f}", f"{own / other:.2f}"]
        else:
            row += ["–"] * 3
        rows.append(row)
    if not rows:
        return ""
    heading = ["set", "best of six", method, "difference ± standard error", "", "splits"]
    return as_table([*heading, "fastest of six (CPU s)", f"{method} (CPU s)", "ratio"], rows)


# The other classifiers


def latest(records: Sequence[dict[str, Any]], version: str | None) -> tuple[list[dict[str, Any]], str | None]:
    """Return the records of others, and of one version of LandmarkClassifier: that named, or the last recorded."""
    versions = [record["version"] for record in records if record["model"] in EFFORTS]
    version = version or (versions[-1] if versions else None)
    return [record for record in records if record["model"] not in EFFORTS or record["version"] == version], version


def cells_of_part(records: Iterable[dict[str, Any]], part: str) -> Cells:
    """Return the records of a part that have a result."""
    cells: Cells = defaultdict(dict)
    for record in records:
        if record["part"] == part and record["status"] == "done":
            cells[record["set"], record["model"]][record["split"]] = record
    return cells


def averages(cells: Cells, first: str, second: str, key: str) -> list[tuple[str, float, float]]:
    """Return the means of two models on each set, over the splits of both."""
    found = []
    for name in dict.fromkeys(name for name, _ in cells):
        one, other = cells.get((name, first), {}), cells.get((name, second), {})
        common = [split for split in one if split in other and key in one[split] and key in other[split]]
        if common:
            found.append((name, *(mean(each[split][key] for split in common) for each in (one, other))))
    return found


def beside_peer(cells: Cells, ours: str, peer: str) -> list[str]:
    """Return the row of a table: our model and another one on the sets and splits of both."""
    row = [peer]
    by_ari = averages(cells, ours, peer, "ari")
    if not by_ari:
        return [*row, *["–"] * 8]
    row += [str(len(by_ari)), shown_pair(by_ari, 4)]
    row.append("{} / {} / {}".format(*counts(by_ari, larger_is_better=True)))
    for key in ("log_loss", "calibration_error"):
        pairs = averages(cells, ours, peer, key)
        row.append(shown_pair(pairs, 4) if pairs else "–")
        row.append("{} / {} / {}".format(*counts(pairs, larger_is_better=False)) if pairs else "–")
    by_time = averages(cells, ours, peer, "cpu_seconds")
    row.append(f"{sum(own for _, own, _ in by_time):.1f} / {sum(other for *_, other in by_time):.1f}")
    row.append(f"{median(other / own for _, own, other in by_time):.1f}×")
    return row


def shown_pair(pairs: Sequence[tuple[str, float, float]], digits: int) -> str:
    """Write two means over sets."""
    _, ours, theirs = zip(*pairs, strict=True)
    return f"{mean(ours):.{digits}f} / {mean(theirs):.{digits}f}"


def counts(pairs: Sequence[tuple[str, float, float]], *, larger_is_better: bool) -> tuple[int, int, int]:
    """Return on how many sets the first is better, equal and worse."""
    signs = [np.sign(round(one - other, 6)) * (1 if larger_is_better else -1) for _, one, other in pairs]
    return signs.count(1), signs.count(0), signs.count(-1)


BESIDE = [
    *("beside", "sets", "mean ARI, ours / theirs", "better / equal / worse", "log-loss", "better / equal / worse"),
    *("calibration error", "better / equal / worse", "CPU s in all", "theirs / ours, median"),
]


#: Who paired differences are shown to, beside the same effort of the version before.
PAIRED = ("HistGradientBoosting", "RBF-SVM")


def differences_table(records: Sequence[dict[str, Any]], version: str | None) -> str:
    """Show paired differences to others and to the version before: the mean over sets, and its standard error."""
    versions = list(dict.fromkeys(record["version"] for record in records if record["model"] in EFFORTS))
    place = versions.index(version) if version in versions else 0
    before = versions[place - 1] if place else None
    marked = [
        {**record, "model": f"{record['model']} before"}
        for record in records
        if record["model"] in EFFORTS and record["version"] == before
    ]
    kept = [*latest(records, version)[0], *marked]
    rows = []
    for part in ("further", "peers"):
        cells = cells_of_part(kept, part)
        for ours in EFFORTS:
            for peer in (*PAIRED, f"{ours} before"):
                by_time = averages(cells, ours, peer, "cpu_seconds")
                if len(by_time) < 2:
                    continue
                shown = [shown_difference(averages(cells, ours, peer, key)) for key in ("ari", "accuracy", "log_loss")]
                in_all = sum(own for _, own, _ in by_time) / sum(other for *_, other in by_time)
                ratio = median(own / other for _, own, other in by_time)
                rows.append([part, ours, peer, str(len(by_time)), *shown, f"{in_all:.2f}", f"{ratio:.2f}"])
    heading = ["part", "ours", "less", "sets", "ARI", "accuracy", "log-loss"]
    return as_table([*heading, "CPU s in all, ours / theirs", "median"], rows)


def prediction_speeds(records: Sequence[dict[str, Any]]) -> str:
    """Say how many rows a second each effort predicts on one core: the median over sets, and the slowest set."""
    said = []
    for model in EFFORTS:
        found = [
            record["n_test"] / max(record["predict_cpu_seconds"], 1e-9)
            for record in records
            if record["model"] == model and record["part"] in ("further", "peers") and "n_test" in record
        ]
        if found:
            said.append(f"{model} {median(found):,.0f} (the slowest {min(found):,.0f})")
    return f"Rows predicted in a CPU second, median over sets: {'; '.join(said)}."


def shown_difference(pairs: Sequence[tuple[str, float, float]]) -> str:
    """Write the mean of differences over sets and its standard error."""
    if len(pairs) < 2:
        return "–"
    found = np.array([one - other for _, one, other in pairs])
    return f"{found.mean():+.4f} ± {found.std(ddof=1) / len(found) ** 0.5:.4f}"


def set_tables(cells: Cells, sets: Sequence[str]) -> list[str]:
    """Show the means over splits of three figures, set by set."""
    present = [model for model in MODELS if any((name, model) in cells for name in sets)]
    parts = []
    for title, key, digits in (
        ("Adjusted Rand index:", "ari", 4),
        ("Log-loss:", "log_loss", 3),
        ("CPU seconds:", "cpu_seconds", 2),
    ):
        rows = []
        for name in sets:
            values = [[each[key] for each in cells.get((name, model), {}).values() if key in each] for model in present]
            if any(values):
                rows.append([name, *(f"{mean(value):.{digits}f}" if value else "–" for value in values)])
        parts += [title, as_table(["set", *present], rows)]
    return parts


def rank(records: Sequence[dict[str, Any]], part: str, key: str) -> Ranking | None:
    """Rank models on each set that all were tried on; one without a result there shares the last rank."""
    cells = cells_of_part(records, part)
    models = [
        model
        for model in MODELS
        if any(key in record for (_, name), splits in cells.items() if name == model for record in splits.values())
    ]
    tried = {(record["set"], record["model"]) for record in records if record["part"] == part}
    sets = [name for name in PARTS[part].sets if all((name, model) in tried for model in models)]
    if len(models) < 2 or len(sets) < 2:
        return None

    def average(name: str, model: str) -> float:
        values = [record[key] for record in cells.get((name, model), {}).values()]
        return mean(values) if values else math.nan

    values = np.array([[average(name, model) for model in models] for name in sets])
    losses = np.nan_to_num(-values if key == "ari" else values, nan=math.inf)
    ranks = np.array([rankdata(row) for row in losses])
    difference = nemenyi_difference(len(models), len(sets))
    measure = "ari" if key == "ari" else "log-loss"
    return Ranking(measure, tuple(models), tuple(sets), values, ranks, difference, math.nan, math.nan, ())


def rank_lines(ranking: Ranking) -> str:
    """Write average ranks, the best first."""
    order = np.argsort(ranking.average, kind="stable")
    listed = ", ".join(f"{ranking.methods[j]} {ranking.average[j]:.2f}" for j in order)
    return f"{listed}; critical difference {ranking.critical_difference:.2f} ({len(ranking.datasets)} sets)"


def without_result(records: Iterable[dict[str, Any]]) -> str:
    """List what has no result, and why."""
    places: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for record in records:
        if record["status"] != "done" and "on split 0" not in record.get("because", ""):
            why = f"over {record['limit']:g} CPU s" if "limit" in record else record.get("because") or record["error"]
            places[record["part"], record["model"], why.split("\n")[0]].append(record["set"])
    rows = [[part, model, ", ".join(dict.fromkeys(sets)), why] for (part, model, why), sets in places.items()]
    return as_table(["part", "model", "sets", "why"], rows) if rows else "Everything that was tried has a result."


# Many classes, covertype, growth


def classes_table(cells: Cells) -> str:
    """Show accuracy and time by the number of classes."""
    rows = []
    for name in PARTS["classes"].sets:
        found = {model: cells[name, model][0] for model in MODELS if 0 in cells.get((name, model), {})}
        for model, record in found.items():
            loss = f"{record['log_loss']:.3f}" if "log_loss" in record else "–"
            row = [name, f"{1 - record['best_error']:.4f}", model, f"{record['accuracy']:.4f}", loss]
            rows.append([*row, f"{record['cpu_seconds']:.1f}", f"{record['peak_gb']:.2f}"])
    return as_table(["classes", "best accuracy", "model", "accuracy", "log-loss", "CPU s", "peak GB"], rows)


def covertype_table(cells: Cells) -> str:
    """Show all models on covertype."""
    rows = []
    for model in MODELS:
        for record in cells.get(("covertype", model), {}).values():
            figures = [f"{record[key]:.4f}" if key in record else "–" for key in ("accuracy", "ari", "log_loss")]
            rows.append([model, *figures, f"{record['cpu_seconds']:.1f}", f"{record['peak_gb']:.2f}"])
    return as_table(["model", "accuracy", "ARI", "log-loss", "CPU s", "peak GB"], rows)


def draw_growth(cells: Cells) -> Any:
    """Draw CPU time by rows, columns and classes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 3.6), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    labels = {"n": "training rows (30 columns, 10 classes)", "d": "columns (20 000 rows, 10 classes)"}
    labels["K"] = "classes (20 000 rows, 30 columns)"
    colours = {
        "Landmarks-fast": "#56b4e9",
        "Landmarks": "#000000",
        "LinearSVCCV": "#7f7f7f",
    }
    for ax, letter in zip(panels, "ndK", strict=True):
        for (model, colour), marker in zip(colours.items(), "os^", strict=True):
            sizes = [name for name in GROWTH if name.startswith(letter) and 0 in cells.get((name, model), {})]
            if not sizes:
                continue
            seconds = [cells[name, model][0]["cpu_seconds"] for name in sizes]
            ax.plot([int(name[2:]) for name in sizes], seconds, f"{marker}-", color=colour, markersize=5, label=model)
        ax.set(xscale="log", yscale="log", xlabel=labels[letter])
        ax.grid(color="#ececec")
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("CPU seconds of the fit, tuning included")
    panels[0].legend(frameon=False, fontsize=9)
    return figure


# The page


def verdict(records: Sequence[dict[str, Any]], version: str | None, times: Path | None) -> list[str]:
    """Return what is to be shown, in lines."""
    kept, version = latest(records, version)
    lines = [f"LandmarkClassifier as of {version}."]
    lines += study_lines(times)
    for part in ("peers", "further"):
        cells = cells_of_part(kept, part)
        for ours in EFFORTS:
            for peer in (*PEERS, *(() if part == "peers" else ("LinearSVCCV", "SmartSVC"))):
                row = dict(zip(range(len(BESIDE)), beside_peer(cells, ours, peer), strict=False))
                if row[1] != "–":
                    lines.append(
                        f"{part}: {ours} / {peer} on {row[1]} sets: ARI {row[2]} (better / equal / worse {row[3]}), "
                        f"log-loss {row[4]} ({row[5]}), calibration error {row[6]} ({row[7]}), CPU s {row[8]}, "
                        f"median ratio {row[9]}"
                    )
        for key in ("ari", "log_loss"):
            ranking = rank(kept, part, key)
            if ranking is not None:
                lines.append(f"{part}: mean ranks by {key}: {rank_lines(ranking)}")
    for part in ("classes", "covertype"):
        for (name, model), splits in cells_of_part(kept, part).items():
            for record in splits.values():
                lines.append(
                    f"{part}: {name}, {model}: accuracy {record['accuracy']:.4f}, {record['cpu_seconds']:.1f} CPU s, "
                    f"{record['peak_gb']:.2f} GB"
                )
    return lines


def write_landmarks(records: Sequence[dict[str, Any]], version: str | None, times: Path | None) -> None:
    """Write the page and its pictures, with whatever has been measured."""
    from benchmarks.study.figures import draw_ranks, save

    kept, version = latest(records, version)
    peers, further, growth = (cells_of_part(kept, part) for part in ("peers", "further", "growth"))
    parts = [
        "# LandmarkClassifier and what people would take instead",
        "Made by `benchmarks/real/landmarks.py` (see its first lines) and, beside the six linear SVMs, by "
        f"`benchmarks/study`. LandmarkClassifier as of `{version}`. One thread; CPU seconds of the fit, tuning "
        "included; sets split 80/20 and standardised by the training part. Calibration error: of the likeliest label, "
        "15 bins of equal width. Log-loss as scikit-learn clips it.",
    ]
    parts.append(notes_of("landmarks"))
    parts += [
        "## Paired differences",
        "Ours less theirs on the splits of both; means over sets and their standard errors. *Before* is the version "
        "recorded before this one. *Further* and *peers* are the sets below: design data of this version.",
        differences_table(records, version),
        prediction_speeds(kept),
    ]
    parts += ["## Beside the six linear SVMs of the paper", "\n".join(f"- {line}" for line in study_lines(times))]
    parts += [study_table("Landmarks", times)]
    grid = {name: ", ".join(f"{value:g}" for value in values) for name, values in SVM_GRID.items()}
    svm = f"C = {grid['C']} and gamma = {grid['times']} divided by the number of columns"
    parts += [
        "## Beside other classifiers, on the paper's sets",
        f"RBF-SVM: {svm}, by 3-fold cross-validation on at most 4000 rows, then a fit to all. HistGradientBoosting, "
        "LightGBM and xRFM with their defaults (xRFM keeps a fifth of the rows to validate on), ExtraTrees with 200 "
        "trees.",
        *beside_tables(peers, PEERS),
        *set_tables(peers, PAPER_SETS),
        "## Further sets",
        f"{len(FURTHER_SETS)} sets, listed before anything was run on them; three splits. Settings of the landmark "
        f"model were chosen on made-up problems and on {', '.join(DESIGN_SETS)}; which learners are stacked with it, "
        "and how long they may take, on these sets and the paper's.",
        *beside_tables(further, (*LINEAR, *PEERS)),
    ]
    for key in ("ari", "log_loss"):
        ranking = rank(kept, "further", key)
        if ranking is not None:
            name = f"landmarks_ranks_{key}.png"
            save(draw_ranks(ranking), pages.RESULTS / name)
            parts += [f"![Average ranks]({name})", f"Average ranks by {key}: {rank_lines(ranking)}."]
    parts += [
        "A model without a result on a set, for time or memory, shares the last rank there; only sets count that all "
        "models were tried on.",
        *set_tables(further, FURTHER_SETS),
        "## Many classes",
        "50 000 training and 10 000 test rows in 30 columns, three round blobs for each class.",
        classes_table(cells_of_part(kept, "classes")),
    ]
    if covertype := cells_of_part(kept, "covertype"):
        parts += ["## All rows of covertype", covertype_table(covertype)]
    if growth:
        save(draw_growth(growth), pages.RESULTS / "landmarks_growth.png")
        parts += ["## Growth", "![CPU time by rows, columns and classes](landmarks_growth.png)"]
    parts += ["## Without a result", without_result(kept)]
    write_page("landmarks", *parts)


def study_lines(times: Path | None) -> list[str]:
    """Say how the default effort stands beside the six."""
    return lines_of_study("Landmarks", times)


def beside_tables(cells: Cells, peers: Sequence[str]) -> list[str]:
    """Show each effort beside other models; pairs are ours / theirs, means over the sets of both."""
    parts = []
    for ours in EFFORTS:
        rows = [row for row in (beside_peer(cells, ours, peer) for peer in peers) if row[1] != "–"]
        if rows:
            parts += [f"{ours} beside others; pairs are ours / theirs, over the sets of both:", as_table(BESIDE, rows)]
    return parts
