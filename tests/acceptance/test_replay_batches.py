"""Replay over Arrow: Parquet, batches, and the same table from Spark."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.acceptance.commands import Here
from tests.acceptance.folders import contract, record_releases, write_folder

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
    record_releases(folder / "job_status")
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


def demand_spark() -> None:
    """Skip where Spark cannot run; fail where ``.ci/run`` promises that it can."""
    missing = [name for name in ("pyspark", "pandas") if find_spec(name) is None]
    if java_release() < 17:
        missing.append("Java 17 or later")
    if missing:
        decide = pytest.fail if "SLUICEGATE_IN_CI" in os.environ else pytest.skip
        decide(f"Spark needs {' and '.join(missing)}; `uv sync --group spark` installs the Python")


def java_release() -> int:
    """The major release of Java; 0 where there is none."""
    java = shutil.which("java")
    if java is None:
        return 0
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', told)
    return 0 if found is None else int(found[1])


@pytest.mark.requirement("LIF-4")
def test_spark_gives_the_same_table_as_this_machine(
    sluicegate: Here, versions: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    demand_spark()
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    old, new = versions
    write_parquet("archive.parquet")

    def judge_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:  # Spark's workers import the package, and not these tests
            yield judge_batch(batch, new, old)

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    try:
        columns = ", ".join(f"{name} string" for name in JUDGEMENTS.names)
        judged = spark.read.parquet("archive.parquet").mapInArrow(judge_batches, columns)
        rows = [row.asDict() for row in judged.collect()]
    finally:
        spark.stop()
    batch = pa.RecordBatch.from_pylist(ROWS, schema=pa.schema(list(ANSWERS)[:5]))
    here = judge_batch(batch, new, old).to_pylist()
    assert sorted(rows, key=itemgetter("request_id")) == here
    assert groups(iter(rows)) == local_groups(sluicegate) == EXPECTED


@pytest.mark.requirement("LIF-4")
@pytest.mark.parametrize(
    ("in_ci", "outcome"),
    [
        pytest.param(True, pytest.fail.Exception, id="ci fails"),
        pytest.param(False, pytest.skip.Exception, id="elsewhere skips"),
    ],
)
def test_without_java_spark_is_skipped_and_in_ci_it_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, in_ci: bool, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("SLUICEGATE_IN_CI", raising=False)
    if in_ci:
        monkeypatch.setenv("SLUICEGATE_IN_CI", "1")
    with pytest.raises(outcome, match="Java 17"):
        demand_spark()
