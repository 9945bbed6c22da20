"""The learned floor on sets whose floor is not known, beside good models that had far more rows."""

import json
import os
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayesfloor import label_noise_check, learned_floor

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BAYESFLOOR_DATA", ROOT.parent / "shared" / "data"))
RECORDS = ROOT / "benchmarks" / "results" / "truth_real.jsonl"
SETS = ("segment", "satimage", "optdigits", "pendigits", "letter", "shuttle", "mnist")
N_LABELS = 2000


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "mnist":
        digits = np.load(DATA / "extra" / "mnist.npz", allow_pickle=False)
        return digits["X"].astype(np.float64), digits["y"]
    table = np.load(DATA / "paper" / f"{name}.npz", allow_pickle=False)
    return table["X"].astype(np.float64), table["y"]


def models(name: str) -> dict:
    if name == "mnist":
        support = make_pipeline(PCA(50, random_state=0), SVC(C=10.0, gamma="scale"))
        return {"SVM": support, "5 neighbours": make_pipeline(PCA(50, random_state=0), KNeighborsClassifier(5))}
    return {
        "SVM": make_pipeline(StandardScaler(), SVC(C=30.0)),
        "trees": ExtraTreesClassifier(300, random_state=0, n_jobs=2),
        "boosting": HistGradientBoostingClassifier(max_iter=200, random_state=0),
    }


def run_real() -> None:
    """Measure the sets that have not been measured."""
    done = {record["data"] for record in read_real()}
    for name in SETS:
        if name in done:
            continue
        X, y = load(name)
        n = min(N_LABELS, len(y) // 2)
        order = np.arange(len(y)) if name == "mnist" else np.random.default_rng(0).permutation(len(y))
        test, train = order[:n], order[n:]
        # A class with a handful of rows cannot be learned from 2000 labels, nor met among them.
        known, count = np.unique(y[test], return_counts=True)
        test = test[np.isin(y[test], known[count >= 5])]
        floor = learned_floor(X[test], y[test])
        check = label_noise_check(X[test], y[test])
        errors = {}
        for model_name, model in models(name).items():
            errors[model_name] = round(1.0 - float(model.fit(X[train], y[train]).score(X[test], y[test])), 4)
        record = {
            "data": name,
            "n": len(test),
            "n_train": len(train),
            "estimate": round(floor.estimate, 4),
            "interval": [round(end, 4) for end in floor.interval],
            "reached": round(floor.reached, 4),
            "residual_z": round(floor.residual_z, 2),
            "tree_bounds": [round(end, 4) for end in floor.tree_bounds],
            "seconds": round(floor.seconds, 2),
            "models": errors,
            "shares": check.share.tolist(),
            "noisy": check.estimate.round(4).tolist(),
            "deviation": check.deviation.round(4).tolist(),
        }
        print(record, flush=True)
        with RECORDS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def read_real() -> list[dict]:
    """Return what has been measured."""
    if not RECORDS.exists():
        return []
    return [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]
