"""What three proofs say together of what the agent sees of a result.

That of its views proves that nothing new is seen. So does that of the whole data, where the agent
is given the same fields: no value is new at all. A refutation counts from views that show no more
than the agent sees, else from what is published of them.
"""

from __future__ import annotations

from sluicegate.lifecycle.diff.containment import Answer, Proof
from sluicegate.values.pointers import NOTHING


def settle(views: Proof, *, published: Proof | None, whole: Proof, reselected: bool) -> Proof:
    """Return the proof of what the agent sees.

    ``published`` is given where the views show more than the agent sees. ``reselected``: it is
    given other fields than before, so that equal data says nothing, and nor do wider views.
    """
    narrowed, widened = (
        _settle(
            getattr(views, name),
            None if published is None else getattr(published, name),
            getattr(whole, name),
            reselected=reselected,
        )
        for name in ("new_covers_old", "old_covers_new")
    )
    shown = views if published is None else published
    return Proof(
        new_covers_old=narrowed,
        old_covers_new=widened,
        lost=shown.lost if narrowed == "no" else NOTHING,
        gained=shown.gained if widened == "no" else NOTHING,
    )


def _settle(views: Answer, published: Answer | None, whole: Answer, *, reselected: bool) -> Answer:
    if whole == "yes" and not reselected:
        return "yes"
    if published is None:
        return views
    if views == "yes" and not reselected:
        return "yes"
    return "no" if published == "no" else "unknown"
