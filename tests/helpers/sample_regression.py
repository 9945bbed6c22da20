"""Summaries of reports on numbers, written by hand: prices as they may come out, and the ends of what is possible."""

import copy
from typing import Any

from helpers import sample_summary
from helpers.sample_summary import HOSTILE, MORE_ROWS, NOTHING_FOUND, column, limit, records, span

Summary = dict[str, Any]


def metric(name: str, title: str, estimate: float, reached: float, baseline: float) -> Summary:
    is_share = name == "r2"
    wide = 0.03 if is_share else 0.08 * estimate
    return {
        "metric": name,
        "title": title,
        "is_rate": is_share,
        "larger_is_better": is_share,
        "estimate": estimate,
        "low": min(estimate, reached) - wide,
        "high": max(estimate, reached) + wide,
        "reached": span(reached, reached - wide, reached + wide),
        "baseline": baseline,
        "perfect": 1.0 if is_share else 0.0,
        "sentence": f"About {estimate:g} can be had.",
    }


def houses() -> Summary:
    """Prices of houses: noise that grows with the price."""
    metrics = [
        metric("r2", "R²", 0.91, 0.86, 0.0),
        metric("rmse", "RMSE", 47_700.0, 59_500.0, 159_000.0),
        metric("mae", "MAE", 31_200.0, 38_400.0, 118_000.0),
    ]
    edges = [60e3, 110e3, 150e3, 190e3, 230e3, 280e3, 330e3, 400e3, 500e3, 640e3, 1_900e3]
    sds = [18e3, 20e3, 22e3, 23e3, 27e3, 31e3, 38e3, 46e3, 64e3, 121e3]
    total = sum(sd * sd for sd in sds)
    bins = [
        records("low high n_rows sd sd_low sd_high share", (low, high, 146, sd, 0.85 * sd, 1.2 * sd, sd * sd / total))[
            0
        ]
        for low, high, sd in zip(edges[:-1], edges[1:], sds, strict=True)
    ]
    odd = [
        {
            "row": 524 + 61 * place,
            "label": label,
            "value": value,
            "predicted": 0.97 * mean,
            "neighbours_mean": mean,
            "score": score,
            "other_row": 1183 + place,
            "other_label": "745,000",
            "alike": [{"row": 1183 + place + k, "value": 745e3 - 20e3 * k} for k in range(5)],
            "values": ["Edwards", "5642", "2008", str(place)],
            "other_values": ["NoRidge", "4476", "1996", "3"],
        }
        for place, (label, value, mean, score) in enumerate(
            [("184,750", 184_750.0, 702_100.0, -7.9), ("160,000", 160e3, 633e3, -6.8), ("755,000", 755e3, 312e3, 6.1)]
        )
    ]
    line = [[200.0 * 1.1**step, 0.91 - 2.4 * (200.0 * 1.1**step) ** -0.53] for step in range(45)]
    return {
        "schema": "bayesfloor/summary/1",
        "task": "regression",
        "version": "0.1.0",
        "title": "houses.csv",
        "created": "2026-11-15 12:00 UTC",
        "answer": [
            "About 91.0% of the variance of SalePrice can be explained (95% range 83.0–94.0%); the best "
            "model tried explains 86.0% and is still improving with more rows.",
            "SalePrice predicted above 500,000 is where the noise is.",
        ],
        "verdict": NOTHING_FOUND | {"limit": limit("r2", 0.86, 0.91, 0.83, 0.94), "steps": [MORE_ROWS]},
        "goal": {"target": 0.9, "verdict": "undecided", "sentence": "90% lies inside the range."},
        "data": {
            "source": "houses.csv",
            "target": "SalePrice",
            "n_rows": 1460,
            "n_samples": 1463,
            "n_features": 210,
            "numbers": {"low": 34_900.0, "high": 755e3},
            "notes": ["'SalePrice' is read as a number, with 663 values from 34900 to 755000."],
            "cautions": ["3 rows have no price."],
            "columns": [
                column("OverallQual", 0.68, "number", "scaled"),
                column("Neighborhood", 0.55, "category", "one column of 0 and 1 for each of 25 values"),
                column("Id", None, "id", "left out: counts the rows"),
            ],
            "n_columns": 79,
            "columns_note": "What a column tells alone is the share of the variance that it can explain by itself.",
        },
        "findings": [
            {"code": "BF047", "sentence": "A few rows rule the variance.", "hint": "Look at the MAE as well."},
        ],
        "floor": metrics[0] | {"method": "learned", "confidence": 0.95, "n_rows": 1460},
        "metrics": metrics,
        "fast_model": None,
        "gap": None,
        "curve": {
            "points": records("size value", (1168.0, 0.86), (584.0, 0.83), (292.0, 0.79)),
            "line": line,
            "limit": 0.91,
            "low": 0.83,
            "high": 0.94,
            "note": "Twice as many rows would win about 1.5 points.",
        },
        "noise": {
            "sd": 47_700.0,
            "low": 39e3,
            "high": 65e3,
            "bins": bins,
            "sentence": "The 20.0% of the rows that are predicted above 500,000 have 72.0% of its variance.",
            "note": "Rows are put into bins by what the stack predicts for them.",
        },
        "learners": records("name weight", ("boosted trees", 0.61), ("ridge", 0.0)),
        "suspects": {
            "columns": ["Neighborhood", "GrLivArea", "YearBuilt", "rooms"],
            "columns_note": "Of 79 columns, the 4 in which such rows differ most are shown.",
            "row_word": "line",
            "rows": odd,
            "note": "Rows whose SalePrice fits least with that of the rows most like them.",
            "n_wrong": {"estimate": 2.9, "low": 0.6, "high": 8.1, "n_tested": 1460, "n_samples": 1460},
            "table": {
                "columns": ["line", "Neighborhood", "GrLivArea", "SalePrice", "suggested", "score"],
                "rows": [[each["row"], "NoRidge", "4316", each["label"], "702,000", each["score"]] for each in odd],
            },
        },
        "how_to_read": [{"heading": "The ceiling", "text": "The highest R² that any model can attain."}],
        "command": "bayesfloor report houses.csv --target SalePrice --seed 0",
        "seconds": 6.2,
    }


