"""SmartSVC and its peers: how well, how fast, and which class tree.

    python -m benchmarks.real.classify speed     tuning C beside scikit-learn's grid search, on five sets
    python -m benchmarks.real.classify methods   SmartSVC, OvO, OvR, DAG, C&S and GenSVM on the paper's 16 sets
    python -m benchmarks.real.classify cuts      every cut, affinity and routing on the 16 sets, and random trees
    python -m benchmarks.real.classify table     write benchmarks/results/classify.md from what the others have recorded

Each cell is recorded in benchmarks/results/classify.jsonl as soon as it is measured; a cell that is there is not
measured again. Two threads. Each set is split 70/30, stratified, and scaled by the training part's mean and deviation.
Data sets are read from $BAYESFLOOR_DATA, or from shared/data beside the repository.
"""

import multiprocessing
import multiprocessing.connection
import os
import statistics
import warnings
from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, adjusted_rand_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from bayesfloor import LinearSVCCV, OneVsOneSVC, SmartSVC
from benchmarks.problems.stored_sets import stored_set
from benchmarks.study.joint.crammer_singer import CrammerSingerSVC
from benchmarks.study.joint.gensvm_cv import GenSVCCV
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import timed
from benchmarks.tools.pages import RESULTS, as_table, notes_of, write_page
from benchmarks.tools.records import append_record, read_records

RECORDS = RESULTS / "classify.jsonl"

THREADS = 2
CS = np.exp2(np.arange(-18.0, 19.0, 2.0))
SPEED_SETS = ["segment", "satimage", "pendigits", "optdigits", "letter"]

#: The paper's adjusted Rand index: C&S, DAG, GenSVM, OvO, OvR, SmartSVM.
PAPER_ARI = {
    "abalone": (0.0788, 0.0898, 0.0895, 0.0898, 0.0791, 0.0595),
    "fars": (0.8127, 0.8143, 0.8085, 0.8146, 0.8134, 0.8115),
    "flare": (0.4274, 0.6480, 0.6687, 0.6496, 0.4084, 0.6544),
    "kr-vs-k": (0.1300, 0.1988, 0.1779, 0.2022, 0.1512, 0.1585),
    "letter": (0.6173, 0.6991, 0.5909, 0.7118, 0.5155, 0.4533),
    "nursery": (0.8279, 0.8175, 0.8303, 0.8157, 0.8095, 0.8138),
    "optdigits": (0.9721, 0.9854, 0.9732, 0.9850, 0.9686, 0.9640),
    "pageblocks": (0.7681, 0.7335, 0.6847, 0.7353, 0.6696, 0.7214),
    "pendigits": (0.9068, 0.9566, 0.8971, 0.9597, 0.8607, 0.8817),
    "satimage": (0.7420, 0.7652, 0.7403, 0.7672, 0.7107, 0.7607),
    "segment": (0.9013, 0.9000, 0.8812, 0.8982, 0.8354, 0.8986),
    "shuttle": (0.9275, 0.8543, 0.8887, 0.8543, 0.6925, 0.8038),
    "texture": (0.9936, 0.9950, 0.9888, 0.9947, 0.9865, 0.8977),
    "wine_red": (1.0000, 1.0000, 0.9985, 1.0000, 0.8369, 1.0000),
    "wine_white": (1.0000, 1.0000, 0.9998, 1.0000, 0.8131, 1.0000),
    "yeast": (0.2595, 0.2540, 0.2521, 0.2587, 0.2433, 0.2088),
}
PAPER_COLUMNS = ("C&S", "DAG", "GenSVM", "OvO", "OvR", "SmartSVC")

METHODS = {
    "SmartSVC": lambda: SmartSVC(n_jobs=THREADS),
    "SmartSVC in [-1, 1]": lambda: make_pipeline(MinMaxScaler((-1, 1)), SmartSVC(n_jobs=THREADS)),
    "OvO": lambda: OneVsOneSVC(n_jobs=THREADS),
    "OvR": lambda: LinearSVCCV(n_jobs=THREADS),
    "DAG": lambda: OneVsOneSVC(decision="dag", n_jobs=THREADS),
    "C&S": lambda: CrammerSingerSVC(n_jobs=THREADS),
    "GenSVM": lambda: GenSVCCV({"lmd": CS}, n_jobs=THREADS),
}

