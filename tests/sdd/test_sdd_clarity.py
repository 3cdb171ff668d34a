"""The clarity gate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import InvalidArgument
from haversack.sdd.documents.artifacts import shown_score
from haversack.sdd.flows import clarity
from haversack.sdd.flows.pipeline import Mode

scores = st.dictionaries(st.sampled_from(clarity.NAMES), st.floats(0, 100) | st.integers(0, 100))


def test_the_weights_are_the_ones_promised() -> None:
    assert {d.name: d.weight for d in clarity.DIMENSIONS} == {
        "target_users": 8,
        "core_functionality": 10,
        "data_model": 7,
        "integrations": 6,
        "edge_cases": 8,
        "security": 7,
        "scale_performance": 5,
        "scope_boundaries": 9,
    }


@pytest.mark.parametrize(("mode", "threshold"), [("guided", 70), ("expert", 50)])
def test_the_gate_opens_exactly_at_the_threshold(mode: Mode, threshold: int) -> None:
    assert clarity.weigh(dict.fromkeys(clarity.NAMES, threshold), mode).passed
    assert not clarity.weigh(dict.fromkeys(clarity.NAMES, threshold) | {"security": threshold - 0.001}, mode).passed


@given(scores)
def test_the_score_is_the_weighted_mean_with_missing_scores_as_zero(given_scores: dict[str, float]) -> None:
    gate = clarity.weigh(given_scores, "guided")
    expected = sum(given_scores.get(d.name, 0) * d.weight for d in clarity.DIMENSIONS) / 60
    assert gate.score == pytest.approx(expected)
    assert 0 <= gate.score <= 100


@given(scores)
def test_a_score_that_does_not_pass_is_never_shown_as_if_it_did(given_scores: dict[str, float]) -> None:
    gate = clarity.weigh(given_scores, "guided")
    if not gate.passed and gate.score < 70:
        assert float(shown_score(gate.score)) < 70


@given(scores)
def test_open_questions_come_weakest_first(given_scores: dict[str, float]) -> None:
    gate = clarity.weigh(given_scores, "guided")
    values = [-1.0 if d.score is None else d.score for d in gate.dimensions]
    assert values == sorted(values)
    assert all(d.score is None or d.score < 70 for d in gate.open_questions)


@pytest.mark.parametrize("score", [-1, 100.5, 999, float("nan"), float("inf"), True, "80"])
def test_a_score_out_of_range_is_refused_by_name(score: float) -> None:
    with pytest.raises(InvalidArgument, match="security"):
        clarity.checked_scores({"security": score})


def test_an_unknown_dimension_is_an_error_that_lists_the_eight() -> None:
    with pytest.raises(InvalidArgument) as refusal:
        clarity.checked_scores({"speed": 50})
    assert "speed" in refusal.value.message
    assert all(name in refusal.value.hint for name in clarity.NAMES)
