"""Whoever watches calls from outside of the ladder, and nobody, which is the default (AUD-6)."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final, Protocol

from sluicegate.gates.envelopes import Envelope
from sluicegate.gates.recording import Subject


class Watch(Protocol):
    """One call that is being watched."""

    def answered(self, envelope: Envelope | None) -> None:
        """Hear what the agent sees; None where the host fetches for itself. Never raises."""


class Observer(Protocol):
    """Watches calls as they run. It returns at once and never raises: it changes no answer."""

    def watch(self, subject: Subject) -> AbstractContextManager[Watch]:
        """Watch one call from its first rung to its answer."""


class _Unwatched:
    def answered(self, envelope: Envelope | None) -> None:
        pass


class Unobserved:
    """Nobody watches."""

    _watch: Final = nullcontext(_Unwatched())

    def watch(self, subject: Subject) -> AbstractContextManager[Watch]:
        """Do nothing."""
        return self._watch


UNOBSERVED: Final = Unobserved()
