"""What a host or an operator hands in, held to what can be recorded: else MisuseError.

No call runs and no act is recorded then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeGuard

from sluicegate.errors import MisuseError
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

MAX_NAME_BYTES: Final = 1_024
"""How long a name of the host's may be, in UTF-8: two of them and a tool's name fit one row of an
index, which takes 2,704 bytes in PostgreSQL."""

MAX_REASON_BYTES: Final = 4_096
"""How long the reason of an operator's act may be, in UTF-8."""

_MAX_ENDPOINT_BYTES: Final = 4_096

_NONE: Final = type(None)

# Member of a Receipt → what it is, and how that is told.
_RECEIVED: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "raw": ((bytes,), "bytes"),
    "diagnostics": ((bytes,), "bytes"),
    "fault": ((Fault, _NONE), "a Fault or None"),
    "dispatched": ((bool,), "True or False"),
    "from_cache": ((bool,), "True or False"),
    "status": ((int, _NONE), "an int or None"),
    "exit_code": ((int, _NONE), "an int or None"),
    "content_type": ((str, _NONE), "a str or None"),
    "content_encoding": ((str, _NONE), "a str or None"),
    "retry_after_s": ((int, float, _NONE), "a number of seconds or None"),
}


def demand_caller(caller: Caller) -> Caller:
    """Return ``caller``. Raises: MisuseError for what is none, or cannot be told from another."""
    if not isinstance(caller, Caller):
        raise MisuseError('`caller` is a Caller, for instance Caller(subject="svc-deploy")')
    for name, text in (
        ("subject", caller.subject),
        ("tenant", caller.tenant),
        ("session", caller.session),
    ):
        if text is None and name != "subject":
            continue
        if not _is_plain(text):
            raise MisuseError(
                f"`{name}` of a Caller is a text without NUL and lone surrogates: two callers"
                " would be written alike in the record"
            )
        _demand_short(text, f"`{name}` of a Caller", MAX_NAME_BYTES)
    if not caller.subject:
        raise MisuseError("`subject` of a Caller is empty: name the account that the call runs for")
    return caller


def demand_call_id(call_id: str | None) -> str | None:
    """Return the host's own id of a call, None where it has none. Raises: MisuseError."""
    if call_id is None:
        return None
    if not _is_plain(call_id):
        raise MisuseError("`call_id` is the host's own id of the call, as a text without NUL")
    _demand_short(call_id, "`call_id`", MAX_NAME_BYTES)
    return call_id or None


def demand_account(who: str, reason: str) -> None:
    """Raises: MisuseError where an operator's act has no name or no reason that can be recorded."""
    if not who.strip() or not reason.strip():
        raise MisuseError("an operator's act is recorded: say who does it and why")
    demand_name(who)
    _demand_recordable(reason, "the reason of an operator's act", MAX_REASON_BYTES)


def demand_name(who: str) -> None:
    """Raises: MisuseError where an operator's act has no name that can be recorded."""
    if not who.strip():
        raise MisuseError("an operator's act is recorded: say who does it")
    _demand_recordable(who, "the name in an operator's act", MAX_NAME_BYTES)


def demand_text(arguments: str | bytes) -> bytes:
    """Return the text of a call as bytes; a lone surrogate becomes bytes that are not UTF-8.

    So ``parse`` refuses it as it refuses every bad byte: nothing is replaced. Raises: MisuseError.
    """
    if isinstance(arguments, bytes):
        return arguments
    if not isinstance(arguments, str):
        raise MisuseError(
            "`arguments` is the model's own text, str or bytes; for an object use json.dumps"
        )
    return arguments.encode("utf-8", "surrogatepass")


def demand_receipt(received: bytes | Receipt) -> Receipt:
    """Return what a host received, as a Receipt.

    Raises: MisuseError for what is neither, and for a Receipt with a member of another type.
    """
    if isinstance(received, Receipt):
        return _demand_members(received)
    if not isinstance(received, bytes):
        raise MisuseError(
            "`received` is the raw answer as bytes, or a Receipt; encode no text and parse"
            " nothing before the gate has judged it"
        )
    return Receipt(adapter="host", adapter_version="1", endpoint="", raw=received)


def _demand_members(receipt: Receipt) -> Receipt:
    for name, most in (
        ("adapter", MAX_NAME_BYTES),
        ("adapter_version", MAX_NAME_BYTES),
        ("endpoint", _MAX_ENDPOINT_BYTES),
    ):
        text = getattr(receipt, name)
        _demand_recordable(text, f"`{name}` of a Receipt", most)
    for name, (wanted, told) in _RECEIVED.items():
        value = getattr(receipt, name)
        # True is an int to Python, and no status.
        if not isinstance(value, wanted) or (value.__class__ is bool and bool not in wanted):
            raise MisuseError(f"`{name}` of a Receipt is {told}, and no {type(value).__name__}")
    headers: object = receipt.headers
    if not isinstance(headers, tuple) or not all(map(_is_header, headers)):
        raise MisuseError("`headers` of a Receipt is a tuple of (name, value), both of them str")
    return receipt


def _is_header(pair: object) -> bool:
    return (
        isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
    )


def _demand_recordable(text: str, named: str, most: int) -> None:
    if not _is_plain(text):
        raise MisuseError(f"{named} is a text without NUL and lone surrogates")
    _demand_short(text, named, most)


def _demand_short(text: str, named: str, most: int) -> None:
    size = len(text.encode())
    if size > most:
        raise MisuseError(f"{named} has {size:,} bytes in UTF-8: at most {most:,} are recorded")


def _is_plain(text: object) -> TypeGuard[str]:
    if not isinstance(text, str) or "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
