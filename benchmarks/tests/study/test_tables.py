"""Tables from records made by hand."""

import csv
import io
import re
from pathlib import Path

import pytest

from benchmarks.study import paper_figures
from benchmarks.study.comparison import describe_comparison, notable_differences, tally
from benchmarks.study.plan import PAPER_METHODS, PAPER_SETS
from benchmarks.study.summary import MixedProtocolsError, summarise
from benchmarks.study.table_formats import format_sheet, latex
from benchmarks.study.tables import make_sheets, written
from benchmarks.tests.study.made_records import made_record, over_budget

SHARED = Path(__file__).resolve().parents[4] / "shared"


def sheet_of(records, name):
    return next(sheet for sheet in make_sheets(summarise(records)) if sheet.name.startswith(name))


def test_means_by_hand():
    records = [
        made_record("segment", "OvO", 0, ari=0.5, seconds=1.0),
        made_record("segment", "OvO", 1, ari=0.75, seconds=3.8),
        made_record("segment", "OvR", 0, ari=0.25, seconds=0.5),
        made_record("segment", "OvR", 1, ari=0.5, seconds=0.7),
    ]
    summary = summarise(records)
    assert summary.value("segment", "OvO", "ari") == 0.625
    assert summary.value("segment", "OvO", "accuracy") == 0.3125
    assert summary.value("segment", "OvO", "seconds") == pytest.approx(2.4)
    assert summary.value("segment", "OvO", "seconds_per_configuration") == pytest.approx(2.4 / 19)
    assert summarise(records, time="wall").value("segment", "OvO", "seconds") == pytest.approx(4.8)
    lines = format_sheet(sheet_of(records, "table3"), "md").splitlines()
    assert lines[2] == "| data set | OvO | OvR |"
    # the paper: .8982 and .8354
    assert lines[4] == "| segment | <u>0.6250</u> (<u>0.8982</u>) | 0.3750 (0.8354) |"
    assert "Means over 2 splits" in lines[6]
    assert "| segment | 2.40 (<u>7</u>) | <u>0.600</u> (18.7) |" in format_sheet(sheet_of(records, "table2"), "md")
    assert "| segment | 0.126 (<u>0.37</u>) | <u>0.0316</u> (0.985) |" in format_sheet(
        sheet_of(records, "table4"), "md"
    )


def test_table_1():
    text = format_sheet(sheet_of([made_record("yeast", "OvO"), made_record("iris", "OvO")], "table1"), "md")
    assert "| yeast | 1479 (1479) | 8 (8) | 9 (9) | 20 (20) | 463 (463) |" in text
    assert "| iris | 150 | 4 | 3 | 50 | 50 |" in text


def test_what_is_missing_is_shown_as_such():
    records = [
        made_record("yeast", "OvO", 0),
        made_record("yeast", "OvO", 1),
        made_record("yeast", "OvR", 0),
        over_budget("yeast", "C&S", 0, budget=900.0),
        made_record("flare", "OvO", 0),
    ]
    text = format_sheet(sheet_of(records, "table3"), "md")
    assert "> 900 s (<u>0.2595</u>)" in text
    assert "0.5000 [1] (0.2433)" in text or "<u>0.5000</u> [1] (0.2433)" in text
    flare = next(line for line in text.splitlines() if line.startswith("| flare"))
    assert flare.count("–") == 2
    assert "longer than that budget" in text
    assert "not measured" in text
    summary = summarise(records)
    assert summary.is_complete("yeast", ["OvO"])
    assert not summary.is_complete("yeast", ["OvO", "OvR"])
    assert not summary.is_complete("yeast", ["OvO", "C&S"])


def test_a_smaller_grid_stands_in():
    records = [
        made_record("yeast", "OvO", ari=0.1, seconds=5.0),
        over_budget("yeast", "GenSVM"),
        made_record("yeast", "GenSVM19", ari=0.9, seconds=1.0, n_configurations=19),
        made_record("flare", "GenSVM", ari=0.3),
        made_record("flare", "GenSVM19", ari=0.9, n_configurations=19),
    ]
    text = format_sheet(sheet_of(records, "table3"), "md")
    assert "<u>0.9000</u>† (0.2521)" in text
    assert "0.3000" in text  # where the full grid has a result, it counts
    assert "GenSVM over λ only" in text
    times = format_sheet(sheet_of(records, "table2"), "md")
    assert "| yeast | 1.00† (1138) | <u>5.00</u> (<u>15.3</u>) |" in times  # less work is no victory
    assert not summarise(records).is_complete("yeast", ["GenSVM"], full_grids=True)
    assert summarise(records).is_complete("yeast", ["GenSVM"])


def test_the_best_of_the_papers_methods_and_of_all():
    records = [
        made_record("yeast", method, ari=ari)
        for method, ari in (("OvO", 0.3), ("OvR", 0.2), ("SmartSVM+", 0.4), ("sklearn.svm:SVC", 0.1))
    ]
    text = format_sheet(sheet_of(records, "table3"), "md")
    assert "| <u>0.3000</u> (<u>0.2587</u>) | 0.2000 (0.2433) | <u>0.4000</u> | 0.1000 |" in text


