"""What every call begins with, and the calls that the gate makes itself to take evidence anew."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sluicegate.contracts.contract import Contract, Effect
from sluicegate.gates.course import Bounds, Course
from sluicegate.gates.envelopes import Success
from sluicegate.gates.evidence import OwnCall
from sluicegate.gates.keys import idempotency_key
from sluicegate.gates.means import Means
from sluicegate.gates.recording import Subject
from sluicegate.gates.retrying import granted_s
from sluicegate.gates.serving import Line, Serving
from sluicegate.gates.turning_away import UNKNOWN
from sluicegate.values.callers import Caller
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name


def name_subject(
    means: Means, line: Line | None, tool: str, caller: Caller, call_id: str | None
) -> Subject:
    """Return what the events of a new call bear, its request id drawn."""
    request_id = means.new_request_id()
    return Subject(
        request_id=request_id,
        tool=UNKNOWN if line is None else line.contract.tool,
        contract=None if line is None else line.contract,
        caller=caller,
        call_id=None if call_id is None else show_name(call_id),
        key=idempotency_key(caller, tool, call_id, request_id),
    )


class ServedWitnesses:
    """The tools of one set as one caller is served them; ``deadline`` (monotonic) bounds asking.

    A call that is made for another one runs in the place of that one, and is a call like any
    other: it climbs both ladders, is counted, watched and recorded.
    """

    __slots__ = ("_caller", "_deadline", "_means", "_serving")

    def __init__(self, means: Means, serving: Serving, caller: Caller, deadline: float) -> None:
        self._means = means
        self._serving = serving
        self._caller = caller
        self._deadline = deadline

    def contract_of(self, tool: str) -> Contract | None:
        """Return the contract that judges this caller's calls of ``tool``; None: not served."""
        line = self._serving.line_for(tool, self._caller)
        return None if line is None else line.contract

    async def ask(self, tool: str, arguments: Mapping[str, JsonValue]) -> OwnCall | None:
        """Call ``tool``; return how that ended, None if such a tool is never asked."""
        line = self._serving.line_for(tool, self._caller)
        if line is None or line.contract.effect is not Effect.READ:
            return None  # what acts is never asked for a proof
        clock = self._means.clock
        subject = name_subject(self._means, line, tool, self._caller, None)
        course = Course(
            self._means,
            line,
            subject,
            json.dumps(arguments, ensure_ascii=False).encode("utf-8", "surrogatepass"),
            Bounds(
                deadline=min(self._deadline, clock.monotonic() + granted_s(line.contract, None)),
                witnesses=self,
                kept_s=self._serving.kept_s(line),
            ),
        )
        with self._means.observer.watch(subject) as watch:
            answer = await course.run()
            watch.answered(answer.envelope)
        accepted = isinstance(answer.envelope, Success)
        return OwnCall(request_id=answer.request_id, code=None if accepted else answer.code or "")
