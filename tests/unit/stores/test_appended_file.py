"""A file that events or heads are appended to, where its folder lets nobody do more than append."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sluicegate.stores.appended_file import AppendedFile, FolderMissing


@pytest.fixture
def append_only(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "heads.jsonl"
    path.write_bytes(b'{"seq": 1}\n')
    done = subprocess.run(["chattr", "+a", path], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("chattr +a takes root and a file system that has the attribute")
    yield path
    subprocess.run(["chattr", "-a", path], check=True)


@pytest.mark.requirement("AUD-3")
def test_a_file_that_may_only_be_appended_to_takes_lines(append_only: Path) -> None:
    file = AppendedFile(append_only)
    file.append(b'{"seq": 2}\n')
    file.append(b'{"seq": 3}\n')
    assert append_only.read_bytes() == b'{"seq": 1}\n{"seq": 2}\n{"seq": 3}\n'


@pytest.mark.requirement("AUD-3")
def test_a_line_that_was_never_finished_goes_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "heads.jsonl"
    path.write_bytes(b'{"seq": 1}\n{"se')
    AppendedFile(path).append(b'{"seq": 2}\n')
    assert path.read_bytes() == b'{"seq": 1}\n{"seq": 2}\n'


@pytest.mark.requirement("AUD-3")
def test_a_folder_that_is_gone_is_told_and_never_made(tmp_path: Path) -> None:
    (tmp_path / "contracts").mkdir()
    file = AppendedFile(tmp_path / "contracts" / ".." / "sink" / "events.jsonl")
    told = f"the folder {tmp_path}/sink does not exist: mount the disk"
    for work in (file.lock, file.read_last, lambda: next(file.lines(max_bytes=9))):
        with pytest.raises(FolderMissing) as missing:
            work()
        assert str(missing.value.strerror).startswith(told)
    with pytest.raises(OSError, match="No such file"):
        file.append(b"{}\n")
    assert not (tmp_path / "sink").exists()
    assert str(file) == f"{tmp_path}/sink/events.jsonl"


@pytest.mark.requirement("AUD-3")
def test_a_fifo_in_its_place_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "events.jsonl")
    file = AppendedFile(tmp_path / "events.jsonl")
    for work in (
        file.read_last,
        lambda: file.append(b"{}\n"),
        lambda: next(file.lines(max_bytes=9)),
    ):
        with pytest.raises(OSError, match="it is no regular file"):
            work()


LINES: dict[str, tuple[bytes, list[bytes]]] = {
    # what stands in the file → what is yielded of lines of up to ten bytes
    "as long as may be": (b"123456789\n12\n", [b"123456789\n", b"12\n"]),
    "ten bytes and a break": (b"1234567890\n12\n", [b"1234567890\n", b"12\n"]),
    "too long by one": (b"12345678901\n12\n", [b"\n", b"12\n"]),
    "twice as long": (b"a" * 22 + b"\n12\n", [b"\n", b"12\n"]),
    "of twenty-five bytes": (b"a" * 25 + b"\n12\n", [b"\n", b"12\n"]),
    "two behind each other": (b"a" * 25 + b"\n" + b"b" * 25 + b"\n", [b"\n", b"\n"]),
    "never finished": (b"12\n" + b"a" * 25, [b"12\n", b"\n"]),
    "short and never finished": (b"12\n345", [b"12\n", b"345"]),
    "empty": (b"\n\n12\n", [b"\n", b"\n", b"12\n"]),
    "none": (b"", []),
}


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(("content", "lines"), LINES.values(), ids=LINES)
def test_a_line_that_is_too_long_comes_as_one_empty_line(
    content: bytes, lines: list[bytes], tmp_path: Path
) -> None:
    (tmp_path / "heads.jsonl").write_bytes(content)
    assert list(AppendedFile(tmp_path / "heads.jsonl").lines(max_bytes=10)) == lines
