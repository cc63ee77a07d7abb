"""Code that uses the embedding API, only for type checking; it never runs."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, assert_type

import bridle


@dataclass
class Invoice:
    total: float


@bridle.tool
def double(n: int) -> int:
    return 2 * n


@bridle.tool(access="write", once=True)
async def pay(amount: float, context: bridle.ToolContext) -> str:
    return str(amount)


@bridle.hook("pre_tool_execution", tools=["bash"])
def guard(seen: bridle.HookInvocation) -> bridle.Deny | None:
    return None


class Echo:
    async def stream(
        self, request: bridle.ModelRequest
    ) -> AsyncGenerator[bridle.Delta | bridle.ModelReply, None]:
        yield bridle.TextDelta("x")

    async def aclose(self) -> None: ...


class Many:
    @property
    def specs(self) -> Sequence[bridle.ToolSpec]:
        return []

    async def dispatch(self, call: bridle.ToolCall) -> bridle.ToolOutput:
        return bridle.ToolOutput("")


async def approve(asked: bridle.ApprovalRequested) -> bool:
    return asked.tool == "pay"


def careful(asked: bridle.ApprovalRequested) -> tuple[bridle.Answer, str]:
    answer: bridle.Answer = "deny"
    return answer, "use the other one"


def careless(asked: bridle.ApprovalRequested) -> bridle.Approval:
    return "sometimes"  # E: Incompatible return value type


deciders: list[bridle.Approve] = [approve, careful, lambda asked: "once"]
replies: list[bridle.AnswerCallback] = [lambda asked: ["red", "green"], lambda asked: None]


async def uses(store: bridle.Store, tool: bridle.Tool) -> None:
    async with bridle.open(
        ephemeral=True,
        tools=[double, pay, tool, Many(), len],
        providers={"echo": Echo()},
        store=store,
        hooks=[guard],
        approve=approve,
        answer=lambda asked: "yes",
        model="echo/a",
        limits=bridle.Limits(turns=3),
    ) as b:
        assert_type(b, bridle.Bridle)
        session = await b.session("s", allow=["bash(git:*)"])
        assert_type(session, bridle.Session)
        assert_type(await session.run("a"), bridle.RunResult[None])
        assert_type(await session.run("a", output=Invoice), bridle.RunResult[Invoice])
        assert_type((await session.run("a", output=list[Invoice], mode="plan")).value, list[Invoice])
        assert_type((await session.run("a", output=Invoice, check=False)).value, Invoice | None)
        assert_type((await session.run("a", output={"type": "object"})).value, Any)
        async with session.stream("a", output=Invoice) as run:
            async for item in run:
                assert_type(item, bridle.Record | bridle.Delta)
        assert_type(run, bridle.RunStream[Invoice])
        assert_type(await session.fork(), bridle.Session)
        assert_type(await session.context(), bridle.NextContext)
        assert_type(await session.export("html"), str)
        assert_type(await session.usage(), bridle.Stats)
        assert_type(await b.agents(), list[bridle.AgentRow])
        assert_type(await b.skills(), list[bridle.Skill])
        assert_type(await b.models(), list[bridle.ModelView])
        assert_type(await b.rules(), bridle.RuleList)
        assert_type(await b.servers(), list[bridle.ServerView])
        assert_type(await b.stats(), bridle.AllStats)
        await session.export("pdf")  # E: Literal['md', 'json', 'html']
        await session.run("a", mode="sometimes")  # E: No overload variant
        await session.run("a", modell="b")  # E: Unexpected keyword argument "modell"
        print(bridle.nothing)  # E: has no attribute


assert_type(double(2), int)
assert_type(bridle.run("a"), bridle.RunResult[None])
assert_type(bridle.run("a", output=Invoice, ephemeral=True).value, Invoice)
double("2")  # E: incompatible type
