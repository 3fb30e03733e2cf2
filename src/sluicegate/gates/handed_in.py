"""What a host hands in with a call, held to what can be recorded: else MisuseError, and no call."""

from __future__ import annotations

from sluicegate.errors import MisuseError
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Receipt


def demand_caller(caller: Caller) -> Caller:
    """Return ``caller``. Raises: MisuseError for what is none, or cannot be told from another."""
    if not isinstance(caller, Caller):
        raise MisuseError('`caller` is a Caller, for instance Caller(subject="svc-deploy")')
    for name, text in (
        ("subject", caller.subject),
        ("tenant", caller.tenant),
        ("session", caller.session),
    ):
        if (name == "subject" and not text) or (text is not None and not _is_plain(text)):
            raise MisuseError(
                f"`{name}` of a Caller is a text without NUL and lone surrogates: two callers"
                " would be written alike in the record"
            )
    return caller


def demand_call_id(call_id: str | None) -> str | None:
    """Return the host's own id of a call, None where it has none. Raises: MisuseError."""
    if call_id is not None and not _is_plain(call_id):
        raise MisuseError("`call_id` is the host's own id of the call, as a text without NUL")
    return call_id or None


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
    """Return what a host received, as a Receipt. Raises: MisuseError for what is neither."""
    if isinstance(received, Receipt):
        return received
    if not isinstance(received, bytes):
        raise MisuseError(
            "`received` is the raw answer as bytes, or a Receipt; encode no text and parse"
            " nothing before the gate has judged it"
        )
    return Receipt(adapter="host", adapter_version="1", endpoint="", raw=received)


def _is_plain(text: object) -> bool:
    if not isinstance(text, str) or "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
