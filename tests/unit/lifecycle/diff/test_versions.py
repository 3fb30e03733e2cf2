"""A declared version is raised as far as its changes ask, and never goes back."""

from __future__ import annotations

import pytest

from sluicegate.lifecycle.diff.kinds import Bump
from sluicegate.lifecycle.diff.versions import judge_version

pytestmark = pytest.mark.requirement("LIF-3")


@pytest.mark.parametrize(
    ("old", "new", "required", "fault", "wanted"),
    [
        ("1.2.3", "1.2.3", Bump.NONE, None, None),
        ("1.2.3", "1.3.0", Bump.NONE, None, None),
        ("1.2.3", "2.0.0", Bump.MAJOR, None, None),
        ("1.2.3", "1.3.0", Bump.MINOR, None, None),
        ("1.2.3", "2.0.0", Bump.MINOR, None, None),
        ("1.2.3", "1.2.4", Bump.PATCH, None, None),
        ("1.2.3", "1.2.3", Bump.PATCH, "not-bumped", "1.2.4"),
        ("1.2.3", "1.2.3+build.7", Bump.MINOR, "not-bumped", "1.3.0"),
        ("1.2.3", "1.2.4", Bump.MINOR, "under-bumped", "1.3.0"),
        ("1.2.3", "1.9.0", Bump.MAJOR, "under-bumped", "2.0.0"),
        ("1.10.0", "1.9.0", Bump.NONE, "decreased", "1.10.1"),
        ("1.2.3", "0.9.9", Bump.MAJOR, "decreased", "2.0.0"),
        ("2.0.0", "2.0.0-rc.1", Bump.PATCH, "decreased", "2.0.1"),
        ("2.0.0-rc.1", "2.0.0-rc.2", Bump.MAJOR, None, None),
        ("2.0.0-rc.2", "2.0.0-rc.10", Bump.MAJOR, None, None),
        ("2.0.0-rc.1", "2.0.0", Bump.MAJOR, None, None),
        ("2.0.0-rc.1", "2.0.0-beta", Bump.MINOR, "decreased", "2.1.0"),
    ],
)
def test_a_version_tells_what_changed_or_a_finding_does(
    old: str, new: str, required: Bump, fault: str | None, wanted: str | None
) -> None:
    found = judge_version("t", old, new, required)
    told = (None, None) if found is None else (found.fault, found.wanted)
    assert told == (fault, wanted)
