import asyncio

from sluicegate import Caller, open_gate

CALLER = Caller(subject="svc-ops")


async def main() -> None:
    async with open_gate("examples/filesystem/contracts") as gate:
        model = gate.tool_definitions()  # what the model is told
        print(model[0]["name"], "-", model[0]["description"])

        good = await gate.call("mounted_filesystem", '{"mount_point": "/"}', caller=CALLER)
        print(good.outcome, sorted(good.data))  # checked, selected, recorded

        bad = await gate.call("mounted_filesystem", '{"mountPoint": "/"}', caller=CALLER)
        print(bad.to_json())  # nothing ran; the model is told how to mend its call


asyncio.run(main())
