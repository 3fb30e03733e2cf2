"""What a child process takes from itself before it looks at anything; standard library alone."""

from __future__ import annotations

import math
import resource
import time


def limit_process(memory_bytes: int) -> None:
    """Take from this process what it does not need: memory, cores, written and open files."""
    for limit, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 16),
    ):
        resource.setrlimit(limit, (value, value))


def limit_processor_time(seconds: int) -> None:
    """Let the kernel end this process after ``seconds`` more; each schema has its share."""
    spent = math.floor(time.process_time())
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds, hard))
