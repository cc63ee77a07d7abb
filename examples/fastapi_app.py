"""A web service: `uvicorn --app-dir examples fastapi_app:app`, then POST to /chat/NAME?text=hello."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.responses import StreamingResponse

import bridle


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with bridle.open(builtins=False, system="You answer in one sentence.") as app.state.bridle:
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/chat/{name}")
async def chat(name: str, text: str) -> dict[str, object]:
    session = await app.state.bridle.session(name)
    result = await session.run(text)
    return {"text": result.text, "tokens": result.usage.output}


@app.get("/chat/{name}/stream")
async def stream(name: str, text: str) -> StreamingResponse:
    session = await app.state.bridle.session(name)

    async def words() -> AsyncIterator[str]:
        async with session.stream(text, check=False) as run:  # a client that disconnects cancels the run
            async for item in run:
                if isinstance(item, bridle.TextDelta):
                    yield f"data: {json.dumps(item.text)}\n\n"  # JSON has no line breaks

    return StreamingResponse(words(), media_type="text/event-stream")
