"""The rung that holds a value to the registered schema, and says what does not fit (SPEC ARG-3).

``is_valid`` decides; findings are looked for only after a refusal, and only when they are read.
"""

from __future__ import annotations

from sys import get_int_max_str_digits
from typing import Final, Literal, NewType, TypeAlias, overload

from sluicegate.checks.conformance_findings import explain_violations
from sluicegate.checks.narrowing import Narrowed
from sluicegate.checks.parsing import ParsedArguments
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.values.codes import Code, Stage
from sluicegate.values.failures import INTERRUPTIONS
from sluicegate.values.findings import MAX_ENGINE_MESSAGE, Finding
from sluicegate.values.limits import ENGINE_MAX_DIGITS
from sluicegate.values.rejections import Rejected

ConformingArguments = NewType("ConformingArguments", object)
ConformingData = NewType("ConformingData", object)
Explained: TypeAlias = Literal["arguments", "result"]
"""Whose findings are spelled out: the root of arguments has a code of its own."""

_UNEXPLAINED: Final = Rejected(stage=Stage.CONFORM, code=Code.FORBIDDEN)
"""What a quick climb says, and nobody reads: the exact climb finds the code."""


@overload
def conform(
    value: ParsedArguments, schema: CompiledSchema, explain: Explained | None
) -> ConformingArguments | Rejected: ...
@overload
def conform(
    value: Narrowed, schema: CompiledSchema, explain: Explained | None
) -> ConformingData | Rejected: ...
def conform(value: object, schema: CompiledSchema, explain: Explained | None) -> object:
    """Admit a value that is valid under ``schema``; nothing is coerced, stripped or filled in.

    Rejects, at stage conform, with up to 20 findings where ``explain`` names the side
    that they are told to; INTERNAL where the engine fails. Source: SPEC ARG-3, RES-4.
    """
    # Beyond the interpreter's own limit the validator reads an integer as 0, which passes any
    # maximum (facts: engines 6.1). Asked each time: a host may lower the limit while it runs.
    if 0 < get_int_max_str_digits() < ENGINE_MAX_DIGITS:
        return _internal(f"sys.set_int_max_str_digits is below {ENGINE_MAX_DIGITS}")
    try:
        if schema.is_valid(value):
            return value
        if explain is None:
            return _UNEXPLAINED
        findings, message = explain_violations(value, schema, explain == "arguments")
    except INTERRUPTIONS:
        raise
    except BaseException as error:  # noqa: BLE001  (whatever an engine raises is a refusal: RES-9)
        return _internal(str(error))
    if not findings:
        return _internal("the validator refuses the value and names no violation")
    return Rejected.because(Stage.CONFORM, *findings, engine_message=message)


def _internal(message: str) -> Rejected:
    return Rejected.because(
        Stage.INTERNAL,
        Finding(code=Code.INTERNAL, hint="the value could not be judged"),
        engine_message=message[:MAX_ENGINE_MESSAGE],
    )
