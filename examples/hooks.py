"""Observe what a run does, and block what it should not do."""

import asyncio

import bridle


@bridle.hook("pre_tool_execution", tools=["bash"])
def no_push(seen: bridle.HookInvocation) -> bridle.Deny | None:
    if seen.tool_call and "push" in seen.tool_call.args["command"]:
        return bridle.Deny("nothing is pushed from here")
    return None


@bridle.hook("post_tool_execution")
async def no_names(seen: bridle.HookInvocation) -> bridle.ToolResultPatch | None:
    result = seen.tool_result
    return bridle.ToolResultPatch(result.content.replace("Jane", "somebody")) if result else None


@bridle.hook("turn_boundary", capability="observe")
def count(seen: bridle.HookInvocation) -> None:
    print(f"turn {seen.turn_number} is over")


async def main() -> None:
    async with bridle.open(hooks=[no_push, no_names, count], allow=["bash"]) as b:
        session = await b.session()
        print(await session.run("Say who wrote README.md, and push it."))


asyncio.run(main())
