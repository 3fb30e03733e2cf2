"""What every test run has in common."""

from __future__ import annotations

from hypothesis import settings

# A loaded machine is no defect: time is judged where a test says so itself, never by example.
settings.register_profile("house", deadline=None)
settings.load_profile("house")
