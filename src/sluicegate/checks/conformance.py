"""The rung that holds a value to the registered schema, and says what does not fit (SPEC ARG-3).

``is_valid`` decides; findings are looked for only after a refusal, and only when they are read.
Beyond the interpreter's own limit the validator reads an integer as 0, which passes any maximum
(facts: engines 6.1). The limit is asked for each time: a host may lower it while it runs.
"""

from __future__ import annotations

from sys import get_int_max_str_digits
from typing import Any, Final, NewType

from sluicegate.checks.conformance_findings import (
    MAX_MESSAGE,
    explain_violations,
    find_violations,
)
from sluicegate.checks.narrowing import Narrowed
from sluicegate.checks.parsing import ParsedArguments
from sluicegate.checks.parsing_scan import ENGINE_MAX_DIGITS
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.rejections import Rejected

__all__ = [
    "ConformingArguments",
    "ConformingData",
    "conform_arguments",
    "conform_data",
    "find_violations",
]

ConformingArguments = NewType("ConformingArguments", object)
ConformingData = NewType("ConformingData", object)

_UNEXPLAINED: Final = Rejected(stage=Stage.CONFORM, code=Code.FORBIDDEN)


def conform_arguments(
    parsed: ParsedArguments, schema: CompiledSchema, explain: bool
) -> ConformingArguments | Rejected:
    """Admit arguments that are valid under ``schema``; nothing is coerced, stripped or filled in.

    Rejects, at stage conform, with up to 20 findings where ``explain`` asks for them; INTERNAL
    where the engine fails. Source: SPEC ARG-3.
    """
    try:
        if schema.is_valid(parsed) and not 0 < get_int_max_str_digits() < ENGINE_MAX_DIGITS:
            minted: Any = parsed
            conforming: ConformingArguments = minted
            return conforming
    except Exception as error:  # noqa: BLE001  (whatever an engine raises is a refusal: RES-9)
        return _internal(str(error))
    return _refuse(parsed, schema, explain, True)


def conform_data(
    narrowed: Narrowed, schema: CompiledSchema, explain: bool
) -> ConformingData | Rejected:
    """Admit data that is valid under ``schema``; as ``conform_arguments``. Source: SPEC RES-4."""
    try:
        if schema.is_valid(narrowed) and not 0 < get_int_max_str_digits() < ENGINE_MAX_DIGITS:
            minted: Any = narrowed
            conforming: ConformingData = minted
            return conforming
    except Exception as error:  # noqa: BLE001  (as above)
        return _internal(str(error))
    return _refuse(narrowed, schema, explain, False)


def _refuse(value: object, schema: CompiledSchema, explain: bool, is_arguments: bool) -> Rejected:
    if 0 < get_int_max_str_digits() < ENGINE_MAX_DIGITS:
        return _internal(f"sys.set_int_max_str_digits is below {ENGINE_MAX_DIGITS}")
    if not explain:
        return _UNEXPLAINED
    try:
        findings, message = explain_violations(value, schema, is_arguments)
    except Exception as error:  # noqa: BLE001  (whatever an engine raises is a refusal: RES-9)
        return _internal(str(error))
    if not findings:
        return _internal("the validator refuses the value and names no violation")
    return Rejected.because(Stage.CONFORM, *findings, engine_message=message)


def _internal(message: str) -> Rejected:
    return Rejected.because(
        Stage.INTERNAL,
        Finding(code=Code.INTERNAL, hint="the value could not be judged"),
        engine_message=message[:MAX_MESSAGE],
    )
