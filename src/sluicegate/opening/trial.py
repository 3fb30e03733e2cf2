"""The timed trial of every schema in a child process (SPEC CON-2).

What a schema costs shows when values are validated, and a native engine cannot be interrupted from
within. So each schema is compiled and tried in a process that the kernel ends: memory, processor
time, open files, no files written, no environment, and a wall clock held here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.opening.children import run_through
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject

WALL_S: Final = 10.0
"""For one child; each schema has 2 s of processor time in it."""

_CHILD: Final = Path(__file__).with_name("trial_child.py")


def try_schemas(documents: Sequence[JsonObject]) -> tuple[SchemaFault | None, ...]:
    """Compile and validate each document in a child; one entry a document, in order.

    ``documents`` are effective schemas of registered contracts. An entry is None where the child
    came through, else SCHEMA_TOO_COMPLEX: any end of the child but success counts. One child does
    for all, unless one of them ends it: the next child goes on behind that one. Never raises for
    what the documents hold.
    """
    lines = run_through(_CHILD, documents, WALL_S, pack=list)
    return tuple(_too_complex() if line is None else None for line in lines)


def try_contracts(contracts: Iterable[Contract]) -> tuple[Problem, ...]:
    """Try both schemas of each contract; return a problem for each that did not come through."""
    tried = [
        (contract, side, schema.document)
        for contract in contracts
        for side, schema in (
            ("arguments", contract.arguments.schema),
            ("result", contract.result.schema),
        )
    ]
    faults = try_schemas([document for _, _, document in tried])
    return tuple(
        Problem(
            code=fault.code,
            document=contract.source,
            message=f"The {side} schema: {fault.message}",
            mend=fault.mend,
            pointer=fault.pointer,
        )
        for (contract, side, _), fault in zip(tried, faults, strict=True)
        if fault is not None
    )


def _too_complex() -> SchemaFault:
    return SchemaFault(
        code=Code.SCHEMA_TOO_COMPLEX,
        message="the schema is too complex: its trial in a child process did not come to an end "
        "within the limits on time and memory.",
        mend="Nest fewer compositions; say `unevaluatedProperties: false` once, at the outside.",
    )
