"""Replay over Arrow: a batch of answers in, a batch of judgements out (SPEC LIF-4).

Pure and picklable, so that whatever hands out Arrow batches can run it, as Spark's ``mapInArrow``
does. Needs the extra ``archive``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from sluicegate.contracts.contract import PythonName
from sluicegate.contracts.loading import load
from sluicegate.errors import ContractFolderError, MisuseError
from sluicegate.lifecycle.replaying import (
    Answer,
    Judged,
    Ladders,
    build_ladders,
    demand_answers,
    demand_told,
    judge_answers,
    list_needs,
    tell_change,
)
from sluicegate.values.instants import EPOCH
from sluicegate.values.names import show_name

ANSWERS: Final = pa.schema(
    [
        ("raw", pa.binary()),
        ("arguments", pa.string()),
        ("request_id", pa.string()),
        ("now", pa.timestamp("us", tz="UTC")),
        ("subject", pa.string()),
        ("tenant", pa.string()),
        ("status", pa.int64()),
        ("content_type", pa.string()),
    ]
)
"""The columns of an archive. Only ``raw`` must be there; ``arguments`` is JSON text."""

JUDGEMENTS: Final = pa.schema(
    [(name, pa.string()) for name in ("request_id", "change", "was", "would_be")]
    + [(name, pa.string()) for name in ("stage", "code", "pointer")]
)
"""One row an answer, in order; ``change`` is null where nothing changed."""

_DEFAULT_REQUEST_ID: Final = "req.replay00"


def judge_batch(
    batch: pa.RecordBatch, contract_document: bytes, base_document: bytes
) -> pa.RecordBatch:
    """Judge each answer by ``base_document`` and by ``contract_document``: what was, what would be.

    Both are frozen documents, as ``sluicegate release`` writes them; none may name Python, which
    is not imported here. ``batch`` has columns of ``ANSWERS``; the result has ``JUDGEMENTS``.
    Raises: ContractFolderError where a document does not load; ValueError for other columns.
    """
    against, base = _ladders(contract_document), _ladders(base_document)
    needs = list_needs(each.contract for each in (against, base))
    answers = read_batch(batch, first=1, needs=needs)
    rows = [_row(*judged) for judged in judge_answers(answers, against, base)]
    return pa.RecordBatch.from_pylist(rows, schema=JUDGEMENTS)


def _row(name: str, was: Judged, would_be: Judged) -> dict[str, str | None]:
    key = tell_change(was, would_be)
    if key is None:
        return {"request_id": name}
    return {
        "request_id": name,
        "change": key.change,
        "was": key.was,
        "would_be": key.would_be,
        "stage": key.stage,
        "code": key.code,
        "pointer": key.pointer,
    }


def read_batch(batch: pa.RecordBatch, *, first: int, needs: Mapping[str, str]) -> Iterator[Answer]:
    """Iterate over the answers of a batch; ``first`` is the number of its first row.

    ``needs`` is what each must say, as ``list_needs`` tells.

    Raises: ValueError naming a column that is strange, or a row that lacks what is needed.
    """
    demand_answers(batch.schema.names)
    strange = sorted(set(batch.schema.names) - set(ANSWERS.names))
    if strange or "raw" not in batch.schema.names:
        what = f"{show_name(strange[0])} is none" if strange else "`raw` is missing"
        raise ValueError(f"the columns must be among {', '.join(ANSWERS.names)}: {what}")
    wanted = pa.schema([ANSWERS.field(name) for name in batch.schema.names])
    try:
        fitting = batch.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError("a column has another type than an archive's") from error
    for number, row in enumerate(fitting.to_pylist(), start=first):
        try:
            demand_told(row, needs)
            yield _answer(number, row)
        except ValueError as error:
            raise ValueError(f"row {number}: {error}") from None


def _answer(number: int, row: Mapping[str, Any]) -> Answer:
    raw, now, arguments = row["raw"], row.get("now"), row.get("arguments")
    if raw is None:
        raise ValueError("`raw` is null")
    return Answer(
        name=show_name(row.get("request_id") or f"row {number}"),
        raw=raw,
        arguments=None if arguments is None else arguments.encode(),
        request_id=row.get("request_id") or _DEFAULT_REQUEST_ID,
        now=EPOCH if now is None else now.astimezone(UTC),
        subject=row.get("subject") or "replay",
        tenant=row.get("tenant"),
        status=row.get("status"),
        content_type=row.get("content_type"),
    )


@lru_cache(maxsize=8)
def _ladders(document: bytes) -> Ladders:
    contracts = load({"frozen/contract.json": document}, resolve=None)
    if isinstance(contracts, tuple):
        raise ContractFolderError(contracts)
    (contract,) = contracts.contracts.values()
    return build_ladders(contract, _refuse_python)


def _refuse_python(name: PythonName) -> Any:
    raise MisuseError(f"{name} is Python, which a batch does not import; use `sluicegate replay`")
