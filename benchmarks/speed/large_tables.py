"""Tables of up to ten million rows: time, memory and answer, beside the truth and beside boosting on all rows.

    python -m benchmarks.speed.large_tables floor [--table made] [--rows 100000 1000000 10000000] [--columns 20]
        [--cluster 2 --memory-limit 1.5GiB [--kill 60]] [--effort default] [--threads 2]
    python -m benchmarks.speed.large_tables boosting [--table made] [--rows ...]    where LightGBM is installed
    python -m benchmarks.speed.large_tables forests [--rows 10000000] [--features 8]
    python -m benchmarks.speed.large_tables report|read [--table numbers] [--rows 2000000] [--columns 10]
    python -m benchmarks.speed.large_tables landmarks|stack|smartsvm [--table made] [--rows ...]
    python -m benchmarks.speed.large_tables rounds [--cluster 2]
    python -m benchmarks.speed.large_tables table       write benchmarks/results/large_tables.md

Each measurement is made in a process of its own, whose memory, and that of the workers that it starts, is looked at
five times a second; it is recorded in results/large_tables.jsonl, and one that is recorded is not made again (`--again`
makes it). Tables are those of problems/large_table.py, under build/large_tables, and are written when they are first
needed. `bayesfloor warmup` compiles kernels before; loading them is part of the time. `--cluster 2` trains on a local
cluster of two processes of one thread; `--kill 60` kills one of them after a minute. `rounds` boosts so few rows in so
many parts that what is left of a round of boosting is to ask workers, or threads, and to hear them.

LightGBM is trained on all rows with 127 leaves, a rate of 0.15 and 150 rounds, which nobody tuned, and judged by the
known probabilities of the classes on 250 000 fresh rows; on `covertype`, which has none, by the labels of 31 012. On
both tables of covertype, where it diverges otherwise, second derivatives of a leaf add up to 1 at the least.
benchmarks/requirements/honest.txt installs it.
"""

import json
import os
import signal
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems.large_table import FILE_ROWS, TABLES, TARGET, fresh_parts, write_folder
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import watched
from benchmarks.tools.pages import RESULTS, ROOT
from benchmarks.tools.records import Record, append_record, read_records

RECORDS = RESULTS / "large_tables.jsonl"
FOLDER = ROOT / "build" / "large_tables"
#: Rows that are measured unless others are named.
ROWS = {
    "floor": (100_000, 1_000_000, 10_000_000),
    "boosting": (100_000, 1_000_000, 10_000_000),
    "landmarks": (100_000, 1_000_000),
    "stack": (100_000, 1_000_000),
    "smartsvm": (10_000, 100_000),
    "forests": (10_000_000,),
    "report": (2_000_000,),
    "read": (100_000, 1_000_000),
    "rounds": (64_000,),
}
#: Columns of each table beside the classes.
COLUMNS = {"made": 20, "covertype-like": 12, "covertype": 12, "numbers": 10}
#: Tables, and their columns, where work is not about *made* unless another is named.
BY_DEFAULT: dict[str, tuple[str, int | None]] = {
    "forests": ("mixture", 8),
    "report": ("numbers", 10),
    "rounds": ("bins", 20),
}
#: Settings of LightGBM, common ones.
BOOSTING = {"num_leaves": 127, "learning_rate": 0.15, "verbose": -1, "seed": 0}
ROUNDS = 150
#: What it needs beside them where classes are rare: otherwise it diverges.
OF_RARE_CLASSES = {"min_sum_hessian_in_leaf": 1.0}
FRESH_ROWS = 250_000
#: Parts of the rows of which rounds of boosting are timed, and rounds: those of a first training are not timed.
ROUND_PARTS, N_ROUNDS = 16, 20
#: What tells one measurement from another.
KEY = ("what", "table", "n_rows", "n_columns", "threads", "cluster", "memory_limit", "kill", "effort")


# --- data


def folder_of(name: str, n_rows: int) -> tuple[Path, dict[str, Any]]:
    """Return the folder of a table, written where it is not there, and what is known of it."""
    folder = FOLDER / f"{name}-{n_rows}"
    about = folder.with_suffix(".json")
    if about.is_file():
        return folder, json.loads(about.read_text(encoding="utf-8"))
    print(f"writing {folder}", file=sys.stderr, flush=True)
    return folder, write_folder(TABLES[name](), n_rows, folder)


