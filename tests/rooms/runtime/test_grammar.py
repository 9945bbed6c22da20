"""One grammar: a parameter means the same, and has the same default, in every public function and estimator."""

import inspect
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import bayesfloor
from bayesfloor import results
from bayesfloor.runtime.checks import ParameterError, check_float, check_int, check_option
from helpers.one_case import for_each

DEFAULTS = {
    "n_jobs": None,
    "random_state": 0,
    "confidence": 0.95,
    "progress": False,
    "device": "auto",
    "client": None,
    "max_rows": None,
    "n_trees": 3,
    "sample_weight": None,
    "groups": None,
    "metric": "error",
    "checks": True,
    "costs": None,
    "positive": None,
    "time": None,
    "y": None,
}

#: Whoever has the first has the others too.
TOGETHER = {"n_trees": {"n_jobs", "random_state"}, "client": {"device", "n_jobs"}, "device": {"client", "n_jobs"}}


def public(kind, module=bayesfloor):
    return {name: obj for name in module.__all__ if kind(obj := getattr(module, name))}


RECORDS = public(is_dataclass, results)
ESTIMATORS = public(lambda obj: inspect.isclass(obj) and hasattr(obj, "get_params"))
FUNCTIONS = public(inspect.isfunction)
CALLED = {name: inspect.signature(obj).parameters for name, obj in (FUNCTIONS | ESTIMATORS).items()}


def test_a_parameter_has_one_default():
    assert len(CALLED) > 25
    others = {
        f"{name}({parameter})": found.default
        for name, parameters in CALLED.items()
        for parameter, found in parameters.items()
        if parameter in DEFAULTS and found.default != DEFAULTS[parameter]
    }
    # numbers have no error rate, and a report is on either
    assert others == {
        "regression_floor(metric)": "r2",
        "difficulty_report(metric)": None,
        "floor_gap(metric)": None,
        "compare_features(metric)": None,
    }


def test_parameters_that_belong_together_come_together():
    # nodes run on a cluster through joblib's backend, and learners on no GPU
    exceptions = {"HierarchicalClassifier", "LandmarkClassifier", "SmartSVC", "floor_gap"}
    exceptions |= {"difficulty_report", "learned_floor", "regression_floor", "StackedClassifier", "StackedRegressor"}
    missing = {
        f"{name}({parameter})": lacking
        for name, parameters in CALLED.items()
        for parameter, others in TOGETHER.items()
        if parameter in parameters and name not in exceptions and (lacking := others - parameters.keys())
    }
    assert missing == {}


def test_functions_of_data_take_keywords_only():
    for name, function in FUNCTIONS.items():
        parameters = list(inspect.signature(function).parameters.values())
        first = parameters[0].name
        data = (first, "X", "y") if first in ("X", "P", "model", "features") else (first, "classes", "new")
        positional = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
        assert set(positional) <= set(data), name


def test_records_say_how_many_rows_were_given_and_used():
    names = {name: {field.name for field in fields(record)} for name, record in RECORDS.items()}
    assert not {name for name, known in names.items() if known & {"n_rows_given", "n_rows_read", "n_given"}}
    assert {name for name, known in names.items() if "n_rows" in known and "n_samples" not in known} == set()


@for_each("bad", ["1", 1.5, None, True, 0, -3, [1]])
def test_one_sentence_for_an_int(bad):
    with pytest.raises(ParameterError, match=r"'n' parameter must be an int in the range \[1, inf\)\. Got .+ instead"):
        check_int("n", bad)
    assert check_int("n", np.int8(3)) == 3


@for_each("allowed, good, bad", [("(0, 1)", 0.5, 1), ("[0, 1]", 1, -1e-9), ("(-1, inf)", 7.0, -1)])
def test_one_sentence_for_a_float(allowed, good, bad):
    assert check_float("x", good, allowed) == good
    for value in (bad, float("nan"), "0.5", True, None):
        with pytest.raises(ParameterError, match="The 'x' parameter must be a float in the range"):
            check_float("x", value, allowed)


def test_one_sentence_for_a_word():
    assert check_option("how", "hard", ("hard", "soft")) == "hard"
    assert check_option("how", None, ("mean", None)) is None
    for value in ("Hard", 1, None, True, ["hard"], np.array(["hard", "soft"])):
        with pytest.raises(ParameterError, match=r"The 'how' parameter must be one of 'hard', 'soft'\. Got"):
            check_option("how", value, ("hard", "soft"))


def test_a_wrong_parameter_is_a_value_error_and_a_type_error():
    assert issubclass(ParameterError, ValueError)
    assert issubclass(ParameterError, TypeError)
