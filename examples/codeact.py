"""Let the model write Python that calls your functions, instead of making one call at a time."""

import asyncio

import bridle

PRICES = {"apple": 0.4, "pear": 0.6, "melon": 2.5}


@bridle.tool
def price(fruit: str) -> float:
    """Return what a piece of fruit costs."""
    return PRICES[fruit]


async def main() -> None:
    async with bridle.open(tools=[price], builtins=False, code=True, allow=["python"]) as b:
        session = await b.session()
        async with session.stream("What do three apples and two pears cost?") as run:
            async for item in run:
                match item:
                    case bridle.Record(event=bridle.ToolStarted(tool="python", args=args)):
                        print(args["code"])
                    case bridle.Record(event=bridle.ToolStarted(tool=tool, args=args)):
                        print(f"  {tool} {args}")
        print(run.result.text)


asyncio.run(main())