def shares() -> Summary:
    """Judged by the RMSE, values from below zero to above it, nothing found, no row to look at."""
    summary = houses()
    summary["metrics"] = [summary["metrics"][1], summary["metrics"][0], summary["metrics"][2]]
    summary["floor"] = summary["metrics"][0] | {"method": "learned", "confidence": 0.9, "n_rows": 1460}
    summary |= {"findings": [], "goal": None, "learners": []}
    summary["suspects"] |= {"rows": [], "note": "No row has a value that does not fit.", "columns_note": ""}
    summary["noise"]["bins"] = [
        each | {"low": each["low"] - 3e5, "high": each["high"] - 3e5} for each in summary["noise"]["bins"]
    ]
    summary["noise"]["bins"][3] |= {"high": summary["noise"]["bins"][3]["low"]}
    return summary


def hostile() -> Summary:
    """Every text of a summary is hostile, but for those that the program itself writes."""
    summary = houses()
    place = [0]

    def spoil(value: Any) -> Any:
        if isinstance(value, str):
            place[0] += 1
            return HOSTILE[place[0] % len(HOSTILE)]
        if isinstance(value, dict):
            return {key: spoil(each) for key, each in value.items()}
        return [spoil(each) for each in value] if isinstance(value, list) else value

    kept = ("task", "version", "floor", "curve", "how_to_read")
    spoiled = {key: value if key in kept else spoil(copy.deepcopy(value)) for key, value in summary.items()}
    spoiled["findings"][0]["code"] = "BF047"
    return spoiled


def with_gap() -> Summary:
    """A model that explains less than was reached."""
    summary = houses()
    summary["gap"] = sample_summary.with_gap()["gap"] | {
        "sentence": "Your model has an R² of 78.0%; 8.0 points more can surely be won (95% interval 5.1 to 10.9, "
        "p < .001), 5.0 beyond that perhaps.",
        "name": "Ridge",
        "metric": "r2",
        "title": "R²",
        "n_tested": 1460,
        "figures": records(
            "name value low high",
            ("your model", 0.78, 0.74, 0.82),
            ("stack of models", 0.86, 0.83, 0.89),
            ("the ceiling", 0.91, 0.83, 0.94),
        ),
        "sure": {"name": "more than the stack"} | span(0.08, 0.051, 0.109),
        "possible": {"name": "from there to the ceiling"} | span(0.05, 0.0, 0.08),
        "classes": [],
        "pairs": [],
        "n_pairs": 0,
    }
    return summary
