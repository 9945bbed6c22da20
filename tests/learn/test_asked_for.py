"""Learners that are asked for one by one: the same predictions, and no work for others."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from bayesfloor.learn import additive, discriminants, interactions, linear_cost, local_families, marginals, nearest
from bayesfloor.learn.families import CLASS_FAMILIES, NUMBER_FAMILIES, family_of
from bayesfloor.learn.linear_cost import LINEAR_FAMILIES
from bayesfloor.learn.training_rows import Codes, Train, relative_spread, standardised

FAMILIES = {
    **{f"{name} of classes": (family, True) for name, family in CLASS_FAMILIES.items()},
    **{f"{name} of many": (family, True) for name, family in LINEAR_FAMILIES.items()},
    **{f"{name} of numbers": (family, False) for name, family in NUMBER_FAMILIES.items()},
}


def rows_of(*, is_class, has_table=False, has_weight=False, n=150):
    """Return rows of a column of names, two of 0 and 1 and three numbers, and rows to predict."""
    rng = np.random.default_rng(0)
    names = rng.integers(0, 6, 2 * n).astype(float)
    X = np.column_stack([names, rng.integers(0, 2, (2 * n, 2)), rng.standard_normal((2 * n, 3))])
    signal = np.sin(5 * names) + X[:, 3] * X[:, 4] + X[:, 1] + 0.3 * rng.standard_normal(2 * n)
    y = np.digitize(signal[:n], [-0.5, 0.8]) if is_class else (signal[:n] - signal[:n].mean()) / signal[:n].std()
    points, test = standardised(X[:n], X[n:])
    table = Codes(X[:n], X[n:], np.arange(6) == 0) if has_table else None
    weight = rng.uniform(0.5, 1.5, n) if has_weight else None
    spread = relative_spread(X[:n])
    return Train(points, y, 3 if is_class else 0, table=table, weight=weight, spread=spread), test


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("options", [{}, {"has_table": True}, {"has_weight": True}], ids=["plain", "table", "weights"])
def test_each_learner_is_the_same_when_it_alone_is_asked_for(name, options):
    family, is_class = FAMILIES[name]
    train, test = rows_of(is_class=is_class, **options)
    together = family(train, test, 3)
    assert together
    for learner, expected in together.items():
        found = family(train._replace(wanted=frozenset({learner})), test, 3)
        assert list(found) == [learner]
        np.testing.assert_array_equal(found[learner], expected, err_msg=learner)
    assert list(family(train._replace(wanted=frozenset(together)), test, 3)) == list(together)


def test_two_learners_that_share_work_are_the_same_as_among_all():
    train, test = rows_of(is_class=True)
    together = CLASS_FAMILIES["trees"](train, test, 0)
    wanted = frozenset({"trees", "local ridge, scaled", "another"})
    found = CLASS_FAMILIES["trees"](train._replace(wanted=wanted), test, 0)
    assert list(found) == ["trees", "local ridge, scaled"]
    for learner, predicted in found.items():
        np.testing.assert_array_equal(predicted, together[learner])


def test_learners_of_the_caller_are_asked_for_too():
    train, test = rows_of(is_class=True)
    family = family_of("own", LogisticRegression())
    assert list(family(train._replace(wanted=frozenset({"own"})), test, 0)) == ["own"]
    assert family(train._replace(wanted=frozenset({"LDA"})), test, 0) == {}


#: What does most of the work, wherever a module has it under a name of its own.
WORK = [
    (local_families, "grow_ensemble"), (local_families, "Landmarks"), (local_families, "kernel_ridge"),
    (local_families, "components"), (local_families, "numbers_of_table"), (local_families, "_mean_slopes"),
    (nearest, "nearest_rows"), (nearest, "local_ridge"),
    (discriminants, "linear_discriminant"), (discriminants, "_quadratic_scores"), (discriminants, "_naive_scores"),
    (discriminants, "_mixture"), (discriminants, "fit_logistic"),
    (marginals, "_normal_scores"), (marginals, "_values_of"),
    (marginals, "fit_logistic"), (marginals, "grow_ensemble"),
    (interactions, "quartile_bins"), (interactions, "halves"), (interactions, "grow_ensemble"),
    (interactions, "kernel_ridge"),
    (additive, "fit_ridge"), (additive, "lasso_path"), (additive, "_bumps"),
    (linear_cost, "grow_deep"), (linear_cost, "components"), (linear_cost, "kernel_ridge"), (linear_cost, "fit_model"),
    (linear_cost, "narrow"), (linear_cost, "numbers_of_table"),
]  # fmt: skip

#: Of a family and the one learner that is asked for, all of the above that is called; the rest is not.
NEEDED = {
    ("neighbours of classes", "15 neighbours"): {"nearest_rows"},
    ("neighbours of classes", "local ridge"): {"nearest_rows", "local_ridge"},
    ("kernels of classes", "kernel ridge 0.6"): {"Landmarks"},
    ("unit of classes", "kernel ridge, one unit"): {"components", "kernel_ridge"},
    ("unit of classes", "5 neighbours, one unit"): {"components", "nearest_rows"},
    ("trees of classes", "deep trees"): {"grow_ensemble"},
    ("trees of classes", "kernel ridge, scaled"): {"grow_ensemble", "kernel_ridge"},
    ("trees of numbers", "trees of means"): {"grow_ensemble", "numbers_of_table"},
    ("gaussian of classes", "prior"): set(),
    ("gaussian of classes", "LDA"): {"linear_discriminant"},
    ("marginals of classes", "LDA of ranks"): {"_normal_scores"},
    ("nominal of classes", "value naive Bayes"): {"_values_of"},
    ("nominal of classes", "value logistic"): {"_values_of", "fit_logistic"},
    ("pairs of classes", "pair tables"): {"quartile_bins"},
    ("triples of classes", "triple trees"): {"halves", "grow_ensemble"},
    ("linear of numbers", "mean"): set(),
    ("additive of numbers", "additive, rough"): {"_bumps", "fit_ridge"},
    ("simple of many", "logistic"): {"narrow", "fit_logistic"},
    ("deep trees of many", "deep trees"): {"grow_deep"},
    ("deep trees of many", "landmark ridge"): {"grow_deep", "components", "kernel_ridge"},
    ("unit of many", "5 neighbours, one unit"): {"components", "nearest_rows"},
}


@pytest.fixture
def called(monkeypatch):
    names = set()

    def noting(module, name):
        work = getattr(module, name)

        def run(*args, **options):
            names.add(name)
            return work(*args, **options)

        monkeypatch.setattr(module, name, run)

    for module, name in WORK:
        noting(module, name)
    return names


@pytest.mark.parametrize(("name", "learner"), NEEDED)
def test_work_that_only_others_need_is_not_done(name, learner, called):
    family, is_class = FAMILIES[name]
    train, test = rows_of(is_class=is_class, has_table=True)
    assert list(family(train._replace(wanted=frozenset({learner})), test, 0)) == [learner]
    assert called == NEEDED[name, learner]


@pytest.mark.parametrize("name", FAMILIES)
def test_nothing_is_done_where_nothing_is_asked_for(name, called):
    family, is_class = FAMILIES[name]
    train, test = rows_of(is_class=is_class, has_table=True)
    assert family(train._replace(wanted=frozenset()), test, 0) == {}
    assert not called
