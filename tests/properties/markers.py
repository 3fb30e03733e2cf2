"""Where an upstream can put a byte: each planter hides a marker in one such place."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.properties.tickets import carried, good_ticket, spoil_bytes, spoil_tree

from sluicegate.values.receipts import Fault, Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Planting:
    """The seeded chance, the marker in its text form, and the carrier of the contract."""

    random: Random
    marker: str
    carrier: str
    request_id: str

    @property
    def raw_marker(self) -> bytes:
        return bytes.fromhex(self.marker)

    def document(self, ticket: Any) -> Any:
        return carried(self.carrier, ticket, self.request_id)


Planter = Callable[[Planting], Receipt | Exception]
HTTP = {"status": 200, "content_type": "application/json"}


def receipt(raw: bytes, **members: Any) -> Receipt:
    told: dict[str, Any] = {"adapter": "upstream", "adapter_version": "1", "endpoint": "u"}
    return Receipt(**{**told, **members}, raw=raw)


def in_member(name: str) -> Planter:
    def plant(planting: Planting) -> Receipt:
        ticket = good_ticket(planting.random)
        ticket[name] = f"{planting.marker} {ticket.get(name, '')}"
        if planting.random.random() < 0.3:
            spoil_tree(planting.random, ticket)
        return receipt(json.dumps(planting.document(ticket)).encode())

    return plant


def in_nested_value(planting: Planting) -> Receipt:
    ticket = good_ticket(planting.random)
    ticket["author"]["name"] = planting.marker
    ticket["labels"] = [planting.marker]
    return receipt(json.dumps(planting.document(ticket)).encode())


def in_map_name(planting: Planting) -> Receipt:
    ticket = good_ticket(planting.random)
    ticket["counts"] = {planting.marker: 1}
    return receipt(json.dumps(planting.document(ticket)).encode())


def in_extra_name(planting: Planting) -> Receipt:
    document = planting.document(good_ticket(planting.random))
    inner = planting.random.choice([document, *[v for v in document.values() if type(v) is dict]])
    inner[planting.marker] = planting.random.choice([1, planting.marker])
    return receipt(json.dumps(document).encode())


def in_bound_value(planting: Planting) -> Receipt:
    ticket = good_ticket(planting.random)
    name = planting.random.choice(["ticket_id", "state", "observed_at", "points"])
    ticket[name] = planting.marker
    return receipt(json.dumps(planting.document(ticket)).encode())


def in_carrier(planting: Planting) -> Receipt:
    document = planting.document(good_ticket(planting.random))
    document[planting.random.choice([name for name in document if name != "title"])] = (
        planting.marker
    )
    return receipt(json.dumps(document).encode())


def in_reported_failure(planting: Planting) -> Receipt:
    marker, random = planting.marker, planting.random
    error = {"code": random.choice(["GONE", marker]), "retryable": random.choice([True, marker])}
    if random.random() < 0.5:
        error["message"] = marker
    head = {"tool": "ticket", "request_id": planting.request_id, "outcome": "failure"}
    failures = [
        {**head, "error": error},
        {"content": [{"type": "text", "text": marker}], "isError": True},
        {"error": marker},
    ]
    return receipt(json.dumps(random.choice(failures)).encode())


def in_spoilt_bytes(planting: Planting) -> Receipt:
    ticket = good_ticket(planting.random)
    ticket["internal_note"] = planting.marker
    raw = json.dumps(planting.document(ticket)).encode()
    return receipt(spoil_bytes(planting.random, raw))


def in_raw_bytes(planting: Planting) -> Receipt:
    raw = json.dumps(planting.document(good_ticket(planting.random))).encode()
    at = planting.random.randrange(len(raw) + 1)
    return receipt(raw[:at] + planting.raw_marker + raw[at:])


def in_duplicate(planting: Planting) -> Receipt:
    raw = json.dumps(planting.document(good_ticket(planting.random))).encode()
    return receipt(raw[:-1] + b',"x":"%b","x":1}' % planting.marker.encode())


def in_header(planting: Planting) -> Receipt:
    marker = planting.marker
    raw = json.dumps(planting.document(good_ticket(planting.random))).encode()
    told: dict[str, Any] = {**HTTP, "headers": (("x-trace", marker), (marker, "1"))}
    told["content_type"] = planting.random.choice(
        ["application/json", marker, f"application/json; charset={marker}"]
    )
    told["content_encoding"] = planting.random.choice([None, None, marker])
    return receipt(raw, **told)


def in_refused_body(planting: Planting) -> Receipt:
    status = planting.random.choice([204, 301, 400, 401, 404, 418, 429, 500, 503])
    body = planting.random.choice(['{"detail": "%s"}', "<html>%s</html>", "%s"])
    raw = (body % planting.marker).encode()
    return receipt(raw, **{**HTTP, "status": status}, diagnostics=planting.raw_marker)


def in_diagnostics(planting: Planting) -> Receipt:
    raw = json.dumps(planting.document(good_ticket(planting.random))).encode()
    return receipt(
        planting.random.choice([raw, b""]),
        exit_code=planting.random.choice([0, 1, 127]),
        diagnostics=planting.marker.encode() + planting.raw_marker,
    )


def in_fault(planting: Planting) -> Receipt:
    return receipt(
        planting.marker.encode(),
        fault=planting.random.choice(list(Fault)),
        dispatched=planting.random.choice([True, False]),
        diagnostics=f"OSError: {planting.marker}".encode(),
    )


def in_exception(planting: Planting) -> Exception:
    kind = planting.random.choice([ValueError, RuntimeError, OSError, KeyError, RecursionError])
    return kind(planting.marker, planting.raw_marker)


SELECTED: dict[str, Planter] = {"title": in_member("title")}
"""Places that the contract selects: what stands there reaches the agent if all else holds."""

UNSELECTED: dict[str, Planter] = {
    "internal note": in_member("internal_note"),
    "undeclared member": in_member("message"),
    "nested value": in_nested_value,
    "name in a map": in_map_name,
    "name": in_extra_name,
    "bound value": in_bound_value,
    "carrier": in_carrier,
    "reported failure": in_reported_failure,
    "spoilt bytes": in_spoilt_bytes,
    "raw bytes": in_raw_bytes,
    "duplicate": in_duplicate,
    "header": in_header,
    "body of a refused status": in_refused_body,
    "stderr": in_diagnostics,
    "body of a fault": in_fault,
    "exception": in_exception,
}
