"""What a release is judged by: digests, the newest version, members, the order of deployment."""

from __future__ import annotations

import pytest

from sluicegate.contracts.contract import MapRule, UpstreamPart
from sluicegate.lifecycle.diff.containment import EQUAL, UNPROVEN, Proof
from sluicegate.lifecycle.releasing import (
    choose_supported,
    find_newest,
    hex_digest,
    is_version,
    judge_frozen,
    order_deployment,
    read_digests,
    record_members,
    spell_digests,
)
from sluicegate.values.pointers import Pointer

WIDER = Proof(new_covers_old="yes", old_covers_new="no")
NARROWER = Proof(new_covers_old="no", old_covers_new="yes")
MAPPED = UpstreamPart(map={"a": MapRule(at=Pointer(("x",)))})


@pytest.mark.requirement("LIF-3")
def test_digests_are_read_as_they_were_written() -> None:
    digests = {"1.0.0.yaml": hex_digest(b"a"), "1.1.0-rc.1+b.yaml": hex_digest(b"b")}
    assert read_digests(spell_digests(digests)) == digests


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize(
    "text",
    ["x", f"{'0' * 64} 1.yaml", f"{'0' * 64}  ../1.yaml", f"{'0' * 64}  1.yaml\n" * 2],
    ids=["no digest", "one space", "a path", "twice"],
)
def test_a_damaged_list_of_digests_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match="is not the digest of one file"):
        read_digests(text.encode())


@pytest.mark.requirement("LIF-3")
def test_a_frozen_file_is_held_to_its_digest() -> None:
    digests = {"1.0.0.yaml": hex_digest(b"frozen")}
    assert judge_frozen("1.0.0.yaml", b"frozen", digests) is None
    assert "changed after its release" in str(judge_frozen("1.0.0.yaml", b"frozeN", digests))
    assert "holds no digest of it" in str(judge_frozen("1.0.1.yaml", b"frozen", digests))


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize(
    ("versions", "newest"),
    [
        (["1.9.0", "1.10.0", "1.2.0"], "1.10.0"),
        (["2.0.0-rc.1", "1.9.0"], "2.0.0-rc.1"),
        (["2.0.0", "2.0.0-rc.1"], "2.0.0"),
    ],
)
def test_the_newest_version_is_that_of_semantic_versioning(
    versions: list[str], newest: str
) -> None:
    assert find_newest(versions) == newest
    assert find_newest(reversed(versions)) == newest


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize(
    ("released", "served", "expected"),
    [
        pytest.param(["1.0.0"], [], ("1.0.0",), id="one release"),
        pytest.param(["1.0.0", "1.1.0"], [], ("1.1.0",), id="the newest"),
        pytest.param(
            ["1.0.0", "1.0.1-rc.1"], [], ("1.0.0", "1.0.1-rc.1"), id="a candidate after a final one"
        ),
        pytest.param(["1.0.0-rc.1", "1.0.0-rc.2"], [], ("1.0.0-rc.2",), id="candidates alone"),
        pytest.param(
            ["1.0.0", "1.1.0", "1.2.0"],
            ["1.0.0", "current", "1.2.0"],
            ("1.2.0", "1.0.0"),
            id="what is served",
        ),
    ],
)
def test_a_new_version_is_held_to_the_newest_final_one_the_newest_and_what_is_served(
    released: list[str], served: list[str], expected: tuple[str, ...]
) -> None:
    assert choose_supported(released, served) == expected


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize(
    ("text", "expected"),
    [("1.0.0", True), ("1.0.0-rc.1+b", True), ("notes", False), ("1.0", False), ("1.0.0\n", False)],
)
def test_a_version_is_a_semantic_one(text: str, expected: bool) -> None:
    assert is_version(text) is expected


@pytest.mark.requirement("LIF-3", "RES-3")
def test_members_are_recorded_where_a_wide_answer_is_narrowed_and_nobody_wrote_them() -> None:
    document = {"upstream": {"map": {"a": "/x"}}}
    answers = [b'{"x": 1, "y": [{"z": 1}]}', b"no JSON"]
    recorded = record_members(document, MAPPED, answers)
    assert recorded == {"upstream": {"map": {"a": "/x"}, "known": ["/x", "/y", "/y/*/z"]}}
    known = UpstreamPart(map=MAPPED.map, known=frozenset({"/x"}))
    for part in (known, UpstreamPart()):
        assert record_members(document, part, answers) == document


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize(
    ("proofs", "first"),
    [
        pytest.param((EQUAL, EQUAL, EQUAL), [], id="nothing"),
        pytest.param((WIDER, EQUAL, EQUAL), ["first the tool"], id="arguments widen"),
        pytest.param((NARROWER, EQUAL, EQUAL), ["first the text"], id="arguments narrow"),
        pytest.param((EQUAL, WIDER, EQUAL), ["first the agent"], id="the agent's fields widen"),
        pytest.param((EQUAL, NARROWER, EQUAL), ["first the upstream"], id="its fields narrow"),
        pytest.param((EQUAL, EQUAL, NARROWER), ["first the upstream"], id="other data narrows"),
        pytest.param((EQUAL, EQUAL, WIDER), [], id="other data widens"),
        pytest.param((UNPROVEN, EQUAL, EQUAL), ["first the text", "first the tool"], id="unproven"),
    ],
)
def test_what_changes_its_language_is_deployed_in_order(
    proofs: tuple[Proof, Proof, Proof], first: list[str]
) -> None:
    told = list(order_deployment(*proofs))
    assert len(told) == len(first)
    assert all(part in line for part, line in zip(first, told, strict=True))
