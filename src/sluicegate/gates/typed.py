"""Selected data as the type that the host asked for: strict, from JSON, nothing coerced."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from sluicegate.errors import ConfigurationError
from sluicegate.values.json import JsonValue

T = TypeVar("T")


def decoder_for(wanted: type[T]) -> Callable[[JsonValue], T]:
    """Return a function from selected data to ``wanted`` (a Pydantic model, dataclass, TypedDict).

    Raises: ConfigurationError where Pydantic is not installed. The function raises ValueError
    where the data does not fit the type.
    """
    try:
        from pydantic import TypeAdapter
    except ImportError as error:
        raise ConfigurationError("as_= needs Pydantic: install sluicegate[schemas]") from error
    adapter = TypeAdapter(wanted)

    def decode(data: JsonValue) -> T:
        return adapter.validate_json(json.dumps(data, ensure_ascii=False), strict=True)

    return decode
