"""Summaries for tests of the page, written by hand: digits as they may come out, and the ends of what is possible."""

import copy
from typing import Any

Summary = dict[str, Any]


def records(names: str, *rows: tuple[Any, ...]) -> list[Summary]:
    """A table as a list of records: the names of its columns, and a tuple a row."""
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


def span(value: float | None, low: float, high: float) -> Summary:
    return {"value": value, "low": low, "high": high}


NAMES = ["1", "8", "2", "3", "5", "9", "7", "4", "6", "0"]
# Normalized floors that are not 0, of pairs in the order of the names.
FLOORS = {
    ("1", "8"): 0.0612, ("8", "2"): 0.0121, ("8", "3"): 0.0342, ("3", "5"): 0.0258, ("3", "9"): 0.0434,
    ("5", "9"): 0.0217, ("9", "7"): 0.0149, ("7", "4"): 0.0163, ("1", "4"): 0.0301, ("1", "6"): 0.0098,
    ("9", "4"): 0.0066, ("5", "6"): 0.0059, ("2", "3"): 0.0074, ("1", "2"): 0.0181, ("8", "9"): 0.0283,
    ("8", "5"): 0.0112, ("1", "9"): 0.0204, ("8", "7"): 0.0045, ("6", "0"): 0.0004, ("8", "4"): 0.0052,
}  # fmt: skip
ROWS = {"1": 182, "8": 174, "2": 177, "3": 183, "5": 182, "9": 180, "7": 179, "4": 181, "6": 181, "0": 178}


def floor_of_pair(first: str, second: str, normalized: float, n_rows: int) -> Summary:
    floor = normalized / 2
    names = "first second n_rows floor low high normalized"
    return records(names, (first, second, n_rows, floor, 0.4 * floor, 1.9 * floor + 0.002, normalized))[0]


def pairs_of(names: list[str], floors: dict[tuple[str, str], float], rows: dict[str, int]) -> Summary:
    """The part "pairs" for names and the floors of some pairs; others have the floor 0. 40 classes are in the map."""
    value = {frozenset(pair): floor for pair, floor in floors.items()}
    matrix = [[None if a == b else value.get(frozenset((a, b)), 0.0) for b in names] for a in names]
    listed = [
        {"first": a, "second": b, "n_rows": rows[a] + rows[b], "confused": 0.3 * matrix[i][j]}
        for i, a in enumerate(names)
        for j, b in enumerate(names[:i])
    ]
    listed.sort(key=lambda row: -row["confused"])
    return {
        "n_pairs": len(listed),
        "names": names[:40],
        "confused": [[each and 0.3 * each for each in row[:40]] for row in matrix[:40]],
        "rows": listed[:500],
    }


def chain(names: list[str]) -> Summary:
    """A class tree that parts one class after the other, as a report draws it: of 40 classes at the most."""
    names = names[:40]
    text = "\n".join(f"├─ {name}" for name in names)
    children = [[~place, place + 1] for place in range(len(names) - 2)] + [[1 - len(names), -len(names)]]
    whole = {"classes": names, "children": children, "floors": [0.001 * place for place in range(len(names) - 1)]}
    pairs = [floor_of_pair(names[0], name, 0.0612 / place, 356) for place, name in enumerate(names[1:], 1)]
    tree = {"text": text, "n_classes": len(names), "whole": whole}
    return tree | {"note": "Floors of every two classes.", "pairs": pairs}


def column(name: str, removed: float | None, kind: str, treatment: str) -> Summary:
    """A line of the table of columns."""
    figures = (None,) * 4
    if removed is not None:
        figures = (0.8982 * (1 - removed), removed, 0.8 * removed, 1.1 * removed)
    names = "name kind treatment n_missing n_values n_features floor removed low high"
    return records(names, (name, kind, treatment, 12, 17, int(removed is not None), *figures))[0]


#: What says that a figure is an error.
ERROR = {
    "metric": "error",
    "title": "error",
    "is_rate": True,
    "larger_is_better": False,
    "perfect": 0.0,
    "sentence": "No model is likely to get below an error of 0.41%.",
}


#: What is said of any data without faults, and of a curve that falls.
NOTHING_FOUND = {
    "trust": "nothing found",
    "trust_sentence": "Nothing suspicious was found.",
    "untested": "Not testable: columns that were filled in after the outcome.",
    "telling": ["a"],
    "reasons": [],
}
MORE_ROWS = {
    "action": "more rows",
    "size": 0.004,
    "sentence": "Get more rows: twice as many would win about 0.4 points.",
}


