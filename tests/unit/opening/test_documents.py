"""Reading a folder: plain files below it, and nothing from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from sluicegate.opening.documents import MAX_DOCUMENT_BYTES, read_folder


def write(root: Path, name: str, text: str = "a: 1\n") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.requirement("CON-1")
def test_settings_contracts_and_schema_files_are_read_by_their_names(tmp_path: Path) -> None:
    for name in ("sluicegate.yaml", "a/contract.yaml", "a/schemas/data.json", "b/contract.json"):
        write(tmp_path, name)
    for name in ("a/fixtures/result/accepted/x.json", "a/released/1.0.0.yaml", "a/README.md"):
        write(tmp_path, name)
    read = read_folder(tmp_path)
    assert read.problems == ()
    assert sorted(read.documents) == [
        "a/contract.yaml",
        "a/schemas/data.json",
        "b/contract.json",
        "sluicegate.yaml",
    ]
    assert read.tool_folders() == {
        "a/contract.yaml": tmp_path / "a",
        "b/contract.json": tmp_path / "b",
    }


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_link_that_leaves_the_folder_is_a_problem_and_is_not_read(
    tmp_path: Path, linked: str
) -> None:
    outside = write(tmp_path / "outside", "secret.yaml", "secret: 1\n")
    root = tmp_path / "contracts"
    write(root, "a/contract.yaml")
    if linked == "file":
        (root / "a" / "linked.yaml").symlink_to(outside)
    else:
        (root / "linked").symlink_to(outside.parent)
    read = read_folder(root)
    assert [problem.message for problem in read.problems] == [
        "The file is a link that leaves the folder."
    ]
    assert all(b"secret" not in raw for raw in read.documents.values())


@pytest.mark.requirement("CON-1")
def test_a_file_that_is_too_large_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, "a/contract.yaml", "x" * (MAX_DOCUMENT_BYTES + 1))
    (problem,) = read_folder(tmp_path).problems
    assert (problem.document, problem.message) == (
        "a/contract.yaml",
        f"The file has more than {MAX_DOCUMENT_BYTES} bytes.",
    )


def test_a_folder_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    (problem,) = read_folder(tmp_path / "none").problems
    assert "sluicegate init" in problem.mend
