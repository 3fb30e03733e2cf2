"""Exceptions for misuse: a bad contract, a bad configuration, a wrong call of this library.

SluicegateError
├── ContractFolderError   the folder does not load; holds every problem
├── ConfigurationError    a store, key, credential or option is wrong
└── MisuseError           the library was called in a way that cannot work
"""

from __future__ import annotations

from collections.abc import Sequence

from sluicegate.contracts.problems import Problem


class SluicegateError(Exception):
    """Base of all that this package raises."""


class ContractFolderError(SluicegateError):
    """The folder cannot be served. ``problems`` is never empty; each says how to mend it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ConfigurationError(SluicegateError):
    """A setting outside the contracts is wrong; the text says which and how to mend it."""


class MisuseError(SluicegateError):
    """A call that cannot work, for instance an ``Outstanding`` used twice."""
