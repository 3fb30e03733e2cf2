"""What follows a record: one run at a time, told once, and gone on with."""

from __future__ import annotations

import asyncio

import pytest

from sluicegate.stores.following import Following

pytestmark = pytest.mark.requirement("AUD-3")


class Work:
    """Ends as ``ends`` says, each in its turn, and then well."""

    def __init__(self, *ends: BaseException | None) -> None:
        self.ends = [*ends]
        self.runs = self.most = self.now = 0
        self.following = Following(
            self.run, foreseen=OSError, failed="it failed", mended="it is mended", then=self.then
        )
        self.behind: list[str | None] = []

    async def run(self) -> None:
        self.now += 1
        self.runs, self.most = self.runs + 1, max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        end = self.ends.pop(0) if self.ends else None
        if end is not None:
            raise end

    def then(self) -> None:
        assert not self.following.is_running
        self.behind.append(self.following.problem)


async def test_who_begins_while_it_runs_shares_the_run() -> None:
    work = Work()
    await asyncio.gather(*(work.following.begin() for _ in range(3)))
    await work.following.begin()
    assert (work.runs, work.most, work.behind) == (2, 1, [None, None])


async def test_a_failure_is_told_once_by_its_text_or_by_its_type_and_so_is_its_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("WARNING")
    work = Work(OSError("full"), OSError("full"), ValueError("PLANTED"), None)
    for _ in range(5):
        await work.following.begin()
    assert work.behind == ["full", "full", "ValueError", None, None]
    assert [record.message for record in caplog.records] == [
        "it failed: full",
        "it failed: ValueError",
        "it is mended",
    ]


async def test_a_run_that_is_cancelled_has_not_failed_and_another_may_begin() -> None:
    work = Work()
    run = work.following.begin()
    await asyncio.sleep(0)
    run.cancel()
    await work.following.rest()
    assert (run.cancelled(), work.following.is_running, work.behind) == (True, False, [])
    await work.following.begin()
    assert work.behind == [None]
