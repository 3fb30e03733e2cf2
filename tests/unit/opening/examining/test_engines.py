"""The probes of ``doctor``: each can fail, says so, and is not deceived by a setting."""

from __future__ import annotations

import re
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sluicegate.gates.verdicts import Question, Verdict
from sluicegate.opening.examining import engines
from sluicegate.opening.examining.engines import PINS, examine_engines
from sluicegate.values.digests import digest_of_bytes

NOW = datetime(2026, 11, 30, tzinfo=UTC)
PYPROJECT = Path(__file__).parents[4] / "pyproject.toml"


def ill(now: datetime = NOW) -> set[str]:
    return {look.name for look in examine_engines(now) if not look.well}


@pytest.mark.requirement("CLI")
def test_nothing_is_ill_here() -> None:
    assert ill() == set()


def test_the_pins_are_those_of_the_project() -> None:
    wanted = tomllib.loads(PYPROJECT.read_text())["project"]["dependencies"]
    for name, (major, minor) in PINS.items():
        [line] = [each for each in wanted if re.match(rf"{name}\b", each)]
        assert f"<{major}.{minor + 1}" in line
        assert f">={major}.{minor}" in line


@pytest.mark.requirement("CLI")
def test_an_engine_that_accepts_everything_fails_every_probe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def accept(raw: bytes, question: Question) -> Verdict:
        digest = digest_of_bytes(raw)
        return Verdict(accepted=True, stage=None, code=None, findings=(), digest=digest)

    monkeypatch.setattr(engines, "judge", accept)
    judged = {probe.name for probe in engines._PROBES if probe.code is not None}
    assert ill() == judged | {"linear"}


def test_a_probe_that_breaks_is_ill_and_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(raw: bytes, question: Question) -> Verdict:
        raise RuntimeError("secret")

    monkeypatch.setattr(engines, "judge", fail)
    looks = examine_engines(NOW)
    assert [look.says for look in looks if look.name == "nan"] == [
        "the probe failed with RuntimeError"
    ]
    assert looks[-1].well


@pytest.mark.parametrize(
    ("attribute", "value", "name"),
    [
        pytest.param("version", lambda name: "0.99.0", "jiter", id="another engine"),
        pytest.param("version", lambda name: "0.19", "jsonschema-rs", id="another minor"),
        pytest.param("_QUICK_S", 0.0, "linear", id="slow patterns"),
    ],
)
def test_what_is_out_of_bounds_is_ill(
    monkeypatch: pytest.MonkeyPatch, attribute: str, value: object, name: str
) -> None:
    monkeypatch.setattr(engines, attribute, value)
    assert name in ill()


def test_an_interpreter_that_writes_few_digits_is_ill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "get_int_max_str_digits", lambda: 640)
    assert ill() == {"int digits"}


def test_an_engine_that_reads_references_is_ill(monkeypatch: pytest.MonkeyPatch) -> None:
    from sluicegate.contracts.schemas import compiling

    monkeypatch.setattr(compiling, "compile_validator", lambda document: None)
    assert ill() == {"offline"}


def test_a_clock_before_this_release_is_ill() -> None:
    assert ill(datetime(1970, 1, 1, tzinfo=UTC)) == {"clock"}
