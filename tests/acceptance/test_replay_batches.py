"""Replay over Arrow: Parquet, batches, and the same table from Spark."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.acceptance.commands import Here
from tests.acceptance.folders import contract, write_folder

from sluicegate.contracts.freezing import freeze
from sluicegate.contracts.loading import load
from sluicegate.errors import ContractFolderError
from sluicegate.lifecycle.replaying_batches import ANSWERS, JUDGEMENTS, judge_batch

STATES = "enum: [failed, succeeded, other]"
ROWS = [
    {
        "raw": json.dumps({"run_id": run, "state": state, "note": "n"}).encode(),
        "arguments": json.dumps({"run_id": "run_1", "state": "failed"}),
        "request_id": f"req.{number:08d}",
        "now": datetime(2026, 11, 30, 10, tzinfo=UTC),
        "subject": "svc",
    }
    for number, (run, state) in enumerate(
        [("run_1", "failed"), ("run_1", "succeeded"), ("run_2", "other"), ("run_1", "odd")] * 200
    )
]
EXPECTED = {
    ("now refused", "accepted", "conform/ENUM", "conform", "ENUM", "/state"): 200,
    ("now accepted", "conform/ENUM", "accepted", "conform", "ENUM", "/state"): 200,
}


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, bytes]:
    """Work beside a folder; return two frozen versions, the older one first."""
    monkeypatch.chdir(tmp_path)
    folder = write_folder(tmp_path / "contracts")
    old = contract(folder, "job_status", "read")
    new = old.replace(STATES, "enum: [succeeded, other, odd]").replace("1.1.0", "2.0.0")
    (folder / "job_status" / "contract.yaml").write_text(new)
    (folder / "job_status" / "released" / "1.1.0.yaml").write_text(old)
    return frozen(old), frozen(new)


def frozen(text: str) -> bytes:
    loaded = load({"job_status/contract.yaml": text.encode()}, resolve=None)
    assert not isinstance(loaded, tuple)
    return freeze(loaded.contracts["job_status"]).encode()


def write_parquet(path: str) -> None:
    parquet.write_table(pa.Table.from_pylist(ROWS, schema=pa.schema(list(ANSWERS)[:5])), path)


def groups(rows: Iterator[dict[str, str]]) -> dict[tuple[str, ...], int]:
    keys = JUDGEMENTS.names[1:]
    return dict(Counter(tuple(row[key] for key in keys) for row in rows if row["change"]))


@pytest.mark.requirement("LIF-4")
def test_a_batch_of_answers_gives_a_batch_of_judgements_in_order(
    versions: tuple[bytes, bytes],
) -> None:
    old, new = versions
    batch = pa.RecordBatch.from_pylist(ROWS, schema=pa.schema(list(ANSWERS)[:5]))
    judged = judge_batch(batch, new, old)
    assert judged.schema == JUDGEMENTS
    rows = judged.to_pylist()
    assert [row["request_id"] for row in rows] == [row["request_id"] for row in ROWS]
    assert groups(rows) == EXPECTED


@pytest.mark.requirement("LIF-4")
@pytest.mark.parametrize(
    ("schema", "said"),
    [
        pytest.param([("request_id", pa.string())], "`raw` is missing", id="no bytes"),
        pytest.param(
            [("raw", pa.binary()), ("row", pa.string())], "row is none", id="a strange one"
        ),
        pytest.param([("raw", pa.list_(pa.int64()))], "another type", id="another type"),
    ],
)
def test_other_columns_are_refused(
    versions: tuple[bytes, bytes], schema: list[tuple[str, pa.DataType]], said: str
) -> None:
    batch = pa.RecordBatch.from_pylist([{}], schema=pa.schema(schema))
    with pytest.raises(ValueError, match=said):
        judge_batch(batch, *versions)


@pytest.mark.requirement("LIF-4")
def test_a_document_that_does_not_load_judges_nothing(versions: tuple[bytes, bytes]) -> None:
    batch = pa.RecordBatch.from_pylist([], schema=ANSWERS)
    with pytest.raises(ContractFolderError):
        judge_batch(batch, b"tool: x\n", versions[0])


@pytest.mark.requirement("LIF-4", "CLI")
def test_a_parquet_archive_is_judged_as_lines_are(
    sluicegate: Here, versions: tuple[bytes, bytes]
) -> None:
    write_parquet("archive.parquet")
    assert local_groups(sluicegate) == EXPECTED
    Path("archive.parquet").write_bytes(b"PAR1")
    options = ("--against", "current", "--archive", "archive.parquet")
    broken = sluicegate("replay", "job_status", *options)
    assert (broken.code, broken.out) == (5, "")
    assert broken.err.startswith("archive.parquet: ")


def local_groups(sluicegate: Here) -> dict[tuple[str, ...], int]:
    options = ("--against", "current", "--from", "1.1.0", "--archive", "archive.parquet")
    done = sluicegate("replay", "job_status", *options, "--format", "json-v1")
    keys = JUDGEMENTS.names[1:]
    return {
        tuple(group[key] for key in keys): group["count"]
        for group in json.loads(done.out)["groups"]
    }


@pytest.mark.requirement("LIF-4")
@pytest.mark.filterwarnings("default")
def test_spark_gives_the_same_table_as_this_machine(
    sluicegate: Here, versions: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none")
    pytest.importorskip("pandas", reason="mapInArrow needs pandas, which is not installed")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    old, new = versions
    write_parquet("archive.parquet")

    def judge_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:  # Spark's workers import the package, and not these tests
            yield judge_batch(batch, new, old)

    spark = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        columns = ", ".join(f"{name} string" for name in JUDGEMENTS.names)
        judged = spark.read.parquet("archive.parquet").mapInArrow(judge_batches, columns)
        keys = JUDGEMENTS.names[1:]
        counted = judged.where("change is not null").groupBy(*keys).count().collect()
    finally:
        spark.stop()
    assert {tuple(row[key] for key in keys): row["count"] for row in counted} == EXPECTED
    assert local_groups(sluicegate) == EXPECTED
