"""Selected data as the type that the host asked for: strict, from JSON, nothing coerced."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from sluicegate.errors import ConfigurationError
from sluicegate.gates.answers import Answer
from sluicegate.gates.envelopes import Success
from sluicegate.gates.failures import is_failure
from sluicegate.values.json import JsonValue

T = TypeVar("T")


def decoder_for(wanted: type[T]) -> Callable[[JsonValue], T]:
    """Return a function from selected data to ``wanted`` (a Pydantic model, dataclass, TypedDict).

    Raises: ConfigurationError where Pydantic is not installed. The function raises ValueError
    where the data does not fit the type; its text holds no value.
    """
    try:
        from pydantic import TypeAdapter, ValidationError
    except ImportError as error:
        raise ConfigurationError("as_= needs Pydantic: install sluicegate[schemas]") from error
    adapter = TypeAdapter(wanted)

    def decode(data: JsonValue) -> T:
        try:
            return adapter.validate_json(json.dumps(data, ensure_ascii=False), strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = "/".join(["", *(str(segment) for segment in first["loc"])])
            raise ValueError(f"{place or 'the data'}: {first['type']}") from None

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