def limit(metric: str, reached: float, estimate: float, low: float, high: float) -> Summary:
    names = "metric reached reached_by estimate low high more_rows as_asked"
    return records(names, (metric, reached, "stack", estimate, low, high, "helps", None))[0]


def digits() -> Summary:
    classes = [
        records(
            "name n_rows share missed taken_for false_alarms reached auc",
            (name, n, n / 1797, 3.0 * floor, None if reached is None else "3", 2.0 * floor, reached, 0.999),
        )[0]
        for name, n, floor, reached in [
            ("8", 174, 0.0058, 0.0402), ("1", 182, 0.0051, 0.0220), ("9", 180, 0.0046, 0.0278),
            ("3", 183, 0.0037, 0.0164), ("5", 182, 0.0021, 0.0165), ("7", 179, 0.0016, 0.0112),
            ("4", 181, 0.0013, 0.0110), ("2", 177, 0.0008, 0.0056), ("6", 181, 0.0004, 0.0055),
            ("0", 178, 0.0, None),
        ]
    ]  # fmt: skip
    suspects = [
        {
            "row": 37 + 61 * place,
            "label": label,
            "looks_like": other,
            "score": 0.93 - 0.041 * place,
            "other_row": 1204 + 17 * place,
            "other_label": other,
            "distance": 14.56 + place,
            "values": ["0", "5", "13", "9", "1", "0", str(place), "16", "2", "11"],
            "other_values": ["0", "4", "13", "16", "2", "0", "12", "15", "0", "3"],
        }
        for place, (label, other) in enumerate(
            [("9", "3"), ("8", "1"), ("1", "8"), ("3", "9"), ("9", "5"), ("8", "3"), ("4", "7"), ("5", "9"), ("2", "1")]
        )
    ]
    line = [[110.0 * 1.1**step, 0.0108 + 0.9 * (110.0 * 1.1**step) ** -0.62] for step in range(50)]
    return {
        "schema": "bayesfloor/summary/1",
        "task": "classification",
        "version": "0.1.0",
        "title": "digits.csv",
        "created": "2026-11-15 12:00 UTC",
        "answer": [
            "The floor is about 1.1% (95% range 0.4–1.9%).",
            "The best model tried reaches 1.7% and is still improving with more data; 1 against 8 and 3 against 9 are "
            "the hardest pairs.",
        ],
        "verdict": NOTHING_FOUND | {"limit": limit("error", 0.0173, 0.0108, 0.0041, 0.0186), "steps": [MORE_ROWS]},
        "goal": {
            "target": 0.015,
            "verdict": "undecided",
            "sentence": "An error of 1.5% lies between the floor and what was reached.",
        },
        "data": {
            "source": "digits.csv",
            "target": "digit",
            "n_rows": 1797,
            "n_samples": 1797,
            "n_features": 64,
            "n_classes": 10,
            "notes": ["Separated by commas, UTF-8.", "The target is the last column, 'digit'."],
            "cautions": ["3 columns are constant and say nothing."],
            "columns": [
                column("pixel_2_4", 0.24, "number", "scaled"),
                column("pixel_2_3", 0.17, "number", "scaled; missing values replaced by the median"),
                column("scanner", 0.01, "category", "one column of 0 and 1 for each of 3 values"),
                column("number", None, "id", "left out: a different value in each row"),
            ],
            "n_columns": 64,
            "columns_note": "What a column tells by itself, from spanning trees of 1,797 rows.",
        },
        "rare": None,
        "subgroups": None,
        "gap": None,
        "findings": [
            {
                "code": "BF005",
                "sentence": "64 features for 1,797 rows: spanning trees see too much overlap; their floor is too high.",
                "hint": "Trust the learned floor, or reduce the number of features first.",
            },
            {
                "code": "BF003",
                "sentence": "3 columns are constant.",
                "hint": "They change nothing, and can be dropped.",
            },
        ],
        "floor": {
            **ERROR,
            "method": "learned",
            "estimate": 0.0108,
            "low": 0.0041,
            "high": 0.0186,
            "confidence": 0.95,
            "reached": span(0.0173, 0.0122, 0.0244),
            "baseline": 0.8982,
            "n_rows": 1797,
        },
        "metrics": [],
        "fast_model": {
            "name": "LandmarkClassifier",
            "seconds": 0.21,
            "n_rows": 1438,
            "is_good": True,
            "metrics": records("metric title is_rate value stack", ("error", "error", True, 0.0245, 0.0173)),
            "sentence": "The fastest good model: LandmarkClassifier errs on 2.5% (the stack: 1.7%) and trains in "
            "0.2 s.",
        },
        "costs": None,
        "curve": {
            "points": records(
                "size value", (112.0, 0.0731), (225.0, 0.0392), (449.0, 0.0334), (898.0, 0.0228), (1617.0, 0.0173)
            ),
            "line": line,
            "limit": 0.0108,
            "low": 0.0041,
            "high": 0.0186,
            "note": "Twice as many rows would bring about 1.5%.",
        },
        "learners": records(
            "name weight", ("kernel machine", 0.52), ("nearest neighbours", 0.31), ("forest", 0.17), ("logistic", 0.0)
        ),
        "classes": classes,
        "pairs": pairs_of(NAMES, FLOORS, ROWS),
        "suspects": {
            "columns_note": "Of 64 columns, the 6 in which such rows differ most are shown.",
            "columns": [f"pixel_{row}_{column}" for row in (1, 2) for column in range(5)],
            "row_word": "line",
            "rows": suspects,
            "note": "Rows that look alike and are labelled differently; the neighbours of the first speak for the "
            "second's label.",
            "n_wrong": {"estimate": 9.4, "low": 4.2, "high": 31.0, "n_tested": 1797, "n_samples": 1797},
            "table": {
                "columns": ["line", *(f"pixel_{row}" for row in range(64)), "digit", "suggested", "score"],
                "rows": [
                    [each["row"], *["7"] * 64, each["label"], each["looks_like"], each["score"]] for each in suspects
                ],
            },
        },
        "tree": chain(NAMES),
        "how_to_read": [
            {
                "heading": "What is the floor?",
                "text": "The lowest error that any classifier can reach on rows like these: what is left when "
                "everything that the columns tell has been used.\n\nIt is a property of the data, not of a model.",
            },
            {"heading": "Is it a bound?", "text": "No. What was reached is shown; the floor is an estimate."},
        ],
        "command": "bayesfloor report digits.csv --seed 0 --target-value 0.015",
        "seconds": 21.4,
    }


