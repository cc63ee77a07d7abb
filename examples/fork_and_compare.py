"""Fork a conversation, ask both forks the same question at the same time, and let a third run judge."""

import asyncio
from typing import Literal

import msgspec

import bridle


class Verdict(msgspec.Struct):
    better: Literal["first", "second"]
    why: str


async def main() -> None:
    async with bridle.open(builtins=False) as b:
        session = await b.session()
        await session.run("We name a small sailing boat. It is blue and rather slow.")
        first = await session.fork(system="You are a poet.")
        second = await session.fork(system="You are a sailor.")
        names = await asyncio.gather(first.run("One name, please."), second.run("One name, please."))
        for name in names:
            print(f"{name.text} ({name.session_id})")
        question = f'Which name is better, the first ("{names[0]}") or the second ("{names[1]}")?'
        verdict = await session.run(question, output=Verdict)
        print(f"the {verdict.value.better} one: {verdict.value.why}")


asyncio.run(main())
