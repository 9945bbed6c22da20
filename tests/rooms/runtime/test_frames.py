"""Every `.frame()` is a data frame of the library that the caller's own data came in."""

import copy
import json
import pickle
from collections.abc import Mapping
from html import escape as html_escape
from html.parser import HTMLParser

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayesfloor as bf
from bayesfloor import display
from bayesfloor.runtime.frames import Framed, data_frame
from helpers.one_case import for_each

pytestmark = pytest.mark.limits(learners=("gaussian", "linear"))

FEW_JOBS = {"n_jobs": 1}
LABELS = ["<script>", "v", "w"]
#: What a small table is made of; none of these loads or runs anything.
TAGS = {"div", "p", "code", "table", "thead", "tbody", "tr", "th", "td"}
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.Table}
mpl.use("Agg")
FEW = {"learners": ["gaussian"], "n_jobs": 1}


def columns():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 3)) + np.outer(y, [2.0, 1.0, 0.0])
    site = np.array(["north", "south"], dtype=object)[np.arange(60) // 3 % 2]
    return {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}, np.array(LABELS)[y], site


def make(kind, of):
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind](of)


def results(frame):
    """One result of every function, from the same rows as `frame` makes them of columns."""
    numbers, y, site = columns()
    X, target = frame(numbers), numbers["a"] + numbers["c"]
    votes = {
        "row": np.repeat(np.arange(30), 3),
        "who": np.tile(["p", "q", "r"], 30),
        "label": np.tile(list("aabbbb"), 15),
    }
    shares = np.abs(np.column_stack(list(numbers.values()))) + 0.1
    shares = dict(zip(LABELS, (shares / shares.sum(axis=1)[:, None]).T, strict=True))
    named = frame(numbers | {"site": site, "kind": y})
    floor = bf.learned_floor(named, "kind", by="site", metric=["roc_auc"], costs=1 - np.eye(3), **FEW)
    pairs, forests = bf.pairwise_bayes_error(X, y), bf.class_forests(X, y)
    estimator = bf.BayesErrorEstimator().fit(X, y)
    return {
        "Table": bf.read_table(named, target="kind"),
        "learned_floor": floor,
        "rows_for": floor.rows_for(0.9),
        "floor_gap": bf.floor_gap(None, X, y, predictions=np.roll(y, 3), **FEW_JOBS),
        "regression_floor": bf.regression_floor(X, target, learners=["linear"], checks=False, n_jobs=1),
        "bayes_error": bf.bayes_error(X=X, y=y),
        "pairwise_bayes_error": pairs,
        "one_vs_rest_bayes_error": bf.one_vs_rest_bayes_error(X, y),
        "of a Table": bf.one_vs_rest_bayes_error(bf.read_table(named, target="kind")),
        "henze_penrose_divergence": bf.henze_penrose_divergence(X, y),
        "build_class_tree": bf.build_class_tree(frame(dict(zip("uvw", pairs.normalized, strict=True))), LABELS),
        "vote_floor": bf.vote_floor(frame(votes), rows="row", annotators="who", labels="label"),
        "soft_label_floor": bf.soft_label_floor(frame(shares)),
        "spanning_forests": bf.spanning_forests(X),
        "class_forests": [forests, forests.whole, forests.pair("w", "v")],
        "compare_features": bf.compare_features({"raw": "passthrough"}, y, X=X, learners=None),
        "drift": bf.drift(named[:30], named[30:], y="kind", learners=None),
        "bayes_cost_matrix": bf.bayes_cost_matrix(X, y),
        "difficulty_report": bf.difficulty_report(named, "kind", effort="fast"),
        "report on numbers": bf.difficulty_report(X, target),
        "BayesErrorEstimator": [estimator.bayes_error_, estimator.one_vs_rest_bayes_error_],
        "partial_fit": bf.BayesErrorEstimator().partial_fit(X, y).pairwise_bayes_error_,
        "FloorSelector": bf.FloorSelector(1).fit(X, y).path_,
        "FloorSelector of numbers": bf.FloorSelector(1).fit(X, target).path_,
        "StackedClassifier": bf.StackedClassifier(**FEW).fit(X, y).held_out_,
        "SmartSVC": bf.SmartSVC(1.0).fit(X, y).tree_,
        "HierarchicalClassifier": bf.HierarchicalClassifier().fit(X, y).tree_,
    }


def inside(found):
    """A result and all results that it holds."""
    if isinstance(found, Framed):
        yield found
        found = vars(found)
    if isinstance(found, Mapping | list | tuple):
        for each in found.values() if isinstance(found, Mapping) else found:
            yield from inside(each)


def frames_of(found):
    for each in inside(found):
        if hasattr(each, "frame"):
            yield each, each.frame()


