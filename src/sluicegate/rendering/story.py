"""The story of one call, out of its events: one screen that an operator can read at night."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from types import MappingProxyType
from typing import Final

from sluicegate.gates.events import EventKind, Outcome, StoredEvent
from sluicegate.gates.open_calls import open_attempts
from sluicegate.gates.operator_acts import find_end_of_run
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.upshots import Upshot, follow
from sluicegate.rendering.escaping import escape_terminal
from sluicegate.rendering.json_v1 import read_stored_json
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.rendering.tables import read_detail
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonValue

_INDENT: Final = " " * 11
_MAX_FINDINGS: Final = 5
_BAD: Final = frozenset({Outcome.FAILURE, Outcome.REFUSED})
_ENDS: Final = frozenset({EventKind.OUTCOME, EventKind.REFUSED})
_OWN_ACTS: Final = frozenset({EventKind.OPERATOR, EventKind.CONTRACTS})
_IN_HEAD: Final = frozenset({"act", "who", "resolves"})
_NOTHING: Final[Mapping[str, StoredEvent]] = MappingProxyType({})
_NO_ROOM: Final = "as the day's share of custody had no room (retention.daily_bytes)"
_SAID: Final = {
    "from_cache": "answered from the gate's cache",
    "abandoned": "the attempt ended without an answer of its own",
}


@dataclass(frozen=True, slots=True)
class _Known:
    """What the record knows beside the events of the story; see ``tell_story``."""

    evidence: Mapping[str, StoredEvent]
    crowded_out: Collection[str]
    absent: Collection[str]


def tell_story(
    events: Sequence[StoredEvent],
    *,
    paint: Paint = PLAIN,
    folder: str | None = None,
    evidence: Mapping[str, StoredEvent] = _NOTHING,
    crowded_out: Collection[str] = (),
    absent: Collection[str] = (),
) -> str:
    """Return the story of one request id; ``events`` are all of its events, in order.

    ``folder`` is named in the commands to type next, where it is not the usual one. ``evidence``
    has by event id what the call rests on, as far as it is known. ``crowded_out`` are requests by
    which the gate asked for a proof, and whose answer found no room in custody; ``absent`` are
    those that are named and do not stand in this record.

    Shape: who asked what under which contract; then, under its day, each event with what was
    sent, what came back, what stood against it and what the agent saw; then what to do. Every text
    is escaped.
    Raises: IndexError if there are no events.
    """
    known = _Known(evidence, crowded_out, absent)
    lines = [*_head(events, paint), ""]
    day = None
    for event in events:
        if day != (day := event.time[:10]):
            lines.append(paint.dim(escape_terminal(f"{day} UTC")))
        lines += _event(event, paint, known)
    steps = list(_next_steps(events, "" if folder is None else f" --folder {folder}", known))
    if steps:
        lines += ["", paint.strong("what to do"), *(f"  {escape_terminal(step)}" for step in steps)]
    return "\n".join(lines) + "\n"


def name_evidence(events: Iterable[StoredEvent]) -> frozenset[str]:
    """Return the ids of the events that the intents among ``events`` rest on."""
    details = (read_detail(event) for event in events if event.kind == EventKind.INTENT)
    listed = (detail.get("evidence") for detail in details)
    return frozenset(
        name
        for names in listed
        if isinstance(names, list)
        for name in names
        if isinstance(name, str)
    )


def _head(events: Sequence[StoredEvent], paint: Paint) -> list[str]:
    first = events[0]
    tool = first.tool + (f"@{first.contract_version}" if first.contract_version else "")
    title = f"{paint.strong(escape_terminal(first.request_id))}  {escape_terminal(tool)}"
    lines = [f"{title}  {_conclusion(events, paint)}"]
    if first.kind not in _OWN_ACTS:
        lines.append(escape_terminal(f"caller     {_caller(first)}"))
    if first.contract_digest:
        lines.append(escape_terminal(f"contract   {first.contract_digest}"))
    if first.trace_id is not None:
        lines.append(escape_terminal(f"trace      {first.trace_id}"))
    return lines


def _caller(event: StoredEvent) -> str:
    caller = event.caller_subject or "nobody"
    if event.caller_tenant is not None:
        caller += f" of {event.caller_tenant}"
    for name, text in (("session", event.session), ("host's call id", event.call_id)):
        if text is not None:
            caller += f", {name} {text}"
    return caller


def _conclusion(events: Sequence[StoredEvent], paint: Paint) -> str:
    if open_attempts(events):
        return paint.warn("OPEN")
    upshot: Upshot | None = None
    for event in events:
        found = _resolved_as(event)
        upshot = follow(upshot, kind=event.kind, outcome=event.outcome, found=found)
    if upshot is not None and upshot.found is not None:
        return escape_terminal(f"RESOLVED as {upshot.found}")
    ends = [event for event in events if event.kind in _ENDS]
    return _outcome(ends[-1], paint) if ends else paint.dim(escape_terminal(events[-1].kind))


def _resolved_as(event: StoredEvent) -> str | None:
    """Return what an operator found out of the call; None where the event is no such act."""
    if event.kind != EventKind.OPERATOR:
        return None
    detail = read_detail(event)
    return str(detail.get("as")) if detail.get("act") == "resolve" else None


def tell_resolution(events: Sequence[StoredEvent]) -> str | None:
    """Return as what a call was resolved last, by whom and when; None where nobody did."""
    for event in reversed(events):
        if (found := _resolved_as(event)) is not None:
            told = f"as {found}, by {event.caller_subject} at {event.time[:19]}Z"
            return escape_terminal(told)
    return None


def _outcome(event: StoredEvent, paint: Paint) -> str:
    word = escape_terminal(event.outcome.upper())
    if event.outcome == Outcome.SUCCESS:
        return paint.good(word)
    if event.outcome in _BAD:
        return paint.bad(word)
    return paint.warn(word) if event.outcome == Outcome.UNKNOWN else word


def _event(event: StoredEvent, paint: Paint, known: _Known) -> list[str]:
    parts = [event.kind]
    if event.attempt:
        parts.append(f"attempt {event.attempt}")
    if event.kind == EventKind.OPERATOR:
        parts += [str(read_detail(event).get("act", "act")), f"by {event.caller_subject}"]
    head = f"{paint.place(escape_terminal(event.time[11:19]))}   {escape_terminal(' '.join(parts))}"
    if event.kind in _ENDS:
        head += f"  {_outcome(event, paint)}"
    if event.code is not None:
        head += "  " + paint.bad(escape_terminal(f"{event.stage}/{event.code}"))
    if event.agent_code is not None:
        head += escape_terminal(f"  the agent saw {event.agent_code}")
    told = _particulars(event, known)
    return [head, *(f"{_INDENT}{escape_terminal(text)}" for text in told)]


def _particulars(event: StoredEvent, known: _Known) -> Iterable[str]:
    if event.kind == EventKind.INTENT:
        yield f"{event.adapter} {event.endpoint}"
        if event.decision_id:
            yield f"allowed by decision {event.decision_id}"
    elif event.decision_id and event.code == Code.DENIED:
        yield f"denied by decision {event.decision_id}"
    if event.upstream_status is not None:
        word = "exit code" if event.adapter in ("command", "ssh") else "status"
        yield f"upstream {word} {event.upstream_status}"
    if event.raw_bytes:
        # A refused call holds its own text; every other event holds what the upstream sent.
        ref = event.arguments_ref if event.kind == "refused" else event.raw_ref
        what = "of arguments" if event.kind == "refused" else "received"
        yield f"{event.raw_bytes} bytes {what}, {f'kept as {ref}' if ref else 'digest only'}"
    yield from _findings(event)
    masked = read_stored_json(event.masked)
    if isinstance(masked, list) and masked:
        yield "masked before anything was kept: " + ", ".join(map(str, masked))
    yield from _notes(event, read_detail(event), known)


def _findings(event: StoredEvent) -> Iterable[str]:
    findings = read_stored_json(event.findings)
    if not isinstance(findings, list):
        return
    for finding in findings[:_MAX_FINDINGS]:
        if isinstance(finding, Mapping):
            yield _finding(finding)
    if len(findings) > _MAX_FINDINGS:
        yield f"… and {len(findings) - _MAX_FINDINGS} more: sluicegate audit show {event.event_id}"


def _finding(finding: Mapping[str, JsonValue]) -> str:
    text = str(finding.get("code"))
    if finding.get("pointer"):
        text += f" at {finding['pointer']}"
    for word, member in (("expected", "expected"), ("received", "received")):
        if finding.get(member) is not None:
            text += f", {word} {finding[member]}"
    if finding.get("line") is not None:
        text += f", line {finding['line']} column {finding.get('column')}"
    elif finding.get("offset") is not None:
        text += f", byte {finding['offset']}"
    if finding.get("schema_pointer"):
        text += f" (rule {finding['schema_pointer']})"
    return text if finding.get("hint") is None else f"{text}: {finding['hint']}"


def _notes(event: StoredEvent, detail: Mapping[str, JsonValue], known: _Known) -> Iterable[str]:
    for name, value in detail.items():
        if name in _IN_HEAD or value in ({}, []):
            continue
        if name in _SAID:
            yield _SAID[name]
        elif name == "retry_in_s":
            yield f"another attempt after {value} s"
        elif name == "evidence" and isinstance(value, list):
            yield from _evidence(event, value, detail.get("spent"), known.evidence)
        elif name == "spent" and "evidence" in detail:
            continue  # told with the evidence that it is
        elif name == "proof" and isinstance(value, Mapping):
            yield from _proof(value, known.crowded_out)
        elif name == "quotas" and isinstance(value, list):
            yield from _quotas(value)
        elif name == "not_kept" and isinstance(value, list):
            yield f"not kept, {_NO_ROOM}: {', '.join(map(str, value))}"
        elif name == "held_by" and value in known.absent:
            yield f"held by: {value} (in the record of another gate)"
        elif name == "custody" and isinstance(value, Mapping):
            yield from (f"{kind} kept as {ref}" for kind, ref in value.items())
        elif name == "reserved" and isinstance(value, Mapping):
            runs = f"; may run until {value['runs']}" if "runs" in value else ""
            yield f"holds key {value.get('key')} until {value.get('until')}{runs}"
        elif isinstance(value, Mapping):
            told = ", ".join(f"{key} ({_inline(each)})" for key, each in value.items())
            yield f"{name.replace('_', ' ')}: {told}"
        elif name == "problems" and isinstance(value, list):
            yield from (f"problem: {problem}" for problem in value)
        elif isinstance(value, list):
            yield f"{name.replace('_', ' ')}: {', '.join(map(str, value))}"
        else:
            yield f"{name.replace('_', ' ')}: {value}"


def _inline(value: JsonValue) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return str(value)


def _evidence(
    acting: StoredEvent,
    ids: Sequence[JsonValue],
    spent: JsonValue,
    known: Mapping[str, StoredEvent],
) -> Iterable[str]:
    for name in map(str, ids):
        once = ", spent by it" if isinstance(spent, list) and name in spent else ""
        event = known.get(name)
        if event is None:
            yield f"rests on event {name}{once}"
        else:
            day = "" if event.time[:10] == acting.time[:10] else f"{event.time[:10]} "
            when = f"answered at {day}{event.time[11:19]}"
            yield f"rests on {event.tool}, {when}{once}: sluicegate why {event.request_id}"


def _proof(proof: Mapping[str, JsonValue], crowded_out: Collection[str]) -> Iterable[str]:
    tool = proof.get("tool")
    yield f"proof {proof.get('number')}, {tool}: {proof.get('why')}"
    if proof.get("asked") in crowded_out:
        yield f"it was not kept, {_NO_ROOM}: of {tool}, for this caller"
    if "asked" in proof:
        code = proof.get("agent_code")
        ended = f", which ended as {code}" if code else ""
        yield f"the gate asked itself as {proof['asked']}{ended}: sluicegate why {proof['asked']}"


def _quotas(quotas: Sequence[JsonValue]) -> Iterable[str]:
    word = "spent quota" if len(quotas) == 1 else "one of these is spent"
    for quota in quotas:
        if not isinstance(quota, Mapping):
            continue
        per = quota.get("per")
        counted = f"per {' and '.join(map(str, per))}" if isinstance(per, list) and per else None
        frees = f", has room again at {quota['frees']}" if "frees" in quota else ""
        granted = f"at most {quota.get('count')} within {quota.get('window_s')} s"
        yield f"{word}: {granted} {counted or 'over all'}{frees}"


def _next_steps(events: Sequence[StoredEvent], folder: str, known: _Known) -> Iterable[str]:
    request_id = events[0].request_id
    if open_attempts(events):
        yield "find out in the upstream whether it happened, then"
        yield f"sluicegate audit resolve {request_id} --as done|not-done --reason TEXT{folder}"
        yield from _gate_may_run(events)
    holders = (read_detail(event).get("held_by") for event in events)
    for holder in dict.fromkeys(each for each in holders if isinstance(each, str)):
        if holder not in known.absent:
            yield f"sluicegate why {holder}{folder}"
    for code in dict.fromkeys(event.code for event in events if event.code is not None):
        yield f"sluicegate explain {code}"
    ends = [event for event in events if event.kind in _ENDS]
    if ends and ends[-1].outcome == Outcome.SUCCESS:
        return  # what custody keeps can be looked at; nothing calls for it
    for ref in dict.fromkeys(ref for event in events for ref in _kept_refs(event)):
        yield f"sluicegate audit reveal {ref} --reason TEXT{folder}"


def _gate_may_run(events: Sequence[StoredEvent]) -> Iterable[str]:
    try:
        until = find_end_of_run(events)
    except AuditUnavailable as changed:
        yield str(changed)
        return
    if until is not None:
        yield (
            f"it may run until {until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}; before that add"
            " --gate-is-gone, if the process that made the call has ended"
        )


def _kept_refs(event: StoredEvent) -> Iterable[str]:
    yield from (ref for ref in (event.arguments_ref, event.raw_ref) if ref is not None)
    others = read_detail(event).get("custody")
    if isinstance(others, Mapping):
        yield from map(str, others.values())
