"""What ``doctor`` puts to the engines: each probe is a document that must be refused, or accepted.

A setting that is read back proves little; a document that comes out as it must proves the setting.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Final

from sluicegate.gates.judging import judge
from sluicegate.gates.verdicts import Question
from sluicegate.values.codes import Code
from sluicegate.values.looks import Look

PINS: Final = {"jiter": (0, 19), "jsonschema-rs": (0, 61)}
"""Distribution → the minor that the conformance suites were run with (pyproject.toml)."""

_ANY_OBJECT: Final = {"type": "object"}
_LEAST_DIGITS: Final = 4300
_QUICK_S: Final = 1.0
_EARLIEST: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Probe:
    """``code`` None: the document must be accepted."""

    name: str
    schema: object
    raw: bytes
    code: Code | None
    says: str


_PROBES: Final = (
    _Probe("accepts", _ANY_OBJECT, b'{"a": 1}', None, "a plain document is accepted"),
    _Probe(
        "duplicates",
        _ANY_OBJECT,
        b'{"a": 1, "\\u0061": 2}',
        Code.DUPLICATE_MEMBER,
        "a member name that occurs twice is refused",
    ),
    _Probe(
        "overflow",
        _ANY_OBJECT,
        b'{"a": 1e400}',
        Code.NON_FINITE_NUMBER,
        "a number that overflows is refused",
    ),
    _Probe("nan", _ANY_OBJECT, b'{"a": NaN}', Code.NON_FINITE_NUMBER, "NaN is refused"),
    _Probe(
        "surrogates",
        _ANY_OBJECT,
        b'{"a": "\\ud83d"}',
        Code.LONE_SURROGATE,
        "half a surrogate pair is refused",
    ),
    _Probe("trailing", _ANY_OBJECT, b"{} {}", Code.TRAILING_DATA, "a second document is refused"),
    _Probe(
        "depth",
        _ANY_OBJECT,
        b'{"a": ' + b"[" * 100_000,
        Code.TOO_DEEP,
        "deep nesting is refused before it is parsed",
    ),
    _Probe(
        "formats",
        {"type": "object", "properties": {"t": {"format": "date-time"}}},
        b'{"t": "2026-01-01T12:00:00"}',
        Code.FORMAT,
        "formats are asserted",
    ),
    _Probe(
        "format names",
        {"type": "object", "properties": {"t": {"format": "datetime"}}},
        b"{}",
        Code.SCHEMA_UNKNOWN_FORMAT,
        "a format that nothing asserts is refused",
    ),
    _Probe(
        "remote refs",
        {"$ref": "http://127.0.0.1:9/schema.json"},
        b"{}",
        Code.SCHEMA_REMOTE_REF,
        "a reference to a network is refused",
    ),
    _Probe(
        "patterns",
        {"type": "object", "properties": {"t": {"pattern": "^(?!a)b$"}}},
        b"{}",
        Code.SCHEMA_PATTERN,
        "a pattern that needs backtracking is refused",
    ),
)


def examine_engines(now: datetime) -> list[Look]:
    """Return what was found of engines, interpreter and clock; raises nothing."""
    return [
        *(_guarded(name, partial(_pin, name)) for name in PINS),
        _digits(),
        *(_guarded(probe.name, partial(_judged, probe, now)) for probe in _PROBES),
        _guarded("offline", _offline),
        _guarded("linear", partial(_linear, now)),
        _clock(now),
    ]


def _guarded(name: str, look: Callable[[], Look]) -> Look:
    try:
        return look()
    except Exception as error:  # noqa: BLE001  (a probe that cannot run is not well, and says so)
        return Look(name=name, well=False, says=f"the probe failed with {type(error).__name__}")


def _pin(name: str) -> Look:
    found = version(name)
    major, minor = PINS[name]
    well = found.split(".")[:2] == [str(major), str(minor)]
    says = f"{found}, proven with {major}.{minor}"
    return Look(name=name, well=well, says=says if well else f"{says}: install that minor")


def _digits() -> Look:
    digits = sys.get_int_max_str_digits()
    well = digits == 0 or digits >= _LEAST_DIGITS
    says = f"integers of {digits or 'any number of'} digits can be written out"
    if not well:
        says += f"; unset PYTHONINTMAXSTRDIGITS or set it to {_LEAST_DIGITS} at least"
    return Look(name="int digits", well=well, says=says)


def _judged(probe: _Probe, now: datetime) -> Look:
    verdict = judge(probe.raw, Question(schema=probe.schema, now=now))
    if verdict.code is probe.code:
        return Look(name=probe.name, well=True, says=probe.says)
    wanted, got = probe.code or "accepted", verdict.code or "accepted"
    return Look(name=probe.name, well=False, says=f"must be {wanted}, and is {got}")


def _offline() -> Look:
    """Ask the engine itself, below our own refusal, whether it reads a file by reference."""
    from sluicegate.contracts.schemas.compiling import compile_validator

    with tempfile.TemporaryDirectory() as folder:
        bait = Path(folder, "bait.json")
        bait.write_text('{"type": "object"}', encoding="utf-8")
        try:
            compile_validator({"$ref": bait.as_uri()})
        except ValueError:
            return Look(name="offline", well=True, says="the engine itself reads no reference")
    return Look(name="offline", well=False, says="the engine read a file by reference")


def _linear(now: datetime) -> Look:
    """A pattern that takes a backtracking engine longer than the universe has."""
    schema = {"type": "object", "properties": {"t": {"pattern": "^(a+)+$"}}}
    raw = b'{"t": "' + b"a" * 10_000 + b'!"}'
    began = time.perf_counter()
    verdict = judge(raw, Question(schema=schema, now=now))
    took = time.perf_counter() - began
    well = verdict.code is Code.PATTERN and took < _QUICK_S
    return Look(name="linear", well=well, says=f"patterns take linear time ({took * 1000:.0f} ms)")


def _clock(now: datetime) -> Look:
    if now < _EARLIEST:
        return Look(name="clock", well=False, says=f"this clock says {now:%Y-%m-%d}: set it")
    return Look(name="clock", well=True, says=f"{now:%Y-%m-%dT%H:%M:%SZ}")