def points_file(n_rows: int, n_features: int) -> Path:
    """Return a file of points of ten Gaussians, written a million at a time where it is not there."""
    path = FOLDER / f"points-{n_rows}x{n_features}.npy"
    if not path.is_file():
        FOLDER.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        rng = np.random.default_rng(0)
        centers = rng.uniform(-3.0, 3.0, (10, n_features))
        points = np.lib.format.open_memmap(part, "w+", np.float64, (n_rows, n_features))
        for first in range(0, n_rows, 1_000_000):
            rows = points[first : first + 1_000_000]
            rows[:] = centers[rng.integers(0, 10, len(rows))] + rng.standard_normal(rows.shape)
        points.flush()
        part.rename(path)
    return path


def numbers_file(n_rows: int, n_columns: int) -> Path:
    """Return a CSV file of normal numbers and two classes that depend on three of them, written in pieces."""
    import polars

    path = FOLDER / f"numbers-{n_rows}x{n_columns}.csv"
    if not path.is_file():
        FOLDER.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        rng = np.random.default_rng(0)
        with part.open("wb") as stream:
            for first in range(0, n_rows, FILE_ROWS):
                x = np.round(rng.standard_normal((min(FILE_ROWS, n_rows - first), n_columns - 1)), 5)
                score = 2.0 * x[:, 0] * x[:, 1] + np.abs(x[:, 2]) - 0.8
                y = rng.random(len(x)) < 1.0 / (1.0 + np.exp(-score))
                frame = polars.DataFrame({f"x{j}": x[:, j] for j in range(n_columns - 1)} | {"y": y.astype(np.int8)})
                frame.write_csv(stream, include_header=first == 0)
        part.rename(path)
    return path


# --- what the processes do


def child_floor(asked: dict[str, Any]) -> dict[str, Any]:
    """Estimate the floor of a folder."""
    from bayesfloor import learned_floor

    how: dict[str, Any] = {"n_jobs": asked["threads"], "effort": asked["effort"]}
    X: Any = asked["path"]
    if asked["n_columns"] < COLUMNS[asked["table"]]:
        X = _first_columns(asked["path"], asked["n_columns"])
    with Workers(asked) as (client, told):
        floor = learned_floor(X, TARGET, client=client, **how)
    shown = floor.metrics["error"]
    return told | {
        "estimate": floor.estimate,
        "interval": list(floor.interval),
        "reached": floor.reached,
        "reached_interval": list(shown.reached_interval),
        "n_rows_used": floor.n_rows,
        "n_samples": floor.n_samples,
        "n_classes": floor.n_classes,
    }