def bare() -> Summary:
    """Two classes, nothing looked for, nothing found: whatever may be missing is."""
    summary = digits()
    rows = {"yes": 40, "no": 60}
    summary |= {
        "title": "coins.csv",
        "created": None,
        "answer": ["The floor is about 20.0% (95% range 14.0–26.0%).", "The best model tried reaches 22.0%."],
        "verdict": {
            "trust": "not checked",
            "trust_sentence": "Leaks, rows that belong together and an order in time were not looked for.",
            "untested": "Not testable: columns that were filled in after the outcome.",
            "telling": [],
            "reasons": [],
            "limit": summary["verdict"]["limit"],
            "steps": [],
        },
        "goal": None,
        "findings": [],
        "curve": summary["curve"] | {"points": []},
        "learners": [],
        "fast_model": None,
        "how_to_read": [],
        "classes": [{**summary["classes"][0], "name": name, "taken_for": None} for name in rows],
        "pairs": pairs_of(list(rows), {("no", "yes"): 0.5}, rows),
        "suspects": {
            "columns": ["a"],
            "columns_note": "",
            "row_word": "row",
            "rows": [],
            "note": "",
            "n_wrong": summary["suspects"]["n_wrong"],
            "table": {"columns": ["row", "a", "y", "suggested", "score"], "rows": []},
        },
        "tree": chain(list(rows)),
    }
    summary["floor"] |= {"estimate": 0.2, "low": 0.14, "high": 0.26, "n_rows": 100, "baseline": 0.4}
    summary["floor"]["reached"] = {"value": 0.22, "low": 0.15, "high": 0.26}
    summary["data"] |= {"n_rows": 100, "n_samples": 5000, "n_classes": 2, "notes": [], "cautions": []}
    plain = column("x0", 0.5, "", "") | dict.fromkeys(("kind", "treatment", "n_missing", "n_values"))
    summary["data"] |= {"columns": [plain], "n_columns": 1, "columns_note": ""}
    return summary


