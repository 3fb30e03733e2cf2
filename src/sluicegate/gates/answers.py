"""What the host gets back from a call: the envelope for the model, and what is for people."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Generic, TypeVar

from sluicegate.gates.envelopes import Envelope, Success, shape_envelope
from sluicegate.values.json import JsonValue
from sluicegate.values.requests import RequestId

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Generic[T]):
    """One call's answer.

    ``envelope`` is all that may reach the model, ``to_json()`` its text. ``display`` is bounded
    data for people (SPEC RES-7), never for the model. ``typed`` is the data as the type that was
    asked for with ``as_``; None unless the outcome is success. Where an accepted answer does not
    fit that type ``misfit`` says at which place: the answer stands, and the type is wrong.
    """

    envelope: Envelope
    display: JsonValue = None
    typed: T | None = None
    misfit: str | None = None

    @property
    def request_id(self) -> RequestId:
        """The id that finds this call in the record: ``sluicegate why REQUEST_ID``."""
        return self.envelope.request_id

    @property
    def outcome(self) -> str:
        """``success``, ``failure`` or ``refused``."""
        return type(self.envelope).__name__.lower()

    @property
    def code(self) -> str | None:
        """The code that the agent sees; None on success."""
        return None if isinstance(self.envelope, Success) else self.envelope.code

    @property
    def data(self) -> JsonValue:
        """The selected data; None unless the outcome is success."""
        return self.envelope.data if isinstance(self.envelope, Success) else None

    def to_json(self) -> str:
        """Return the envelope as JSON text without blanks, ready to be handed to the model.

        Raises: ValueError for NaN and infinities, which no accepted answer holds.
        """
        return json.dumps(
            shape_envelope(self.envelope),
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        )