def _first_columns(path: str, n_columns: int) -> Any:
    """Return some columns of a table, as a data frame."""
    import polars

    frame = polars.read_parquet(path)
    every = max(1, (frame.width - 1) // n_columns)
    return frame.select([*frame.columns[:-1][::every][:n_columns], TARGET]).to_pandas()


def child_read(asked: dict[str, Any]) -> dict[str, Any]:
    """Read a table and make it ready."""
    from bayesfloor import read_table

    table = read_table(asked["path"], target=asked["target"])
    return {"n_classes": len(table.classes)}


def child_model(asked: dict[str, Any]) -> dict[str, Any]:
    """Train landmarks or a stack on a folder, by the command line."""
    from bayesfloor.cli import main

    out = FOLDER / f"{asked['what']}.skops"
    command = ["fit", asked["path"], "--target", TARGET, "--model", asked["what"], "--out", str(out), "--force"]
    command += ["--cluster", str(asked["cluster"])] if asked["cluster"] else []
    code = main([*command, "--quiet", "--json", "--threads", str(asked["threads"]), "--effort", asked["effort"]])
    if code:
        raise SystemExit(code)
    return {"n_classes": {"made": 3, "covertype-like": 7, "covertype": 7}[asked["table"]]}


def child_report(asked: dict[str, Any]) -> dict[str, Any]:
    """Write a report on a file, by the command line."""
    from bayesfloor.cli import main

    out = FOLDER / "report.json"
    command = ["report", asked["path"], "--target", asked["target"], "--out", str(out), "--force", "--quiet"]
    code = main([*command, "--threads", str(asked["threads"]), "--effort", asked["effort"]])
    if code:
        raise SystemExit(code)
    summary = json.loads(out.read_text(encoding="utf-8"))
    return {"estimate": summary["floor"]["estimate"], "n_rows_used": summary["floor"]["n_rows"]}


def child_forests(asked: dict[str, Any]) -> dict[str, Any]:
    """Grow the spanning forests of a file of points."""
    from bayesfloor import spanning_forests

    forests = spanning_forests(Path(asked["path"]), n_jobs=asked["threads"])
    return {"n_edges": len(forests.edges), "length": float(forests.weights.sum())}


def child_boosting(asked: dict[str, Any]) -> dict[str, Any]:
    """Train LightGBM on all rows of a folder, and judge it on fresh rows."""
    import lightgbm

    table = TABLES[asked["table"]]()
    files = sorted(Path(asked["path"]).glob("*.parquet"))
    levels: dict[str, Any] = {}
    X, y = _matrix(files, asked["n_rows"], table.classes, levels)
    categorical = [place for place, name in enumerate(levels["names"]) if name in levels]
    data = lightgbm.Dataset(X, y, categorical_feature=categorical, free_raw_data=True)
    settings = BOOSTING | {"objective": "multiclass", "num_class": len(table.classes), "num_threads": asked["threads"]}
    settings |= OF_RARE_CLASSES if asked["table"].startswith("covertype") else {}
    started = time.perf_counter()
    model = lightgbm.train(settings, data, ROUNDS)
    told = {"training_seconds": time.perf_counter() - started}
    sums, n_fresh = np.zeros(2), 0
    for part in fresh_parts(table, FRESH_ROWS):
        n_fresh += len(part.shares)
        q = np.asarray(model.predict(_numbers_of(part.frame, levels)))
        named = np.take_along_axis(part.shares, q.argmax(axis=1)[:, np.newaxis], axis=1)
        log_q = np.log(np.maximum(q, np.finfo(np.float64).tiny))
        sums += [float((1.0 - named).sum()), float(-(part.shares * log_q).sum())]
    error, log_loss = (sums / n_fresh).tolist()
    return told | {"reached": error, "log_loss": log_loss, "n_classes": len(table.classes)}


def _matrix(files: list[Path], n_rows: int, classes: tuple[str, ...], levels: dict[str, Any]) -> tuple[Any, Any]:
    """Read a folder into one float32 matrix, file by file; levels of text are numbered as they first appear."""
    import polars

    X, y, first = None, np.empty(n_rows, np.int32), 0
    codes = {name: code for code, name in enumerate(classes)}
    for file in files:
        frame = polars.read_parquet(file)
        numbers = _numbers_of(frame, levels)
        if X is None:
            X = np.empty((n_rows, numbers.shape[1]), np.float32)
        X[first : first + len(numbers)] = numbers
        y[first : first + len(numbers)] = frame[TARGET].replace_strict(codes, return_dtype=polars.Int32).to_numpy()
        first += len(numbers)
    return X, y


def _numbers_of(frame: Any, levels: dict[str, Any]) -> Any:
    """Return the columns of a frame as numbers; `levels` learns what it has not seen."""
    import polars

    columns = []
    levels["names"] = frame.columns[:-1]
    for name in levels["names"]:
        series = frame[name]
        if series.dtype == polars.String:
            known = levels.setdefault(name, {})
            for level in series.unique(maintain_order=True).to_list():
                known.setdefault(level, len(known))
            series = series.replace_strict(known, return_dtype=polars.Float32)
        columns.append(series.cast(polars.Int32 if series.dtype == polars.Date else polars.Float32).to_numpy())
    return np.column_stack(columns).astype(np.float32)


def child_rounds(asked: dict[str, Any]) -> dict[str, Any]:
    """Boost two training sets of few rows at the same time, as a floor does, and return the seconds of a round."""
    from bayesfloor.data.row_parts import RowPart
    from bayesfloor.learn import boosting_by_parts
    from bayesfloor.learn.parts import PartPool
    from bayesfloor.runtime.cluster import cluster_of
    from bayesfloor.runtime.threads import WorkerPool, supervise

    boosting_by_parts.MOST_ROUNDS = N_ROUNDS
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 128, (asked["n_rows"], asked["n_columns"])).astype(np.uint8)
    y = np.digitize(np.sin(bins[:, 0] / 20) + bins[:, 1] / 100 + rng.normal(0, 0.5, len(bins)), [0.3, 1.0])
    parts = [
        RowPart(np.empty((len(rows), 0), np.float32), bins[rows], y[rows].astype(np.int32))
        for rows in np.array_split(np.arange(len(bins)), ROUND_PARTS)
    ]
    target = boosting_by_parts.boosted_target(np.bincount(y) / len(y), 3)
    is_category = np.zeros(asked["n_columns"], bool)
    with Workers(asked) as (client, told):
        cluster = cluster_of(client)

        def boost(pool: WorkerPool) -> float:
            of_parts = PartPool(parts, pool, cluster)
            started = time.perf_counter()
            sets = [(range(first, ROUND_PARTS, 2), target, is_category, 0) for first in (0, 1)]
            boosted = partial(boosting_by_parts.boost_parts, of_parts)
            pool.map_in_parallel(boosted, sets, client is not None)
            return (time.perf_counter() - started) / (len(sets) * N_ROUNDS)

        taken = [supervise(boost, asked["threads"], False) for _ in range(2)]
    return told | {"seconds_a_round": taken[-1]}


