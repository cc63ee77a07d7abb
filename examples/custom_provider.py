"""Write your own provider: it streams the answer and ends with the complete reply."""

import asyncio
from collections.abc import AsyncGenerator

import bridle


class Echo:
    """Repeats the prompt, word by word."""

    async def stream(
        self, request: bridle.ModelRequest
    ) -> AsyncGenerator[bridle.Delta | bridle.ModelReply, None]:
        words = request.messages[-1].text.split(" ")
        for word in words:
            yield bridle.TextDelta(f"{word} ")
        said = bridle.Message("assistant", (bridle.Text(" ".join(words)),))
        yield bridle.ModelReply(said, "end_turn", bridle.Usage(input=len(words), output=len(words)))

    def model(self, name: str) -> bridle.Model:
        return bridle.Model("echo", name, window_tokens=8_000, price=bridle.Price(input=0, output=0))

    async def aclose(self) -> None:
        pass


async def main() -> None:
    async with bridle.open(ephemeral=True, providers={"echo": Echo()}, model="echo/parrot") as b:
        session = await b.session()
        async with session.stream("Polly wants a cracker") as run:
            async for item in run:
                if isinstance(item, bridle.TextDelta):
                    print(item.text, end="", flush=True)
        print(f"\n{run.result.outcome}, {run.result.cost} dollars")


asyncio.run(main())