class Tags(HTMLParser):
    """The tags of a piece of HTML, and that they are closed in order."""

    def __init__(self):
        super().__init__()
        self.seen, self.open = set(), []

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check_html(result):
    if type(result).__name__.endswith(("Display", "Report")):
        return  # a page of its own, and pictures
    parser, html = Tags(), result._repr_html_()
    parser.feed(html)
    assert parser.open == []
    assert parser.seen <= TAGS
    assert len(html) < 20_000
    assert "http" not in html
    assert "style=" in html


def every_kind_of_result(kind=Framed):
    """The classes that results and pictures are of: those from which no other is derived."""
    below = [each for direct in kind.__subclasses__() for each in every_kind_of_result(direct)]
    return below or [kind] * kind.__module__.startswith("bayesfloor.")


def test_all_frames_are_of_the_callers_library():
    seen = set()
    for name, found in results(pl.DataFrame).items():
        frames = list(frames_of(found))
        if hasattr(found, "plot"):
            frames += frames_of(found.plot())
            plt.close("all")
        assert frames, name
        assert {type(frame) for _, frame in frames} == {pl.DataFrame}, name
        for each in inside(found):
            check_html(each)
            if hasattr(each, "to_dict"):
                json.dumps(each.to_dict(), allow_nan=False)
        seen |= {type(each) for each, _ in frames}
    # pictures of parts of a result
    drawn = {display.SubgroupsDisplay, display.NoiseProfileDisplay}
    assert set(every_kind_of_result()) - seen == drawn


@for_each("kind", KINDS)
def test_frames_of_each_library(kind):
    numbers, y, site = columns()
    floor = bf.pairwise_bayes_error(make(kind, numbers), y)
    votes = make(kind, {"row": np.arange(40) // 2, "who": list("pq") * 20, "label": list("aabb" + "baab") * 5})
    table = bf.read_table(make(kind, numbers | {"site": site, "kind": y}), target="kind")
    found = [floor, bf.vote_floor(votes, rows="row", annotators="who", labels="label"), table]
    found += [pickle.loads(pickle.dumps(floor)), copy.copy(floor), copy.deepcopy(floor)]
    assert [type(made.frame()) for made in found] == [KINDS[kind]] * len(found)
    assert repr(found[-1]) == repr(floor)


def test_the_library_of_arrays_files_and_second_fits(tmp_path):
    numbers, y, _ = columns()
    X = np.column_stack(list(numbers.values()))
    assert type(bf.bayes_error(X, y).frame()) is pd.DataFrame
    (tmp_path / "t.csv").write_text("x,kind\n1,a\n2,b\n3,a\n")
    assert type(bf.read_table(tmp_path / "t.csv").frame()) is pd.DataFrame

    class Own(pd.DataFrame):
        columns_of_interest = ()

    numbers, y, _ = columns()
    selector = bf.FloorSelector(1)
    assert type(selector.fit(pl.DataFrame(numbers), y).path_.frame()) is pl.DataFrame
    assert type(selector.fit(Own(numbers), y).path_.frame()) is pd.DataFrame


def test_a_library_that_is_missing(monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr("bayesfloor.runtime.frames.import_module", refuse)
    with pytest.raises(ImportError, match=r"frame\(\) needs pandas or polars: pip install pandas"):
        data_frame({"a": [1]})
    with pytest.raises(ImportError, match=r"frame\(\) needs pyarrow: pip install pyarrow"):
        data_frame({"a": [1]}, "pyarrow")


def test_what_a_notebook_shows():
    numbers, y, site = columns()
    hostile = pd.DataFrame(numbers | {"<b>site</b>": site, "kind": y})
    floor = bf.learned_floor(hostile, "kind", by="<b>site</b>", **FEW)
    html = floor._repr_html_()
    assert html_escape(floor.metrics["error"].sentence()) in html
    assert "&lt;b&gt;site&lt;/b&gt;" in floor.subgroups._repr_html_()
    pairs = bf.pairwise_bayes_error(hostile[list("abc")], y)._repr_html_()
    assert "&lt;script&gt;" in pairs
    assert "4 more columns in <code>frame()</code>" in pairs
    table = bf.read_table(hostile, target="kind")._repr_html_()
    assert "0 and 1" in table
    assert "&lt;b&gt;site&lt;/b&gt;" in table


def test_estimators_keep_the_diagram_of_scikit_learn():
    numbers, y, _ = columns()
    for estimator in (bf.BayesErrorEstimator(), bf.FloorSelector(1)):
        html = estimator.fit(pd.DataFrame(numbers), y)._repr_html_()
        assert "sk-estimator" in html
        assert type(estimator).__name__ in html
