"""One question that most good answers pass at once: is it ours, about our subject, and recent?

Each part of it is a stricter form of a rule in ``meaning``, ``meaning_subject`` or
``meaning_time``. What it cannot affirm is judged by those, so it never refuses. Only the quick
climb asks it (docs/decisions/0001).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from sluicegate.contracts.contract import BindRule, FreshRule
from sluicegate.contracts.expressions import (
    attribute,
    call,
    compile_total_function,
    equal,
    every,
    is_type,
    subscript,
    variable,
)
from sluicegate.values.pointers import Pointer
from sluicegate.values.requests import Request

Affirmation: TypeAlias = Callable[[Any, Any, Request, datetime], bool]
"""(data, received document, request, now) → whether identity, subject and time certainly hold."""

_LONGEST_S: Final = 1e9


def compile_affirmation(
    bind: Sequence[BindRule], fresh: FreshRule | None, *, dated: bool, envelope: bool
) -> Affirmation | None:
    """Compile the question for members bound to arguments and one member that bears the time.

    ``dated``: the schema asserts that the time is a date-time. None where it does not, where a
    rule reaches deeper than a member or asks about the caller, and where there is no time: then
    the rules themselves are as cheap.
    """
    pairs = [
        (rule.data.segments[0], rule.argument.segments[0])
        for rule in bind
        if rule.argument is not None and _is_member(rule.data) and _is_member(rule.argument)
    ]
    if fresh is None or not dated or not _is_member(fresh.at) or len(pairs) < len(bind):
        return None
    (observed,) = fresh.at.segments
    # A microsecond inside what is accepted: at the edges the exact rule decides.
    oldest = timedelta(seconds=min(fresh.max_age_s, _LONGEST_S)) - timedelta(microseconds=1)
    newest = timedelta(microseconds=1) - timedelta(seconds=min(fresh.max_ahead_s, _LONGEST_S))

    data, document, request = variable("data"), variable("document"), variable("request")
    conditions = [
        equal(subscript(document, part), attribute(request, part))
        for part in ("tool", "request_id")
        if envelope
    ]
    for place, argument in pairs:
        wanted = subscript(attribute(request, "arguments"), argument)
        # Texts alone are settled here: of 1, 1.0 and true each equals the others.
        conditions += [is_type(wanted, "str"), equal(subscript(data, place), wanted)]
    # Of all date-times YYYY-MM-DDTHH:MM:SSZ alone is so long; what else the native reader takes
    # (week dates, hour 24) is none, and a leap second it does not take.
    time = subscript(data, observed)
    age = ast.BinOp(variable("now"), ast.Sub(), call("read_time", time))
    conditions += [
        equal(call("len", time), ast.Constant(20)),
        ast.Compare(variable("newest"), [ast.LtE(), ast.LtE()], [age, variable("oldest")]),
    ]
    names = {"type": type, "str": str, "len": len, "read_time": datetime.fromisoformat}
    return compile_total_function(
        ("data", "document", "request", "now"),
        every(conditions),
        {**names, "newest": newest, "oldest": oldest},
        "affirmation",
        otherwise=False,
    )


def _is_member(pointer: Pointer) -> bool:
    return len(pointer.segments) == 1 and not pointer.is_wild
