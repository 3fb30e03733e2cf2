"""Who watches the calls of a gate: OpenTelemetry where its API is installed, else nobody."""

from __future__ import annotations

from sluicegate.gates.ports import AuditStore
from sluicegate.gates.watching import UNOBSERVED, Observer


def observe(store: AuditStore) -> tuple[AuditStore, Observer]:
    """Return the store whose events are told of, and who watches calls.

    Nothing is configured here: the host sets the providers of OpenTelemetry, or none.
    """
    try:
        from sluicegate.telemetry.observing import ObservedStore, open_observer
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "opentelemetry":
            raise
        return store, UNOBSERVED
    observer = open_observer()
    return ObservedStore(store, observer.see), observer
