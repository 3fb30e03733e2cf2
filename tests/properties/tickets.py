"""One tool in three carriers, and seeded answers for it: good, broken, and hostile."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from sluicegate.contracts.served import ContractSet
from sluicegate.testing import contracts_of

ARGUMENTS = b'{"ticket_id": "T-17"}'
TEXT = {"type": "string", "maxLength": 200}
TICKET = {
    "type": "object",
    "properties": {
        "ticket_id": {"type": "string", "pattern": "^T-[0-9]{1,6}$"},
        "state": {"enum": ["open", "closed"]},
        "observed_at": {"type": "string", "format": "date-time", "maxLength": 35},
        "points": {"type": "integer", "minimum": 0, "maximum": 99},
        "title": TEXT,
        "internal_note": TEXT,
        "labels": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 40}},
        "counts": {
            "type": "object",
            "maxProperties": 4,
            "propertyNames": {"pattern": "^[a-z0-9]{1,40}$"},
            "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 9},
        },
        "author": {
            "type": "object",
            "properties": {"name": TEXT, "id": {"type": "integer", "minimum": 1, "maximum": 9999}},
            "required": ["name", "id"],
            "additionalProperties": False,
        },
    },
    "required": ["ticket_id", "state", "observed_at", "title", "internal_note", "author"],
    "additionalProperties": False,
}
CONTRACT = {
    "sluicegate": 1,
    "tool": "ticket",
    "version": "1.0.0",
    "owner": "desk",
    "description": "One ticket.",
    "effect": "read",
    "arguments": {
        "schema": {
            "type": "object",
            "properties": {"ticket_id": {"type": "string", "pattern": "^T-[0-9]{1,6}$"}},
            "required": ["ticket_id"],
            "additionalProperties": False,
        }
    },
    "fetch": {"host": {}},
    "limits": {"max_bytes": 4096, "max_depth": 8},
    "result": {
        "schema": TICKET,
        "bind": {"/ticket_id": "/ticket_id"},
        "fresh": {"at": "/observed_at", "max_age_s": 60, "max_ahead_s": 5},
        "agent": ["/ticket_id", "/state", "/points", "/author/id"],
        "untrusted_text": {"title": "/title"},
        "operator": ["/internal_note"],
    },
    "errors": {"GONE": {"retryable": False}},
}
CARRIERS: dict[str, dict[str, Any]] = {
    "bare": {"status": {"404": "GONE"}},
    "envelope": {"envelope": True},
    "mcp": {"mcp": True},
}


def contracts_for(carrier: str) -> ContractSet:
    document = {**CONTRACT, "upstream": CARRIERS[carrier]}
    return contracts_of({"ticket/contract.json": json.dumps(document)})


def good_ticket(random: Random) -> dict[str, Any]:
    """A ticket that conforms, with optional members here and there."""
    ticket: dict[str, Any] = {
        "ticket_id": "T-17",
        "state": random.choice(["open", "closed"]),
        "observed_at": f"2026-11-30T11:59:{random.randrange(10, 60)}Z",
        "title": random.choice(["Printer on fire", "Überlauf → 東京", "a\tb"]),
        "internal_note": "call back",
        "author": {"name": "alex", "id": random.randrange(1, 9999)},
    }
    if random.random() < 0.5:
        ticket["points"] = random.randrange(100)
    if random.random() < 0.3:
        ticket["labels"] = ["red", "blue"]
    if random.random() < 0.3:
        ticket["counts"] = {"seen": 3}
    return ticket


def carried(carrier: str, ticket: Any, request_id: str) -> Any:
    """Put the ticket into its carrier."""
    if carrier == "envelope":
        head = {"tool": "ticket", "request_id": request_id, "outcome": "success"}
        return {**head, "data": ticket}
    if carrier == "mcp":
        return {"content": [{"type": "text", "text": "see data"}], "structuredContent": ticket}
    return ticket


ODD_VALUES: list[Any] = [
    None,
    True,
    "",
    "T-18",
    -1,
    10**30,
    1.5,
    [],
    {},
    "\u202eabc",
    "\x1b[31m",
    "x" * 300,
    "2026-11-30T10:00:00Z",
    {"a": [{"b": {}}]},
]


def spoil_tree(random: Random, tree: Any) -> None:
    """Change one random place of ``tree``: drop it, replace it, add beside it, or rename it."""
    place, name = _random_place(random, tree)
    act = random.randrange(4)
    if act == 0:
        del place[name]
    elif act == 1 or isinstance(place, list):
        place[name] = random.choice(ODD_VALUES)
    elif act == 2:
        place[random.choice(["extra", "titles", "", "Title"])] = random.choice(ODD_VALUES)
    else:
        place[random.choice(["Title", "ticketId", "x"])] = place.pop(name)


def _random_place(random: Random, tree: Any) -> tuple[Any, Any]:
    place = tree
    while True:
        name = random.choice(list(place) if isinstance(place, dict) else range(len(place)))
        inner = place[name]
        if not isinstance(inner, dict | list) or not inner or random.random() < 0.4:
            return place, name
        place = inner


def spoil_bytes(random: Random, raw: bytes) -> bytes:
    """Change the text itself: what no tree can express."""
    at = random.randrange(len(raw))
    acts: list[Callable[[], bytes]] = [
        lambda: raw[:at],
        lambda: raw[:at] + bytes([random.randrange(256)]) + raw[at:],
        lambda: raw[:at] + raw[at + 1 :],
        lambda: raw[:-1] + b',"state":"open"}',
        lambda: raw + random.choice([b" ", b"\n{}", b"\0", b"WARN"]),
        lambda: random.choice([b"\xef\xbb\xbf", b"log line\n", b")]}'\n"]) + raw,
        lambda: raw.replace(b"17", b"1e400", 1),
        lambda: raw.replace(b'"call back"', b'"\\ud800"', 1),
        lambda: raw.replace(b'"call back"', b"[" * 9 + b"]" * 9, 1),
        lambda: raw + b" " * 5000,
    ]
    return random.choice(acts)()
