"""Summaries of reports on numbers: the canonical one with small edits, and the ends of what is possible."""

from helpers.sample_summary import Summary, made, records, span, spoilt


def houses() -> Summary:
    """Prices, with a row to look at and figures that are known to the last digit."""
    summary = made("numbers") | {"title": "houses.csv", "gap": None}
    # a shorter first screen than the canonical one
    summary["answer"], summary["verdict"]["steps"] = summary["answer"][:2], summary["verdict"]["steps"][-1:]
    summary["goal"]["sentence"] = "90% lies inside the range."
    summary["data"]["numbers"] = {"low": 34_900.0, "high": 755e3}
    summary["findings"] = records("code sentence hint", ("BF047", "A few rows rule the variance.", "Look at the MAE."))
    summary["metrics"][0] |= {"estimate": 0.91, "low": 0.83, "high": 0.94, "reached": span(0.86, 0.83, 0.89)}
    summary["metrics"][1] |= {"estimate": 47_700.0, "low": 43e3, "high": 65e3, "baseline": 159e3}
    summary["metrics"][1]["reached"] = span(59_500.0, 55e3, 64e3)
    summary["floor"] |= summary["metrics"][0]
    summary["curve"] |= {
        "points": records("size value", (1168.0, 0.86), (584.0, 0.83), (292.0, 0.79)),
        "line": [[200.0 * 1.1**step, 0.91 - 2.4 * (200.0 * 1.1**step) ** -0.53] for step in range(45)],
        "limit": 0.91,
        "low": 0.83,
        "high": 0.94,
    }
    return summary


def shares() -> Summary:
    """Judged by the RMSE, values from below zero to above it, nothing found, no row to look at."""
    summary = houses()
    summary["metrics"] = [summary["metrics"][1], summary["metrics"][0], summary["metrics"][2]]
    summary["floor"] |= summary["metrics"][0]
    summary |= {"findings": [], "goal": None, "learners": [], "how_to_read": summary["how_to_read"][:1]}
    summary["suspects"] |= {"rows": [], "note": "No row has a value that does not fit.", "columns_note": ""}
    for each in summary["noise"]["bins"]:
        each |= {"low": each["low"] - 10.0, "high": each["high"] - 10.0}
    summary["noise"]["bins"][3] |= {"high": summary["noise"]["bins"][3]["low"]}
    return summary


def hostile() -> Summary:
    """Every text is hostile, but for those that the program itself writes."""
    summary = spoilt(houses(), ("task", "version", "floor", "curve", "how_to_read"))
    summary["findings"][0]["code"] = "BF047"
    return summary


def with_gap() -> Summary:
    """A model that explains less than was reached."""
    return houses() | {"gap": made("numbers")["gap"]}
