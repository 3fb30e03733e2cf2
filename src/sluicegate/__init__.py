"""Strict contracts on both sides of an AI agent's tool boundary.

The names are imported when they are first used (PEP 562): a command line that only prints a page
does not pay for engines, stores and HTTP (docs/decisions/0005).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sluicegate.contracts.contract import Contract
    from sluicegate.contracts.problems import Problem
    from sluicegate.contracts.served import ContractSet
    from sluicegate.errors import (
        ConfigurationError,
        ContractFolderError,
        MisuseError,
        SluicegateError,
    )
    from sluicegate.gates.answers import Answer
    from sluicegate.gates.envelopes import Envelope, Failure, Needs, Refused, Success
    from sluicegate.gates.gate import Gate, ToolCall
    from sluicegate.gates.judging import judge
    from sluicegate.gates.outstanding import Outstanding
    from sluicegate.gates.ports import AccessQuery, AuditUnavailable, Decision
    from sluicegate.gates.verdicts import Question, Verdict
    from sluicegate.opening.blocking import BlockingGate, open_blocking
    from sluicegate.opening.folder import open_gate
    from sluicegate.values.callers import Caller
    from sluicegate.values.codes import Code, Stage
    from sluicegate.values.findings import Finding
    from sluicegate.values.receipts import Receipt

_HOMES = {
    "AccessQuery": "sluicegate.gates.ports",
    "Answer": "sluicegate.gates.answers",
    "AuditUnavailable": "sluicegate.gates.ports",
    "BlockingGate": "sluicegate.opening.blocking",
    "Caller": "sluicegate.values.callers",
    "Code": "sluicegate.values.codes",
    "ConfigurationError": "sluicegate.errors",
    "Contract": "sluicegate.contracts.contract",
    "ContractFolderError": "sluicegate.errors",
    "ContractSet": "sluicegate.contracts.served",
    "Decision": "sluicegate.gates.ports",
    "Envelope": "sluicegate.gates.envelopes",
    "Failure": "sluicegate.gates.envelopes",
    "Finding": "sluicegate.values.findings",
    "Gate": "sluicegate.gates.gate",
    "MisuseError": "sluicegate.errors",
    "Needs": "sluicegate.gates.envelopes",
    "Outstanding": "sluicegate.gates.outstanding",
    "Problem": "sluicegate.contracts.problems",
    "Question": "sluicegate.gates.verdicts",
    "Receipt": "sluicegate.values.receipts",
    "Refused": "sluicegate.gates.envelopes",
    "SluicegateError": "sluicegate.errors",
    "Stage": "sluicegate.values.codes",
    "Success": "sluicegate.gates.envelopes",
    "ToolCall": "sluicegate.gates.gate",
    "Verdict": "sluicegate.gates.verdicts",
    "judge": "sluicegate.gates.judging",
    "open_blocking": "sluicegate.opening.blocking",
    "open_gate": "sluicegate.opening.folder",
}

__all__ = [
    "AccessQuery",
    "Answer",
    "AuditUnavailable",
    "BlockingGate",
    "Caller",
    "Code",
    "ConfigurationError",
    "Contract",
    "ContractFolderError",
    "ContractSet",
    "Decision",
    "Envelope",
    "Failure",
    "Finding",
    "Gate",
    "MisuseError",
    "Needs",
    "Outstanding",
    "Problem",
    "Question",
    "Receipt",
    "Refused",
    "SluicegateError",
    "Stage",
    "Success",
    "ToolCall",
    "Verdict",
    "judge",
    "open_blocking",
    "open_gate",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'sluicegate' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
