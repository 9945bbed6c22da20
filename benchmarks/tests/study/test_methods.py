"""Names of methods, and what they try."""

import pytest

from bayesfloor import LandmarkClassifier, LinearSVCCV, OneVsOneSVC, SmartSVC
from benchmarks.study.joint.crammer_singer import CrammerSingerSVC
from benchmarks.study.joint.gensvm_cv import GenSVCCV
from benchmarks.study.methods import METHOD_NAMES, find_method
from benchmarks.study.plan import LANDMARK_METHODS, PROFILES, Cell, Protocol, UnknownNameError, find_dataset, plan_cells

PAPER = Protocol()


def test_the_grid_of_the_paper():
    assert PAPER.values == tuple(2.0**power for power in range(-18, 20, 2))
    assert Protocol(n_values=7).values == tuple(2.0**power for power in range(-18, 20, 6))
    sizes = {name: find_method(name, PAPER).n_configurations for name in METHOD_NAMES}
    assert sizes == {
        "C&S": 19,
        "DAG": 19,
        "GenSVM": 342,
        "GenSVM19": 19,
        "OvO": 19,
        "OvR": 19,
        "SmartSVM": 19,
        "SmartSVM+": 19,
        "Landmarks": 1,
    }


@pytest.mark.parametrize("name", [name for name in METHOD_NAMES if name not in LANDMARK_METHODS])
def test_what_is_recorded_is_what_is_tried(name):
    method = find_method(name, PAPER)
    classifier = method.make(3)
    tried = classifier.grid if isinstance(classifier, GenSVCCV) else {"C": classifier.Cs}
    assert {key: tuple(values) for key, values in tried.items()} == method.grid
    assert (classifier.cv, classifier.random_state, classifier.n_jobs) == (10, 3, 1)
    for key, value in method.settings.items():
        assert getattr(classifier, key) == value


def test_which_classifier():
    kinds = {name: type(find_method(name, PAPER).make(0)) for name in METHOD_NAMES}
    assert kinds == {
        "C&S": CrammerSingerSVC,
        "DAG": OneVsOneSVC,
        "GenSVM": GenSVCCV,
        "GenSVM19": GenSVCCV,
        "OvO": OneVsOneSVC,
        "OvR": LinearSVCCV,
        "SmartSVM": SmartSVC,
        "SmartSVM+": SmartSVC,
        "Landmarks": LandmarkClassifier,
    }
    assert find_method("DAG", PAPER).make(0).decision == "dag"
    assert find_method("OvO", PAPER).make(0).decision == "vote"
    assert find_method("SmartSVM+", PAPER).make(0).routing == "soft"


@pytest.mark.parametrize(("name", "effort"), LANDMARK_METHODS.items())
def test_landmarks_choose_for_themselves(name, effort):
    method = find_method(name, PAPER)
    assert (method.grid, method.settings) == ({}, {"effort": effort})
    changed = {"effort": effort, "n_jobs": 1, "random_state": 3}
    assert method.make(3).get_params() == LandmarkClassifier().get_params() | changed


def test_methods_by_module():
    from sklearn.ensemble import RandomForestClassifier

    method = find_method("sklearn.ensemble:RandomForestClassifier", PAPER)
    assert isinstance(method.make(5), RandomForestClassifier)
    assert method.make(5).random_state == 5
    assert method.n_configurations == 1
    assert find_method("sklearn.neighbors:KNeighborsClassifier", PAPER).make(5).get_params()["n_neighbors"] == 5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("SmartSVN", "did you mean 'SmartSVM'"),
        ("sklearn.nosuch:X", r"no module 'sklearn.nosuch'"),
        ("sklearn.svm:SVX", "sklearn.svm has no 'SVX'"),
        ("sklearn.svm:SVR", "is not a classifier"),
        ("os:system", "is not a class"),
        ("sklearn.multiclass:OneVsOneClassifier", "without 'estimator'"),
        ("sklearn.svm:SVC()", "write it as"),
        ("../x:SVC", "write it as"),
    ],
)
def test_what_is_no_method(name, message):
    with pytest.raises(UnknownNameError, match=message):
        find_method(name, PAPER)


def test_small_sets_come_first():
    cells = plan_cells(["letter", "iris", "letter"], 2, ["OvO", "OvR"])
    assert cells[:4] == [Cell("iris", split, method) for split in (0, 1) for method in ("OvO", "OvR")]
    assert [cell.dataset for cell in cells] == ["iris"] * 4 + ["letter"] * 4


def test_fresh_splits_are_others():
    assert [cell.split for cell in plan_cells(["iris"], 2, ["OvO"], first_split=5)] == [5, 6]


def test_profiles():
    quick, standard, paper = (PROFILES[name] for name in ("quick", "standard", "paper"))
    assert (len(quick.datasets), quick.n_splits, quick.protocol.n_folds, quick.protocol.n_values) == (4, 2, 5, 7)
    assert (len(standard.datasets), standard.n_splits, standard.protocol.n_values) == (15, 2, 19)
    assert "fars" not in standard.datasets
    assert (len(paper.datasets), paper.n_splits, paper.protocol.n_folds, paper.protocol.n_values) == (16, 5, 10, 19)
    assert find_method("GenSVM", paper.protocol).n_configurations == 342
    for profile in PROFILES.values():
        assert [find_dataset(name) for name in profile.datasets] == list(profile.datasets)
        assert [find_method(name, profile.protocol).name for name in profile.methods] == list(profile.methods)


def test_names_of_sets():
    assert find_dataset("krkopt") == "kr-vs-k"
    with pytest.raises(UnknownNameError, match="did you mean 'segment'"):
        find_dataset("segmnt")
