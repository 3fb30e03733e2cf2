"""Signed answers that must not pass: each fault of a signature, over an accepted payload (B3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.contract import Contract, JwsSignature
from sluicegate.lifecycle.mutants.mutant import Mutant
from sluicegate.values.codes import Stage

_STAGES: Final[Mapping[str, Stage]] = {
    "missing": Stage.AUTHENTICATE,
    "stranger": Stage.AUTHENTICATE,
    "altered": Stage.AUTHENTICATE,
    "without_time": Stage.AUTHENTICATE,
    "other_issuer": Stage.AUTHENTICATE,
    "old": Stage.VOUCH,
    "ahead": Stage.VOUCH,
    "replayed": Stage.AUTHENTICATE,
}


def mutate_signature(contract: Contract, raw: bytes) -> Iterator[Mutant]:
    """Yield the meaning mutants of an accepted answer to a signed contract; none to another.

    ``needs`` says the fault in the words of a sidecar; whoever climbs it signs so. Source: RES-6.
    """
    rule = contract.upstream.signature
    if rule is None:
        return
    for how, stage in _STAGES.items():
        if how != "other_issuer" or isinstance(rule, JwsSignature):
            yield Mutant(
                name=f"signature-{how.replace('_', '-')}",
                level="meaning",
                pointer="",
                raw=raw,
                stage=stage,
                needs={"signature": how},
            )
