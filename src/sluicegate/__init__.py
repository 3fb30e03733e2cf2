"""Strict contracts on both sides of an AI agent's tool boundary."""

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
