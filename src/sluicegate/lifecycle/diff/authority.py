"""Who is believed and who may act: rows 53 and 54 of the table (lifecycle B2).

What an action rests on, how often it may be asked for and whose key makes two calls one all stand
before the call. A signature stands behind it: it says whose answer is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Final

from sluicegate.contracts.contract import Contract, HttpFetch, Signature
from sluicegate.contracts.fingerprints import describe
from sluicegate.lifecycle.diff.changes import Difference, Role, seal
from sluicegate.values.json import canonical_text
from sluicegate.values.names import show_name

_PLACE: Final = "/upstream/signature"
_WINDOWS: Final = ("max_age_s", "max_ahead_s")


def find_authority_differences(old: Contract, new: Contract) -> Iterator[tuple[Role, Difference]]:
    """Yield what differs in evidence, quotas, idempotency and signature, with its side."""
    for kind, pointer, was, is_ in (
        ("evidence-changed", "/evidence", _rules(old.evidence), _rules(new.evidence)),
        ("quota-changed", "/limits/quotas", _rules(old.quotas), _rules(new.quotas)),
        (
            "idempotency-changed",
            "/idempotency",
            describe(old.idempotency),
            describe(new.idempotency),
        ),
    ):
        if was != is_:
            yield "arguments", Difference(kind=kind, pointer=pointer, sealed=seal(was, is_))
    before, after = key_header(old), key_header(new)
    if before != after:
        yield (
            "arguments",
            Difference(
                kind="idempotency-changed",
                pointer="/fetch/http/idempotency_header",
                old=show_name(before or ""),
                new=show_name(after or ""),
                sealed=seal(before, after),
            ),
        )
    for difference in _signature(old.upstream.signature, new.upstream.signature):
        yield "result", difference


def key_header(contract: Contract) -> str | None:
    """Return the header in which the upstream takes the key of a call; None where it takes none."""
    fetch = contract.fetch
    return fetch.idempotency_header if isinstance(fetch, HttpFetch) else None


def _rules(rules: Sequence[object]) -> list[str]:
    """Rules hold together, in whatever order they are written."""
    return sorted(canonical_text(describe(rule)) for rule in rules)


def _signature(old: Signature | None, new: Signature | None) -> Iterator[Difference]:
    sealed = seal(*([type(each).__name__, describe(each)] for each in (old, new)))
    for difference in _compare_signatures(old, new):
        yield replace(difference, sealed=sealed)


def _compare_signatures(old: Signature | None, new: Signature | None) -> Iterator[Difference]:
    if old == new:
        return
    if old is None or new is None:
        yield Difference(
            kind="check-added" if old is None else "check-removed",
            pointer=_PLACE if old is None else "/upstream",
            old="" if old is None else "signature",
            new="" if new is None else "signature",
        )
        return
    if type(old) is not type(new):
        yield Difference(kind="signature-widened", pointer=_PLACE, new="another form")
        return
    for name in (member.name for member in fields(old)):
        was, is_ = getattr(old, name), getattr(new, name)
        if was == is_:
            continue
        if name in _WINDOWS:
            yield Difference(
                kind="freshness-widened" if is_ > was else "freshness-narrowed",
                pointer=_PLACE,
                old=f"{name} {was}",
                new=f"{name} {is_}",
            )
        elif isinstance(was, tuple):
            yield from _believed(name, frozenset(was), frozenset(is_))
        else:
            yield Difference(kind="signature-widened", pointer=_PLACE, new=f"another {name}")


def _believed(name: str, old: frozenset[str], new: frozenset[str]) -> Iterator[Difference]:
    """Keys by name, or algorithms: any one of them may have signed."""
    for kind, members in (("signature-widened", new - old), ("signature-narrowed", old - new)):
        if members:
            told = f"{name}: {', '.join(map(show_name, sorted(members)))}"
            came = kind == "signature-widened"
            yield Difference(
                kind=kind, pointer=_PLACE, old="" if came else told, new=told if came else ""
            )
