"""A question that was asked and not yet answered: one use only (SPEC ARG-9)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sluicegate.errors import MisuseError
from sluicegate.gates.admission import Admitted
from sluicegate.gates.recording import Subject
from sluicegate.gates.serving import Line
from sluicegate.values.requests import RequestId


@dataclass(slots=True)
class _Use:
    used: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call whose intent is recorded and whose answer is to come.

    Past ``deadline`` (monotonic) an answer is late, whatever it holds.
    """

    line: Line
    subject: Subject
    admitted: Admitted
    deadline: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outstanding:
    """A call that passed its ladder and whose intent is recorded; the host fetches for itself.

    ``arguments`` is a fresh copy each time: nobody can change what the answer is bound to. Only
    ``_gate``, whose record holds the intent, takes the answer.
    """

    _gate: object
    _call: PendingCall
    _use: _Use = field(default_factory=_Use)

    @property
    def request_id(self) -> RequestId:
        """The id that an upstream envelope must echo."""
        return self._call.subject.request_id

    @property
    def arguments(self) -> Mapping[str, object]:
        """The validated arguments, parsed anew from the validated bytes."""
        copy: Mapping[str, object] = json.loads(self._call.admitted.permitted.prepared.text)
        return copy

    def spend(self, gate: object) -> PendingCall:
        """Take the one use: what ``gate`` goes on with.

        Raises: MisuseError at a second use, and for another gate, which spends nothing.
        """
        if gate is not self._gate:
            raise MisuseError(
                f"the outstanding call {self.request_id} is of another gate; hand its answer to"
                " the gate whose check_call returned it"
            )
        if self._use.used:
            raise MisuseError(
                f"the outstanding call {self.request_id} was answered before; "
                "every answer needs its own check_call"
            )
        self._use.used = True
        return self._call
