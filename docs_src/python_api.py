import asyncio
from dataclasses import dataclass

from sluicegate import Answer, Caller, ToolCall, open_gate

FOLDER = "examples/filesystem/contracts"
CALLER = Caller(subject="svc-ops", session="chat-7")
ROOT = '{"mount_point": "/"}'
FETCHED = b"""{"filesystems": [
  {"target": "/", "fstype": "ext4", "size": 100, "used": 60, "avail": 40}]}"""


@dataclass
class Mounted:
    mount_point: str
    type: str
    size_bytes: int
    used_bytes: int
    free_bytes: int


@dataclass
class Wrong:
    mount_point: int


async def main() -> None:
    async with open_gate(FOLDER) as gate:
        # As a type of yours: the answer stands either way, and `misfit` tells a wrong type.
        good = await gate.call("mounted_filesystem", ROOT, caller=CALLER, as_=Mounted)
        print(good.outcome, good.typed.mount_point if good.typed else good.code)
        odd = await gate.call("mounted_filesystem", ROOT, caller=CALLER, as_=Wrong)
        print(odd.outcome, odd.typed, odd.misfit)

        # All calls of one turn at once, each with the vendor's id; a deadline only shortens.
        calls = [
            ToolCall(tool="mounted_filesystem", arguments=ROOT, call_id="toolu_1"),
            ToolCall(tool="no_such_tool", arguments="{}", call_id="toolu_2"),
        ]
        answers = await gate.call_all(calls, caller=CALLER, deadline_s=10)
        print([answer.code or answer.outcome for answer in answers])

        # A host that fetches for itself.
        asked = await gate.check_call("mounted_filesystem", ROOT, caller=CALLER)
        if not isinstance(asked, Answer):
            print(asked.arguments)
            answer = await gate.check_result(asked, FETCHED)
            print(answer.outcome, answer.data)

        # What the folder holds by now, or the old set and why.
        for problem in await gate.reload():
            print(problem)


asyncio.run(main())
