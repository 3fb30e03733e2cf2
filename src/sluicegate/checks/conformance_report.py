"""Collects the engine's violations of one value and puts them in order (SPEC ARG-3).

The engine's texts echo values and grow with them; only kinds, paths and limits are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from jsonschema_rs import ValidationError, ValidationErrorKind

from sluicegate.checks.conformance_branches import Chosen, Told, choose_branch, is_union
from sluicegate.checks.conformance_keywords import (
    Judged,
    judge_ambiguous,
    judge_keyword,
    judge_options,
    judge_tied,
    judge_type,
)
from sluicegate.checks.conformance_members import Members, Path, Spot, judge_members
from sluicegate.checks.conformance_places import Place, as_object, find_place, value_at
from sluicegate.checks.conformance_words import join_texts
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonObject, json_type
from sluicegate.values.names import MAX_SHOWN_NAME, show_name
from sluicegate.values.pointers import NOTHING, join_segments

_CLOSING: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_ABSENT: Final = frozenset({Code.MISSING, Code.MISNAMED, Code.DEPENDENT})
_LAST: Final = 1 << 40
"""Stands behind every member that is there: the place of one that is missing."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A finding and its place in the value, by which findings are put in order."""

    path: Path
    finding: Finding


class Report:
    """The violations of one value; used once."""

    __slots__ = (
        "_document",
        "_entries",
        "_is_arguments",
        "_members",
        "_noisy",
        "_orders",
        "_start",
        "_value",
    )

    def __init__(
        self,
        document: JsonObject,
        value: object,
        start: Place | None,
        *,
        is_arguments: bool = False,
    ) -> None:
        self._document = document
        self._is_arguments = is_arguments
        self._value = value
        self._start = start
        self._entries: list[Entry] = []
        self._members: dict[Path, Members] = {}
        self._noisy: list[Spot] = []
        self._orders: dict[int, Mapping[str | int, int]] = {}

    def take(self, error: ValidationError) -> None:
        """Take one violation; a union is taken as the branch that was meant."""
        kind = error.kind
        spot = self._spot(error)
        if is_union(error):
            self._take_union(error, spot)
        elif isinstance(kind, ValidationErrorKind.Type):
            self._add(spot, judge_type(_types(spot, kind), spot.value, spot.path))
        elif isinstance(kind, ValidationErrorKind.Constant):
            self._add(spot, judge_options(Code.CONST, [kind.expected_value], spot.value))
        elif isinstance(kind, ValidationErrorKind.Enum):
            self._add(spot, judge_options(Code.ENUM, kind.options, spot.value))
        elif isinstance(kind, ValidationErrorKind.Required):
            self._of(spot).missing.setdefault(kind.property, spot)
        elif isinstance(kind, ValidationErrorKind.AdditionalProperties):
            self._of(spot).add_unexpected(kind.unexpected, spot)
        elif isinstance(kind, ValidationErrorKind.UnevaluatedProperties):
            self._of(spot).add_unevaluated(kind.unexpected, spot)
        elif isinstance(kind, ValidationErrorKind.UnevaluatedItems):
            self._noisy.append(spot)
        elif isinstance(kind, ValidationErrorKind.PropertyNames):
            self._take_bad_name(kind.error, spot)
        elif isinstance(kind, ValidationErrorKind.OneOfMultipleValid):
            self._add(spot, judge_ambiguous(len(kind.context)))
        elif isinstance(kind, ValidationErrorKind.FalseSchema | ValidationErrorKind.Not):
            self._take_forbidden(spot)
        else:
            self._add(spot, judge_keyword(spot.keyword, spot.value, spot.parent))

    def close(self) -> list[Entry]:
        """Return the findings in order, each once."""
        for path, members in self._members.items():
            if members.unevaluated:
                self._settle_noise(path, members)
            for judged, spot, name in judge_members(self._document, members):
                self._add(replace(spot, path=(*path, name)), judged)
        for spot in self._noisy:
            if not self._fails_below(spot.path):
                self._add(spot, judge_keyword(spot.keyword, spot.value, spot.parent))
        unique: dict[object, Entry] = {}
        for entry in self._entries:
            unique.setdefault((entry.finding.code, entry.path, entry.finding.expected), entry)
        entries = list(unique.values())
        return entries if len(entries) == 1 else sorted(entries, key=self._rank)

    def _spot(self, error: ValidationError) -> Spot:
        place = find_place(self._document, error, self._start)
        path = tuple(error.instance_path)
        parent = as_object(value_at(self._document, place[:-1]))
        return Spot(path, value_at(self._value, path), place, parent)

    def _of(self, spot: Spot) -> Members:
        members = self._members.get(spot.path)
        if members is None:
            present = spot.value if isinstance(spot.value, dict) else {}
            members = self._members[spot.path] = Members(present)
        return members

    def _take_union(self, error: ValidationError, spot: Spot) -> None:
        branches = spot.parent.get(spot.keyword)
        schemas = branches if isinstance(branches, list | tuple) else ()
        choice = choose_branch(error, spot.value, self._document, schemas)
        if isinstance(choice, Chosen):
            for nested in choice.errors:
                self.take(nested)
        elif isinstance(choice, Told):
            path = spot.path if choice.member is None else (*spot.path, choice.member)
            self._add(replace(spot, path=path, value=value_at(self._value, path)), choice.judged)
        else:
            self._take_tied(choice.branches, spot)

    def _take_tied(self, branches: Sequence[Sequence[ValidationError]], spot: Spot) -> None:
        """Tell what every tied branch asks for; where they share nothing, that none fits."""
        reports = []
        for errors in branches:
            report = Report(
                self._document, self._value, self._start, is_arguments=self._is_arguments
            )
            for error in errors:
                report.take(error)
            reports.append(report.close())
        shared = [
            entries
            for first in reports[0]
            if len(entries := [_same(report, first) for report in reports]) == len(reports)
            and None not in entries
        ]
        for entries in shared:
            told = [entry for entry in entries if entry is not None]
            texts = [entry.finding.expected for entry in told if entry.finding.expected]
            expected = join_texts(texts) if texts else None
            self._entries.append(
                replace(told[0], finding=replace(told[0].finding, expected=expected))
            )
        if not shared:
            firsts = [report[0].finding for report in reports if report]
            self._add(spot, judge_tied(len(branches), firsts))

    def _take_bad_name(self, error: ValidationError, spot: Spot) -> None:
        name = str(error.instance)
        judged = judge_keyword("propertyNames", spot.value, spot.parent)
        if len(spot.place) > 1:
            inner = judge_keyword(spot.keyword, name, spot.parent)
            judged = replace(
                judged,
                expected=f"a member name: {inner.expected}" if inner.expected else judged.expected,
                limit=inner.limit,
            )
        self._add(replace(spot, path=(*spot.path, name)), judged)

    def _take_forbidden(self, spot: Spot) -> None:
        """A false schema that closes an object or array is a surplus, any other a prohibition."""
        if spot.keyword in _CLOSING and isinstance(spot.value, dict):
            self._of(spot).add_unexpected(list(spot.value), spot)
        elif (
            spot.keyword == "not"
            and len(spot.place) > 1
            and spot.place[-2] in _CLOSING
            and spot.parent.get("not") in ({}, True)
            and spot.path
        ):
            owner = replace(
                spot,
                path=spot.path[:-1],
                value=value_at(self._value, spot.path[:-1]),
                place=spot.place[:-1],
            )
            self._of(owner).add_unexpected([str(spot.path[-1])], owner)
        else:
            self._add(spot, judge_keyword(spot.keyword, spot.value, spot.parent))

    def _settle_noise(self, path: Path, members: Members) -> None:
        """Drop declared members that count as unevaluated only because a sibling failed."""
        members.drop_declared(self._document, self._fails_below(path) or bool(members.missing))

    def _fails_below(self, path: Path) -> bool:
        depth = len(path)
        return any(entry.path[:depth] == path for entry in self._entries)

    def _add(self, spot: Spot, judged: Judged) -> None:
        value = value_at(self._value, spot.path)
        there = value is not NOTHING
        code = judged.code
        if (
            self._is_arguments
            and not spot.path
            and judged.expected == "object"
            and not isinstance(value, dict)
        ):
            code = Code.NOT_AN_OBJECT
        finding = Finding(
            code=code,
            pointer=show_path(spot.path),
            schema_pointer=join_segments(spot.place),
            keyword=spot.keyword,
            expected=judged.expected,
            received=json_type(value) if there else None,
            received_size=len(value) if isinstance(value, str | list | dict) else None,
            limit=judged.limit,
            hint=judged.hint,
        )
        self._entries.append(Entry(spot.path, finding))

    def _rank(self, entry: Entry) -> tuple[int, tuple[int, ...]]:
        code = entry.finding.code
        if not entry.path:
            return 0, ()
        order = 1 if code in _ABSENT else 2 if code is Code.UNEXPECTED else 3
        return order, self._position(entry.path)

    def _position(self, path: Path) -> tuple[int, ...]:
        """Where ``path`` stands in the order of the document."""
        position = []
        here: object = self._value
        for segment in path:
            if isinstance(here, dict):
                order = self._orders.get(id(here))
                if order is None:
                    order = self._orders[id(here)] = {name: at for at, name in enumerate(here)}
                position.append(order.get(segment, _LAST))
            else:
                position.append(segment if isinstance(segment, int) else _LAST)
            here = value_at(here, (segment,))
        return tuple(position)


def show_path(path: Path) -> str:
    """Return ``path`` as pointer text whose names are fit to be shown."""
    return join_segments([_show(name) if isinstance(name, str) else name for name in path])


def _show(name: str) -> str:
    if len(name) <= MAX_SHOWN_NAME and name.isascii() and name.isprintable():
        return name
    return show_name(name)


def _types(spot: Spot, kind: ValidationErrorKind.Type) -> list[str]:
    wanted = spot.parent.get("type")
    if isinstance(wanted, str):
        return [wanted]
    # The contract's own order where it can be had; the engine sorts.
    return [str(name) for name in (wanted if isinstance(wanted, list | tuple) else kind.types)]


def _same(report: Sequence[Entry], wanted: Entry) -> Entry | None:
    for entry in report:
        if entry.path == wanted.path and entry.finding.code is wanted.finding.code:
            return entry
    return None
