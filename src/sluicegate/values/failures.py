"""Which exceptions stop the program, and which are failures that end as a refusal (RES-9)."""

from __future__ import annotations

from typing import Final

INTERRUPTIONS: Final = (KeyboardInterrupt, SystemExit, GeneratorExit)
"""Never turned into a verdict. Every other exception is: the engines are native code whose panics
derive from BaseException, not from Exception."""
