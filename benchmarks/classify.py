"""SmartSVC and its peers: how well, how fast, and which class tree.

    python benchmarks/classify.py speed     tuning C beside scikit-learn's grid search, on five sets
    python benchmarks/classify.py methods   SmartSVC, OvO, OvR, DAG, Crammer-Singer and GenSVM on the paper's 16 sets
    python benchmarks/classify.py cuts      every cut, affinity and routing on the 16 sets
    python benchmarks/classify.py table     write benchmarks/results/classify.md from what the others have recorded

Each cell is recorded in benchmarks/results/classify.jsonl as soon as it is measured; a cell that is there is not
measured again. Two threads. Each set is split 70/30, stratified, and scaled by the training part's mean and deviation.
Data sets are read from $BAYESFLOOR_DATA, or from shared/data beside the repository.
"""

import argparse
import json
import multiprocessing
import multiprocessing.connection
import os
import statistics
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, adjusted_rand_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC

from bayesfloor import LinearSVCCV, OneVsOneSVC, SmartSVC
from study.joint.crammer_singer import CrammerSingerSVC
from study.joint.gensvm_cv import GenSVCCV

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BAYESFLOOR_DATA", ROOT.parent / "shared" / "data"))
RECORDS = ROOT / "benchmarks" / "results" / "classify.jsonl"
RESULTS = ROOT / "benchmarks" / "results" / "classify.md"

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
    "SmartSVC fast": lambda: SmartSVC(tree="balanced", affinity="bhattacharyya", n_jobs=THREADS),
    "OvO": lambda: OneVsOneSVC(n_jobs=THREADS),
    "OvR": lambda: LinearSVCCV(n_jobs=THREADS),
    "DAG": lambda: OneVsOneSVC(decision="dag", n_jobs=THREADS),
    "C&S": lambda: CrammerSingerSVC(n_jobs=THREADS),
    "GenSVM": lambda: GenSVCCV({"lmd": CS}, n_jobs=THREADS),
}

CUTS = ("min-cut", "normalized-cut", "average-linkage", "balanced", "random")
AFFINITIES = ("henze-penrose", "bhattacharyya")
ROUTINGS = ("hard", "soft")


def grid_search(wrapper: type) -> GridSearchCV:
    return GridSearchCV(wrapper(LinearSVC(dual="auto")), {"estimator__C": CS}, cv=10, n_jobs=THREADS)


SCIKIT_LEARN = {
    "grid search OvO": lambda: grid_search(OneVsOneClassifier),
    "grid search OvR": lambda: grid_search(OneVsRestClassifier),
}


def tree_name(cut: str, affinity: str, routing: str) -> str:
    return f"{cut}, {affinity}, {routing}"


TREES = {
    tree_name(cut, affinity, routing): (
        lambda cut=cut, affinity=affinity, routing=routing: SmartSVC(
            tree=cut, affinity=affinity, routing=routing, n_jobs=THREADS
        )
    )
    for cut in CUTS
    for affinity in AFFINITIES
    for routing in ROUTINGS
}

MAKERS = {**METHODS, **SCIKIT_LEARN, **TREES}


def load(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    table = np.load(DATA / "paper" / f"{name}.npz", allow_pickle=False)
    X, y = table["X"].astype(np.float64), table["y"]
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
            classifier = MAKERS[method]()
            started = time.perf_counter()
            classifier.fit(X, y)
            seconds.append(time.perf_counter() - started)
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
    done = {(record["method"], record["data"], record["seed"]) for record in read_records()}
    for data in sets:
        for seed in seeds:
            missing = [method for method in methods if (method, data, seed) not in done]
            for record in run_cells(missing, data, seed, repeats, budget):
                print(record, flush=True)
                with RECORDS.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")


def read_records() -> list[dict]:
    if not RECORDS.exists():
        return []
    return [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "methods", "cuts", "table"])
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--only", nargs="+", default=None, help="names of methods")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=float, default=900.0, help="seconds for one cell")
    chosen = parser.parse_args()
    if chosen.what == "table":
        from classify_table import write_table

        write_table(read_records(), RESULTS)
    else:
        wanted = {
            "speed": ["SmartSVC", "SmartSVC fast", *SCIKIT_LEARN],
            "methods": list(METHODS),
            "cuts": list(TREES),
        }[chosen.what]
        sets = chosen.sets or (SPEED_SETS if chosen.what == "speed" else list(PAPER_ARI))
        run(chosen.only or wanted, sets, chosen.seeds, chosen.repeats, chosen.budget)
