"""Packing many candidates into one budget."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from haversack.tokens import Candidate, Choice, Pack, pack, pack_auto

COSTS = st.integers(1, 40)
GROUPS = st.sampled_from(["", "a", "b"])
GROUP_COST = {"": 0, "a": 3, "b": 5}


def plain(costs: list[int]) -> list[Candidate]:
    return [Candidate((Choice(cost),)) for cost in costs]


@st.composite
def grouped(draw: st.DrawFn) -> list[Candidate]:
    pairs = draw(st.lists(st.tuples(COSTS, GROUPS), max_size=12))
    return [Candidate((Choice(cost),), group, GROUP_COST[group]) for cost, group in pairs]


@st.composite
def layered(draw: st.DrawFn, most: int = 6) -> list[Candidate]:
    """Candidates with one to three renderings, dearer ones worth more, as blocks have them."""
    candidates = []
    for _ in range(draw(st.integers(0, most))):
        count = draw(st.integers(1, 3))
        costs = sorted(draw(st.lists(COSTS, min_size=count, max_size=count)))
        worths = sorted(draw(st.lists(st.integers(1, 20), min_size=count, max_size=count)))
        candidates.append(Candidate(tuple(Choice(cost, worth) for cost, worth in zip(costs, worths, strict=True))))
    return candidates


def test_a_group_costs_nothing_unless_its_heading_has_a_price() -> None:
    assert pack([Candidate((Choice(3),), group="a")], 3).used == 3


def spent(candidates: list[Candidate], packed: Pack) -> int:
    """What a pack costs, counted anew."""
    pairs = [(each, choice) for each, choice in zip(candidates, packed.chosen, strict=True) if choice is not None]
    groups = {each.group: each.group_cost for each, _ in pairs if each.group}
    return sum(each.choices[choice].cost for each, choice in pairs) + sum(groups.values())


def worth(candidates: list[Candidate], packed: Pack) -> float:
    return sum(
        each.choices[choice].worth for each, choice in zip(candidates, packed.chosen, strict=True) if choice is not None
    )


def best_worth(candidates: list[Candidate], room: int) -> float:
    """The exact answer to the multiple-choice knapsack, by dynamic programming over the room."""
    best = [0.0] * (room + 1)
    for candidate in candidates:
        best = [
            max([best[size], *(best[size - each.cost] + each.worth for each in candidate.choices if each.cost <= size)])
            for size in range(room + 1)
        ]
    return best[room]


def test_what_does_not_fit_is_skipped_and_smaller_ones_still_enter() -> None:
    assert pack(plain([50, 7, 60, 3]), 10).chosen == (None, 0, None, 0)


def test_the_heading_of_a_group_is_paid_once_and_only_when_something_enters() -> None:
    candidates = [Candidate((Choice(9),), "a", 3), Candidate((Choice(4),), "a", 3), Candidate((Choice(4),), "a", 3)]
    assert pack(candidates, 11) == Pack((None, 0, 0), 11)


@given(grouped(), st.integers(0, 150))
def test_a_pack_never_costs_more_than_its_room_and_says_what_it_costs(candidates: list[Candidate], room: int) -> None:
    packed = pack(candidates, room)
    assert packed.used == spent(candidates, packed) <= room
    assert packed.shown == sum(choice is not None for choice in packed.chosen)


@given(grouped(), st.integers(0, 150))
def test_nothing_that_was_left_out_would_still_fit(candidates: list[Candidate], room: int) -> None:
    packed = pack(candidates, room)
    opened = {each.group for each, choice in zip(candidates, packed.chosen, strict=True) if choice is not None}
    for candidate, choice in zip(candidates, packed.chosen, strict=True):
        if choice is None:
            heading = 0 if candidate.group in opened else candidate.group_cost
            assert packed.used + candidate.choices[0].cost + heading > room


@given(grouped(), st.integers(0, 150), st.integers(0, 50))
def test_at_the_first_difference_the_larger_room_is_the_one_that_shows(
    candidates: list[Candidate], room: int, more: int
) -> None:
    small, large = pack(candidates, room).chosen, pack(candidates, room + more).chosen
    difference = next((pair for pair in zip(small, large, strict=True) if pair[0] != pair[1]), None)
    assert difference in (None, (None, 0))


@given(layered(), st.integers(0, 120))
def test_a_mixture_never_costs_more_than_its_room(candidates: list[Candidate], room: int) -> None:
    packed = pack_auto(candidates, room)
    assert packed.used == spent(candidates, packed) <= room


@given(layered(), st.integers(0, 120))
def test_no_upgrade_that_is_worth_more_would_still_fit(candidates: list[Candidate], room: int) -> None:
    packed = pack_auto(candidates, room)
    for candidate, held in zip(candidates, packed.chosen, strict=True):
        cost, value = (candidate.choices[held].cost, candidate.choices[held].worth) if held is not None else (0, 0.0)
        for choice in candidate.choices:
            if choice.worth > value:
                assert packed.used - cost + choice.cost > room


@given(layered(), st.integers(0, 120), st.integers(0, 40))
def test_the_total_worth_of_a_mixture_never_falls_as_the_room_grows(
    candidates: list[Candidate], room: int, more: int
) -> None:
    small, large = pack_auto(candidates, room), pack_auto(candidates, room + more)
    assert worth(candidates, large) >= worth(candidates, small) - 1e-9


@given(layered(), st.integers(0, 120))
def test_the_greedy_mixture_misses_the_best_one_by_less_than_the_worth_of_one_step(
    candidates: list[Candidate], room: int
) -> None:
    """Steps are taken in falling order of worth per unit, so greedy is as good as the fractional optimum until the
    first step that does not fit; what it misses is at most that one step, which is at most one candidate's worth."""
    reached, best = worth(candidates, pack_auto(candidates, room)), best_worth(candidates, room)
    dearest = max((choice.worth for each in candidates for choice in each.choices if choice.cost <= room), default=0.0)
    assert reached >= best - dearest


@given(layered(), st.integers(0, 120))
def test_the_greedy_mixture_is_at_least_half_as_good_as_the_best_when_no_candidate_dominates(
    candidates: list[Candidate], room: int
) -> None:
    """With every rendering costing at most a fourth of the room, greedy fills three fourths of it at the best rates."""
    small = [each for each in candidates if all(choice.cost <= room // 4 for choice in each.choices)]
    assert worth(small, pack_auto(small, room)) >= 0.75 * best_worth(small, room) - 1e-9


@given(layered(most=3), st.integers(0, 60))
def test_the_exact_solver_used_as_a_yardstick_is_exact(candidates: list[Candidate], room: int) -> None:
    best = 0.0
    for chosen in product(*([None, *range(len(each.choices))] for each in candidates)):
        packed = Pack(tuple(chosen), 0)
        if spent(candidates, packed) <= room:
            best = max(best, worth(candidates, packed))
    assert best_worth(candidates, room) == best


def test_a_rendering_that_does_not_fit_gives_way_to_a_cheaper_one() -> None:
    candidate = Candidate((Choice(5, 3.0), Choice(20, 30.0), Choice(100, 200.0)))
    assert pack_auto([candidate], 19).chosen == (0,)
    assert pack_auto([candidate], 99).chosen == (1,)
    assert pack_auto([candidate], 100).chosen == (2,)


def test_nothing_to_pack_is_an_empty_pack() -> None:
    assert pack([], 10) == pack_auto([], 10) == Pack((), 0)
