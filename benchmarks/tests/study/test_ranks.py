"""Ranks and tests, beside scipy and published tables; pictures of them."""

import matplotlib.image
import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from benchmarks.study.figures import draw_all, draw_ranks
from benchmarks.study.gallery import ELSEWHERE, write_gallery
from benchmarks.study.plan import PAPER_SETS
from benchmarks.study.rank_report import ranking_to_markdown, rankings_to_csv
from benchmarks.study.ranks import all_rankings, default_groups, holm, nemenyi_difference, rank_methods
from benchmarks.study.summary import summarise
from benchmarks.tests.study.made_records import made_record, over_budget

SETS = ["abalone", "flare", "letter", "nursery", "segment", "shuttle", "yeast", "texture"]
METHODS = ["DAG", "OvO", "OvR", "SmartSVM"]


@pytest.fixture
def values():
    return np.round(np.random.default_rng(0).uniform(0.2, 0.9, (len(SETS), len(METHODS))), 1)  # with ties


@pytest.fixture
def summary(values):
    return summarise(
        made_record(dataset, method, ari=values[row, column], seconds=values[row, column] ** 2)
        for row, dataset in enumerate(SETS)
        for column, method in enumerate(METHODS)
    )


def test_ranks_are_those_of_scipy(summary, values):
    ranking = rank_methods(summary, "ari")
    assert ranking.methods == tuple(METHODS)
    rows = [SETS.index(name) for name in ranking.datasets]
    expected = np.array([rankdata(-values[row]) for row in rows])
    np.testing.assert_array_equal(ranking.ranks, expected)
    np.testing.assert_allclose(ranking.average, expected.mean(axis=0))
    friedman = friedmanchisquare(*values.T)
    assert (ranking.friedman, ranking.friedman_p) == pytest.approx((friedman.statistic, friedman.pvalue))
    by_pair = {(test.first, test.second): test for test in ranking.tests}
    assert len(by_pair) == 6
    test = by_pair["DAG", "OvR"]
    ordered = values[rows]
    assert test.p_value == pytest.approx(wilcoxon(ordered[:, 0], ordered[:, 2]).pvalue)
    assert test.first_wins == np.count_nonzero(ordered[:, 0] > ordered[:, 2])
    assert test.second_wins == np.count_nonzero(ordered[:, 0] < ordered[:, 2])


def test_less_time_is_better(summary, values):
    by_time, by_ari = rank_methods(summary, "seconds"), rank_methods(summary, "ari")
    np.testing.assert_allclose(by_time.ranks, len(METHODS) + 1 - by_ari.ranks)


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949)])
def test_critical_difference_beside_the_table_of_demsar(n_methods, q):
    expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * 16))
    assert nemenyi_difference(n_methods, 16) == pytest.approx(expected, rel=1e-3)


def test_holm_by_hand():
    # sorted .01 .02 .03 .04: times 4, 3, 2, 1, and never falling
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.03, 0.02])), [0.06, 0.04, 0.06, 0.06])
    np.testing.assert_allclose(holm(np.array([0.9, 0.8])), [1.0, 1.0])


def test_only_complete_rows_count(summary):
    records = [
        made_record(dataset, method, ari=0.5)
        for dataset in ("abalone", "flare", "yeast")
        for method in ("OvO", "SmartSVM")
    ]
    records += [made_record("abalone", "GenSVM", ari=0.5, n_configurations=342)]
    records += [made_record("flare", "GenSVM", ari=0.4, n_configurations=342), over_budget("yeast", "GenSVM")]
    records[-1] = over_budget("yeast", "GenSVM", n_configurations=342)
    found = summarise(records)
    assert default_groups(found, "ari") == (("GenSVM", "OvO", "SmartSVM"), ("OvO", "SmartSVM"))
    assert rank_methods(found, "ari").datasets == ("abalone", "flare")
    assert rank_methods(found, "ari", ("OvO", "SmartSVM")).datasets == ("abalone", "flare", "yeast")
    everything_tied = rank_methods(found, "ari", ("OvO", "SmartSVM"))
    assert everything_tied.tests[0].p_value == 1.0
    assert "needs three methods" in ranking_to_markdown(everything_tied)
    assert default_groups(summary, "ari") == (tuple(METHODS),)


