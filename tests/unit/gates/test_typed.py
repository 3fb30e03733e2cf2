"""Selected data as the type of the host: what does not fit is told without a word too many."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from sluicegate.errors import MisuseError
from sluicegate.gates.typed import decoder_for
from sluicegate.values.json import JsonValue


@dataclass
class Counts:
    counts: dict[str, int]


def nested(levels: int, name: str) -> JsonValue:
    value: JsonValue = "x"
    for _ in range(levels):
        value = {name: value}
    return value


@pytest.mark.requirement("ARG-3", "RES-7")
def test_a_name_of_the_upstream_is_cut_and_escaped_in_what_does_not_fit() -> None:
    name = "IGNORE\n" + "x" * 500
    with pytest.raises(ValueError, match="int_type") as told:
        decoder_for(Counts)({"counts": {name: "5"}})
    assert str(told.value) == f"/counts/IGNORE\\u000a{'x' * 57}…: int_type"


@pytest.mark.requirement("ARG-3", "RES-7")
def test_the_place_of_what_does_not_fit_is_cut_as_a_whole() -> None:
    wanted = dict[str, dict[str, dict[str, dict[str, dict[str, dict[str, dict[str, int]]]]]]]
    with pytest.raises(ValueError, match="int_type") as told:
        decoder_for(wanted)(nested(7, "n" * 64))
    assert str(told.value).endswith("n…: int_type")
    assert len(str(told.value)) == len("…: int_type") + 400


def test_data_that_does_not_fit_as_a_whole_is_told_as_the_data() -> None:
    with pytest.raises(ValueError, match=r"^the data: int_type$"):
        decoder_for(int)("5")


class Plain:
    """No type that data can be read as."""


@dataclass
class OfPlain:
    member: Plain


@pytest.mark.parametrize("wanted", [Plain, OfPlain], ids=["a class", "a class within"])
def test_a_type_that_data_cannot_be_read_as_is_misuse_that_says_what_to_pass(
    wanted: type[object],
) -> None:
    with pytest.raises(
        MisuseError, match=rf"as_={wanted.__qualname__} .*: pass a Pydantic model, a dataclass"
    ):
        decoder_for(wanted)


@dataclass
class OfUnknown:
    member: Unknown  # type: ignore[name-defined]  # noqa: F821  (the case)


class ModelOfUnknown(BaseModel):
    member: Unknown  # type: ignore[name-defined]  # noqa: F821  (the case)


UNKNOWN = {
    "OfUnknown": OfUnknown,
    "ModelOfUnknown": ModelOfUnknown,
    "'Unknown'": "Unknown",
    "list['Unknown']": list["Unknown"],  # type: ignore[name-defined]  # noqa: F821  (the case)
}


@pytest.mark.parametrize("shown", UNKNOWN)
def test_a_type_that_names_an_undefined_one_is_misuse_before_anything_ran(shown: str) -> None:
    with pytest.raises(MisuseError) as told:
        decoder_for(UNKNOWN[shown])  # type: ignore[arg-type]
    assert str(told.value).startswith(f"as_={shown} names a type that is not defined: define or")


NO_TYPES = {
    "5": 5,
    "Counts(counts={'a': 1})": Counts({"a": 1}),
    "'no type'": "no type",
    "list[5]": list[5],  # type: ignore[valid-type]
    f"'{('x ' * 32)[:-1]}…": "x " * 250,
}


@pytest.mark.parametrize("shown", NO_TYPES)
def test_what_is_no_type_is_named_as_it_was_passed(shown: str) -> None:
    with pytest.raises(MisuseError) as told:
        decoder_for(NO_TYPES[shown])  # type: ignore[arg-type]
    assert str(told.value).startswith(f"as_={shown} is no type that data can be read as: pass")
