"""What a Python tool returns is JSON, or it is refused; nothing is coerced."""

from __future__ import annotations

import dataclasses
import json
import math
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum

import pydantic
import pytest

from sluicegate.adapters.encoding import NotJson, encode_value

pytestmark = pytest.mark.requirement("ADP-4")


class State(StrEnum):
    FAILED = "failed"


class Level(IntEnum):
    HIGH = 3


class Name(str, Enum):  # noqa: UP042  (its own text is "Name.ID")
    ID = "id"


class Posing(str):
    def __str__(self) -> str:
        return "id"


class Twin(str):
    """Equal to nothing, so that a dict holds it beside a plain key of the same characters."""

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


@dataclasses.dataclass
class Step:
    name: str
    parts: tuple[int, ...] = ()


class Run(pydantic.BaseModel):
    run_id: str = pydantic.Field(serialization_alias="runId")
    at: datetime | None = None


GOOD = {
    "null": (None, None),
    "scalars": ([True, 1, 1.5, "ü"], [True, 1, 1.5, "ü"]),
    "integer beyond 2**53": (2**70, 2**70),
    "tuple": ((1, 2), [1, 2]),
    "enums": ([State.FAILED, Level.HIGH], ["failed", 3]),
    "enum as a name": ({Name.ID: Name.ID}, {"id": "id"}),
    "a name that poses as another": ({"id": 1, Posing("x"): 2}, {"id": 1, "x": 2}),
    "dataclass inside": ({"steps": [Step("a", (1,))]}, {"steps": [{"name": "a", "parts": [1]}]}),
    "model": (Run(run_id="r"), {"runId": "r", "at": None}),
    "model inside": (
        [Run(run_id="r", at=datetime(2026, 11, 30, tzinfo=UTC))],
        [{"runId": "r", "at": "2026-11-30T00:00:00Z"}],
    ),
}


@pytest.mark.parametrize(("value", "expected"), GOOD.values(), ids=GOOD)
def test_json_values_dataclasses_and_models_are_encoded(value: object, expected: object) -> None:
    assert expected == json.loads(encode_value(value))


def cycle() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


def deep() -> list[object]:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    return value


BAD = {
    "NaN": math.nan,
    "infinity inside": {"a": [math.inf]},
    "set": {1, 2},
    "bytes": b"{}",
    "datetime": datetime(2026, 11, 30, tzinfo=UTC),
    "decimal": Decimal("1.5"),
    "integer key": {1: "a"},
    "null key": {"a": {None: 1}},
    "boolean key": {True: 1},
    "two names of the same characters": {"id": 1, Twin("id"): 2},
    "lone surrogate": "a\ud800",
    "lone surrogate in a key": {"\udfff": 1},
    "cycle": cycle(),
    "too deep": deep(),
    "object": object(),
    "class": Step,
    "model class": Run,
    "generator": (number for number in range(3)),
    "more digits than Python writes": 10**5000,
    "model whose field lies": Run.model_construct(run_id=object()),
    "set in a dataclass": Step("a", {1}),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("value", BAD.values(), ids=BAD)
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(NotJson):
        encode_value(value)