def test_a_set_that_is_being_measured_does_not_stand_in_the_way():
    records = [made_record(dataset, method) for dataset in ("abalone", "flare", "yeast") for method in ("OvO", "OvR")]
    records += [made_record("abalone", "DAG"), made_record("fars", "OvO", 0), made_record("fars", "OvO", 1)]
    records += [made_record("fars", "OvR", 0)]
    assert default_groups(summarise(records), "ari") == (("DAG", "OvO", "OvR"), ("OvO", "OvR"))


def test_the_total_time_of_a_smaller_grid_is_not_ranked():
    records = [
        made_record(dataset, method, n_configurations=19)
        for dataset in ("flare", "yeast")
        for method in ("GenSVM19", "OvO", "SmartSVM")
    ]
    ranked = {ranking.measure: ranking.methods for ranking in all_rankings(summarise(records))}
    assert ranked == {
        "ari": ("GenSVM", "OvO", "SmartSVM"),
        "seconds": ("OvO", "SmartSVM"),
        "seconds_per_configuration": ("GenSVM", "OvO", "SmartSVM"),
    }


def test_a_set_without_its_leak_does_not_count_twice():
    records = [
        made_record(dataset, method, ari=0.5)
        for dataset in ("wine_red", "wine_white", "wine_red_noleak")
        for method in ("OvO", "SmartSVM")
    ]
    found = summarise(records)
    assert rank_methods(found, "ari").datasets == ("wine_red", "wine_white")
    chosen = ("wine_red_noleak", "wine_white")
    assert rank_methods(found, "ari", datasets=chosen).datasets == chosen


def test_reports(summary):
    ranking = rank_methods(summary, "ari")
    text = ranking_to_markdown(ranking)
    best = ranking.methods[int(np.argmin(ranking.average))]
    assert text.splitlines()[4] == f"| {best} | {ranking.average.min():.2f} |"
    assert "8 data sets" in text
    assert len(rankings_to_csv([ranking]).splitlines()) == 1 + len(SETS) * len(METHODS)


@pytest.mark.parametrize(("n_sets", "expected"), [(2, "4.00, p = 0.14."), (12, "24.00, p < 0.0001.")])
def test_the_p_value_of_methods_that_always_come_in_one_order(n_sets, expected):
    # For 3 methods Friedman's statistic is then twice the number of sets, and p = exp(-statistic / 2).
    records = [
        made_record(dataset, method, ari=ari)
        for dataset in PAPER_SETS[:n_sets]
        for method, ari in (("DAG", 0.1), ("OvO", 0.2), ("OvR", 0.3))
    ]
    assert f"statistic {expected}" in ranking_to_markdown(rank_methods(summarise(records), "ari"))


def test_pictures(summary, tmp_path):
    drawn = draw_all(summary, tmp_path)
    assert {name for name, _ in drawn} == {
        "ranks_ari_4_methods.png",
        "ranks_seconds_4_methods.png",
        "ranks_seconds_per_configuration_4_methods.png",
        "ari_beside_paper.png",
        "seconds_beside_smartsvm.png",
    }
    for name, _ in drawn:
        picture = matplotlib.image.imread(tmp_path / name)
        assert min(picture.shape[:2]) > 200
        assert picture[:, :, :3].std() > 0.02  # not blank
    images = tmp_path / "elsewhere" / "docs" / "images"
    images.mkdir(parents=True)
    (images / ELSEWHERE[0][0]).write_bytes(b"a picture")
    page = write_gallery(tmp_path, drawn, images).read_text()
    assert (tmp_path / ELSEWHERE[0][0]).read_bytes() == b"a picture"
    assert page.count("![") == len(drawn) + 1


@pytest.mark.parametrize("n_methods", [2, 7])
def test_labels_of_rank_plots_do_not_overlap(n_methods):
    """Also when all ranks are nearly the same."""
    methods = ["C&S", "DAG", "GenSVM", "OvO", "OvR", "SmartSVM", "SmartSVM+"][:n_methods]
    records = [
        made_record(dataset, method, ari=(row + column) % n_methods / 10)
        for row, dataset in enumerate(SETS[:n_methods])
        for column, method in enumerate(methods)
    ]
    figure = draw_ranks(rank_methods(summarise(records), "ari"))
    figure.draw_without_rendering()
    (ax,) = figure.axes
    texts = [*ax.texts, ax.title, *figure.texts]
    assert len(ax.texts) == n_methods + 1
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    for number, box in enumerate(boxes):
        assert figure.bbox.containsx(box.x0)
        assert figure.bbox.containsx(box.x1)
        for other in boxes[:number]:
            assert not box.overlaps(other)
