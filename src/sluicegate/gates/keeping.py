"""What custody keeps of a call: masked first, and only as long as settings say (AUD-4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import jiter

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.settings import RetentionSettings
from sluicegate.gates.events import Kept
from sluicegate.values.json import JsonValue
from sluicegate.values.pointers import EVERY, Pointer
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.spellings import holds_text

MASK: Final = "•masked•"
SELECTED: Final = "selected"
"""The kind of a blob that holds the selected data of an accepted answer."""

_DAY_S: Final = 86_400.0


def keep_arguments(
    raw: bytes, masked: Sequence[Pointer], retention: RetentionSettings
) -> tuple[Kept, ...]:
    """Return the call's text for custody; nothing where it cannot be masked."""
    content = mask(raw, masked)
    if content is None or retention.arguments_days is None:
        return ()
    return (Kept(kind="arguments", content=content, keep_days=retention.arguments_days),)


def keep_answer(
    receipt: Receipt,
    rejected: Rejected | None,
    contract: Contract,
    *,
    arguments: Mapping[str, object],
    retention: RetentionSettings,
    draw: Callable[[], float],
) -> tuple[Kept, ...]:
    """Return the received bytes, diagnostics and engine text that custody keeps of one attempt.

    Nothing where a masked value cannot be taken out: where the place of masked data is not known,
    or where the upstream quotes a masked argument.
    """
    masked = masks_of_answer(contract)
    if masked is None or _quotes_masked(receipt, rejected, contract.masked_arguments, arguments):
        return ()
    if rejected is None:
        days = retention.accepted_days
        if days is None or draw() >= retention.accepted_share:
            return ()
    else:
        days = retention.rejected_days
    if days is None:
        return ()
    kept = []
    content = mask(receipt.raw, masked)
    if content:
        kept.append(Kept(kind="raw", content=content, keep_days=days))
    if rejected is None:
        return tuple(kept)
    if receipt.diagnostics and not masked:
        # Diagnostics may quote the answer, so they are kept only where nothing is to be masked.
        kept.append(Kept(kind="diagnostics", content=receipt.diagnostics, keep_days=days))
    return (*kept, *keep_engine_text(rejected, contract, retention))


def _quotes_masked(
    receipt: Receipt,
    rejected: Rejected | None,
    pointers: Sequence[Pointer],
    arguments: Mapping[str, object],
) -> bool:
    received = receipt.raw + receipt.diagnostics
    if rejected is not None and rejected.engine_message is not None:
        received += rejected.engine_message.encode("utf-8", "backslashreplace")
    texts = {
        text
        for pointer in pointers
        for _, value in pointer.every(arguments)
        for text in texts_of(value)
    }
    return holds_text(received, *texts)


def texts_of(value: object) -> Iterator[str]:
    """Yield what an answer would quote: members one by one, since JSON spaces them as it likes."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from texts_of(member)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item)
    else:
        yield json.dumps(value, default=str)


def keep_engine_text(
    rejected: Rejected, contract: Contract, retention: RetentionSettings
) -> tuple[Kept, ...]:
    """Return the message of an engine or of unexpected code, for custody.

    It may quote the call or the answer, so it is never kept beside a mask of either.
    """
    if rejected.engine_message is None or retention.rejected_days is None:
        return ()
    if contract.masked_arguments or contract.masked_data:
        return ()
    text = rejected.engine_message.encode("utf-8", "backslashreplace")
    return (Kept(kind="engine", content=text, keep_days=retention.rejected_days),)


def keep_operator_fields(operator: JsonValue, retention: RetentionSettings) -> tuple[Kept, ...]:
    """Return the fields that ``result.operator`` selects: for custody and console only."""
    if operator is None or retention.rejected_days is None:
        return ()
    text = json.dumps(operator, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return (Kept(kind="operator", content=text, keep_days=retention.rejected_days),)


def keep_selected(data: JsonValue, masked: Sequence[Pointer], kept_s: float) -> tuple[Kept, ...]:
    """Return the selected data, to be evidence or a replay for ``kept_s`` seconds (AUD-4)."""
    text = mask(json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass"), masked)
    return () if text is None else (Kept(kind=SELECTED, content=text, keep_days=kept_s / _DAY_S),)


def masks_of_answer(contract: Contract) -> tuple[Pointer, ...] | None:
    """Return where the masked data stands in the received bytes; None where that is not known.

    Pointers of a contract are relative to the data: an envelope and an MCP result hold it in a
    member, a mapped or extracted answer holds it elsewhere, and is then not kept at all.
    """
    masked, upstream = contract.masked_data, contract.upstream
    if not masked:
        return ()
    member = {"bare": (), "envelope": ("data",), "mcp": ("structuredContent",)}[upstream.carrier]
    if upstream.map is not None or upstream.text is not None:
        return None
    return tuple(Pointer((*member, *pointer.segments)) for pointer in masked)


def mask(raw: bytes, pointers: Sequence[Pointer]) -> bytes | None:
    """Return ``raw`` with the values at ``pointers`` replaced; None where it cannot be parsed.

    What cannot be parsed cannot be masked, so it is not kept at all: a digest remains.
    """
    if not pointers:
        return raw
    try:
        document = jiter.from_json(raw, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError:
        return None
    for pointer in pointers:
        document = _masked(document, pointer.segments)
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _masked(value: object, segments: tuple[str, ...]) -> object:
    if not segments:
        return MASK
    head, rest = segments[0], segments[1:]
    if isinstance(value, dict) and head in value:
        return {**value, head: _masked(value[head], rest)}
    if isinstance(value, list):
        return [
            _masked(item, rest) if head in (EVERY, str(index)) else item
            for index, item in enumerate(value)
        ]
    return value