def with_rare_class() -> Summary:
    """A class of 65 rows in 50 000."""
    summary = digits()
    names = "name n_rows n_used share auc auc_low auc_high average_precision recall_at_top recall_at_precision needed"
    needed = "The AUC's range rests on 65 rows of fraud; about 260 would halve it."
    summary["rare"] = {
        "rows": records(names, ("fraud", 65, 65, 0.0013, 0.9653, 0.9412, 0.9791, 0.2661, 0.6154, 0.2154, needed)),
        "n_classes": 1,
        "note": "Rows are ranked by the probability of the class.",
    }
    return summary


def with_subgroups() -> Summary:
    """Three subgroups, one of them too small to tell."""
    summary = digits()
    names = "name n_rows n_tested share share_of_errors floor low high reached reached_low reached_high"
    summary["subgroups"] = {
        "column": "scanner",
        "rows": records(
            names,
            ("scanner C", 300, 300, 300 / 1797, 0.42, 0.0301, 0.018, 0.0536, 0.0412, 0.033, 0.0536),
            ("scanner A", 1494, 1494, 1494 / 1797, 0.57, 0.0094, 0.0056, 0.0159, 0.0122, 0.0098, 0.0159),
            ("?", 3, 3, 3 / 1797, 0.01, None, 0.0, 0.7, None, 0.0, 0.7),
        ),
        "reached_p_value": 0.0005,
        "floor_p_value": 0.013,
        "sentence": "The subgroups differ in their errors (p < .001); their floors differ too (p = .01).",
        "note": "All figures are from the same models.",
    }
    return summary


def with_gap() -> Summary:
    """A model that confuses three with eight, beside the floor."""
    summary = digits()
    of_class = "label n_rows error reached gap gap_low gap_high gap_of_all p_adjusted p_value share_of_gap"
    of_pair = (
        "first second error reached gap p_adjusted p_value share_of_gap "
        "first_as_second second_as_first reached_first_as_second reached_second_as_first"
    )
    summary["gap"] = {
        "sentence": "Your model errs on 8.1%; 3.0 points of it can surely be won (95% interval 1.9 to 4.1, p < .001), "
        "1.2 more perhaps; all of the 3.0 points is 3 against 8.",
        "name": "GaussianNB",
        "metric": "error",
        "title": "error",
        "is_rate": True,
        "origin": "cross-fitted",
        "n_tested": 1797,
        "confidence": 0.95,
        "is_sure": True,
        "p_value": 1e-6,
        "figures": records(
            "name value low high",
            ("your model", 0.081, 0.07, 0.093),
            ("stack of models", 0.051, 0.042, 0.061),
            ("the floor", 0.039, 0.02, 0.06),
        ),
        "sure": {"name": "more than the stack", "value": 0.03, "low": 0.019, "high": 0.041},
        "possible": {"name": "from there to the floor", "value": 0.012, "low": 0.0, "high": 0.031},
        "classes": [
            records(of_class, (str(code), 180, 0.08, 0.05, 0.03, 0.01, 0.05, 0.003, 0.2, 0.02, 0.5))[0]
            for code in range(10)
        ],
        "pairs": records(
            of_pair,
            ("3", "8", 0.04, 0.01, 0.03, 0.0004, 0.02, 0.5, 40, 20, 9, 3),
            ("4", "9", 0.02, 0.012, 0.008, 0.31, 0.02, 0.5, 40, 20, 9, 3),
            ("1", "7", 0.001, 0.003, -0.002, 1.0, 0.02, 0.5, 40, 20, 9, 3),
        ),
        "n_pairs": 3,
        "note": "The model was trained anew on each training set of the stack.",
    }
    return summary


def with_metrics() -> Summary:
    """A rare class judged by its ROC AUC, and by two more metrics."""
    summary = with_rare_class()
    names = "metric title is_rate larger_is_better perfect estimate low high reached baseline sentence"
    auc, loss = records(
        names,
        (
            *("roc_auc", "ROC AUC", False, True, 1.0, 0.972, 0.941, 0.984, span(0.9653, 0.941, 0.9791), 0.5),
            "No model is likely to get above an ROC AUC of 0.984.",
        ),
        (
            *("log_loss", "log-loss", False, False, 0.0, 1.13, 1.02, 1.31, span(1.24, 1.17, 1.31), 2.29),
            "No model is likely to get below a log-loss of 1.02.",
        ),
    )
    summary["metrics"] = [auc, loss, {name: summary["floor"][name] for name in auc}]
    summary["floor"] |= auc
    summary["curve"] |= {
        "points": records("size value", (400.0, 0.9472), (800.0, 0.9561), (1600.0, 0.9653)),
        "line": [[400.0 * 1.2**step, 0.972 - 0.2 * (400.0 * 1.2**step) ** -0.4] for step in range(20)],
        "limit": 0.972,
        "low": 0.941,
        "high": 0.984,
    }
    summary["goal"] = {"target": 0.97, "verdict": "undecided", "sentence": "Its range holds 0.97 too."}
    return summary