def test_csv_and_latex():
    records = [made_record("wine_red", "C&S", ari=1.0), made_record("wine_red", "OvR", ari=0.5)]
    rows = list(csv.DictReader(io.StringIO(format_sheet(sheet_of(records, "table3"), "csv"))))
    assert rows == [
        {
            "data set": "wine_red",
            "C&S": "1.0000",
            "C&S (paper)": "1.0000",
            "C&S (note)": "best",
            "OvR": "0.5000",
            "OvR (paper)": "0.8369",
            "OvR (note)": "",
        }
    ]
    text = format_sheet(sheet_of(records, "table3"), "tex")
    assert r"data set & C\&S & OvR \\" in text
    assert r"wine\_red & \underline{1.0000} (\underline{1.0000}) & 0.5000 (0.8369) \\" in text
    assert text.count("{tabular}") == 2
    assert latex("50% of a_b & {c}") == r"50\% of a\_b \& \{c\}"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.00123456, "0.00123"), (0.0999, "0.0999"), (1.0, "1.00"), (12.34, "12.3"), (999.4, "999"), (12345.6, "12346")],
)
def test_times_have_three_digits(value, text):
    assert written(value, "seconds") == text


def test_protocols_are_not_mixed():
    with pytest.raises(MixedProtocolsError, match="different protocols"):
        summarise([made_record("iris", "OvO"), made_record("wine", "OvO", n_folds=5)])
    with pytest.raises(MixedProtocolsError, match="different protocols"):
        summarise([made_record("iris", "OvO"), made_record("wine", "OvO", n_configurations=7)])
    summarise([made_record("iris", "OvO"), made_record("iris", "GenSVM", n_configurations=342)])


def test_the_paper_counts_what_its_text_says():
    """Our counting, given the paper's own figures, finds the paper's claims; its text says 3 for OvO, its table 2."""
    records = [
        made_record(dataset, method, ari=paper_figures.ARI[dataset][place], seconds=seconds)
        for dataset in PAPER_SETS
        for place, (method, seconds) in enumerate(zip(PAPER_METHODS, paper_figures.TOTAL_SECONDS[dataset], strict=True))
    ]
    summary = summarise(records)
    fastest, beats_ovo, beats_ovr = tally(summary)
    assert (len(fastest.sets), fastest.n_sets, fastest.n_in_paper) == (10, 16, 10)
    assert (len(beats_ovo.sets), beats_ovo.n_in_paper) == (2, 2)
    assert (len(beats_ovr.sets), beats_ovr.n_in_paper) == (10, 10)
    assert beats_ovo.sets == ("flare", "segment")
    assert notable_differences(summary) == ()


def test_counting_without_leaks_and_for_another_method():
    figures = {"DAG": (0.4, 2.0), "OvO": (0.5, 2.0), "OvR": (0.4, 2.0), "SmartSVM": (0.45, 3.0)}
    figures["SmartSVM+"] = (0.6, 1.0)
    records = [
        made_record(dataset, method, ari=ari, seconds=seconds)
        for dataset in ("wine_red", "wine_red_noleak", "yeast")
        for method, (ari, seconds) in figures.items()
    ]
    text = describe_comparison(summarise(records))
    assert "- SmartSVM is fastest: 0 of 2 sets (the paper's tables: 10 of 16).\n" in text
    assert "- SmartSVM beats OvR in ARI: 2 of 2 sets: wine_red_noleak, yeast.\n" in text
    assert "- SmartSVM+ is fastest: 2 of 2 sets: wine_red, yeast.\n" in text
    assert "- SmartSVM+ beats SmartSVM in ARI: 2 of 2 sets: wine_red, yeast.\n" in text


def test_notable_differences():
    records = [made_record("yeast", "OvO", ari=0.2587 + 0.04), made_record("flare", "OvO", ari=0.6496 - 0.02)]
    (found,) = notable_differences(summarise(records))
    assert (found.dataset, found.method, found.paper) == ("yeast", "OvO", 0.2587)


@pytest.mark.skipif(not (SHARED / "paper.tex").is_file(), reason="no shared/paper.tex beside the repository")
@pytest.mark.parametrize(
    ("label", "table"),
    [
        ("tab:mdatasets", paper_figures.DATA_SETS),
        ("tab:total_time", paper_figures.TOTAL_SECONDS),
        ("tab:pred_perf_ari", paper_figures.ARI),
        ("tab:mich_avg_time", paper_figures.SECONDS_PER_CONFIGURATION),
    ],
)
def test_figures_are_those_of_the_paper(label, table):
    text = (SHARED / "paper.tex").read_text(encoding="utf-8")
    body = text[text.index(f"\\label{{{label}}}") :].split("\\hline")[1]
    names = {"krkopt": "kr-vs-k", "winered": "wine_red", "winewhite": "wine_white"}
    rows = {}
    for line in body.split("\\\\"):
        cells = [cell.strip() for cell in re.sub(r"\\underline\{(.*?)\}", r"\1", line).split("&")]
        if len(cells) > 1:
            name = cells[0].rstrip("*").replace(" ", "_")
            rows[names.get(name, name)] = tuple(map(float, cells[1:]))
    assert len(rows) == 16
    assert rows == table
