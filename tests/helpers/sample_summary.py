"""Summaries for tests of the page: canonical answers with small edits, and the ends of what is possible."""

import json
from functools import cache
from itertools import combinations
from typing import Any

import canonical

Summary = dict[str, Any]


@cache
def _stored(name: str) -> str:
    return json.dumps(canonical.answers(name)["report"].to_dict())


def made(name: str) -> Summary:
    """The summary of a canonical answer, to be edited."""
    return dict(json.loads(_stored(name)))


def records(names: str, *rows: tuple[Any, ...]) -> list[Summary]:
    """A table as a list of records: the names of its columns, and a tuple a row."""
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


def span(value: float | None, low: float, high: float) -> Summary:
    return {"value": value, "low": low, "high": high}


def digits() -> Summary:
    """Ten classes: nothing suspicious, rows to look at, and figures that are known to the last digit."""
    summary = made("ten")
    summary |= {"title": "digits.csv", "created": "2026-11-15 12:00 UTC", "gap": None}
    summary["command"] = "bayesfloor report digits.csv --seed 0 --target-value 0.015"
    summary["goal"] = {"target": 0.015, "verdict": "undecided", "sentence": "An error of 1.5% lies between."}
    summary["floor"] |= {"estimate": 0.0108, "low": 0.0041, "high": 0.0186, "baseline": 0.8982}
    summary["floor"]["reached"] = span(0.0173, 0.0122, 0.0244)
    summary["curve"] |= {
        "points": records("size value", (112.0, 0.07), (225.0, 0.04), (449.0, 0.03), (898.0, 0.02), (1617.0, 0.0173)),
        "line": [[110.0 * 1.1**step, 0.0108 + 0.9 * (110.0 * 1.1**step) ** -0.62] for step in range(50)],
        "limit": 0.0108,
        "low": 0.0041,
        "high": 0.0186,
    }
    summary["findings"] = records(
        "code sentence hint",
        ("BF005", "64 features for 1,797 rows: trees see too much.", "Trust the learned floor."),
        ("BF003", "3 columns are constant.", "They change nothing, and can be dropped."),
    )
    summary["data"] |= {"source": "digits.csv", "target": "digit", "cautions": ["3 columns are constant."]}
    summary["data"]["notes"] = ["Separated by commas, UTF-8."]
    summary["classes"][-1] |= {"reached": None, "taken_for": None}
    suspects = summary["suspects"]
    row, line = suspects["rows"][0], suspects["table"]["rows"][0]
    suspects["rows"] = [row | {"row": 37 + 61 * place} for place in range(9)]
    suspects["table"]["rows"] = [[each["row"], *line[1:]] for each in suspects["rows"]]
    return summary


def bare() -> Summary:
    """Two classes, nothing looked for, nothing found: whatever may be missing is."""
    summary = made("two")
    summary |= {"title": "coins.csv", "created": None, "fast_model": None}
    summary |= {key: [] for key in ("findings", "learners", "how_to_read", "metrics")}
    summary["verdict"] |= {"trust": "not checked", "trust_sentence": "Leaks were not looked for.", "telling": []}
    summary["verdict"]["steps"] = []
    summary["curve"]["points"] = []
    summary["suspects"]["note"] = ""
    summary["data"] |= {"n_samples": 5000, "columns_note": ""}
    return summary


def with_rare_class() -> Summary:
    """A class of 65 rows in 50 000."""
    names = "name n_rows n_used share auc auc_low auc_high average_precision recall_at_top recall_at_precision needed"
    needed = "The AUC's range rests on 65 rows of fraud; about 260 would halve it."
    rows = records(names, ("fraud", 65, 65, 0.0013, 0.9653, 0.9412, 0.9791, 0.2661, 0.6154, 0.2154, needed))
    return digits() | {"rare": {"rows": rows, "n_classes": 1, "note": "Rows are ranked by the class's probability."}}


def with_subgroups() -> Summary:
    """Three subgroups, one of them too small to tell."""
    subgroups = made("mixed")["subgroups"]
    subgroups["rows"][0] |= {"reached": 0.0412, "reached_low": 0.033, "reached_high": 0.0536}
    subgroups["rows"][-1] |= {"name": "?", "floor": None, "reached": None, "low": 0.0, "high": 0.7}
    return digits() | {"subgroups": subgroups}


def with_gap() -> Summary:
    """A model beside the floor."""
    return digits() | {"gap": made("ten")["gap"]}