def with_costs() -> Summary:
    """Costs beyond 1, with rows that are not decided."""
    summary = digits()
    cost = {
        "metric": "cost",
        "title": "cost per row",
        "is_rate": False,
        "perfect": 0.0,
        "sentence": "No model is likely to get below a cost per row of 11.",
        "reached": span(13.1, 12.0, 14.2),
        "baseline": 1250.0,
    } | {"estimate": 12.5, "low": 11.0, "high": 14.2}
    error = {name: summary["floor"][name] for name in (*ERROR, *cost)}
    summary["metrics"] = [cost | {"larger_is_better": False}, error]
    summary["floor"] |= cost
    summary["curve"] |= {"points": [{"size": 1600.0, "value": 13.1}], "line": []}
    summary["curve"] |= {"limit": 12.5, "low": 11.0, "high": 14.2}
    names = "label decision is_right cost rows cost_per_row share"
    summary["costs"] = {
        "notes": ["80.0% of the cost is for taking 1 for 8.", "7.3% of the rows are not decided."],
        "rows": records(
            names,
            ("1", "8", False, 900.0, 0.012, 10.8, 0.8),
            ("8", "no decision", False, 40.0, 0.073, 2.9, 0.8),
            ("2", "2", True, 900.0, 0.012, -0.6, None),
        ),
        "n_pairs": 3,
        "undecided": 0.073,
        "class_weights": [{"name": "1", "weight": 1.75}, {"name": "8", "weight": 0.25}],
    }
    return summary


def with_names(names: list[str]) -> Summary:
    """A problem whose classes have these names, the first pairs being the hardest."""
    summary = digits()
    rows = {name: 20 + place for place, name in enumerate(names)}
    floors = {(a, b): 0.9 / (1 + i + j) for i, a in enumerate(names) for j, b in enumerate(names[:i]) if i - j < 4}
    summary["classes"] = [
        {**summary["classes"][place % 10], "name": name, "n_rows": rows[name]} for place, name in enumerate(names)
    ]
    summary["pairs"] = pairs_of(names, floors, rows)
    summary["tree"] = chain(names)
    summary["data"] |= {"n_classes": len(names)}
    return summary


#: Names that would do something on a page that takes them for markup, and some that hide what they are.
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style></script><b>bold</b>",
    "{{ 7 * 7 }}{% raw %}",
    "‮evil‬ bidi",
    "tab\tline\nescape\x1b[31m nul\x00",
    "' onmouseover='alert(1)",
    "&lt;b&gt;&amp;",
]


def hostile() -> Summary:
    """Every text of a summary is hostile, names of classes included."""
    summary = with_names(HOSTILE)
    summary["subgroups"], summary["gap"] = with_subgroups()["subgroups"], with_gap()["gap"]
    summary |= {"metrics": with_metrics()["metrics"], "costs": with_costs()["costs"]}

    def spoil(value: Any, place: list[int]) -> Any:
        if isinstance(value, str):
            place[0] += 1
            return HOSTILE[place[0] % len(HOSTILE)]
        if isinstance(value, dict):
            return {key: spoil(each, place) for key, each in value.items()}
        if isinstance(value, list):
            return [spoil(each, place) for each in value]
        return value

    kept = ("task", "classes", "pairs", "tree", "floor", "learners")
    spoiled = {key: value if key in kept else spoil(copy.deepcopy(value), [0]) for key, value in summary.items()}
    spoiled["tree"]["note"] = HOSTILE[0]
    spoiled["floor"]["title"] = HOSTILE[0]
    spoiled["learners"][0]["name"] = HOSTILE[1]
    return spoiled


LONG = ["a name of three hundred letters " * 9 + str(place) * 12 for place in range(4)] + ["x" * 300, "short"]
