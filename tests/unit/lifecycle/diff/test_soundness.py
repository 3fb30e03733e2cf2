"""Nothing that is called compatible is contradicted by a value, over seeded pairs of schemas.

300 pairs by default; all 3,000 where SLUICEGATE_FULL is 1.
"""

from __future__ import annotations

import os
import random
from typing import Final

import pytest
from tests.unit.lifecycle.diff.comparing import registered
from tests.unit.lifecycle.diff.random_schemas import edit, make_schema, make_value

from sluicegate.contracts.schemas.registration import register
from sluicegate.lifecycle.diff.comparison import compare_schemas, judge
from sluicegate.lifecycle.diff.containment import prove

PAIRS: Final = 3_000 if os.environ.get("SLUICEGATE_FULL") == "1" else 300
VALUES: Final = 150


@pytest.mark.requirement("LIF-3")
def test_no_compatible_change_is_contradicted_by_a_sampled_value() -> None:
    rng = random.Random(20261130)
    wrong = []
    outcomes = {"compatible": 0, "breaking": 0, "undecided": 0}
    pairs = 0
    while pairs < PAIRS:
        written = make_schema(rng)
        edited = edit(rng, written) if rng.random() < 0.85 else make_schema(rng)
        if any(
            isinstance(register(s, side="result", strict=False), tuple) for s in (written, edited)
        ):
            continue
        pairs += 1
        old, new = registered(written), registered(edited)
        proof = prove(old.document, new.document)
        values = [make_value(rng) for _ in range(VALUES)]
        lost = [one for one in values if old.is_valid(one) and not new.is_valid(one)]
        gained = [one for one in values if new.is_valid(one) and not old.is_valid(one)]
        for side, against in (("arguments", lost), ("result", gained)):
            comparison = compare_schemas(old.document, new.document, side)  # type: ignore[arg-type]
            found = judge(comparison, [proof] * len(comparison.unproven))
            outcomes[found.outcome] += 1
            if found.outcome == "compatible" and against:
                wrong.append((side, written, edited, against[0]))
    assert wrong == []
    assert sum(outcomes.values()) == 2 * PAIRS
    assert outcomes["compatible"] > PAIRS / 3
    assert outcomes["undecided"] < PAIRS / 10


@pytest.mark.requirement("LIF-3")
def test_a_schema_beside_itself_has_no_changes() -> None:
    rng = random.Random(7)
    for _ in range(100):
        written = make_schema(rng)
        if isinstance(register(written, side="result", strict=False), tuple):
            continue
        document = registered(written).document
        again = registered({**written, "$defs": {"unused": True}}).document
        for side in ("arguments", "result"):
            assert judge(compare_schemas(document, document, side), []).changes == ()  # type: ignore[arg-type]
            comparison = compare_schemas(document, again, side)  # type: ignore[arg-type]
            proofs = [prove(document, again) for _ in comparison.unproven]
            assert judge(comparison, proofs).outcome == "compatible"