def with_metrics() -> Summary:
    """Judged by the ROC AUC, and by three more metrics."""
    summary = made("mixed") | with_rare_class() | {name: made("mixed")[name] for name in ("metrics", "curve")}
    auc = {"estimate": 0.972, "low": 0.941, "high": 0.984, "reached": span(0.9653, 0.941, 0.9791)}
    summary["metrics"][0] |= auc
    summary["floor"] |= summary["metrics"][0]
    summary["curve"] |= {"points": records("size value", (400.0, 0.94), (800.0, 0.95), (1600.0, 0.9653))}
    summary["curve"] |= {"line": [], "limit": 0.972, "low": 0.941, "high": 0.984}
    return summary


def with_costs() -> Summary:
    """Costs beyond 1, with rows that are not decided."""
    summary = digits()
    cost = {"metric": "cost", "title": "cost per row", "is_rate": False, "estimate": 12.5, "low": 11.0, "high": 14.2}
    cost |= {"reached": span(13.1, 12.0, 14.2), "baseline": 1250.0, "sentence": "Hardly below 11."}
    summary["metrics"] = [summary["floor"] | cost, dict(summary["floor"])]
    summary["floor"] |= cost
    summary["curve"] |= {"points": [{"size": 1600.0, "value": 13.1}], "line": []}
    summary["curve"] |= {"limit": 12.5, "low": 11.0, "high": 14.2}
    summary["costs"] = {
        "notes": ["80.0% of the cost is for taking 1 for 8.", "7.3% of the rows are not decided."],
        "rows": records(
            "label decision is_right cost rows cost_per_row share",
            ("1", "8", False, 900.0, 0.012, 10.8, 0.8),
            ("8", "no decision", False, 40.0, 0.073, 2.9, 0.8),
            ("2", "2", True, 900.0, 0.012, -0.6, None),
        ),
        "n_pairs": 3,
        "undecided": 0.073,
        "class_weights": [{"name": "1", "weight": 1.75}, {"name": "8", "weight": 0.25}],
    }
    return summary


def pairs_of(names: list[str]) -> Summary:
    """The part "pairs" of these classes, of which the first are the hardest. 40 classes are in the map."""
    found = {(a, b): 0.27 / (1 + a + b) if b - a < 4 else 0.0 for a, b in combinations(range(len(names)), 2)}
    shown = range(min(len(names), 40))
    return {
        "n_pairs": len(found),
        "names": names[:40],
        "confused": [[None if a == b else found[min(a, b), max(a, b)] for b in shown] for a in shown],
        "rows": [
            {"first": names[a], "second": names[b], "n_rows": 40 + a + b, "confused": found[a, b]}
            for a, b in sorted(found, key=lambda pair: -found[pair])[:500]
        ],
    }


def with_names(names: list[str]) -> Summary:
    """A problem whose classes have these names, parted one after the other by the tree."""
    summary = digits()
    summary["classes"] = [summary["classes"][place % 10] | {"name": name} for place, name in enumerate(names)]
    summary["pairs"] = pairs_of(names)
    summary["data"]["n_classes"] = len(names)
    drawn = names[:40]
    children = [[~place, place + 1] for place in range(len(drawn) - 2)] + [[1 - len(drawn), -len(drawn)]]
    pairs = [summary["tree"]["pairs"][0] | {"first": drawn[0], "second": name} for name in drawn[1:]]
    whole = {"classes": drawn, "children": children, "floors": [0.001 * place for place in range(len(drawn) - 1)]}
    text = "\n".join(f"├─ {name}" for name in drawn)
    summary["tree"] |= {"text": text, "n_classes": len(drawn), "whole": whole, "pairs": pairs}
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


def spoilt(summary: Summary, kept: tuple[str, ...]) -> Summary:
    """Every text of a summary is hostile, but for those of some parts."""
    n_spoilt = 0

    def spoil(value: Any) -> Any:
        nonlocal n_spoilt
        if isinstance(value, str):
            n_spoilt += 1
            return HOSTILE[n_spoilt % len(HOSTILE)]
        if isinstance(value, dict):
            return {key: spoil(each) for key, each in value.items()}
        return [spoil(each) for each in value] if isinstance(value, list) else value

    return {key: value if key in kept else spoil(value) for key, value in summary.items()}


def hostile() -> Summary:
    """Every text is hostile, names of classes included."""
    summary = with_names(HOSTILE) | {"subgroups": with_subgroups()["subgroups"], "gap": with_gap()["gap"]}
    summary |= {"metrics": with_metrics()["metrics"], "costs": with_costs()["costs"]}
    summary = spoilt(summary, ("task", "classes", "pairs", "tree", "floor", "learners"))
    summary["tree"]["note"] = summary["floor"]["title"] = HOSTILE[0]
    summary["learners"][0]["name"] = HOSTILE[1]
    return summary


LONG = ["a name of three hundred letters " * 9 + str(place) * 12 for place in range(4)] + ["x" * 300, "short"]
