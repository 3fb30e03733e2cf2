"""What a person must say, or show, before a change is released (SPEC LIF-3).

What is said is kept beside the released document, with its digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sluicegate.lifecycle.diff.changes import Change
from sluicegate.lifecycle.diff.kinds import Bump
from sluicegate.opening.collecting import FIXTURES
from sluicegate.opening.fixtures import FixtureResult, TriedFixture
from sluicegate.opening.released_folder import REPLAYED, ROLLOUT, ReleasedFolder

FORMER: Final = "former"
_MAX_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """``rollout``: how agents and tool come to a major; ``replayed``: what a replay showed.

    None where nothing was said; a blank text says nothing.
    """

    rollout: str | None = None
    replayed: str | None = None

    def spell(self, version: str) -> dict[str, bytes]:
        """Return the files that keep what was said, by name below ``released``."""
        return {
            f"{version}{suffix}": text.strip().encode() + b"\n"
            for suffix, text in ((ROLLOUT, self.rollout), (REPLAYED, self.replayed))
            if text is not None and text.strip()
        }


def resume(
    said: Said, released: ReleasedFolder, version: str, recorded: Iterable[str]
) -> Said | str:
    """Return what was said when a release of ``version`` began, or why ``said`` contradicts it.

    ``recorded`` are the names that DIGESTS holds. Raises: OSError.
    """
    kept: dict[str, str | None] = {}
    for option, now, suffix in (
        ("rollout", said.rollout, ROLLOUT),
        ("replayed", said.replayed, REPLAYED),
    ):
        path = released.path / f"{version}{suffix}"
        kept[option] = now
        if path.name not in recorded:
            continue
        kept[option] = then = path.read_text(encoding="utf-8")
        if now is not None and now.strip() != then.strip():
            return (
                f"a release of {version} began with another --{option}, which {path} holds: run it"
                " again without."
            )
    return Said(**kept)


def refuse(
    changes: Sequence[Change],
    *,
    version: str,
    before: str,
    bump: Bump,
    said: Said,
    former: int,
) -> tuple[str, ...]:
    """Return why the changes since ``before`` are not released, in whole sentences.

    A major has a rollout; what narrows the result was replayed, or ``former`` fixtures, answers
    that were accepted once and still must be, cover it.
    """
    reasons = []
    is_major = version.partition(".")[0] != before.partition(".")[0]
    if (is_major or bump is Bump.MAJOR) and not (said.rollout or "").strip():
        reasons.append(
            f"{version} is a major after {before}: say with --rollout how agents and tool come to"
            " it together."
        )
    narrower = [change for change in changes if change.needs_replay and change.waived is None]
    if narrower and not former and not (said.replayed or "").strip():
        reasons.append(_refuse_narrowing(narrower, version, before))
    return tuple(reasons)


def refuse_names(changes: Iterable[Change], version: str) -> Iterator[str]:
    """Yield a sentence for each member that went and whose name nothing keeps."""
    for change in changes:
        if change.kind == "tombstone-missing":
            yield (
                f"{change.old} went from the {change.role}, and nothing keeps its name: write"
                f" `removed: {{{change.role}: {{{change.old}: {version}}}}}` into the contract."
            )


def _refuse_narrowing(narrower: Sequence[Change], version: str, before: str) -> str:
    named = ", ".join(
        f"{change.kind} {change.pointer}".rstrip() for change in narrower[:_MAX_NAMED]
    )
    more = f" and {len(narrower) - _MAX_NAMED} more" if len(narrower) > _MAX_NAMED else ""
    return (
        f"{version} may refuse answers that {before} accepts ({named}{more}): keep answers that"
        f" must still pass as {FIXTURES}/result/{FORMER}/VERSION/NAME.json, or run `sluicegate"
        " replay` against `current` and say with --replayed what came of it."
    )


def count_former(home: str, fixtures: Iterable[TriedFixture]) -> int:
    """Return how many fixtures say that a former shape of the answer is still accepted, and hold.

    ``home`` is the contract's folder as the paths of ``fixtures`` begin.
    """
    below = f"{home}/{FIXTURES}/result/{FORMER}/"
    return sum(
        isinstance(each, FixtureResult)
        and each.ok
        and each.expected == "accepted"
        and each.path.startswith(below)
        for each in fixtures
    )