class Workers:
    """The workers that were asked for, one of which may be killed after a while; none by default."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.asked = asked
        self.told: dict[str, Any] = {}
        self.cluster: Any = None
        self.client: Any = None

    def __enter__(self) -> tuple[Any, dict[str, Any]]:
        if not self.asked["cluster"]:
            return None, self.told
        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(
            n_workers=self.asked["cluster"],
            threads_per_worker=1,
            memory_limit=self.asked["memory_limit"] or "auto",
            dashboard_address=":0",
            silence_logs=50,
            local_directory=str(FOLDER / "workers"),
        )
        self.client = Client(self.cluster)
        if self.asked["kill"]:
            victim = min(self.client.run(os.getpid).values())
            timer = threading.Timer(self.asked["kill"], self._kill, [victim])
            timer.daemon = True
            timer.start()
        return self.client, self.told

    def _kill(self, process: int) -> None:
        os.kill(process, signal.SIGKILL)
        self.told["killed"] = True

    def __exit__(self, *error: object) -> None:
        if self.client is not None:
            self.client.close()
            self.cluster.close()


CHILDREN = {
    "floor": child_floor,
    "read": child_read,
    "boosting": child_boosting,
    "landmarks": child_model,
    "stack": child_model,
    "smartsvm": child_model,
    "forests": child_forests,
    "report": child_report,
    "rounds": child_rounds,
}


# --- measuring


def source_of(what: str, name: str, n_rows: int, n_columns: int) -> dict[str, Any]:
    """Return the data of a measurement, and what is known of them."""
    if what == "rounds":
        return {}
    if what == "forests":
        path = points_file(n_rows, n_columns)
        return {"path": str(path), "n_bytes": path.stat().st_size}
    if name == "numbers":
        path = numbers_file(n_rows, n_columns)
        return {"path": str(path), "target": "y", "n_bytes": path.stat().st_size}
    folder, about = folder_of(name, n_rows)
    data = {"path": str(folder), "target": TARGET, "n_bytes": about["n_bytes"]}
    has_truth = "error" in about and n_columns == COLUMNS[name]  # which is that of all columns
    return data | {"truth": about["error"]} if has_truth else data


def newest(records: Iterable[Record]) -> list[Record]:
    """Return the last record of each measurement: those made again come after the others."""
    return list({tuple(record.get(name) for name in KEY): record for record in records}.values())


def measure(options: Namespace, n_rows: int) -> None:
    """Make one measurement in a process of its own, unless it is recorded."""
    key = {
        "what": options.what,
        "table": options.table,
        "n_rows": n_rows,
        "n_columns": options.columns,
        "threads": options.threads,
        "cluster": options.cluster,
        "memory_limit": options.memory_limit,
        "kill": options.kill,
        "effort": options.effort,
    }
    records = read_records(options.records)
    if not options.again and any(all(record.get(name) == value for name, value in key.items()) for record in records):
        print(f"recorded: {key}", file=sys.stderr)
        return
    data = source_of(options.what, options.table, n_rows, options.columns)
    asked = json.dumps(key | data)
    found = watched([sys.executable, "-m", "benchmarks.speed.large_tables", "child", "--asked", asked])
    told = json.loads(found.output.splitlines()[-1])
    known = {name: value for name, value in data.items() if name in ("n_bytes", "truth")}
    taken = found._asdict()
    del taken["output"]
    record = key | known | told | {name: round(value, 2) for name, value in taken.items()}
    append_record(options.records, record | {"date": time.strftime("%Y-%m-%d")})
    print(json.dumps(record), flush=True)


def main() -> None:
    """Measure, or write the page."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=[*CHILDREN, "child", "table"])
    parser.add_argument("--table", choices=[*TABLES, "numbers"], default=None)
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--columns", "--features", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cluster", type=int, default=0, help="processes of a local cluster")
    parser.add_argument("--memory-limit", help="of each of them, as in 1.5GiB")
    parser.add_argument("--kill", type=float, help="kill one of them after so many seconds")
    parser.add_argument("--effort", default="default")
    parser.add_argument("--again", action="store_true", help="measure even what is recorded")
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--asked", help="what a process is asked for")
    options = parser.parse_args()
    if options.what == "child":
        asked = json.loads(options.asked)
        print("\n" + json.dumps(CHILDREN[asked["what"]](asked)))
        return
    if options.what == "table":
        from benchmarks.speed.large_tables_page import write_table

        write_table(newest(read_records(options.records)))
        return
    by_default = BY_DEFAULT.get(options.what, ("made", None))
    options.table = options.table or by_default[0]
    options.columns = options.columns or COLUMNS.get(options.table) or by_default[1]
    for n_rows in options.rows or ROWS[options.what]:
        measure(options, n_rows)


if __name__ == "__main__":
    main()
