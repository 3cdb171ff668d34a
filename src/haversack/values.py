"""Values: frozen, slotted records, declared like dataclasses and checked as such by the type checker.

The standard library's dataclasses would do the same, but importing them and building each class costs every start of
the program more than everything else it loads; here a class costs a few microseconds.
"""

from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

OFTEN = 32
"""Values of a class after which its initializer is compiled; most classes never reach it."""

T = TypeVar("T")
C = TypeVar("C", bound=type)


@dataclass_transform(frozen_default=True)
def record(declared: C) -> C:
    """Turn a class of annotated fields into a frozen value with slots, equality, a hash and a repr."""
    names = tuple(declared.__annotations__)
    defaults = {name: declared.__dict__[name] for name in names if name in declared.__dict__}
    kept = {
        name: member
        for name, member in declared.__dict__.items()
        if name not in names and name not in {"__dict__", "__weakref__"}
    }
    members = {
        "__init__": _initializer(declared.__name__, names, defaults),
        "__eq__": _equal,
        "__hash__": _hash,
        "__repr__": _repr,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__reduce__": _reduce,
    }
    # Defaults leave the class: a slot of the same name takes their place.
    return type(declared)(
        declared.__name__, declared.__bases__, {**members, **kept, "__slots__": names, "__match_args__": names}
    )


def replace(held: T, **changes: object) -> T:
    """A copy of a value with some fields changed."""
    contents = [changes.pop(name) if name in changes else getattr(held, name) for name in fields(held)]
    return type(held)(*contents, **changes)


def asdict(held: object) -> dict[str, Any]:
    """The fields of a value, by name; values inside it stay as they are."""
    return {name: getattr(held, name) for name in fields(held)}


def fields(held: object) -> tuple[str, ...]:
    """The names of a value's fields, in the order they were declared."""
    names: tuple[str, ...] = held.__slots__  # type: ignore[attr-defined]
    return names


def _initializer(title: str, names: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., None]:
    put = object.__setattr__
    known = frozenset(names)
    made = 0

    def __init__(self: object, *given: Any, **named: Any) -> None:
        nonlocal made
        made += 1
        if made == OFTEN and type(self).__dict__.get("__init__") is __init__:
            type(self).__init__ = _compiled(type(self), names, defaults)  # type: ignore[method-assign]
        if len(given) > len(names):
            raise TypeError(f"{title} takes {len(names)} fields, {len(given)} were given")
        for name, content in zip(names, given, strict=False):
            put(self, name, content)
        if len(given) == len(names) and not named:
            return
        for name in names[len(given) :]:
            if name in named:
                put(self, name, named.pop(name))
            elif name in defaults:
                put(self, name, defaults[name])
            else:
                raise TypeError(f"{title} needs {name}")
        if named:
            wrong = next(iter(named))
            raise TypeError(f"{title} got {wrong} twice" if wrong in known else f"{title} has no field {wrong}")

    return __init__


def _compiled(cls: type, names: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., None]:
    """The same initializer written out field by field: several times as fast, but slow to make."""
    scope: dict[str, Any] = {}
    parameters, lines = [], []
    for number, name in enumerate(names):
        scope[f"_put{number}"] = cls.__dict__[name].__set__
        parameters.append(name)
        if name in defaults:
            scope[f"_default{number}"] = defaults[name]
            parameters[-1] += f"=_default{number}"
        lines.append(f"    _put{number}(self, {name})")
    exec("\n".join([f"def __init__(self, {', '.join(parameters)}):", *lines]), scope)
    made: Callable[..., None] = scope["__init__"]
    return made


def _contents(held: Any) -> tuple[Any, ...]:
    return tuple(getattr(held, name) for name in held.__slots__)


def _equal(held: Any, other: object) -> Any:
    if type(held) is not type(other):
        return NotImplemented
    return _contents(held) == _contents(other)


def _hash(held: Any) -> int:
    return hash(_contents(held))


def _repr(held: Any) -> str:
    shown = ", ".join(f"{name}={getattr(held, name)!r}" for name in held.__slots__)
    return f"{type(held).__name__}({shown})"


def _refuse(held: object, name: str, *_: object) -> None:
    raise AttributeError(f"{type(held).__name__} is frozen: {name} cannot be changed")


def _reduce(held: Any) -> tuple[type, tuple[Any, ...]]:
    return type(held), _contents(held)
