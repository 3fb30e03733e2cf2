"""The rung that asks whether a whole answer came, in the declared form (SPEC RES-1)."""

from __future__ import annotations

import re
from typing import Any, Final, NewType

from sluicegate.contracts.contract import UpstreamPart
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.receipts import Fault, Receipt
from sluicegate.values.rejections import Rejected

Delivered = NewType("Delivered", bytes)

_FETCH, _BOUND, _PARSE = Stage.FETCH, Stage.BOUND, Stage.PARSE

# TOO_LARGE is judged last: status and media type belong to an earlier rung than the size.
_FAULTS: Final[dict[Fault, tuple[Stage, Code, str]]] = {
    Fault.UNREACHABLE: (
        _FETCH,
        Code.UPSTREAM_UNAVAILABLE,
        "the upstream could not be reached, or broke off",
    ),
    Fault.TIMEOUT: (_FETCH, Code.UPSTREAM_TIMEOUT, "the deadline passed before the last byte"),
    Fault.SHORT: (_FETCH, Code.UPSTREAM_UNAVAILABLE, "the body is shorter than announced"),
    Fault.BAD_ENCODING: (
        _FETCH,
        Code.BAD_ENCODING,
        "the content encoding was not asked for, or is broken",
    ),
    Fault.TOO_MANY_HEADERS: (
        _FETCH,
        Code.UPSTREAM_UNAVAILABLE,
        "the upstream sent more headers than are read",
    ),
    Fault.RAISED: (_FETCH, Code.UPSTREAM_UNAVAILABLE, "the Python tool raised an exception"),
    Fault.NOT_JSON: (_PARSE, Code.NOT_JSON, "the Python tool returned what JSON cannot hold"),
    Fault.BAD_ARGUMENT: (
        _FETCH,
        Code.UPSTREAM_UNAVAILABLE,
        "an argument cannot stand in the upstream's address or command",
    ),
    Fault.CREDENTIAL: (
        _FETCH,
        Code.UPSTREAM_UNAVAILABLE,
        "the credential that the contract names cannot be read",
    ),
    Fault.DENIED: (_FETCH, Code.UPSTREAM_DENIED, "the upstream refused our credential"),
    Fault.HOST_KEY: (
        _FETCH,
        Code.UPSTREAM_UNAVAILABLE,
        (
            "the host shows no key that the contract pins: it was set up anew, or another one"
            " stands in its place; nothing was sent"
        ),
    ),
    Fault.CERTIFICATE: (
        _FETCH,
        Code.UPSTREAM_UNAVAILABLE,
        (
            "the certificate of the upstream does not verify: it ran out, is for another name, is"
            " from nobody who is trusted, or another one stands in its place; nothing was sent to"
            " it"
        ),
    ),
    Fault.LEAK: (
        Stage.VOUCH,
        Code.FORBIDDEN_TEXT,
        "the answer holds a credential that the gate keeps",
    ),
    Fault.TOO_LARGE: (_BOUND, Code.TOO_LARGE, "the byte limit was met while reading"),
}
IDENTITY: Final = "identity"
"""The keyword of a finding that the upstream did not prove who it is."""

_IMPOSTORS: Final = frozenset({Fault.HOST_KEY, Fault.CERTIFICATE})
_DENIED: Final = frozenset({401, 403})
# What an adapter may have undone before it handed the bytes over.
_ENCODINGS: Final = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
_UTF8: Final = re.compile(r'\s*charset\s*=\s*("?)utf-8\1\s*', re.ASCII | re.IGNORECASE)


def accept_delivery(receipt: Receipt, upstream: UpstreamPart) -> Delivered | Rejected:
    """Admit the bytes of an answer that came whole and in the declared form.

    Rejects, at stage fetch: UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT, UPSTREAM_DENIED,
    UPSTREAM_STATUS and EXIT_STATUS with the contract's mapped code where it maps the status,
    CONTENT_TYPE (only where there is a status: a command has no media type), BAD_ENCODING; at
    stage bound TOO_LARGE where reading stopped; at stage parse NOT_JSON for a Python value that
    JSON cannot hold. Source: SPEC RES-1, ADP-2, ADP-3.
    """
    fault = receipt.fault
    if fault is not None and fault is not Fault.TOO_LARGE:
        return _reject_fault(fault)
    status = receipt.status
    if status is not None:
        if status not in upstream.success_status:
            return _reject_status(status, upstream)
        if receipt.content_type not in upstream.content_type:
            rejected = _reject_media_type(receipt, upstream)
            if rejected is not None:
                return rejected
    exit_code = receipt.exit_code
    if exit_code is not None and exit_code not in upstream.success_exit:
        return _reject_exit(exit_code, upstream)
    encoding = receipt.content_encoding
    if encoding is not None and encoding.strip().lower() not in _ENCODINGS:
        return _reject_fault(Fault.BAD_ENCODING)
    if fault is not None:
        return _reject_fault(fault)
    minted: Any = receipt.raw
    delivered: Delivered = minted
    return delivered


def _reject_fault(fault: Fault) -> Rejected:
    stage, code, hint = _FAULTS[fault]
    keyword = IDENTITY if fault in _IMPOSTORS else None
    return Rejected.because(stage, Finding(code=code, keyword=keyword, hint=hint))


def _reject_status(status: int, upstream: UpstreamPart) -> Rejected:
    mapped = upstream.status.get(str(status), upstream.status.get(f"{status // 100}xx"))
    # A refused credential is told as such, for it asks for a new decision (RET-2). Whether any
    # other status may be tried again, 5xx included, is for the contract to say.
    denied = mapped is None and status in _DENIED
    code = Code.UPSTREAM_DENIED if denied else Code.UPSTREAM_STATUS
    finding = Finding(
        code=code,
        keyword="status",
        expected=_one_of(upstream.success_status),
        hint=f"the upstream answered {status}",
    )
    return Rejected(stage=Stage.FETCH, code=code, findings=(finding,), mapped_code=mapped)


def _reject_exit(exit_code: int, upstream: UpstreamPart) -> Rejected:
    finding = Finding(
        code=Code.EXIT_STATUS,
        keyword="exit_code",
        expected=_one_of(upstream.success_exit),
        hint=f"the command ended with {exit_code}",
    )
    return Rejected(
        stage=Stage.FETCH,
        code=Code.EXIT_STATUS,
        findings=(finding,),
        mapped_code=upstream.exit_code.get(exit_code),
    )


def _reject_media_type(receipt: Receipt, upstream: UpstreamPart) -> Rejected | None:
    """None if the header names a declared media type after all, with no charset but UTF-8.

    So it is where a text was declared and nothing came, as with a 204: what has no content has no
    type of it (RFC 9110, sections 8.3 and 15.3.5).
    """
    content_type = receipt.content_type
    is_plain = upstream.text is not None and upstream.text.kind == "plain"
    if is_plain and content_type is None and not receipt.raw:
        return None
    hint = "the answer bears no media type"
    if content_type is not None:
        media_type, *parameters = content_type.split(";")
        if media_type.strip().lower() not in {kind.lower() for kind in upstream.content_type}:
            hint = "the answer bears another media type"
        elif all(_UTF8.fullmatch(parameter) for parameter in parameters):
            return None
        else:
            hint = "the media type bears a parameter other than charset=utf-8"
    return Rejected.because(
        Stage.FETCH,
        Finding(
            code=Code.CONTENT_TYPE,
            keyword="content_type",
            expected=" or ".join(upstream.content_type),
            hint=hint,
        ),
    )


def _one_of(numbers: frozenset[int]) -> str:
    return "one of: " + ", ".join(str(number) for number in sorted(numbers))