CUTS = ("min-cut", "average-linkage", "random")
AFFINITIES = ("henze-penrose", "bhattacharyya")
ROUTINGS = ("hard", "soft")


def grid_search(wrapper: type) -> GridSearchCV:
    return GridSearchCV(wrapper(LinearSVC(dual="auto")), {"estimator__C": CS}, cv=10, n_jobs=THREADS)


SCIKIT_LEARN = {
    "grid search OvO": lambda: grid_search(OneVsOneClassifier),
    "grid search OvR": lambda: grid_search(OneVsRestClassifier),
}


class WithRandomTree(SmartSVC):
    """SmartSVC whose tree cuts a shuffled list of the classes at random places."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "WithRandomTree":
        """Draw a tree and fit its nodes."""
        self.tree = random_tree(np.unique(y).tolist(), np.random.default_rng(0))
        return super().fit(X, y)


def random_tree(labels: list, rng: np.random.Generator) -> list:
    """Return nested lists of labels, cut at random."""
    labels = rng.permutation(labels).tolist()
    where = int(rng.integers(1, len(labels)))
    return [random_tree(part, rng) if len(part) > 1 else part[0] for part in (labels[:where], labels[where:])]


def smart_svc(cut: str, affinity: str, routing: str) -> SmartSVC:
    options = {"affinity": affinity, "routing": routing, "n_jobs": THREADS}
    return WithRandomTree(**options) if cut == "random" else SmartSVC(tree=cut, **options)


def tree_name(cut: str, affinity: str, routing: str) -> str:
    return f"{cut}, {affinity}, {routing}"


TREES = {
    tree_name(cut, affinity, routing): partial(smart_svc, cut, affinity, routing)
    for cut in CUTS
    for affinity in AFFINITIES
    for routing in ROUTINGS
}

MAKERS = {**METHODS, **SCIKIT_LEARN, **TREES}


def load(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    X, y = stored_set(f"paper/{name}")
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test), y, y_test


def measure(
    methods: list[str], data: str, seed: int, repeats: int, channel: multiprocessing.connection.Connection
) -> None:
    """Fit and test in this process, and send a record for each method."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", "Liblinear failed to converge")
    os.environ["PYTHONWARNINGS"] = "ignore"  # for the grid search's workers
    X, X_test, y, y_test = load(data, seed)
    few = np.concatenate([np.flatnonzero(y == label)[:3] for label in np.unique(y)])
    for method in methods:
        if method not in SCIKIT_LEARN:  # load compiled kernels
            MAKERS[method]().fit(X[few], y[few])
        seconds: list[float] = []
        while len(seconds) < repeats and sum(seconds) < 10:
            run_seconds, _, classifier = timed(lambda method=method: MAKERS[method]().fit(X, y))
            seconds.append(run_seconds)
        predicted = classifier.predict(X_test)
        channel.send(
            {
                "method": method,
                "data": data,
                "seed": seed,
                "seconds": round(statistics.median(seconds), 4),
                "repeats": len(seconds),
                "ari": round(float(adjusted_rand_score(y_test, predicted)), 4),
                "accuracy": round(float(accuracy_score(y_test, predicted)), 4),
                "C": getattr(classifier, "C_", None),
                "depth": getattr(getattr(classifier, "tree_", None), "depth", None),
            }
        )


def run_cells(methods: list[str], data: str, seed: int, repeats: int, budget: float) -> Iterator[dict]:
    """Measure in a process of its own; a method that takes longer than the budget is given up, the rest go on."""
    context = multiprocessing.get_context("spawn")
    waiting = list(methods)
    while waiting:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=measure, args=(waiting, data, seed, repeats, sender))
        process.start()
        sender.close()
        while waiting:
            method = waiting.pop(0)
            if not receiver.poll(budget):
                yield {"method": method, "data": data, "seed": seed, "over_budget": budget}
                break
            yield receiver.recv()
        for descendant in multiprocessing.active_children():
            descendant.kill()
        process.join()


