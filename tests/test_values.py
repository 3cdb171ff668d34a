"""Values made by `record`: frozen, compared by content, and the same however many of them were made."""

import pickle

import pytest

from haversack.values import OFTEN, asdict, fields, record, replace


@record
class Point:
    """A place."""

    x: int
    y: int = 0
    name: str = "here"


@pytest.fixture(params=["seldom", "often"])
def often(request: pytest.FixtureRequest) -> None:
    """Values of a class that is used seldom, and of one whose initializer was compiled meanwhile."""
    if request.param == "often":
        for number in range(OFTEN + 1):
            Point(number)


@pytest.mark.usefixtures("often")
def test_fields_are_given_by_place_or_name_and_have_defaults() -> None:
    assert (Point(1).y, Point(1, 2).y, Point(y=3, x=1).y, Point(1, name="there").name) == (0, 2, 3, "there")
    assert fields(Point(1)) == ("x", "y", "name")
    assert asdict(Point(1, 2)) == {"x": 1, "y": 2, "name": "here"}
    assert repr(Point(1)) == "Point(x=1, y=0, name='here')"


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize(("given", "named"), [((), {}), ((1, 2, "a", 4), {}), ((1,), {"x": 2}), ((1,), {"z": 2})])
def test_wrong_fields_are_refused(given: tuple[object, ...], named: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        Point(*given, **named)  # type: ignore[arg-type]


@pytest.mark.usefixtures("often")
def test_a_value_is_frozen_and_equal_to_another_of_the_same_content() -> None:
    point = Point(1, 2)
    with pytest.raises(AttributeError, match="frozen"):
        point.x = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del point.x
    assert point == Point(1, 2) != Point(1, 3)
    assert hash(point) == hash(Point(1, 2))
    assert replace(point, y=3) == Point(1, 3)
    assert pickle.loads(pickle.dumps(point)) == point
