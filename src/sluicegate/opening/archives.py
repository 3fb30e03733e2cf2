"""Where replayed answers come from: the record's custody, a folder of files, JSON Lines (LIF-4)."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final, cast

import jiter

from sluicegate.contracts.settings import Settings
from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import AuditEvent
from sluicegate.gates.plain_files import open_plain
from sluicegate.lifecycle.replaying import (
    ACCEPTED,
    Answer,
    Judged,
    demand_answers,
    demand_told,
)
from sluicegate.opening.recording_acts import record_act
from sluicegate.opening.sidecars import read_now, read_sidecar
from sluicegate.stores.keys import open_keys
from sluicegate.stores.record_answers import KeptAnswer, select_answers
from sluicegate.stores.stores import database_path, is_postgres
from sluicegate.values.codes import Stage
from sluicegate.values.instants import EPOCH, moment_of, parse_rfc3339
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name

MAX_LINE_BYTES: Final = 16_777_216
"""One line of an archive: more is refused before it is held in memory."""

PARQUET: Final = ".parquet"
ROWS_AT_ONCE: Final = 256

BYTES_NOT_KEPT: Final = "accepted, bytes not kept"
"""Why an accepted answer is left out whose bytes custody was not told to keep, or keeps no more."""

_DEFAULT_REQUEST_ID: Final = "req.replay00"
_LINE_KEYS: Final = frozenset(
    {
        *("raw", "raw_b64", "arguments", "request_id", "now", "status", "exit_code"),
        *("content_type", "headers", "caller", "was"),
    }
)
_SUFFIXES: Final = frozenset({".json", ".bin", ".txt"})
_NOT_THE_WHOLE: Final = frozenset({str(Stage.FETCH), str(Stage.INTERNAL)})


class ArchiveError(ConfigurationError):
    """An archive cannot be read; the text names the file and the line."""


def read_archive(path: Path, needs: Mapping[str, str]) -> Generator[Answer]:
    """Iterate over the answers of a folder of raw files, a Parquet or a JSON Lines file.

    ``needs`` is what each must say, as ``list_needs`` tells. Raises: ArchiveError.
    """
    try:
        if path.is_dir():
            yield from _read_folder(path, needs)
        elif path.suffix == PARQUET:
            yield from _read_parquet(path, needs)
        else:
            with open_plain(path) as file:
                yield from _read_lines(path, file, needs)
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {error.strerror}") from error


def _read_folder(path: Path, needs: Mapping[str, str]) -> Iterator[Answer]:
    for file in sorted(path.rglob("*")):
        if file.suffix not in _SUFFIXES or not file.is_file():
            continue
        try:
            if file.stat().st_size > MAX_LINE_BYTES:
                raise ValueError(f"more than {MAX_LINE_BYTES} bytes")
            name = file.relative_to(path).as_posix()
            yield _answer(name, file.read_bytes(), read_sidecar(file), needs)
        except ValueError as error:
            raise ArchiveError(f"{file}: {error}") from error


def _read_lines(path: Path, file: BinaryIO, needs: Mapping[str, str]) -> Iterator[Answer]:
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if not line.strip():
            continue
        try:
            if len(line) > MAX_LINE_BYTES:
                raise ValueError(f"more than {MAX_LINE_BYTES} bytes")
            members = jiter.from_json(line, catch_duplicate_keys=True, allow_inf_nan=False)
            yield _line_answer(number, members, needs)
        except ValueError as error:
            raise ArchiveError(f"{path}:{number}: {error}") from error


def _read_parquet(path: Path, needs: Mapping[str, str]) -> Iterator[Answer]:
    try:
        from pyarrow import ArrowException, parquet

        from sluicegate.lifecycle.replaying_batches import read_batch
    except ImportError as error:
        raise ConfigurationError(f"{path} is Parquet: install sluicegate[archive]") from error
    number = 1
    try:
        with open_plain(path) as source, parquet.ParquetFile(source) as file:
            for batch in file.iter_batches(batch_size=ROWS_AT_ONCE):
                yield from read_batch(batch, first=number, needs=needs)
                number += batch.num_rows
    except (ArrowException, ValueError) as error:
        raise ArchiveError(f"{path}: {error}") from error


def _line_answer(number: int, members: JsonValue, needs: Mapping[str, str]) -> Answer:
    if not isinstance(members, Mapping):
        raise ValueError("it is no JSON object")
    demand_answers(members)
    strange = sorted(members.keys() - _LINE_KEYS)
    if strange:
        raise ValueError(f"{show_name(strange[0])} is none of {', '.join(sorted(_LINE_KEYS))}")
    texts = [members[key] for key in ("raw", "raw_b64") if key in members]
    if len(texts) != 1 or not isinstance(texts[0], str):
        raise ValueError("it must hold `raw` or `raw_b64`, a text")
    if "raw" in members:
        raw = texts[0].encode("utf-8", "surrogatepass")
    else:
        try:
            raw = base64.b64decode(texts[0], validate=True)
        except binascii.Error:
            raise ValueError("`raw_b64` is no Base64") from None
    request_id = members.get("request_id")
    name = request_id if isinstance(request_id, str) else f"line {number}"
    return _answer(name, raw, members, needs)


def _answer(
    name: str, raw: bytes, told: Mapping[str, JsonValue], needs: Mapping[str, str]
) -> Answer:
    caller = told.get("caller")
    subject = caller.get("subject") if isinstance(caller, Mapping) else caller
    tenant = caller.get("tenant") if isinstance(caller, Mapping) else None
    headers = told.get("headers", {})
    arguments = told.get("arguments")
    if not isinstance(headers, Mapping) or not isinstance(arguments, Mapping | None):
        raise ValueError("`headers` and `arguments` must be objects")
    if not isinstance(tenant, str | None):
        raise ValueError("`tenant` must be a text")
    answer = Answer(
        name=show_name(name),
        raw=raw,
        arguments=None if arguments is None else json.dumps(arguments).encode(),
        request_id=_text(told, "request_id", _DEFAULT_REQUEST_ID),
        now=read_now(told),
        subject="replay" if subject is None else str(subject),
        tenant=tenant,
        status=_number(told),
        content_type=_text(told, "content_type", "") or None,
        headers=tuple((str(key), str(text)) for key, text in headers.items()),
        was=_was(told.get("was")),
    )
    demand_told({**told, "subject": subject, "tenant": tenant}, needs)
    return answer


def _text(told: Mapping[str, JsonValue], key: str, default: str) -> str:
    value = told.get(key)
    if not isinstance(value, str | None):
        raise ValueError(f"`{key}` must be a text")
    return default if value is None else value


def _number(told: Mapping[str, JsonValue]) -> int | None:
    for key in ("status", "exit_code"):
        value = told.get(key)
        if isinstance(value, bool) or not isinstance(value, int | None):
            raise ValueError(f"`{key}` must be an integer")
        if value is not None:
            return value
    return None


def _was(value: JsonValue) -> Judged | None:
    if value is None:
        return None
    if value == "accepted":
        return ACCEPTED
    if isinstance(value, Mapping) and value.get("stage") and value.get("code"):
        stage, code, pointer = (str(value.get(key, "")) for key in ("stage", "code", "pointer"))
        return Judged(False, show_name(stage), show_name(code), show_name(pointer))
    raise ValueError("`was` must be accepted, or {stage, code, pointer}")


# --- the record -------------------------------------------------------------------------------


def read_record(
    folder: Path,
    settings: Settings,
    act: AuditEvent,
    *,
    since: datetime | None,
    left_out: Counter[str],
) -> Generator[Answer]:
    """Record ``act``, then iterate over the answers that custody still holds of its tool.

    ``left_out`` counts, by reason, those that cannot be judged again; the reasons of accepted ones
    begin with ``accepted, ``. Raises: ConfigurationError, RecordMissing, AuditUnavailable.
    """
    if settings.audit.store == "memory:":
        raise ConfigurationError("audit.store is memory:, which keeps nothing that could be read")
    record_act(folder, act)
    for kept in _kept_answers(folder, settings, act, since):
        why = _why_not(kept)
        if why is None:
            yield _kept_answer(kept)
        else:
            left_out[f"accepted, {why}" if kept.code is None else why] += 1


def _kept_answers(
    folder: Path, settings: Settings, act: AuditEvent, since: datetime | None
) -> Iterator[KeptAnswer]:
    if is_postgres(settings.audit):
        from sluicegate.stores.postgres_opening import open_postgres

        store = open_postgres(settings.audit, settings.retention, folder)
        try:
            yield from store.answers(act.tool, since=since, now=act.time)
        finally:
            asyncio.run(store.close())
    else:
        path = database_path(settings.audit, folder)
        keys = open_keys(settings.audit.keys, folder, database=path, may_create=False)
        yield from select_answers(path, keys, act.tool, since=since, now=act.time)


def _why_not(kept: KeptAnswer) -> str | None:
    if kept.stage in _NOT_THE_WHOLE or kept.code == "TOO_LARGE":
        return "refused before the whole answer was there"
    if kept.raw is None:
        return "bytes not kept"
    if kept.masked != "[]":
        return "masked"
    if kept.arguments is None:
        return "arguments not kept"
    return None


def _kept_answer(kept: KeptAnswer) -> Answer:
    instant = parse_rfc3339(kept.time)
    status = kept.upstream_status
    return Answer(
        name=kept.request_id,
        raw=cast("bytes", kept.raw),
        arguments=kept.arguments,
        request_id=kept.request_id,
        now=EPOCH if instant is None else moment_of(instant),
        subject=kept.caller_subject or "",
        tenant=kept.caller_tenant,
        status=int(status) if status is not None and status.isdecimal() else None,
        was=ACCEPTED
        if kept.code is None
        else Judged(False, kept.stage or "", kept.code, _pointer(kept.findings)),
    )


def _pointer(findings: str) -> str:
    """The first pointer of recorded findings; nothing where the column does not hold any."""
    try:
        found = json.loads(findings)
        return str(found[0]["pointer"])
    except (ValueError, LookupError, TypeError):
        return ""
