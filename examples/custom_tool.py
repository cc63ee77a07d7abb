"""Let the model call your functions; a function that changes something needs approval."""

import asyncio

import bridle

STOCK = {"A-17": 4, "B-2": 0}


@bridle.tool
def stock(article: str) -> int:
    """Return how many pieces of an article are in stock.

    Args:
        article: its number, as on the label
    """
    return STOCK[article]


@bridle.tool(access="write", preview=lambda article, pieces: f"+ {pieces} × {article}")
async def order(article: str, pieces: int = 1) -> str:
    """Order more of an article."""
    STOCK[article] += pieces
    return f"ordered {pieces}"


def approve(asked: bridle.ApprovalRequested) -> bool:
    print(f"{asked.tool}: {asked.preview}")
    return asked.args.get("pieces", 1) < 10


async def main() -> None:
    async with bridle.open(tools=[stock, order], builtins=False, approve=approve) as b:
        session = await b.session(system="You keep a small warehouse.")
        print(await session.run("Is there enough of A-17? Order some if not."))


asyncio.run(main())
