"""HTTP message signatures over an answer, its digest and our request id (RFC 9421, RFC 9530)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from http_message_signatures import (
    HTTPMessageVerifier,
    HTTPSignatureComponentResolver,
    HTTPSignatureKeyResolver,
    VerifyResult,
    algorithms,
)
from http_message_signatures.exceptions import HTTPMessageSignaturesException

from sluicegate.checks.authentication_keys import PublicKeys
from sluicegate.checks.authentication_signed import (
    MAX_SIGNATURE_TEXT,
    Signed,
    list_header,
    refuse,
    replay_id_of,
)
from sluicegate.contracts.contract import Rfc9421Signature
from sluicegate.values.codes import Code
from sluicegate.values.instants import NANOS
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request

_REQUEST_ID: Final = "x-request-id"
REQUIRED: Final = ('"@status"', '"content-digest"', f'"{_REQUEST_ID}";req')
"""What every signature must cover: the status, the body by its digest, and which request it was."""

_CLASSES: Final = {
    each.algorithm_id: each
    for each in (
        algorithms.ED25519,
        algorithms.ECDSA_P256_SHA256,
        algorithms.ECDSA_P384_SHA384,
        algorithms.RSA_PSS_SHA512,
    )
}
_UNENCODED: Final = frozenset({"", "identity"})
_SIGNING_HEADERS: Final = ("signature", "signature-input", "content-digest")


class _Fields:
    """Headers as the library reads them: every line, in order."""

    def __init__(self, fields: tuple[tuple[str, str], ...]) -> None:
        self._fields = fields

    def items(self) -> tuple[tuple[str, str], ...]:
        return self._fields


@dataclass(frozen=True, slots=True)
class _Asked:
    """The request as far as a signature may cover it: its id alone is known here.

    ``method`` and ``url`` stand in for what the library wants to read of every request.
    """

    headers: _Fields
    method: str = "UNKNOWN"
    url: str = "https://unknown.invalid/"


@dataclass(frozen=True, slots=True)
class _Answered:
    status_code: int
    headers: _Fields
    request: _Asked


class _Keys(HTTPSignatureKeyResolver):
    """Yields the key that ``keyid`` names, for one algorithm; a stranger gets none."""

    def __init__(self, keys: PublicKeys, algorithm: str) -> None:
        self._keys, self._algorithm = keys, algorithm

    def resolve_public_key(self, key_id: str) -> Any:
        found = self._keys.find(key_id, self._algorithm)
        return None if found is None else found.key


class _Components(HTTPSignatureComponentResolver):
    """What a signature may cover: of the request its id alone, and nothing that stands in."""

    def resolve(self, component_node: Any) -> Any:
        name, parameters = str(component_node.value), dict(component_node.params)
        if "req" in parameters and name != _REQUEST_ID:
            raise HTTPMessageSignaturesException(f'"{name}" of the request is not known here')
        return super().resolve(component_node)


class _Verifier(HTTPMessageVerifier):
    """The library's verifier without its clock: the time is judged with the one that came in."""

    require_created = False

    def validate_created_and_expires(self, sig_input: Any, max_age: Any = None) -> None:
        """Nothing; ``created`` and ``expires`` are judged with the other forms' times."""


def verify_message(
    raw: bytes, receipt: Receipt, rule: Rfc9421Signature, keys: PublicKeys, request: Request
) -> Signed | Rejected:
    """Verify the one signature (with ``rule.tag``: the one that bears it) and the digest.

    Only what the library hands back as verified is used. The digest is over the content as it
    was sent (RFC 9530), so a content encoding is refused: its bytes are not here any more.
    Rejects: SIGNATURE_MISSING, BAD_SIGNATURE, SIGNATURE_WITHOUT_TIME.
    """
    refused = _judge_form(receipt)
    if refused is not None:
        return refused
    found = _find_signature(raw, receipt, rule, keys, request)
    if not isinstance(found, VerifyResult):
        return refuse(Code.BAD_SIGNATURE, "no signature fits in form, key and coverage", found)
    if found.body is None:
        return refuse(Code.BAD_SIGNATURE, "the signature covers no body")
    created, expires = found.parameters.get("created"), found.parameters.get("expires")
    if not isinstance(created, int):
        return refuse(Code.SIGNATURE_WITHOUT_TIME, "the signature covers no `created`")
    if "expires" in found.parameters and not _is_time(expires):
        return refuse(Code.BAD_SIGNATURE, "`expires` is no time")
    nonce = found.nonce
    return Signed(
        payload=found.body,
        signed_at=created * NANOS,
        expires_at=expires * NANOS if isinstance(expires, int) else None,
        # Never the signature: an ECDSA signature has a twin that fits as well.
        replay_id=replay_id_of("nonce", nonce.encode())
        if nonce
        else replay_id_of("rfc9421", *_base_of(found)),
    )


def _is_time(value: object) -> bool:
    """Whether it is whole seconds; a parameter without a value is True."""
    return isinstance(value, int) and not isinstance(value, bool)


def _judge_form(receipt: Receipt) -> Rejected | None:
    values = {name: list_header(receipt, name) for name in _SIGNING_HEADERS}
    if not values["signature"] and not values["signature-input"]:
        return refuse(Code.SIGNATURE_MISSING, "the answer bears no Signature")
    for name, found in values.items():
        if sum(map(len, found)) > MAX_SIGNATURE_TEXT:
            return refuse(Code.BAD_SIGNATURE, f"the header {name} is too long")
        if not all(value.isascii() and value.isprintable() for value in found):
            return refuse(Code.BAD_SIGNATURE, f"the header {name} is not plain ASCII")
    if (receipt.content_encoding or "").strip().lower() not in _UNENCODED:
        return refuse(Code.BAD_SIGNATURE, "the signed digest is over content that came encoded")
    if receipt.status is None:
        return refuse(Code.BAD_SIGNATURE, "there is no status that the signature could cover")
    return None


def _find_signature(
    raw: bytes, receipt: Receipt, rule: Rfc9421Signature, keys: PublicKeys, request: Request
) -> VerifyResult | str:
    """Return what was verified, or the library's own text for custody."""
    assert receipt.status is not None  # noqa: S101  (``_judge_form`` saw to it)
    answered = _Answered(
        receipt.status,
        _Fields(receipt.headers),
        _Asked(_Fields(((_REQUEST_ID, str(request.request_id)),))),
    )
    why = ""
    # One verifier an algorithm; each sees the keys of its own kind alone.
    for algorithm in rule.algorithms:
        verifier = _Verifier(
            signature_algorithm=_CLASSES[algorithm],
            key_resolver=_Keys(keys, algorithm),
            component_resolver_class=_Components,
        )
        try:
            found = verifier.verify(
                answered,
                max_age=None,
                expect_tag=rule.tag,
                require_components=REQUIRED,
                body=raw,
            )
        except HTTPMessageSignaturesException as error:
            why = why or str(error)
            continue
        if len(found) == 1:
            return found[0]
        why = "more than one signature bears the tag"
    return why


def _base_of(found: VerifyResult) -> list[bytes]:
    pairs = sorted(found.covered_components.items())
    return [part.encode() for pair in pairs for part in pair]
