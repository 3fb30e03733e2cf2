"""Files that somebody named: what is no regular one is refused at once, and never waited for."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from sluicegate.gates.plain_files import demand_plain, open_descriptor, open_plain, read_plain

WORKS: dict[str, Callable[[Path], object]] = {
    "read": lambda path: read_plain(path, 9),
    "opened": open_plain,
    "demanded": demand_plain,
    "appended to": lambda path: open_descriptor(path, os.O_RDWR | os.O_CREAT | os.O_APPEND),
    "written": lambda path: open_descriptor(path, os.O_WRONLY),
}


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


PLACES: dict[str, tuple[Callable[[Path], object], str]] = {
    "fifo": (os.mkfifo, "it is no regular file"),
    "socket": (make_socket, "it is no regular file"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "it is no regular file"),
    "folder": (Path.mkdir, "Is a directory"),
    "circle": (lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
}


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
@pytest.mark.parametrize(("make", "says"), PLACES.values(), ids=PLACES)
def test_what_is_no_regular_file_is_refused_at_once(
    make: Callable[[Path], object], says: str, work: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "it"
    make(path)
    with pytest.raises(OSError, match=says) as refused:
        work(path)
    assert (refused.value.strerror, refused.value.filename) == (says, str(path))


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"], ids=["nul", "half a pair"])
def test_a_name_that_no_file_can_bear_is_told_as_the_system_tells_others(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(OSError, match="no file can bear this name") as refused:
        read_plain(tmp_path / name, 9)
    assert refused.value.strerror == "no file can bear this name"


def test_a_reader_sees_that_a_file_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"0123456789")
    assert read_plain(path, 4) == b"01234"
    assert read_plain(path, 10) == b"0123456789"


def test_a_file_that_a_writer_makes_is_closed_to_others(tmp_path: Path) -> None:
    os.close(open_descriptor(tmp_path / "it", os.O_RDWR | os.O_CREAT))
    assert (tmp_path / "it").stat().st_mode & 0o777 == 0o600
