"""Values with something planted at every place: depth, infinity, a member nobody declared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

INFINITY: Final = float("inf")


def nest(levels: int, *, arrays: bool, leaf: Any = 1) -> Any:
    value = leaf
    for _ in range(levels):
        value = [value] if arrays else {"a": value}
    return value


PLANTS: Final = (
    INFINITY,
    -INFINITY,
    [INFINITY],
    {"a": INFINITY},
    [[-INFINITY]],
    {"zz": {"zz": INFINITY}},
    *(nest(levels, arrays=arrays) for levels in (3, 6, 12) for arrays in (True, False)),
    [{}],
    {"a": [{}]},
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    if isinstance(value, dict):
        for name in value:
            yield from places(value[name], (*at, name))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from places(value[index], (*at, index))


def get(value: Any, at: tuple[Any, ...]) -> Any:
    for step in at:
        value = value[step]
    return value


def put(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = put(value[at[0]], at[1:], new)
    return copy


def plant(value: Any, limit: int = 1_500) -> Iterator[Any]:
    """Yield ``value`` with each plant at each place, and beside what stands there."""
    return islice(_plant(value), limit)


def _plant(value: Any) -> Iterator[Any]:
    for at in places(value):
        for planted in PLANTS:
            yield put(value, at, planted)
        found = get(value, at)
        if isinstance(found, dict):
            for name in ("zz", "a", "foo", "bar", "x"):
                for planted in (*PLANTS[:5], 1, "s", None):
                    yield put(value, at, {**found, name: planted})
        elif isinstance(found, list):
            for planted in PLANTS[:5]:
                yield put(value, at, [*found, planted])


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


def holds_infinity(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(holds_infinity, value.values()))
    if isinstance(value, list):
        return any(map(holds_infinity, value))
    return value in (INFINITY, -INFINITY)
