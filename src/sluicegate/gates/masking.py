"""Findings that quote a masked value lose the quotation before they are recorded or told (AUD-5).

A finding never echoes a value, but it shows the names that the other side made, and an upstream
may send back as a name what was masked as a value. A contract's own check may quote one as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import jiter

from sluicegate.checks.selection import Selected, replace_notes
from sluicegate.contracts.contract import Contract
from sluicegate.gates.keeping import MASK, masks_of_answer, texts_of
from sluicegate.values.findings import Finding
from sluicegate.values.names import MAX_SHOWN_NAME, show_name
from sluicegate.values.pointers import Pointer
from sluicegate.values.rejections import Rejected
from sluicegate.values.spellings import holds_text

_CUT: Final = "…"
_SHORTEST: Final = 4
"""A cut name that ends with so many first characters of a masked text quotes it."""

_TELLING_NOTHING: Final = frozenset({"", "true", "false", "null"})
_ROOT: Final = (Pointer(()),)


def hide_in_answer(
    judged: Selected | Rejected,
    contract: Contract,
    *,
    arguments: Mapping[str, object],
    raw: bytes,
) -> Selected | Rejected:
    """Return ``judged`` without masked values of the call or of the answer in its findings.

    Where the place of masked data in the received bytes is not known, every value of the answer
    counts as masked.
    """
    if isinstance(judged, Rejected):
        findings = judged.findings
    else:
        *_, findings = judged
    if not findings or not (contract.masked_arguments or contract.masked_data):
        return judged
    pointers = masks_of_answer(contract)
    texts = {
        *_texts_at(contract.masked_arguments, arguments),
        *_texts_at(_ROOT if pointers is None else pointers, _read(raw)),
    }
    hidden = _hide(findings, texts)
    if isinstance(judged, Rejected):
        return replace(judged, findings=hidden)
    return replace_notes(judged, hidden)


def hide_in_call(rejected: Rejected, contract: Contract, *, raw: bytes) -> Rejected:
    """Return ``rejected`` without masked values of the call's own text in its findings."""
    if not rejected.findings or not contract.masked_arguments:
        return rejected
    texts = set(_texts_at(contract.masked_arguments, _read(raw)))
    return replace(rejected, findings=_hide(rejected.findings, texts))


def _read(raw: bytes) -> object:
    """Return what ``raw`` says; names in findings come from JSON, so other bytes hold none."""
    try:
        return jiter.from_json(raw, allow_inf_nan=True)
    except ValueError:
        return None


def _texts_at(pointers: Sequence[Pointer], document: object) -> Iterator[str]:
    for pointer in pointers:
        for _, value in pointer.every(document):
            yield from texts_of(value)


def _hide(findings: Sequence[Finding], texts: set[str]) -> tuple[Finding, ...]:
    telling = texts - _TELLING_NOTHING
    wanted = {spelt for text in telling for spelt in (text, show_name(text))}
    if not wanted:
        return tuple(findings)
    return tuple(
        replace(
            finding,
            pointer="/".join(
                MASK if _quotes(_unescape(segment), wanted) else segment
                for segment in finding.pointer.split("/")
            ),
            hint=MASK
            if finding.hint is not None and _quotes(finding.hint, wanted)
            else finding.hint,
        )
        for finding in findings
    )


def _quotes(shown: str, wanted: set[str]) -> bool:
    if holds_text(shown.encode("utf-8", "surrogatepass"), *wanted):
        return True
    if _CUT not in shown:
        return False
    return any(
        text[:length] + _CUT in shown
        for text in wanted
        for length in range(_SHORTEST, min(len(text), MAX_SHOWN_NAME) + 1)
    )


def _unescape(segment: str) -> str:
    return segment.replace("~1", "/").replace("~0", "~")
