"""One place knows how releases lie below a contract's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from sluicegate.contracts.problems import Problem
from sluicegate.lifecycle.releasing import hex_digest, spell_digests
from sluicegate.opening.released_folder import ReleasedFolder

pytestmark = pytest.mark.requirement("LIF-3")

OLD, NEW = b"version: 1.0.0\n", b"version: 1.1.0\n"


@pytest.fixture
def released(tmp_path: Path) -> ReleasedFolder:
    found = ReleasedFolder(root=tmp_path, home=tmp_path / "item")
    found.path.mkdir(parents=True)
    found.document_path("1.0.0").write_bytes(OLD)
    found.document_path("1.1.0").write_bytes(NEW)
    return found


def record(released: ReleasedFolder, **documents: bytes) -> None:
    digests = {f"{name}.yaml": hex_digest(raw) for name, raw in documents.items()}
    (released.path / "DIGESTS").write_bytes(spell_digests(digests))


def said(found: object) -> tuple[str, str]:
    assert isinstance(found, Problem)
    return found.document, found.message


def test_versions_are_semantic_and_what_is_none_is_a_stray(released: ReleasedFolder) -> None:
    for name in ("1.0.yaml", "notes.yaml", "01.0.0.yaml", "2.0.0.yml", "3.0.0.txt"):
        (released.path / name).write_text("")
    assert released.versions() == ["1.0.0", "1.1.0"]
    assert [path.name for path in released.strays()] == ["01.0.0.yaml", "1.0.yaml", "notes.yaml"]
    absent = ReleasedFolder(root=released.root, home=released.root / "other")
    assert (absent.versions(), absent.strays(), absent.digests()) == ([], [], None)


def test_a_document_is_held_to_its_digest(released: ReleasedFolder) -> None:
    record(released, **{"1.0.0": OLD, "1.1.0": OLD})
    assert released.document("1.0.0") == OLD
    name, message = said(released.document("1.1.0"))
    assert name == released.document_name("1.1.0") == "item/released/1.1.0.yaml"
    assert message.startswith("It was changed after its release")
    record(released, **{"1.1.0": NEW})
    assert said(released.document("1.0.0"))[1].startswith("DIGESTS holds no digest of it")


def test_digests_are_missed_wherever_a_released_document_lies(released: ReleasedFolder) -> None:
    assert said(released.digests()) == (
        "item/released/DIGESTS",
        "It is gone: `sluicegate release` writes it beside 1.0.0.yaml.",
    )
    assert said(released.document("1.0.0"))[0] == "item/released/DIGESTS"
    for version in ("1.0.0", "1.1.0"):
        released.document_path(version).unlink()
    assert released.digests() is None


def test_damaged_digests_are_a_problem_of_their_own_file(released: ReleasedFolder) -> None:
    (released.path / "DIGESTS").write_text("no digest\n")
    name, message = said(released.digests())
    assert (name, message) == (
        "item/released/DIGESTS",
        "It is damaged: line 1 is not the digest of one file.",
    )