def run(methods: list[str], sets: list[str], seeds: list[int], repeats: int, budget: float) -> None:
    done = {(record["method"], record["data"], record["seed"]) for record in read_records(RECORDS)}
    for data in sets:
        for seed in seeds:
            missing = [method for method in methods if (method, data, seed) not in done]
            for record in run_cells(missing, data, seed, repeats, budget):
                print(record, flush=True)
                append_record(RECORDS, record)


# --- tables

Cells = dict[tuple[str, str], dict]


def write_tables(records: list[dict]) -> None:
    """Write the page, with whatever has been measured."""
    cells: Cells = {}
    for name, data in {(record["method"], record["data"]) for record in records}:
        same = [record for record in records if (record["method"], record["data"]) == (name, data)]
        measured = [record for record in same if "ari" in record]
        if measured:
            cells[name, data] = {
                key: statistics.mean(record[key] for record in measured) for key in ("seconds", "ari", "accuracy")
            }
        else:
            cells[name, data] = {"over_budget": same[0]["over_budget"]}
    write_page(
        "classify",
        "# SmartSVC and its peers",
        "Made by `python -m benchmarks.real.classify speed`, `… methods`, `… cuts` and `… table`; two threads, 70/30 "
        "split, standardised by the training part. Seconds are medians of three fits (one where it took more than "
        "10 s) and hold everything: floors, tree, 10-fold cross-validation over 19 values of C, and the final fit.",
        notes_of("classify"),
        "## Tuning C: beside scikit-learn's grid search",
        speed_table(cells),
        "## Adjusted Rand index, ours beside the paper's",
        ari_table(cells),
        "## Seconds, all on the same solver where they use a binary SVM",
        seconds_table(cells),
        "## Which cut, affinity and routing",
        cuts_table(cells),
    )


def shown(cells: Cells, method: str, data: str, key: str, digits: int) -> str:
    cell = cells.get((method, data))
    if cell is None:
        return "–"
    if key not in cell:
        return f"> {cell['over_budget']:.0f} s"
    return f"{cell[key]:.{digits}f}"


def speed_table(cells: Cells) -> str:
    rows = []
    for data in SPEED_SETS:
        row = [data]
        for method in ("SmartSVC", *SCIKIT_LEARN):
            row.append(shown(cells, method, data, "seconds", 2))
        ours, theirs = cells.get(("SmartSVC", data), {}), [cells.get((name, data), {}) for name in SCIKIT_LEARN]
        at_least = ["seconds" not in cell for cell in theirs]
        times = [cell.get("seconds", cell.get("over_budget")) for cell in theirs]
        for time, is_bound in zip(times, at_least, strict=True):
            if "seconds" in ours and time is not None:
                row.append(f"{'> ' if is_bound else ''}{time / ours['seconds']:.0f}×")
            else:
                row.append("–")
        rows.append(row)
    header = ["set", "SmartSVC (s)", *(f"{name} (s)" for name in SCIKIT_LEARN)]
    return as_table([*header, "faster than OvO", "faster than OvR"], rows)


def ari_table(cells: Cells) -> str:
    rows, near, near_in_either = [], 0, 0
    for data, paper in PAPER_ARI.items():
        row = [data]
        for name, value in zip(PAPER_COLUMNS, paper, strict=True):
            row.append(f"{shown(cells, name, data, 'ari', 3)} ({value:.3f})")
        kinds = ("SmartSVC", "SmartSVC in [-1, 1]")
        off = [cells[kind, data]["ari"] - paper[-1] for kind in kinds if "ari" in cells.get((kind, data), {})]
        near += bool(off) and abs(off[0]) <= 0.03
        near_in_either += any(abs(difference) <= 0.03 for difference in off)
        rows.append([*row, shown(cells, kinds[1], data, "ari", 3)])
    table = as_table(["set", *PAPER_COLUMNS, "SmartSVC, scaled to [−1, 1]"], rows)
    return (
        f"{table}\n\nThe paper's figure in brackets. SmartSVC is within 0.03 of it on {near} of {len(rows)} sets, "
        f"and on {near_in_either} when scaling to [−1, 1] counts as well."
    )


