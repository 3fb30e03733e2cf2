"""How a climb is made: quickly, with proofs from the schema, or exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sluicegate.checks.conformance import Explained
from sluicegate.checks.parsing import ParseRule
from sluicegate.values.codes import Code, Stage
from sluicegate.values.rejections import Rejected

DISAGREEMENT: Final = Rejected(
    stage=Stage.INTERNAL,
    code=Code.INTERNAL,
    engine_message="the quick climb refused what the exact climb accepts",
)
"""What comes of a refusal that the exact climb cannot explain (docs/decisions/0001)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rigour:
    """``explain``: every check is spelled out, and a refusal bears its findings; None: neither."""

    parse: ParseRule
    count_nesting: bool
    explain: Explained | None
