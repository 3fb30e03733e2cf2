"""Selected data as the type that the host asked for: strict, from JSON, nothing coerced."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from sluicegate.errors import ConfigurationError, MisuseError
from sluicegate.gates.answers import Answer
from sluicegate.gates.envelopes import Success
from sluicegate.gates.failures import is_failure
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name, show_sentence

T = TypeVar("T")


def decoder_for(wanted: type[T]) -> Callable[[JsonValue], T]:
    """Return a function from selected data to ``wanted`` (a Pydantic model, dataclass, TypedDict).

    Raises: ConfigurationError where Pydantic is not installed; MisuseError for what it makes no
    schema of, a type that names one that is not defined included. The function raises ValueError
    where the data does not fit the type; its text holds no value, and names of the upstream only
    as they are fit to be shown.
    """
    try:
        from pydantic import TypeAdapter, ValidationError
    except ImportError as error:
        raise ConfigurationError("as_= needs Pydantic: install sluicegate[schemas]") from error
    try:
        adapter = TypeAdapter(wanted)
    except BaseException as error:  # of Pydantic, or of the type and what it is annotated with
        if not is_failure(error):
            raise
        raise MisuseError(
            f"as_={_shown(wanted)} is no type that data can be read as: pass a Pydantic model, a"
            " dataclass or a TypedDict whose members are such types, or a plain type such as dict"
        ) from error
    if not adapter.pydantic_complete:
        # It would be built with the first answer, when the call has run.
        raise MisuseError(
            f"as_={_shown(wanted)} names a type that is not defined: define or import it at the top"
            " of the module before this call, and pass types, not their names"
        )

    def decode(data: JsonValue) -> T:
        try:
            return adapter.validate_json(json.dumps(data, ensure_ascii=False), strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = "".join(f"/{show_name(str(segment))}" for segment in first["loc"])
            shown = show_sentence(place) or "the data"
            raise ValueError(f"{shown}: {show_name(first['type'])}") from None

    return decode


def give_as(answer: Answer[JsonValue], decode: Callable[[JsonValue], T]) -> Answer[T]:
    """Return ``answer`` with its data as the host's type.

    Where that fails the answer stands, and says why: it was accepted and is on record, and what the
    host makes of it is the host's affair.
    """
    typed: T | None = None
    misfit: str | None = None
    if isinstance(answer.envelope, Success):
        try:
            typed = decode(answer.envelope.data)
        except BaseException as error:
            if not is_failure(error):
                raise
            # Another error may quote the data.
            misfit = str(error) if isinstance(error, ValueError) else type(error).__name__
    return Answer(envelope=answer.envelope, display=answer.display, typed=typed, misfit=misfit)


def _shown(wanted: object) -> str:
    """Return the name of a type, or what stands in place of one."""
    return show_name(wanted.__qualname__ if isinstance(wanted, type) else repr(wanted))
