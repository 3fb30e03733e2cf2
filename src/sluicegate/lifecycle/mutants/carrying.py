"""Between the data of an answer and the bytes that carry it: bare, envelope, MCP result, mapped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sluicegate.checks.narrowing import narrow
from sluicegate.contracts.contract import Contract, MapRule
from sluicegate.contracts.json_reading import read_json
from sluicegate.contracts.marks import Document
from sluicegate.lifecycle.mutants.mutant import Mutant, replace_at, spell
from sluicegate.values.codes import Stage
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import NOTHING, Nothing, Pointer
from sluicegate.values.rejections import Rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """An accepted answer taken apart.

    ``document`` is the whole text's value, ``inner`` stands in the carrier at ``at``, spelt as a
    text where ``as_text``; ``data`` is what the schema sees: ``inner``, or what ``rules`` make
    of it.
    """

    document: JsonValue
    inner: JsonValue
    at: tuple[str | int, ...]
    as_text: bool
    data: JsonValue
    rules: Mapping[str, MapRule] | None

    def wrap(self, inner: JsonValue) -> bytes:
        """Return the bytes of an answer that carries ``inner``."""
        carried = spell(inner).decode() if self.as_text else inner
        return spell(replace_at(self.document, self.at, carried))

    def put(self, segments: Sequence[str | int], value: JsonValue | Nothing) -> bytes | None:
        """Return the bytes whose data bears ``value`` at a place; None where no bytes can."""
        if self.rules is None:
            return self.wrap(replace_at(self.data, segments, value))
        place = find_source(self.rules, segments)
        if place is None:
            return None
        try:
            return self.wrap(replace_at(self.inner, place, value))
        except (KeyError, IndexError):  # the way there is optional, and absent in this answer
            return None

    def carry(self, mutant: Mutant) -> Mutant | None:
        """Return a structure mutant of the data as a mutant of the answer.

        None where no answer can lead to it: what no rule of the map names is dropped before the
        schema sees it. A mapped member that is gone must be refused at narrow, unless its schema is
        in question.
        """
        if self.rules is None:
            if not self.at and not self.as_text:
                return mutant
            changed: Any = mutant.value
            return replace(mutant, raw=self.wrap(changed))
        segments = Pointer.parse(mutant.pointer).segments
        found: Any = Pointer(segments).find(mutant.value)
        raw = self.put(segments, found)
        if raw is None:
            return None
        gone = isinstance(found, Nothing) and len(segments) == 1
        gone = gone and not mutant.unheld and not self.rules[segments[0]].optional
        return replace(mutant, raw=raw, stage=Stage.NARROW if gone else mutant.stage)


def open_answer(contract: Contract, raw: bytes) -> Carried | None:
    """Take an accepted answer apart; None where its data is no JSON that could be changed."""
    upstream = contract.upstream
    text = upstream.text
    if text is not None and text.kind != "json":
        return None
    read = read_json("answer", raw)
    if not isinstance(read, Document):
        return None
    document = read.value
    at: tuple[str | int, ...] = ()
    if upstream.carrier == "envelope":
        at = ("data",)
    elif upstream.carrier == "mcp":
        at = ("structuredContent",) if text is None else ("content", 0, "text")
    inner: Any = Pointer(tuple(map(str, at))).find(document)
    as_text = upstream.carrier == "mcp" and text is not None
    if as_text and isinstance(inner, str):
        inside = read_json("text", inner.encode())
        inner = inside.value if isinstance(inside, Document) else NOTHING
    if inner is NOTHING:
        return None
    data: Any = narrow(inner, upstream.map)
    if isinstance(data, Rejected):
        return None
    return Carried(
        document=document, inner=inner, at=at, as_text=as_text, data=data, rules=upstream.map
    )


def find_source(
    rules: Mapping[str, MapRule], segments: Sequence[str | int]
) -> tuple[str | int, ...] | None:
    """Return where the received answer holds what stands at ``segments`` of the data.

    None where it was made by a table or a normaliser, or stands in no rule.
    """
    if not segments or segments[0] not in rules:
        return None
    rule, rest = rules[str(segments[0])], segments[1:]
    source: tuple[str | int, ...] = rule.at.segments
    if rule.values is not None or rule.convert is not None:
        return None
    if rule.members is None or not rest:
        return (*source, *rest)
    if rule.every:
        source, rest = (*source, rest[0]), rest[1:]
        if not rest:
            return source
    inner = find_source(rule.members, rest)
    return None if inner is None else (*source, *inner)


def mutate_carrier(contract: Contract, carried: Carried) -> Iterator[Mutant]:
    """Yield answers whose carrier or map cannot be followed: refused at unwrap or narrow."""
    document, carrier = carried.document, contract.upstream.carrier
    if isinstance(document, Mapping) and carrier != "bare":
        needed = (
            ("tool", "request_id", "outcome", "data") if carrier == "envelope" else ("content",)
        )
        for name in (*needed, *(str(each) for each in carried.at[:1])):
            if name in document:
                gone = replace_at(document, (name,), NOTHING)
                yield _structure(f"carrier-drop.{name}", f"/{name}", gone, Stage.UNWRAP)
        extra = {**document, "unreviewed": "unreviewed"}
        yield _structure("carrier-extra.unreviewed", "/unreviewed", extra, Stage.UNWRAP)
    if isinstance(document, Mapping) and carrier == "envelope":
        error: JsonObject = {"code": "UNKNOWN_CODE", "retryable": False}
        failure: JsonObject = {
            **{name: each for name, each in document.items() if name != "data"},
            "outcome": "failure",
        }
        wrong: tuple[tuple[str, JsonObject], ...] = (
            ("success-and-error", {**document, "error": error}),
            ("failure-with-data", {**document, "outcome": "failure"}),
            ("failure-with-both", {**document, "outcome": "failure", "error": error}),
            ("unknown-outcome", {**document, "outcome": "partial"}),
            ("unknown-error-code", {**failure, "error": error}),
            ("error-without-retryable", {**failure, "error": {"code": "UNKNOWN_CODE"}}),
            ("retryable-as-text", {**failure, "error": {**error, "retryable": "false"}}),
        )
        for operator, changed in wrong:
            yield _structure(operator, "/outcome", changed, Stage.UNWRAP)
    if isinstance(document, Mapping) and carrier == "mcp":
        failed = {**document, "isError": True}
        yield _structure("is-error", "/isError", failed, Stage.UNWRAP)
    for name, rule in (carried.rules or {}).items():
        yield from _unmapped(carried, name, rule)


def _unmapped(carried: Carried, name: str, rule: MapRule) -> Iterator[Mutant]:
    at = rule.at.segments
    if isinstance(rule.at.find(carried.inner), Nothing):
        return
    wrong: list[tuple[str, JsonValue]] = []
    if rule.values is not None and not rule.has_other:
        wrong = [("unmapped-value", "unlisted-value"), ("unmapped-null", None)]
    elif rule.every:
        wrong = [("no-list", {})]
    if rule.convert is not None:
        wrong.append(("inconvertible", {}))
    if (rule.values is not None or rule.convert is not None) and not rule.optional:
        yield _carried(carried, f"mapped-drop.{name}", at, NOTHING)
    for operator, value in wrong:
        yield _carried(carried, f"{operator}.{name}", at, value)


def _carried(
    carried: Carried, name: str, at: tuple[str, ...], value: JsonValue | Nothing
) -> Mutant:
    raw = carried.wrap(replace_at(carried.inner, at, value))
    return Mutant(
        name=name, level="structure", pointer=Pointer(at).text, raw=raw, stage=Stage.NARROW
    )


def _structure(name: str, pointer: str, value: JsonValue, stage: Stage) -> Mutant:
    return Mutant(
        name=name,
        level="structure",
        pointer=pointer,
        raw=spell(value),
        stage=stage,
        value=value,
    )
