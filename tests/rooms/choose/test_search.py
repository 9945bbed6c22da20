"""The search, on floors that are written down rather than measured."""

from bayesfloor.choose.floor_levels import FloorLevel
from bayesfloor.choose.search import n_candidates_at_most, search_backward, search_forward
from helpers.one_case import for_each


def level(floor, standard_error=0.02):
    return FloorLevel(floor, floor, floor, standard_error)


START = level(0.5, 0.0)


def given(floors, default=0.5):
    """Judge a set of groups by a table; sets that are not in it have the default."""
    tried = []

    def try_all(candidates):
        tried.extend(candidates)
        return [level(floors.get(frozenset(each), default)) for each in candidates]

    try_all.tried = tried
    return try_all


def sets(table):
    return {frozenset(key): value for key, value in table.items()}


def test_forward_adds_the_lowest_and_stops_by_the_rule():
    try_all = given(sets({(2,): 0.3, (1,): 0.4, (1, 2): 0.2, (0, 1, 2): 0.19}))
    steps = search_forward(try_all, START, 4, None)
    assert [step.changed for step in steps] == [(), (2,), (1,), (0,)]
    assert [step.selected for step in steps] == [True, True, True, False]  # the last fell by 0.01 only
    assert [step.level.floor for step in steps] == [0.5, 0.3, 0.2, 0.19]
    assert [step.n_candidates for step in steps] == [0, 4, 3, 2]
    assert steps[2].in_use == (2, 1)


def test_forward_goes_on_where_a_number_is_asked_for():
    steps = search_forward(given(sets({(2,): 0.3})), START, 4, 3)
    assert [step.changed for step in steps[1:]] == [(2,), (0,), (1,)]  # of equals the first
    assert all(step.selected for step in steps)


def test_forward_selects_one_group_even_if_none_helps():
    steps = search_forward(given({}), START, 3, None)
    assert [(step.changed, step.selected) for step in steps] == [((), True), ((0,), True), ((1,), False)]


def test_backward_removes_what_is_missed_least():
    table = sets({(0, 1, 2): 0.3, (0, 1): 0.25, (0, 2): 0.4, (1, 2): 0.4, (0,): 0.26, (1,): 0.4})
    steps = search_backward(given(table), 3, None)
    assert [step.changed for step in steps] == [(), (2,), (1,)]
    assert [step.in_use for step in steps] == [(0, 1, 2), (0, 1), (0,)]
    assert all(step.selected for step in steps)


def test_backward_compares_with_the_lowest_so_far():
    # each step rises by less than a standard error, the two together by more
    table = sets({(0, 1, 2): 0.2, (0, 1): 0.215, (0,): 0.23})
    steps = search_backward(given(table), 3, None)
    assert [(step.changed, step.selected) for step in steps] == [((), True), ((2,), True), ((1,), False)]
    assert all(step.selected for step in search_backward(given(table), 3, 1))


def test_one_group():
    assert len(search_backward(given({}), 1, None)) == 1
    assert [step.changed for step in search_forward(given({}), START, 1, None)] == [(), (0,)]


@for_each("n_wanted", [None, 3])
def test_candidates_are_counted_in_advance(n_wanted):
    tried = []

    def larger_is_better(candidates):
        tried.extend(candidates)
        return [level(0.5 - 0.05 * len(each)) for each in candidates]

    def all_alike(candidates):
        tried.extend(candidates)
        return [level(0.5) for _ in candidates]

    search_forward(larger_is_better, START, 6, n_wanted)
    assert len(tried) == n_candidates_at_most(6, n_wanted, "forward")
    tried.clear()
    search_backward(all_alike, 6, n_wanted)
    assert len(tried) == n_candidates_at_most(6, n_wanted, "backward")
