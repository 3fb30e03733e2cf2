"""The names that traces and metrics bear: strings of our own (AUD-6).

The conventions for tools (``gen_ai.*``) are marked experimental and have moved between packages, so
nothing is imported for them. Source: OpenTelemetry semantic conventions 1.41, gen-ai spans.
"""

from __future__ import annotations

from typing import Final

SCOPE: Final = "sluicegate"
OPERATION: Final = "execute_tool"

GEN_AI_OPERATION_NAME: Final = "gen_ai.operation.name"
GEN_AI_TOOL_NAME: Final = "gen_ai.tool.name"
GEN_AI_TOOL_TYPE: Final = "gen_ai.tool.type"
GEN_AI_TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
ERROR_TYPE: Final = "error.type"

REQUEST_ID: Final = "sluicegate.request_id"
CONTRACT_VERSION: Final = "sluicegate.contract.version"
CONTRACT_DIGEST: Final = "sluicegate.contract.digest"
OUTCOME: Final = "sluicegate.outcome"
STAGE: Final = "sluicegate.stage"
CODE: Final = "sluicegate.code"
ATTEMPT: Final = "sluicegate.attempt"

CALLS: Final = "sluicegate.calls"
CALLS_ACTIVE: Final = "sluicegate.calls.active"
CALL_DURATION: Final = "sluicegate.call.duration"
REFUSALS: Final = "sluicegate.refusals"
