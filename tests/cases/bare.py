"""Contracts around the bare schemas of the cases: what a row names, and nothing else.

A row's schema is judged as it stands, so it registers without the rules that only a contract must
obey; a row about a whole contract goes through ``load`` instead.
"""

from __future__ import annotations

import json
from typing import Any

from sluicegate.contracts.contract import (
    ArgumentsPart,
    Contract,
    Effect,
    Fingerprints,
    HostFetch,
    ResultPart,
    RetryRule,
    UpstreamPart,
)
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.registration import register
from sluicegate.values.digests import digest_of_bytes
from sluicegate.values.limits import Limits

DIGEST = digest_of_bytes(b"case")
OBJECT = {"type": "object", "additionalProperties": False}


def registered(schema: Any, side: Any = "result") -> CompiledSchema:
    compiled = register(schema, side=side, strict=False)
    assert isinstance(compiled, CompiledSchema), compiled
    return compiled


def bare_contract(
    schema: Any, *, upstream: UpstreamPart, limits: Limits, integers: Any = "any"
) -> Contract:
    """A contract whose result is ``schema``; nothing is selected, bound or fresh."""
    return Contract(
        tool="case",
        version="1.0.0",
        owner="tests",
        description="One case.",
        title=None,
        effect=Effect.READ,
        arguments=ArgumentsPart(schema=registered(OBJECT, "arguments")),
        fetch=HostFetch(),
        cache=None,
        call_limits=limits,
        limits=limits,
        upstream=upstream,
        result=ResultPart(
            schema=registered(schema), agent_schema={"type": "object"}, integers=integers
        ),
        errors={},
        retry=RetryRule(),
        masked_arguments=(),
        masked_data=(),
        evidence_waiver=None,
        fingerprints=Fingerprints(language=DIGEST, text=DIGEST, policy=DIGEST, digest=DIGEST),
        source="case",
        document={},
    )


def contract_document(arguments_schema: Any, *, tool: str = "case", **parts: Any) -> str:
    """The text of a whole contract with ``arguments_schema``, for ``load``."""
    arguments = {"schema": arguments_schema, **parts.pop("arguments", {})}
    return json.dumps(
        {
            "sluicegate": 1,
            "tool": tool,
            "version": "1.0.0",
            "owner": "tests",
            "description": "One case.",
            "effect": "read",
            "arguments": arguments,
            "fetch": {"host": {}},
            "result": {
                "schema": {
                    "type": "object",
                    "properties": {"done": {"type": "boolean"}},
                    "required": ["done"],
                    "additionalProperties": False,
                },
                "agent": ["/done"],
            },
            **parts,
        }
    )
