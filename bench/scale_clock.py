"""A model that tells the time: every fragment of its answer is the time when it was sent.

`python scale_clock.py` prints its address and serves OpenAI's Chat Completions. The name of the model
contains the number of fragments and the milliseconds between them: `clock-200-50`.
"""

import asyncio
import json
import time

from aiohttp import web


async def answer(http: web.Request) -> web.StreamResponse:
    """Stream the time."""
    body = await http.json()
    _, count, pause_ms = body["model"].split("-")
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(http)
    due = time.monotonic()
    for _ in range(int(count)):
        due += int(pause_ms) / 1000
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        await response.write(chunk({"content": f"{time.time_ns()} "}))
    await response.write(chunk({}, "stop") + b"data: [DONE]\n\n")
    await response.write_eof()
    return response


def chunk(delta: dict[str, str], why: str | None = None) -> bytes:
    """Return one event of the stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": why}
    data = {"id": "c", "object": "chat.completion.chunk", "model": "clock", "choices": [choice]}
    return b"data: " + json.dumps(data).encode() + b"\n\n"


async def serve() -> None:
    """Serve until killed."""
    app = web.Application(client_max_size=2**26)
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