def seconds_table(cells: Cells) -> str:
    rows, fastest, fastest_min_cut, compared = [], 0, 0, 0
    on_the_solver = ("OvO", "OvR", "DAG")
    for data in PAPER_ARI:
        best = best_tree(cells, data)
        row = [data, *(shown(cells, name, data, "seconds", 2) for name in METHODS)]
        row.append("–" if best is None else f"{best[1]:.2f} ({best[0]})")
        rows.append(row)
        peers = [cells.get((name, data), {}).get("seconds") for name in on_the_solver]
        peers = [time for time in peers if time is not None]
        smart = cells.get(("SmartSVC", data), {}).get("seconds")
        if len(peers) == len(on_the_solver) and smart is not None and best is not None:
            compared += 1
            fastest += best[1] < min(peers)
            fastest_min_cut += smart < min(peers)
    table = as_table(["set", *METHODS, "SmartSVC, best cut"], rows)
    return (
        f"{table}\n\nAgainst OvO, OvR and DAG on the same solver SmartSVC is the fastest on {fastest} of {compared} "
        f"sets with the best of the cuts (hard routing), and on {fastest_min_cut} with min-cuts of Henze–Penrose "
        "floors."
    )


def best_tree(cells: Cells, data: str) -> tuple[str, float] | None:
    """Return the cut and affinity with the shortest time, hard routing."""
    times = {
        f"{cut}, {affinity}": cells[tree_name(cut, affinity, "hard"), data]["seconds"]
        for cut in CUTS
        for affinity in AFFINITIES
        if "seconds" in cells.get((tree_name(cut, affinity, "hard"), data), {})
    }
    return min(times.items(), key=lambda item: item[1]) if times else None


def cuts_table(cells: Cells) -> str:
    """Show every set's ARI, and at the end means and total times."""
    blocks = []
    for affinity in AFFINITIES:
        header = ["set", *(f"{cut} {routing}" for cut in CUTS for routing in ROUTINGS)]
        names = [tree_name(cut, affinity, routing) for cut in CUTS for routing in ROUTINGS]
        complete = [data for data in PAPER_ARI if all("ari" in cells.get((name, data), {}) for name in names)]
        rows = [
            [data, *(f"{cells[name, data]['ari']:.3f} / {cells[name, data]['seconds']:.2f}" for name in names)]
            for data in complete
        ]
        if rows:
            mean = [statistics.mean(cells[name, data]["ari"] for data in complete) for name in names]
            total = [sum(cells[name, data]["seconds"] for data in complete) for name in names]
            rows.append(["**mean / sum**", *(f"**{m:.3f} / {t:.1f}**" for m, t in zip(mean, total, strict=True))])
        blocks.append(f"Affinity {affinity}: ARI / seconds.\n\n{as_table(header, rows)}")
    return "\n\n".join(blocks)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=["speed", "methods", "cuts", "table"])
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--only", nargs="+", default=None, help="names of methods")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=float, default=900.0, help="seconds for one cell")
    chosen = parser.parse_args()
    if chosen.what == "table":
        write_tables(read_records(RECORDS))
    else:
        wanted = {
            "speed": ["SmartSVC", *SCIKIT_LEARN],
            "methods": list(METHODS),
            "cuts": list(TREES),
        }[chosen.what]
        sets = chosen.sets or (SPEED_SETS if chosen.what == "speed" else list(PAPER_ARI))
        run(chosen.only or wanted, sets, chosen.seeds, chosen.repeats, chosen.budget)
