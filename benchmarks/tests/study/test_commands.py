"""table, rank and figures, from records made by hand."""

import json

import pytest

from benchmarks.study.records import write_record
from benchmarks.tests.study.made_records import made_record


@pytest.fixture
def folder(tmp_path):
    """Three sets, three methods, two splits."""
    for row, dataset in enumerate(("flare", "segment", "yeast")):
        for column, method in enumerate(("OvO", "OvR", "SmartSVM")):
            for split in (0, 1):
                record = made_record(dataset, method, split, ari=(3 * row + column) / 10, seconds=1.0 + column)
                write_record(tmp_path / "study", record)
    return tmp_path / "study"


def test_table(run, folder):
    outcome = run("table", "study")
    assert outcome.code == 0
    assert "| segment | 0.3000 (0.8982) | 0.4000 (0.8354) | <u>0.5000</u> (<u>0.8986</u>) |" in outcome.out
    assert "SmartSVM beats OvO in ARI: 3 of 3 sets (the paper's tables: 2 of 16): flare, segment, yeast." in outcome.out
    files = {file.name for file in (folder / "tables").iterdir()}
    names = ("table1_data_sets", "table2_total_time", "table3_ari", "table4_time_per_configuration")
    assert files == {f"{name}.{ending}" for name in names for ending in ("md", "csv", "tex")} | {"comparison.md"}
    assert r"\begin{tabular}" in run("table", "study", "--format", "latex").out
    assert run("table", "study", "--format", "csv").out.startswith("data set,rows,")
    chosen = run("table", "study", "--methods", "OvR", "--datasets", "yeast", "--json")
    tables = json.loads(chosen.out)["result"]["tables"]
    assert [list(row) for row in tables[2]["rows"]] == [["name", "OvR"]]
    assert run("table", "study", "--datasets", "yeats").code == 2


def test_rank(run, folder):
    outcome = run("rank", "study")
    assert outcome.code == 0
    assert "## Ranks by adjusted Rand index: 3 methods, 3 data sets" in outcome.out
    assert "| SmartSVM | 1.00 |" in outcome.out
    ranked = json.loads(run("rank", "study", "--json").out)["result"]["rankings"]
    assert ranked[0]["average_ranks"] == {"OvO": 3.0, "OvR": 2.0, "SmartSVM": 1.0}
    assert ranked[1]["average_ranks"] == {"OvO": 1.0, "OvR": 2.0, "SmartSVM": 3.0}
    assert run("rank", "study", "--datasets", "yeast").code == 3


def test_figures(run, folder):
    outcome = run("figures", "study", "--methods", "OvO", "SmartSVM")
    assert outcome.code == 0
    assert (folder / "figures" / "ranks_ari_2_methods.png").stat().st_size > 5000
    assert "ranks_ari_2_methods.png" in (folder / "figures" / "index.md").read_text()


def test_mixed_records_are_refused(run, folder):
    write_record(folder, made_record("iris", "OvO", n_folds=5))
    outcome = run("table", "study")
    assert outcome.code == 3
    assert "different protocols" in outcome.err
